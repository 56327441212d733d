//! What every [`Registry`] must do. Each function takes an empty registry.

use feature_defs::definitions::DefinitionFile;
use feature_defs::fingerprint::Fingerprint;
use feature_defs::name::Name;
use feature_defs::time::{Instant, TimeSpan};
use sqlx::{Connection, Executor};

use super::online::release;
use crate::error::ErrorKind;
use crate::registry::{NewBundle, NewDefinitions, NewRun, Registry, RunId, RunOutcome};
use crate::release::ReleaseNumber;

/// Runs the whole suite, each part on a registry of its own from `empty_registry`.
pub async fn all<R: Registry, F: AsyncFn() -> R>(empty_registry: F) {
    definitions_compare_and_swap(&empty_registry().await).await;
    a_registry_is_one_projects(&empty_registry().await).await;
    runs_are_recorded_once(&empty_registry().await).await;
    release_numbers_are_never_given_twice(&empty_registry().await).await;
    releases_are_never_overwritten(&empty_registry().await).await;
    bundles_are_kept_whole(&empty_registry().await).await;
    a_lease_has_one_holder(&empty_registry().await).await;
    an_old_grant_is_fenced_off(&empty_registry().await).await;
}

fn project(name: &str) -> Name {
    Name::parse(name).expect("a name")
}

/// Definitions of project `shop` whose one file holds `text`.
#[must_use]
pub fn definitions(text: &str) -> NewDefinitions {
    NewDefinitions {
        project: Some(project("shop")),
        fingerprint: Fingerprint::of([text]),
        files: vec![DefinitionFile {
            path: "features/customer.yaml".to_owned(),
            text: text.to_owned(),
        }],
        applied_at: Instant::from_micros(-7),
        applied_by: "Zoë".to_owned(),
    }
}

async fn definitions_compare_and_swap(registry: &dyn Registry) {
    assert_eq!(registry.definitions(None).await.expect("none"), None);
    let (one, two) = (definitions("one: \"é\"\n"), definitions("two"));
    assert_eq!(registry.apply(0, &one, None).await.expect("first"), 1);
    assert_eq!(registry.apply(1, &one, None).await.expect("same"), 1);
    let late = registry.apply(0, &two, None).await.expect_err("late");
    assert_eq!(late.kind(), ErrorKind::Conflict);
    assert_eq!(registry.apply(1, &two, None).await.expect("second"), 2);
    assert_eq!(registry.apply(2, &one, None).await.expect("going back"), 3);
    for (version, applied) in [
        (Some(1), &one),
        (Some(2), &two),
        (Some(3), &one),
        (None, &one),
    ] {
        let found = registry.definitions(version).await.expect("found");
        let found = found.expect("a version");
        assert_eq!(found.version, version.unwrap_or(3));
        assert_eq!(found.definitions, *applied);
    }
    assert_eq!(registry.definitions(Some(4)).await.expect("none"), None);
    let history = registry.history().await.expect("history");
    let found: Vec<_> = history.iter().map(|e| (e.version, e.fingerprint)).collect();
    let applied = [(1, &one), (2, &two), (3, &one)];
    assert_eq!(
        found,
        applied.map(|(version, applied)| (version, applied.fingerprint))
    );
    assert_eq!(
        (history[1].applied_at, history[1].applied_by.as_str()),
        (two.applied_at, "Zoë")
    );
}

async fn a_registry_is_one_projects(registry: &dyn Registry) {
    let of = |name: &str, text: &str| NewDefinitions {
        project: Some(project(name)),
        ..definitions(text)
    };
    let shop = project("shop");
    let first = of("shop", "same");
    assert_eq!(registry.apply(0, &first, None).await.expect("first"), 1);
    for (text, former) in [("other", None), ("same", None), ("other", Some("bazaar"))] {
        let former = former.map(project);
        let other = of("market", text);
        let refused = registry.apply(1, &other, former.as_ref()).await;
        let refused = refused.expect_err("another project");
        assert_eq!(refused.kind(), ErrorKind::Conflict);
        assert!(
            refused.to_string().contains("project `shop`'s"),
            "{refused}"
        );
    }
    assert_eq!(registry.history().await.expect("history").len(), 1);
    let renamed = of("market", "same");
    let version = registry.apply(1, &renamed, Some(&shop)).await;
    assert_eq!(version.expect("renamed"), 2);
    let again = registry.apply(2, &renamed, Some(&shop)).await;
    assert_eq!(again.expect("the same"), 2);
    let old = registry
        .apply(2, &first, None)
        .await
        .expect_err("the old name");
    assert_eq!(old.kind(), ErrorKind::Conflict);
    let newest = registry.definitions(None).await.expect("found");
    assert_eq!(newest.expect("a version").definitions, renamed);
    let history = registry.history().await.expect("history");
    let projects = history.into_iter().map(|entry| entry.project);
    assert!(projects.eq([Some(shop), Some(project("market"))]));
}

