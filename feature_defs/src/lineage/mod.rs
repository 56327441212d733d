//! What is made from what: sources, columns, features, services and models as one graph.
//!
//! ```text
//!   source      view                 request view              service      model
//!     column --> feature ----------> request-time feature --> service ---> model
//!                |  ^ \--------------------------------------/
//!                 \/                  ^------ request field
//!   entity ------^    (of a view that reads another one)
//! ```
//!
//! A feature is made from columns in three [`Role`]s: those that its values are computed from, those that decide which
//! rows count, and those that decide between rows of equal order. A column that stands in none of them cannot change
//! the feature. For SQL views this is derived from the plan of the text; where it reads another view, it is
//! made from that view's features, and from the columns that decide which rows that view has.
//!
//! ```
//! # use feature_defs::definitions::DefinitionFile;
//! use feature_defs::lineage::{Direction, Lineage};
//!
//! # let file = |path: &str, text: &str| DefinitionFile { path: path.to_owned(), text: text.to_owned() };
//! let shop = "
//! entities:
//!   customer: { keys: { customer_id: int64 } }
//! sources:
//!   purchases:
//!     path: data/*.parquet
//!     event_time: at
//!     columns: { customer_id: int64, at: timestamp, amount: float64 }
//! views:
//!   spend:
//!     entity: customer
//!     sql: SELECT customer_id, sum(amount) AS spend FROM purchases GROUP BY customer_id
//!     features: { spend: float64 }
//! ";
//! # let files = vec![file("nightfill.yaml", "version: 1\nproject: shop\n"), file("shop.yaml", shop)];
//! # let definitions = feature_defs::parse::parse("/srv/shop".as_ref(), files)?;
//! let lineage = Lineage::of(&definitions)?;
//! let spend = lineage.find("spend.spend")[0];
//! assert_eq!(
//!     lineage.tree(spend, Direction::Upstream),
//!     "\
//! ├─ column purchases.amount
//! ├─ rows by purchases.{customer_id, at}
//! └─ entity customer"
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod build;
mod find;
mod graph;
mod input;
mod mermaid;
mod part;
mod query;
#[cfg(test)]
mod tests;
mod tree;

pub use graph::{Direction, Edge, Kind, Lineage, LineageError, Node, NodeId, Role};
pub use part::{Document, DocumentEdge, DocumentNode, Part};
