//! Bug reports of other feature stores, as tests from outside; each names its case.

mod definitions;
mod keys;
mod materialization;
mod models;
mod point_in_time;
mod registry;
mod request_time;
mod serving;
mod sql;
mod types;
mod windows;
