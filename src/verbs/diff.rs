//! `nightfill diff`: what is different between two versions of the definitions.

use anyhow::{anyhow, bail};
use feature_defs::difference::Difference;
use serde_json::json;

use crate::args::{Format, Global};
use crate::changes;
use crate::numbers;
use crate::output;
use crate::project::{Applied, NONE_APPLIED, Opened};

/// Shows what is different between two applied versions of the definitions, object by object. `nightfill plan` compares
/// the files with what is applied.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  nightfill diff            the last apply\n  nightfill diff 3          from version 3 to the newest\n  nightfill diff 3 5"
)]
pub(crate) struct Diff {
    /// The earlier version [default: the one before the newest]
    #[arg(value_parser = numbers::version)]
    from: Option<u64>,
    /// The later version [default: the newest]
    #[arg(value_parser = numbers::version)]
    to: Option<u64>,
}

impl Diff {
    pub(crate) async fn run(self, global: &Global) -> anyhow::Result<()> {
        let opened = Opened::open(global).await?;
        let after = version(&opened, self.to).await?;
        let before = match self.from.unwrap_or(after.version - 1) {
            0 => None,
            from => Some(version(&opened, Some(from)).await?),
        };
        let from = before.as_ref().map_or(0, |before| before.version);
        let definitions = before.as_ref().map(|before| &before.definitions);
        let difference = Difference::between(definitions, &after.definitions);
        if global.format == Format::Json {
            return output::json(&json!({
                "from": from,
                "to": after.version,
                "difference": difference,
            }));
        }
        if difference.is_empty() {
            return output::line(format_args!(
                "versions {from} and {} say the same",
                after.version
            ));
        }
        output::line(format_args!("version {from} -> version {}", after.version))?;
        output::line(changes::objects(&difference))
    }
}

async fn version(opened: &Opened, number: Option<u64>) -> anyhow::Result<Applied> {
    if let Some(found) = opened.registry.definitions(number).await? {
        return opened.read(found);
    }
    match number {
        Some(number) => {
            bail!("there is no version {number} of the definitions: `nightfill log` lists them")
        }
        None => Err(anyhow!(NONE_APPLIED)),
    }
}
