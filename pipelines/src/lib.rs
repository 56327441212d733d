//! The night: sources are cut at as-of, computed into snapshots, and published as one release.
//!
//! ```text
//!   sources --scan (cut at as-of)--> sql | windows | latest --> snapshot --> offline store
//!                                     ^ other views' rows <--------+
//!                                         rows, staged, verified --+--> release --flip--> served
//! ```
//!
//! It is not a scheduler of machines and serves nobody: it writes snapshots and releases, and it answers entity frames
//! with training sets by the same code.

mod aggregate;
mod applied;
pub mod bundles;
mod column;
pub mod error;
mod exact_cast;
pub mod gates;
mod keyed;
mod keys;
mod latest;
pub mod lease;
mod nested;
pub mod orphans;
mod point_in_time;
pub mod progress;
mod publish;
pub mod run;
mod scan;
pub mod schedule;
pub mod session;
pub mod snapshot;
pub mod sources;
mod sql;
#[cfg(test)]
mod testing;
pub mod training_set;
mod view_rows;
mod windows;
