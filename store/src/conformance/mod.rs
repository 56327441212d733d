//! The shared suites: plain async functions that every backend and every wrapper of a seam must pass. A failing
//! check panics with what was expected, as a test does.

pub mod offline;
pub mod online;
pub mod registry;
pub mod servers;
