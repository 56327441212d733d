//! `nightfill schema`: the language of definition files, for editors.

use crate::output;

/// Prints a JSON Schema of definition files, which gives completion in editors. Every key is also described for people
/// in `docs/definitions.md`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  nightfill schema > nightfill.schema.json\n\nThen, as the first line of a definition file:\n  # yaml-language-server: $schema=nightfill.schema.json"
)]
pub(crate) struct Schema {}

impl Schema {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        output::json(&feature_defs::language::schema())
    }
}
