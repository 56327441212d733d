//! Whole-product tests: the binary and the crates together, on real purchases.

mod brute_force;
mod cases;
mod cli;
mod crash;
mod delta;
mod determinism;
mod duckdb_oracle;
mod environments;
mod event_sources;
mod feature_names;
mod flip;
mod harness;
mod journey;
mod layering;
mod long_chains;
mod parity;
mod redis;
mod registries;
mod request_fields;
mod rfm_oracle;
mod roots;
mod tables;
mod types;
mod view_reads;
