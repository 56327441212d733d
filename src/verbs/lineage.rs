//! `nightfill lineage`: what is made from what.

use anyhow::anyhow;
use feature_defs::lineage::{Direction, Lineage as Graph, NodeId};
use serde_json::json;

use crate::args::{Format, Global};
use crate::output;
use crate::project::{self, Opened};

/// More arrows than this GitHub does not draw.
const ARROWS_ON_GITHUB: usize = 500;

/// Shows what an object, a column or a feature is made from, and what is made from it: sources, columns, features,
/// services, models. For SQL views it is derived from the query.
///
/// A feature stands below the columns that its values are computed from. `rows by` are those that decide which rows
/// count (filters, join conditions, keys, times), `ties by` those that decide between rows of equal order. A column that
/// is in none of these cannot change the feature.
///
/// With `--format json` it is one document: `found` (ids of what has the name), `nodes` (`id`, which is `kind:name`,
/// `kind`, `name`, and `of`, the id of the object that it is a member of), and `edges` (`from`, `to`, and a `role`: `value`,
/// `rows`, `ties`, or `key` for an entity).
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  nightfill lineage customer_spend.spend_7d\n  nightfill lineage purchases --downstream\n  nightfill lineage model:churn --upstream --mermaid > churn.mmd"
)]
pub(crate) struct Lineage {
    /// A source, a view, a service, a model, an entity or a request field by its name, or a column or a feature as
    /// `purchases.amount`. `kind:name` tells apart what has one name: `model:churn`, `feature_service:churn`
    name: String,
    /// Only what it is made from
    #[arg(long, conflicts_with = "downstream")]
    upstream: bool,
    /// Only what is made from it
    #[arg(long)]
    downstream: bool,
    /// Write a Mermaid flowchart, as Markdown files on GitHub show it in a `mermaid` block
    #[arg(long)]
    mermaid: bool,
    /// Of the definitions that are applied, and not of the files
    #[arg(long)]
    applied: bool,
}

impl Lineage {
    pub(crate) async fn run(self, global: &Global) -> anyhow::Result<()> {
        let definitions = match self.applied {
            true => Opened::open(global).await?.applied().await?.definitions,
            false => project::asked_for(global)?,
        };
        let graph = Graph::of(&definitions)?;
        let found = graph.find(&self.name);
        if found.is_empty() {
            return Err(self.unknown(&graph));
        }
        let directions = self.directions();
        if self.mermaid {
            let part = graph.around(&found, directions);
            let drawn = graph.mermaid(&part);
            let arrows = drawn.matches(">\u{20}").count();
            if arrows > ARROWS_ON_GITHUB {
                output::note(format_args!(
                    "note: GitHub draws {ARROWS_ON_GITHUB} arrows at most, and these are {arrows}: ask for a part of it"
                ));
            }
            return match global.format {
                Format::Json => output::json(&json!({ "mermaid": drawn })),
                Format::Text => output::line(drawn.trim_end()),
            };
        }
        if global.format == Format::Json {
            let part = graph.around(&found, directions);
            return output::json(&graph.document(&part));
        }
        for (place, id) in found.iter().enumerate() {
            if place > 0 {
                output::line("")?;
            }
            output::line(described(&graph, *id, directions))?;
        }
        Ok(())
    }

    fn directions(&self) -> &'static [Direction] {
        match (self.upstream, self.downstream) {
            (true, _) => &[Direction::Upstream],
            (_, true) => &[Direction::Downstream],
            _ => &[Direction::Upstream, Direction::Downstream],
        }
    }

    fn unknown(&self, graph: &Graph) -> anyhow::Error {
        let name = &self.name;
        if let Some(near) = graph.nearest(name) {
            return anyhow!("nothing is named `{name}`: did you mean `{near}`?");
        }
        let members = graph.members_of(name);
        if let Some((object, _)) = name.split_once('.').filter(|_| !members.is_empty()) {
            return anyhow!(
                "nothing is named `{name}`: `{object}` has {}",
                members.join(", ")
            );
        }
        anyhow!(
            "nothing is named `{name}`: write the name of a source, a view, a service, a model or an entity, or a column or a feature as `view.feature`"
        )
    }
}

/// A node, and trees of what lies before and after it.
fn described(graph: &Graph, id: NodeId, directions: &[Direction]) -> String {
    let mut text = graph.heading(id);
    for direction in directions {
        let heading = match direction {
            Direction::Upstream => "made from",
            Direction::Downstream => "used by",
        };
        text.push_str(&match graph.tree(id, *direction).as_str() {
            "" => format!("\n{heading}: nothing"),
            tree => format!("\n{heading}\n{tree}"),
        });
    }
    text
}
