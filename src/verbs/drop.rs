//! `nightfill drop`: takes away the snapshots of a view that is no longer defined.

use std::sync::Arc;

use feature_defs::name::Name;
use feature_defs::time::{SystemClock, TimeSpan};
use pipelines::orphans::{CleanUp, DropRequest, Orphan, drop_view, orphans, would_drop};
use serde_json::json;
use store::offline::KeptSnapshots;

use crate::args::{Format, Global};
use crate::output::{self, counted, size, table};
use crate::progress::Shown;
use crate::project::Opened;
use crate::verbs::run::{self, LEASE, lease};

/// Takes away all offline snapshots of a view that the applied definitions and the served release do not have. Without a
/// view it lists those of which snapshots are kept.
///
/// Taking a view out of the definitions takes none of its history away; this does, and nothing brings it back but the
/// sources. Releases keep their own copy of what they serve, so every one of them can still be rolled back to. No night
/// runs meanwhile; one that is cut off is finished by the same call again.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  nightfill drop                          what could go\n  nightfill drop customer_ltv --dry-run\n  nightfill drop customer_ltv"
)]
pub(crate) struct Drop {
    /// The view whose snapshots go [default: list those that could]
    #[arg(value_parser = Name::parse)]
    view: Option<Name>,
    /// Only say what would go
    #[arg(long, requires = "view")]
    dry_run: bool,
    /// How long a night or a clean-up that died keeps this one waiting
    #[arg(long, value_name = "SPAN", default_value_t = LEASE, value_parser = lease)]
    lease: TimeSpan,
}

impl Drop {
    pub(crate) async fn run(self, global: &Global) -> anyhow::Result<()> {
        let opened = Opened::open(global).await?;
        let Some(view) = self.view else {
            return list(&opened, global.format).await;
        };
        let clean_up = CleanUp {
            registry: Arc::clone(&opened.registry),
            offline: Arc::clone(&opened.offline),
            online: Arc::clone(&opened.online),
            clock: Arc::new(SystemClock),
        };
        let request = DropRequest {
            view,
            root: opened.project.root.clone(),
            holder: run::holder(),
            lease_length: self.lease,
        };
        let freed = match self.dry_run {
            true => would_drop(&clean_up, &request).await?,
            false => drop_view(&clean_up, &request, &Shown::new()).await?,
        };
        match global.format {
            Format::Json => output::json(&json!({
                "view": request.view,
                "dropped": !self.dry_run,
                "snapshots": freed.snapshots,
                "bytes": freed.bytes,
            })),
            Format::Text => output::line(told(&request.view, freed, self.dry_run)),
        }
    }
}

fn told(view: &Name, freed: KeptSnapshots, dry_run: bool) -> String {
    if freed == KeptSnapshots::default() {
        return format!(
            "nothing is kept of `{view}`: `nightfill drop` lists what is kept of other views"
        );
    }
    let what = described(freed);
    match dry_run {
        true => format!("would drop `{view}`: {what}"),
        false => format!("dropped `{view}`: {what}"),
    }
}

/// `3 snapshots, 12.4 KiB`
fn described(kept: KeptSnapshots) -> String {
    let snapshots = counted(kept.snapshots, "snapshot");
    format!("{snapshots}, {}", size(kept.bytes))
}

async fn list(opened: &Opened, format: Format) -> anyhow::Result<()> {
    let applied = opened.applied().await?;
    let orphans = orphans(opened.offline.as_ref(), &applied.definitions).await?;
    if format == Format::Json {
        return output::json(&json!({ "orphans": orphans }));
    }
    if orphans.is_empty() {
        return output::line("nothing to drop: snapshots are kept of applied views only");
    }
    let rows: Vec<Vec<String>> = orphans.iter().map(row).collect();
    output::line(table(&["view", "snapshots", "size"], &[1, 2], &rows))
}

fn row(orphan: &Orphan) -> Vec<String> {
    let kept = orphan.kept;
    vec![
        orphan.view.to_string(),
        kept.snapshots.to_string(),
        size(kept.bytes),
    ]
}

/// One line a view of which snapshots are kept and which definitions do not have.
pub(crate) fn left_behind(orphans: &[Orphan]) -> Vec<String> {
    let orphans = orphans.iter();
    orphans
        .map(|orphan| {
            let (view, kept) = (&orphan.view, described(orphan.kept));
            format!(
                "kept although `{view}` is gone: {kept}; `nightfill drop {view}` takes them away"
            )
        })
        .collect()
}