async fn runs_are_recorded_once(registry: &dyn Registry) {
    let mut ids = Vec::new();
    for day in 0..4 {
        let run = NewRun {
            as_of: Instant::from_micros(day),
            definitions_version: 1,
            started_at: Instant::from_micros(day + 10),
        };
        ids.push(registry.start_run(&run).await.expect("start"));
    }
    let at = Instant::from_micros(99);
    let published = RunOutcome::Published {
        release: ReleaseNumber(7),
    };
    let unchanged = RunOutcome::Unchanged {
        release: ReleaseNumber(7),
    };
    let failed = RunOutcome::Failed {
        message: "`spend` overflows".to_owned(),
    };
    registry
        .finish_run(ids[0], at, &published)
        .await
        .expect("finish");
    registry
        .finish_run(ids[0], at, &published)
        .await
        .expect("idempotent");
    registry
        .finish_run(ids[1], at, &failed)
        .await
        .expect("finish");
    registry
        .finish_run(ids[2], at, &unchanged)
        .await
        .expect("finish");
    let other = registry
        .finish_run(ids[0], at, &failed)
        .await
        .expect_err("another outcome");
    assert_eq!(other.kind(), ErrorKind::Conflict);
    let absent = registry
        .finish_run(RunId(999), at, &failed)
        .await
        .expect_err("absent");
    assert_eq!(absent.kind(), ErrorKind::NotFound);
    let runs = registry.runs(10).await.expect("runs");
    let found: Vec<RunId> = runs.iter().map(|run| run.id).collect();
    assert_eq!(found, [ids[3], ids[2], ids[1], ids[0]]);
    assert_eq!(runs[0].finished, None);
    assert_eq!(runs[1].finished, Some((at, unchanged)));
    assert_eq!(runs[2].finished, Some((at, failed)));
    assert_eq!(runs[3].finished, Some((at, published)));
    assert_eq!(runs[3].run.started_at, Instant::from_micros(10));
    assert_eq!(registry.runs(1).await.expect("runs").len(), 1);
}

async fn release_numbers_are_never_given_twice(registry: &dyn Registry) {
    for expected in 1..=3 {
        let number = registry.reserve_release_number().await.expect("a number");
        assert_eq!(number, ReleaseNumber(expected));
    }
    let recorded = release(10, Vec::new());
    registry.record_release(&recorded).await.expect("record");
    let number = registry.reserve_release_number().await.expect("a number");
    assert_eq!(number, ReleaseNumber(11));
}

async fn releases_are_never_overwritten(registry: &dyn Registry) {
    let (one, two) = (release(1, Vec::new()), release(2, Vec::new()));
    for release in [&two, &one, &two] {
        registry.record_release(release).await.expect("record");
    }
    let mut other = one.clone();
    other.definitions_version = 9;
    let taken = registry.record_release(&other).await.expect_err("taken");
    assert_eq!(taken.kind(), ErrorKind::Conflict);
    assert_eq!(registry.releases().await.expect("releases"), [one, two]);
}

