//! What an import found: sizes, and the proof that nothing was lost.

use std::fmt;

use feature_defs::fingerprint::Fingerprint;

use crate::Scorer;
use crate::bundle::BundleError;
use crate::trees::{Ensemble, Quantized, verification_rows};

/// Rows that an import scores with the model as it was trained and with its quantised form.
const VERIFIED_ROWS: usize = 512;

/// Bytes of a split on f64 thresholds: threshold, feature, two children, decision type.
const PLAIN_SPLIT_BYTES: usize = 8 + 4 + 4 + 4 + 1;

/// What an import found.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImportReport {
    /// Inputs a row.
    pub features: usize,
    /// Inputs that some split reads.
    pub features_used: usize,
    /// Trees.
    pub trees: usize,
    /// Leaves of all trees.
    pub leaves: usize,
    /// Splits on the longest way to a leaf.
    pub depth: usize,
    /// Distinct thresholds over all features.
    pub thresholds: usize,
    /// Bins of the feature that has the most.
    pub most_bins: usize,
    /// Distinct sets of categories that splits name.
    pub category_sets: usize,
    /// Bytes of the trees on f64 thresholds.
    pub plain_bytes: usize,
    /// Bytes of the trees on bins, as a bundle holds them.
    pub quantized_bytes: usize,
    /// Rows on and beside thresholds that were scored both ways.
    pub verified_rows: usize,
    /// The greatest difference between both scores of a row. An import with any difference fails, so this is 0.
    pub max_difference: f64,
}

impl fmt::Display for ImportReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            features,
            features_used,
            trees,
            leaves,
            depth,
            thresholds,
            most_bins,
            category_sets,
            plain_bytes,
            quantized_bytes,
            verified_rows,
            max_difference,
        } = self;
        writeln!(f, "inputs        {features}, {features_used} of them used")?;
        writeln!(f, "trees         {trees}, {leaves} leaves, depth {depth}")?;
        writeln!(
            f,
            "thresholds    {thresholds}, at most {most_bins} bins a feature"
        )?;
        writeln!(f, "categories    {category_sets} sets")?;
        writeln!(
            f,
            "bytes         {plain_bytes} on f64 thresholds, {quantized_bytes} on bins"
        )?;
        write!(
            f,
            "verified      {verified_rows} rows, largest difference {max_difference}"
        )
    }
}

/// Scores the verification rows both ways. Returns the report, and the checksum that a load compares.
pub(crate) fn verify(
    ensemble: &Ensemble,
    quantized: &Quantized,
    scorer: &dyn Scorer,
) -> Result<(ImportReport, Fingerprint), BundleError> {
    let rows = verification_rows(quantized, VERIFIED_ROWS);
    let mut scores = vec![0.0; VERIFIED_ROWS];
    scorer.score(&rows, &mut scores);
    for (row, found) in scores.iter().enumerate() {
        let expected = ensemble.score(&rows[row * ensemble.width()..][..ensemble.width()]);
        if found.to_bits() != expected.to_bits() {
            return Err(BundleError::Inexact {
                row,
                found: *found,
                expected,
            });
        }
    }
    let mut used: Vec<u32> = quantized
        .columns
        .iter()
        .map(|column| column.feature())
        .collect();
    used.sort_unstable();
    used.dedup();
    let leaves = ensemble.trees.iter().map(|tree| tree.leaves.len()).sum();
    let splits: usize = ensemble.trees.iter().map(|tree| tree.splits.len()).sum();
    let depths = ensemble.trees.iter().map(|tree| tree.depth().unwrap_or(0));
    let report = ImportReport {
        features: quantized.width(),
        features_used: used.len(),
        trees: ensemble.trees.len(),
        leaves,
        depth: depths.max().unwrap_or(0),
        thresholds: quantized.edges.iter().map(Vec::len).sum(),
        most_bins: quantized
            .edges
            .iter()
            .map(|edges| edges.len() + 1)
            .max()
            .unwrap_or(0),
        category_sets: quantized.category_sets(),
        plain_bytes: splits * PLAIN_SPLIT_BYTES + leaves * size_of::<f64>(),
        quantized_bytes: crate::bundle::format::tree_bytes(quantized),
        verified_rows: VERIFIED_ROWS,
        max_difference: 0.0,
    };
    Ok((report, checksum(quantized, scorer)))
}

/// Hash of the scores of some verification rows, bit for bit. Scoring them also warms the kernel up.
pub(crate) fn checksum(quantized: &Quantized, scorer: &dyn Scorer) -> Fingerprint {
    // one row alone and a block of rows take different ways through a kernel
    const ROWS: usize = 33;
    let rows = verification_rows(quantized, ROWS);
    let mut scores = vec![0.0; ROWS];
    scorer.score(&rows, &mut scores);
    Fingerprint::of(scores.iter().map(|score| score.to_bits().to_le_bytes()))
}
