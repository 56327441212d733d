//! `nightfill training-set`: what was known of each entity at each instant, for training.

use std::path::PathBuf;

use feature_defs::name::Name;
use feature_defs::time::{Clock, SystemClock};
use pipelines::training_set::{AS_OF, TrainingSetRequest, build};

use crate::args::{Format, Global};
use crate::output;
use crate::progress::Shown;
use crate::project::Opened;
use crate::verbs::run::{self, Engine};

/// Enriches an entity frame with the features of a service, each row as it was known at the row's own as-of: nothing
/// later leaks in. Keeps the frame's rows, their order and all its columns; adds a column a feature, `view.feature`.
///
/// A view of SQL is computed as of each different as-of of the frame, a query each: rows that look from the same nights
/// cost little, rows that each look from an instant of their own cost a query a row.
///
/// A manifest beside it (`NAME.parquet.manifest.json`) says from which definitions and files it was made, its null rates, and
/// its hash, so that it can be built again and compared.
///
/// The frame has a column for each key part, one with the as-of of each row, and the fields that request views read.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  nightfill training-set --service churn_v1 --entities frame.parquet -o training.parquet"
)]
pub(crate) struct TrainingSet {
    /// The feature service
    #[arg(long, value_name = "NAME", value_parser = Name::parse)]
    service: Name,
    /// The entity frame: Parquet, CSV, or Arrow's IPC format (`.arrow` and `.feather` files, `.arrows` streams)
    #[arg(long, value_name = "FILE")]
    entities: PathBuf,
    /// The frame's column with the as-of of each row
    #[arg(long, value_name = "COLUMN", default_value = AS_OF)]
    as_of_column: String,
    /// Where the training set is written: as Parquet (`NAME.parquet`, `NAME.pq`, or a name without an ending), or in
    /// Arrow's IPC format (`NAME.arrow` or `NAME.feather` as a file, `NAME.arrows` as a stream)
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    engine: Engine,
}

impl TrainingSet {
    pub(crate) async fn run(self, global: &Global) -> anyhow::Result<()> {
        let opened = Opened::open(global).await?;
        let applied = opened.applied().await?;
        let definitions = applied.definitions;
        let session = run::session(&self.engine)?;
        let request = TrainingSetRequest {
            service: self.service,
            entities: self.entities,
            as_of: self.as_of_column,
            definitions_version: applied.version,
            now: SystemClock.now(),
            output: self.output,
        };
        let shown = Shown::new();
        let report = build(&session, &definitions, &request, &shown).await?;
        drop(shown);
        if report.null_keys > 0 {
            output::note(format_args!(
                "{} without a key: their stored features are null",
                output::counted(report.null_keys, "row")
            ));
        }
        for lacking in &report.unavailable {
            output::note(format_args!(
                "`{}` has no value in {}, null there; first in row {}: {}",
                lacking.feature,
                output::counted(lacking.rows, "row"),
                lacking.first_row,
                lacking.message
            ));
        }
        match global.format {
            Format::Json => output::json(&report),
            Format::Text => output::line(format_args!(
                "wrote {}: {}, {}, {:.1} s",
                request.output.display(),
                output::counted(report.rows, "row"),
                output::counted(report.features.len(), "feature"),
                report.seconds
            )),
        }
    }
}
