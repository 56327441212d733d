//! Where rows live: the offline store (all snapshots), the online store (served releases) and the registry (the record);
//! and the tables of other databases that are sources.
//!
//! ```text
//!        the night                                              the day
//!   snapshots --append--> OfflineStore
//!   changed rows --begin, write, complete--> OnlineStore --read--> rows of exactly one release
//!   release --register, flip--> OnlineStore --served, release--> what to serve
//!   definitions, runs, releases, bundles, leases --> Registry
//! ```
//!
//! It is not an engine and knows no HTTP: it keeps what it is given and gives back exactly that.

#![deny(unsafe_code)]

pub mod config;
pub mod conformance;
pub mod delta;
pub mod error;
pub mod objects;
pub mod offline;
pub mod online;
pub mod open;
pub mod registry;
pub mod release;
pub mod tables;
