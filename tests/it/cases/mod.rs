//! Bug reports of other feature stores, as tests from outside; each names its case.

mod definitions;
mod keys;
mod models;
mod point_in_time;
mod serving;
mod types;
mod windows;
