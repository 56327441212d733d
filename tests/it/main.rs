//! Whole-product tests: the binary and the crates together, on real purchases.

mod layering;
