//! Releases over rows that carry their versions ([`super::versions`]), on any server that keeps small records and rows:
//! a release costs what changed.
//!
//! ```text
//! night   begin: the snapshot before is void if it was never completed, and what it wrote goes
//!         write: each row is compared by hash with the newest state; what changed is listed, then written
//!         complete: keys that did not come vanish; counts, checksum and a sample are verified; one small write
//!         register, flip: one small write each, if nothing that they depend on has changed
//! day     read: the release's mark and all rows; of each, the newest version that the release sees
//! drop    the mark goes first; then versions that no kept release sees, by the lists of changed keys
//! ```
//!
//! - Nothing is copied: a night writes the rows that changed, and a flip or rollback one number.
//! - History is one line. A snapshot is compared with the newest complete one, served or not, and a publisher that was
//!   taken for dead and wakes up writes versions that count for nobody.
//! - A release's mark goes before any version does. So a server that lost its data, or a release that was dropped, is an
//!   error, and never a missing row.
//! - Nothing is ever searched for: all keys are listed, before they are written.
//!
//! What a server is asked for stands in [`backend::Backend`].

pub(crate) mod backend;
pub(crate) mod batch;
mod block;
pub(crate) mod error;
mod read_back;
pub(crate) mod records;
pub(crate) mod release_reader;
mod releases;
mod run_reader;
mod stage;
mod staging;
mod store;
mod sweep;
pub(crate) mod view_record;
pub(crate) mod view_rows;

pub use store::VersionedStore;
