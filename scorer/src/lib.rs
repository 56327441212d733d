//! What turns a row of features into a score: bundles, and the kernels that evaluate them.
//!
//! ```text
//!   LightGBM text --import--> Ensemble --quantize--> Bundle (bytes, hashed) --load, check--> Scorer --score--> raw scores
//! ```
//!
//! Pure CPU: no async, no I/O beyond the bytes of a bundle.
//!
//! ```
//! let text = include_str!("../tests/data/tiny.txt");
//! let ensemble = scorer::import::lightgbm::read(text)?;
//! let quantized = scorer::trees::Quantized::new(&ensemble)?;
//! let scorer = scorer::kernels::fastest(&quantized);
//!
//! let row = [0.5, f64::NAN];
//! let mut scores = [0.0];
//! scorer::Scorer::score(&scorer, &row, &mut scores);
//! assert_eq!(scores[0].to_bits(), ensemble.score(&row).to_bits());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

use std::fmt;

pub mod bundle;
pub mod import;
pub mod input;
pub mod kernels;
pub mod report;
pub mod trees;

/// Scores rows. Pure: the same row gives the same bits, whatever rows stand beside it.
///
/// An implementation MUST read `rows` as row-major f64, `width()` values a row, and write one raw score a row (before
/// the model's transform); NaN is a missing value.
pub trait Scorer: Send + Sync + fmt::Debug {
    /// Number of inputs a row.
    fn width(&self) -> usize;

    /// Scores `scores.len()` rows.
    ///
    /// # Panics
    /// When `rows.len() != scores.len() * self.width()`.
    fn score(&self, rows: &[f64], scores: &mut [f64]);
}
