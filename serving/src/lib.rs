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
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//!
//! let definitions = feature_defs::parse::load("shop".as_ref())?;
//! let project = &definitions.project;
//! let components = serving::Components {
//!     registry: store::open::registry(project).await?,
//!     online: store::open::online(project)?,
//!     clock: Arc::new(feature_defs::time::SystemClock),
//!     root: project.root.clone(),
//! };
//! let signals = serving::shutdown::Signals::listen()?;
//! let server = serving::start(serving::ServerSettings::default(), components).await?;
//! signals.wait().await;
//! server.shut_down().await;
//! # Ok(())
//! # }
//! ```

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
#[cfg(test)]
mod testing;

pub use config::{Limits, ServerSettings};
pub use predict::{Answered, Predictor};
pub use server::Server;
pub use startup::{Components, open_predictor, start};
