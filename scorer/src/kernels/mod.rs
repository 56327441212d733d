//! What evaluates a [`Quantized`] ensemble: [`Scalar`], the tiny reference, and the faster ones that must equal it.
//!
//! ```text
//!   row of f64 --bin once--> columns (u8 or u16) --every tree: column <= bin--> leaves --add in tree order--> raw score
//! ```

mod interleaved;
mod scalar;

#[cfg(test)]
mod tests;

pub use interleaved::Interleaved;
pub use scalar::Scalar;

use crate::Scorer;
use crate::trees::Quantized;

/// The fastest kernel for an ensemble on this machine.
#[must_use]
pub fn fastest(quantized: &Quantized) -> impl Scorer + use<> {
    Interleaved::new(quantized)
}

/// Checks the lengths of a call to [`Scorer::score`].
fn assert_lengths(rows: &[f64], scores: &[f64], width: usize) {
    assert!(
        rows.len() == scores.len() * width,
        "{} values are not {} rows of {width}",
        rows.len(),
        scores.len()
    );
}
