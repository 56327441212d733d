//! Tables of PostgreSQL databases that are sources: found, described and read, never written.
//!
//! ```text
//!   DatabaseSnapshot::begin --> one transaction, REPEATABLE READ, READ ONLY
//!        columns --> names and types of a table
//!        read ----> record batches of the columns and rows that are asked for, as they come
//! ```
//!
//! All that one snapshot reads is of one instant, whatever is written meanwhile. Rows come in no order.

mod column;
mod column_type;
mod fault;
mod numeric;
mod snapshot;
mod statement;
#[cfg(test)]
mod tests;

pub use column_type::{ColumnType, FoundColumn};
pub use snapshot::DatabaseSnapshot;
pub use statement::{ReadColumn, TableRead, TimeBound};
