//! Ensembles of decision trees: as they were trained ([`Ensemble`]), and on integer bins ([`Quantized`]).
//!
//! The first is the plain reference; the second gives the same bits and is what bundles hold and kernels read.

mod category;
mod ensemble;
mod quantize;
mod rows;
mod shape;

pub(crate) mod columns;

pub use category::CategorySet;
pub use ensemble::{Child, Ensemble, Missing, Objective, Rule, Split, Tree, ZERO_RADIUS};
pub use quantize::{Column, QuantizeError, Quantized, QuantizedSplit, QuantizedTree};
pub use rows::verification_rows;
pub use shape::ShapeError;

pub(crate) use quantize::LIMITS;
