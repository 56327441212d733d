//! Rows that a mistake in binning would show on.

use super::quantize::{Column, Quantized};

/// `count` rows, row-major: every value stands on an edge, directly beside one, on a category, or is one that
/// implementations treat apart. The same ensemble gives the same rows.
#[must_use]
pub fn verification_rows(quantized: &Quantized, count: usize) -> Vec<f64> {
    const APART: [f64; 12] = [
        f64::NAN,
        0.0,
        -0.0,
        1e-36,
        -1e-36,
        1.5e-35,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        -1.0,
        0.5,
        1e10,
    ];
    let mut codes = vec![Vec::new(); quantized.width()];
    for column in &quantized.columns {
        if let Column::Category { feature, left } = column {
            codes[*feature as usize].extend(left.codes().map(f64::from));
        }
    }
    let mut random = Random(1);
    let mut rows = Vec::with_capacity(count * quantized.width());
    for _ in 0..count {
        for (edges, codes) in quantized.edges.iter().zip(&codes) {
            let value = match random.below(4) {
                0 => APART[random.below(APART.len())],
                1 if !codes.is_empty() => codes[random.below(codes.len())] + random.below(2) as f64,
                _ if !edges.is_empty() => {
                    let edge = edges[random.below(edges.len())];
                    [edge, edge.next_up(), edge.next_down()][random.below(3)]
                }
                _ if !codes.is_empty() => codes[random.below(codes.len())],
                _ => APART[random.below(APART.len())],
            };
            rows.push(value);
        }
    }
    rows
}

/// SplitMix64 (Steele, Lea and Flood 2014), which any version of this code can repeat.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }
}
