//! `nightfill plan`: what `apply` would do.

use pipelines::orphans::orphans;
use serde_json::json;

use crate::args::{Format, Global};
use crate::changes;
use crate::output;
use crate::project::{self, Opened};
use crate::verbs::{apply, drop};

/// Shows what `apply` would change, object by object, and what follows: which views the next night computes anew, what
/// is not served any more, which models read something else, and of which views snapshots are kept that these
/// definitions do not have. Changes nothing.
///
/// A change is compatible when every value that is kept or served keeps its meaning (a description, a TTL, a schedule);
/// after an incompatible one the object has another fingerprint, and its rows of before and after are never mixed.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  nightfill plan\n  nightfill apply --against 3     only if version 3 is still the newest"
)]
pub(crate) struct Plan {}

impl Plan {
    pub(crate) async fn run(self, global: &Global) -> anyhow::Result<()> {
        let definitions = project::asked_for(global)?;
        let files = Some(definitions.fingerprint);
        let opened = Opened::with(definitions.project.clone(), files).await?;
        let (version, difference) = apply::planned(&opened, &definitions).await?;
        let warnings = apply::warnings(&opened, &definitions).await?;
        let orphans = orphans(opened.offline.as_ref(), &definitions).await?;
        if global.format == Format::Json {
            return output::json(&json!({
                "against": version,
                "fingerprint": definitions.fingerprint,
                "difference": difference,
                "orphans": orphans,
                "warnings": warnings,
            }));
        }
        for warning in &warnings {
            output::note(format_args!("warning: {warning}"));
        }
        let left_behind = drop::left_behind(&orphans);
        if difference.is_empty() && version > 0 {
            left_behind.iter().try_for_each(output::line)?;
            return output::line(format_args!("nothing to do: version {version} is the same"));
        }
        output::line(changes::objects(&difference))?;
        let consequences = changes::consequences(&difference);
        for line in consequences.iter().chain(&left_behind) {
            output::line(line)?;
        }
        output::line(format_args!(
            "planned against version {version}: `nightfill apply --against {version}`"
        ))
    }
}
