//! `nightfill migrate`: the registry's schema, up to date.

use serde_json::json;

use crate::args::{Format, Global};
use crate::output;
use crate::project;

/// Brings the registry's schema up to what this binary works with. Nothing else does that to a registry that holds
/// definitions: every verb refuses an older schema, and a newer one. Nothing of what is recorded is lost. Older binaries
/// refuse the registry afterwards, so stop or replace them first.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  nightfill migrate --env prod")]
pub(crate) struct Migrate {}

impl Migrate {
    pub(crate) async fn run(self, global: &Global) -> anyhow::Result<()> {
        let project = project::placed(global)?;
        let change = store::open::migrate_registry(&project).await?;
        let registry = &project.places.registry;
        if global.format == Format::Json {
            return output::json(&json!({
                "registry": registry.to_string(),
                "from": change.from,
                "to": change.to,
            }));
        }
        let (from, to) = (change.from, change.to);
        if from == to {
            output::line(format_args!(
                "nothing to do: the schema of `{registry}` has version {to}"
            ))
        } else {
            output::line(format_args!(
                "the schema of `{registry}` went from version {from} to {to}"
            ))
        }
    }
}
