//! The day: answers requests from the served release, over HTTP or in process.
//!
//! ```text
//!                        registry: definitions, bundles      online store: served release, rows
//!                                  |                                  |
//!                          release_watch: load whole, check, warm up, swap
//!                                  |
//!  app, routes, limits  ->  predict: parse -> fetch -> request-time features -> assemble -> score -> respond
//! ```
//!
//! It is not the night: it computes no snapshot, changes no store, and knows no engine. A request is answered from
//! exactly one release, with the state of every value and the time of every step.

pub mod app;
pub mod config;
pub mod error;
mod limits;
pub mod metrics;
mod openapi;
pub mod predict;
pub mod release_watch;
mod routes;
pub mod server;
pub mod shutdown;
pub mod startup;
mod suggest;
#[cfg(test)]
mod testing;

pub use config::{Limits, ServerSettings};
pub use predict::{Answered, Predictor};
pub use server::Server;
pub use startup::{Components, open_predictor, start};