async fn bundles_are_kept_whole(registry: &dyn Registry) {
    let bundle = |model: &str, bytes: &[u8], at| NewBundle {
        model: Name::parse(model).expect("a name"),
        fingerprint: Fingerprint::of([bytes]),
        bytes: bytes.to_vec(),
        imported_at: Instant::from_micros(at),
    };
    let large = vec![7; 3 << 20];
    let newer = bundle("churn", b"\0newer", 3);
    for kept in [
        &bundle("churn", &large, 2),
        &newer,
        &bundle("basket", b"", 1),
        &newer,
    ] {
        registry.put_bundle(kept).await.expect("kept");
    }
    let found = registry.bundles().await.expect("bundles");
    let found: Vec<(&str, u64, i64)> = found
        .iter()
        .map(|entry| (entry.model.as_str(), entry.size, entry.imported_at.micros()))
        .collect();
    assert_eq!(
        found,
        [("basket", 0, 1), ("churn", 3 << 20, 2), ("churn", 6, 3)]
    );
    let again = bundle("churn", &large, 4);
    registry.put_bundle(&again).await.expect("kept again");
    let newest = registry.bundles().await.expect("bundles").pop();
    let newest = newest.map(|entry| (entry.fingerprint, entry.imported_at));
    assert_eq!(newest, Some((again.fingerprint, again.imported_at)));
    let bytes = registry
        .bundle(Fingerprint::of([&large]))
        .await
        .expect("bytes");
    assert!(bytes == large, "the bundle's bytes changed");
    let absent = registry
        .bundle(Fingerprint::of(["absent"]))
        .await
        .expect_err("absent");
    assert_eq!(absent.kind(), ErrorKind::NotFound);
}

async fn a_lease_has_one_holder(registry: &dyn Registry) {
    let ten = TimeSpan::from_micros(10).expect("a span");
    let at = Instant::from_micros;
    let first = registry
        .acquire_lease("night", "one", at(100), ten)
        .await
        .expect("free");
    assert_eq!(first.until, at(110));
    let held = registry
        .acquire_lease("night", "two", at(109), ten)
        .await
        .expect_err("held");
    assert_eq!(held.kind(), ErrorKind::Conflict);
    assert!(held.to_string().contains("`one`"), "{held}");
    let other = registry
        .acquire_lease("compaction", "two", at(109), ten)
        .await;
    assert_eq!(other.expect("another lease").holder, "two");
    registry
        .renew_lease(&first, at(105), ten)
        .await
        .expect("renewed");
    let held = registry
        .acquire_lease("night", "two", at(114), ten)
        .await
        .expect_err("renewed");
    assert_eq!(held.kind(), ErrorKind::Conflict);
    let second = registry
        .acquire_lease("night", "two", at(115), ten)
        .await
        .expect("run out");
    assert!(second.fence > first.fence);
    registry.release_lease(&second).await.expect("given back");
    let third = registry
        .acquire_lease("night", "one", at(116), ten)
        .await
        .expect("free");
    assert!(third.fence > second.fence);
}

async fn an_old_grant_is_fenced_off(registry: &dyn Registry) {
    let ten = TimeSpan::from_micros(10).expect("a span");
    let at = Instant::from_micros;
    let old = registry
        .acquire_lease("night", "one", at(0), ten)
        .await
        .expect("free");
    let new = registry
        .acquire_lease("night", "one", at(10), ten)
        .await
        .expect("run out");
    let late = registry
        .renew_lease(&old, at(11), ten)
        .await
        .expect_err("fenced off");
    assert_eq!(late.kind(), ErrorKind::Conflict);
    registry.release_lease(&old).await.expect("nothing happens");
    let held = registry
        .acquire_lease("night", "two", at(12), ten)
        .await
        .expect_err("held");
    assert_eq!(held.kind(), ErrorKind::Conflict);
    registry.release_lease(&new).await.expect("given back");
    let gone = registry
        .renew_lease(&new, at(13), ten)
        .await
        .expect_err("given back");
    assert_eq!(gone.kind(), ErrorKind::Conflict);
}

/// Takes back what the second step of the schema did, as the registry of an older binary has it; `url` is its database's.
///
/// # Panics
/// When the database does not do it.
#[allow(clippy::expect_used)] // for tests
pub async fn back_to_the_first_schema(url: &str) {
    sqlx::any::install_default_drivers();
    let connected = sqlx::AnyConnection::connect(url).await;
    let mut connection = connected.expect("a database");
    for statement in [
        "ALTER TABLE definitions DROP COLUMN project",
        "DELETE FROM _sqlx_migrations WHERE version = 2",
    ] {
        connection.execute(statement).await.expect("done");
    }
    connection.close().await.expect("closed");
}
