//! `nightfill check`: reads the definition files and reports every problem at once.

use anyhow::anyhow;
use feature_defs::definitions::Definitions;
use feature_defs::deprecation::deprecations;
use feature_defs::error::{Problem, Problems};
use feature_defs::sql::unordered_limits;
use serde_json::{Value, json};

use crate::args::{Format, Global};
use crate::output::{self, counted};
use crate::project;

/// Reads every definition file, plans every query and expression, and reports all problems with their places.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  nightfill check --project shop")]
pub(crate) struct Check {}

impl Check {
    pub(crate) async fn run(self, global: &Global) -> anyhow::Result<()> {
        match (project::asked_for(global), global.format) {
            (Ok(definitions), format) => {
                let warnings = warnings(&definitions).await;
                for warning in &warnings {
                    output::note(format_args!("warning: {warning}"));
                }
                match format {
                    Format::Text => output::line(describe(&definitions)),
                    Format::Json => output::json(&as_json(&definitions, &warnings)),
                }
            }
            (Err(error), Format::Text) => Err(error),
            (Err(error), Format::Json) => match error.downcast_ref::<Problems>() {
                Some(problems) => {
                    output::json(&json!({ "problems": problems_as_json(problems) }))?;
                    let count = counted(problems.problems.len(), "problem");
                    Err(anyhow!("{count} in the definition files"))
                }
                None => Err(error),
            },
        }
    }
}

/// What is declared, in one line.
pub(crate) fn describe(definitions: &Definitions) -> String {
    let counts = [
        (definitions.entities.len(), "entity"),
        (definitions.sources.len(), "source"),
        (definitions.views.len(), "feature view"),
        (definitions.request_views.len(), "request view"),
        (definitions.services.len(), "service"),
        (definitions.models.len(), "model"),
    ];
    let counts: Vec<String> = counts.map(|(n, noun)| counted(n, noun)).to_vec();
    format!(
        "project `{}` is fine: {} ({})",
        definitions.project.name,
        counts.join(", "),
        definitions.fingerprint.short()
    )
}

/// One line a source that cannot be read as it is declared, a use of something deprecated, and a query that takes rows
/// by no order.
async fn warnings(definitions: &Definitions) -> Vec<String> {
    let unreadable = unreadable_sources(definitions).await;
    unreadable
        .chain(deprecations(definitions))
        .chain(unordered_limits(definitions))
        .collect()
}

/// One line a source that a night could not read now. Definitions may be checked and applied without any file or
/// database.
pub(crate) async fn unreadable_sources(definitions: &Definitions) -> impl Iterator<Item = String> {
    let unreadable = pipelines::sources::unreadable(definitions)
        .await
        .into_iter();
    unreadable.map(|(source, why)| format!("source `{source}`: {why}"))
}

fn as_json(definitions: &Definitions, warnings: &[String]) -> Value {
    json!({
        "project": definitions.project.name,
        "fingerprint": definitions.fingerprint,
        "entities": definitions.entities.keys().collect::<Vec<_>>(),
        "sources": definitions.sources.keys().collect::<Vec<_>>(),
        "views": definitions.views.keys().collect::<Vec<_>>(),
        "request_views": definitions.request_views.keys().collect::<Vec<_>>(),
        "services": definitions.services.keys().collect::<Vec<_>>(),
        "models": definitions.models.keys().collect::<Vec<_>>(),
        "problems": [],
        "warnings": warnings,
    })
}

fn problems_as_json(problems: &Problems) -> Vec<Value> {
    let one = |problem: &Problem| {
        let (line, column) = problems.place(problem);
        json!({
            "message": problem.message,
            "file": problem.span.file,
            "line": line,
            "column": column,
            "label": problem.label,
            "help": problem.help,
        })
    };
    problems.problems.iter().map(one).collect()
}
