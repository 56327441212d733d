//! Releases: registered, flipped to, gone back behind, dropped.

use std::collections::BTreeSet;

use super::backend::Backend;
use super::records::{
    Change, FORMAT, REGISTERED, ROLLED_BACK, SERVED, THIS_FORMAT, release_field, view_field,
};
use super::sweep::sweep;
use super::view_record::ViewRecord;
use crate::error::{Error, ErrorKind, Result};
use crate::release::{Release, ReleaseNumber};

pub(super) async fn register(backend: &dyn Backend, release: &Release) -> Result<()> {
    let release_name = release_field(release.number);
    let views: Vec<String> = release
        .views
        .iter()
        .map(|view| view_field(&view.view))
        .collect();
    let mut names = vec![release_name.as_str(), FORMAT, REGISTERED];
    names.extend(views.iter().map(String::as_str));
    loop {
        let fields = backend.fields(&names).await?;
        fields.check_format()?;
        if let Some(known) = fields.json::<Release>(&release_name)? {
            if known == *release {
                return Ok(());
            }
            let message = format!("release `{}` is another one already", release.number);
            return Err(Error::new(ErrorKind::Conflict, message));
        }
        for (view, field) in release.views.iter().zip(&views) {
            let refused = |what: &str| {
                let message = format!(
                    "release `{}` names snapshot `{}` of view `{}`, which {what}",
                    release.number, view.snapshot.0, view.view
                );
                Err(Error::new(ErrorKind::Invalid, message))
            };
            let record = fields.json::<ViewRecord>(field)?.unwrap_or_default();
            let mut kept = record.kept.iter();
            match kept.find(|kept| kept.id == view.snapshot) {
                Some(kept) if kept.content == view.content => {}
                Some(_) => return refused("holds another content"),
                None => return refused("is not complete in the online store"),
            }
        }
        let mut change = Change::from(&fields, &names);
        let registered = fields.number(REGISTERED)?.unwrap_or(0) + 1;
        change.set(REGISTERED, registered.to_string());
        change.set(FORMAT, THIS_FORMAT);
        change.set_json(&release_name, release)?;
        change.mark(release.number, true);
        if backend.apply(&change).await? {
            return Ok(());
        }
    }
}

pub(super) async fn flip(
    backend: &dyn Backend,
    from: Option<ReleaseNumber>,
    to: ReleaseNumber,
) -> Result<()> {
    loop {
        let fields = backend.all().await?;
        let served = fields.number(SERVED)?.map(ReleaseNumber);
        if served != from {
            let shown = |number: Option<ReleaseNumber>| {
                number.map_or("none".to_owned(), |number| format!("`{number}`"))
            };
            let message = format!(
                "the served release is {} and not {}",
                shown(served),
                shown(from)
            );
            return Err(Error::new(ErrorKind::Conflict, message));
        }
        let release_name = release_field(to);
        if fields.text(&release_name).is_empty() {
            return Err(unknown(to));
        }
        let mut behind: BTreeSet<ReleaseNumber> = fields.json(ROLLED_BACK)?.unwrap_or_default();
        for release in fields.releases()? {
            if release.number > to && Some(release.number) <= from {
                behind.insert(release.number);
            }
        }
        behind.remove(&to);
        let mut change = Change::from(&fields, &[SERVED, ROLLED_BACK, &release_name]);
        change.set(SERVED, to.to_string());
        change.set_json(ROLLED_BACK, &behind)?;
        if backend.apply(&change).await? {
            return Ok(());
        }
    }
}

pub(super) async fn served(backend: &dyn Backend) -> Result<Option<ReleaseNumber>> {
    let fields = backend.fields(&[SERVED]).await?;
    Ok(fields.number(SERVED)?.map(ReleaseNumber))
}

pub(super) async fn rolled_back(backend: &dyn Backend) -> Result<Vec<ReleaseNumber>> {
    let fields = backend.fields(&[ROLLED_BACK]).await?;
    Ok(fields.json(ROLLED_BACK)?.unwrap_or_default())
}

pub(super) async fn release(backend: &dyn Backend, number: ReleaseNumber) -> Result<Release> {
    let name = release_field(number);
    let fields = backend.fields(&[&name, FORMAT]).await?;
    fields.check_format()?;
    fields.json(&name)?.ok_or_else(|| unknown(number))
}

/// Forgets a release, then removes what only it read. Nothing of it is removed before it is forgotten.
pub(super) async fn drop_release(backend: &dyn Backend, number: ReleaseNumber) -> Result<()> {
    while !forget(backend, number).await? {}
    for view in backend.all().await?.views()? {
        sweep(backend, &view).await?;
    }
    Ok(())
}

/// Whether it is forgotten; not if somebody changed what that depends on.
async fn forget(backend: &dyn Backend, number: ReleaseNumber) -> Result<bool> {
    let fields = backend.all().await?;
    fields.check_format()?;
    if fields.number(SERVED)? == Some(number.0) {
        let message = format!("release `{number}` is served");
        return Err(Error::new(ErrorKind::Conflict, message));
    }
    let releases = fields.releases()?;
    let Some(dropped) = releases.iter().find(|release| release.number == number) else {
        return Ok(true);
    };
    let name = release_field(number);
    let mut change = Change::from(&fields, &[SERVED, ROLLED_BACK, REGISTERED, &name]);
    for view in &dropped.views {
        let field = view_field(&view.view);
        let named: BTreeSet<_> = releases
            .iter()
            .filter(|release| release.number != number)
            .flat_map(|release| &release.views)
            .filter(|named| named.view == view.view)
            .map(|named| named.snapshot)
            .collect();
        let mut record: ViewRecord = fields.json(&field)?.unwrap_or_default();
        // A snapshot that no release came to name, and that is older than one that was, is of a night that died.
        let unnamed = record.kept_ids().into_iter().filter(|kept| {
            *kept == view.snapshot || named.last().is_some_and(|newest| kept < newest)
        });
        for snapshot in unnamed
            .filter(|kept| !named.contains(kept))
            .collect::<Vec<_>>()
        {
            record.drop_snapshot(snapshot);
        }
        change.depends_on(&fields, &field);
        change.set_json(&field, &record)?;
    }
    let mut behind: BTreeSet<ReleaseNumber> = fields.json(ROLLED_BACK)?.unwrap_or_default();
    behind.remove(&number);
    change.set_json(ROLLED_BACK, &behind)?;
    change.remove(&name);
    change.mark(number, false);
    backend.apply(&change).await
}

fn unknown(number: ReleaseNumber) -> Error {
    Error::new(
        ErrorKind::NotFound,
        format!(
            "release `{number}` is not in the online store: `nightfill release list` shows those that are"
        ),
    )
}
