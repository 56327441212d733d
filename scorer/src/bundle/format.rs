//! The bytes of a bundle. The outer frame is drawn in [`crate::bundle`]; the ensemble, all numbers little-endian:
//!
//! ```text
//!   average: u8 (0 or 1)
//!   features: u32, then for each:   edges: u32, then that many f64, ascending
//!   columns: u32, then for each:    kind: u8 (0 nan as zero, 1 nan left, 2 nan right, 3 zero left, 4 zero right, 5 categories)
//!                                   feature: u32
//!                                   categories only: words: u32, then that many u32
//!   trees: u32, then for each:      splits: u32, then for each:  column: u16, bin: u16, left: i32, right: i32
//!                                   then splits + 1 leaf values: f64
//!   child: a split's number from 0 up, or the complement of a leaf's
//! ```

use super::BundleError;
use super::manifest::Manifest;
use crate::trees::{CategorySet, Child, Column, Missing, Quantized, QuantizedSplit, QuantizedTree};

/// The first bytes of a bundle.
pub const MAGIC: [u8; 8] = *b"nfbundle";
/// The version that is written and read.
pub const VERSION: u32 = 1;

const HASH_BYTES: usize = 32;
const SPLIT_BYTES: usize = 12;
const MISSING: [Missing; 5] = [
    Missing::AsZero,
    Missing::NanLeft,
    Missing::NanRight,
    Missing::ZeroLeft,
    Missing::ZeroRight,
];
const CATEGORIES: u8 = MISSING.len() as u8;

/// Bytes of the trees, without edges and columns.
pub(crate) fn tree_bytes(quantized: &Quantized) -> usize {
    let trees = quantized.trees.iter();
    trees
        .map(|tree| tree.splits.len() * SPLIT_BYTES + tree.leaves.len() * size_of::<f64>())
        .sum()
}

pub(super) fn write(manifest: &Manifest, quantized: &Quantized) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&VERSION.to_le_bytes());
    let json = manifest.to_json();
    write_count(&mut out, json.len());
    out.extend_from_slice(&json);
    write_ensemble(&mut out, quantized);
    let hash = blake3::hash(&out);
    out.extend_from_slice(hash.as_bytes());
    out
}

pub(super) fn read(bytes: &[u8]) -> Result<(Manifest, Quantized), BundleError> {
    let Some((content, hash)) = bytes.split_last_chunk::<HASH_BYTES>() else {
        return Err(corrupt("too short"));
    };
    let mut reader = Reader { rest: content };
    if reader.take(MAGIC.len())? != MAGIC {
        return Err(corrupt("it does not start with `nfbundle`"));
    }
    let version = reader.u32()?;
    if version != VERSION {
        return Err(BundleError::Version {
            found: version,
            supported: VERSION,
        });
    }
    if blake3::hash(content).as_bytes() != hash {
        return Err(corrupt("its hash does not match its bytes"));
    }
    let length = reader.count(1)?;
    let manifest = Manifest::from_json(reader.take(length)?)
        .map_err(|error| corrupt(format!("its manifest does not read: {error}")))?;
    let quantized = read_ensemble(&mut reader)?;
    if reader.rest.is_empty() {
        Ok((manifest, quantized))
    } else {
        Err(corrupt(format!("{} bytes too many", reader.rest.len())))
    }
}

fn write_ensemble(out: &mut Vec<u8>, quantized: &Quantized) {
    out.push(u8::from(quantized.average));
    write_count(out, quantized.edges.len());
    for edges in &quantized.edges {
        write_count(out, edges.len());
        out.extend(edges.iter().flat_map(|edge| edge.to_le_bytes()));
    }
    write_count(out, quantized.columns.len());
    for column in &quantized.columns {
        match column {
            Column::Number { feature, missing } => {
                let kind = MISSING.iter().position(|kind| kind == missing).unwrap_or(0);
                out.push(kind as u8);
                out.extend_from_slice(&feature.to_le_bytes());
            }
            Column::Category { feature, left } => {
                out.push(CATEGORIES);
                out.extend_from_slice(&feature.to_le_bytes());
                write_count(out, left.words().len());
                out.extend(left.words().iter().flat_map(|word| word.to_le_bytes()));
            }
        }
    }
    write_count(out, quantized.trees.len());
    for tree in &quantized.trees {
        write_count(out, tree.splits.len());
        for split in &tree.splits {
            out.extend_from_slice(&split.column.to_le_bytes());
            out.extend_from_slice(&split.bin.to_le_bytes());
            out.extend_from_slice(&write_child(split.left).to_le_bytes());
            out.extend_from_slice(&write_child(split.right).to_le_bytes());
        }
        out.extend(tree.leaves.iter().flat_map(|leaf| leaf.to_le_bytes()));
    }
}

fn read_ensemble(reader: &mut Reader<'_>) -> Result<Quantized, BundleError> {
    let average = match reader.u8()? {
        0 => false,
        1 => true,
        other => return Err(corrupt(format!("{other} is neither 0 nor 1"))),
    };
    let mut edges = Vec::new();
    for _ in 0..reader.count(size_of::<u32>())? {
        let count = reader.count(size_of::<f64>())?;
        edges.push(reader.f64s(count)?);
    }
    let mut columns = Vec::new();
    for _ in 0..reader.count(1 + size_of::<u32>())? {
        columns.push(read_column(reader)?);
    }
    let mut trees = Vec::new();
    for _ in 0..reader.count(size_of::<u32>() + size_of::<f64>())? {
        let count = reader.count(SPLIT_BYTES)?;
        let mut splits = Vec::with_capacity(count);
        for _ in 0..count {
            splits.push(QuantizedSplit {
                column: u16::from_le_bytes(reader.array()?),
                bin: u16::from_le_bytes(reader.array()?),
                left: read_child(i32::from_le_bytes(reader.array()?)),
                right: read_child(i32::from_le_bytes(reader.array()?)),
            });
        }
        let leaves = reader.f64s(count + 1)?;
        trees.push(QuantizedTree { splits, leaves });
    }
    Ok(Quantized {
        edges,
        columns,
        trees,
        average,
    })
}

fn read_column(reader: &mut Reader<'_>) -> Result<Column, BundleError> {
    let kind = reader.u8()?;
    let feature = reader.u32()?;
    if let Some(missing) = MISSING.get(usize::from(kind)) {
        let missing = *missing;
        return Ok(Column::Number { feature, missing });
    }
    if kind != CATEGORIES {
        return Err(corrupt(format!("{kind} is not a kind of column")));
    }
    let count = reader.count(size_of::<u32>())?;
    let mut words = Vec::with_capacity(count);
    for _ in 0..count {
        words.push(reader.u32()?);
    }
    let left = CategorySet::from_words(&words);
    Ok(Column::Category { feature, left })
}

fn write_child(child: Child) -> i32 {
    match child {
        Child::Split(at) => at as i32,
        Child::Leaf(at) => !(at as i32),
    }
}

fn read_child(number: i32) -> Child {
    if number >= 0 {
        Child::Split(number as u32)
    } else {
        Child::Leaf(!number as u32)
    }
}

/// Counts in an ensemble are at most 2^27, by the limits that it was checked against.
fn write_count(out: &mut Vec<u8>, count: usize) {
    let count = u32::try_from(count).expect("limits keep counts within 32 bits");
    out.extend_from_slice(&count.to_le_bytes());
}

fn corrupt(message: impl Into<String>) -> BundleError {
    BundleError::Corrupt(message.into())
}

/// Reads numbers off the front; running out of bytes is an error.
struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], BundleError> {
        let (taken, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or_else(|| corrupt("it ends too early"))?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], BundleError> {
        let (taken, rest) = self
            .rest
            .split_first_chunk()
            .ok_or_else(|| corrupt("it ends too early"))?;
        self.rest = rest;
        Ok(*taken)
    }

    fn u8(&mut self) -> Result<u8, BundleError> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn u32(&mut self) -> Result<u32, BundleError> {
        self.array().map(u32::from_le_bytes)
    }

    /// A count of things that take at least `size` bytes each: never more than the rest can hold.
    fn count(&mut self, size: usize) -> Result<usize, BundleError> {
        let count = self.u32()? as usize;
        if count <= self.rest.len() / size {
            Ok(count)
        } else {
            Err(corrupt(format!(
                "it announces {count} things of {size} bytes where {} bytes are left",
                self.rest.len()
            )))
        }
    }

    fn f64s(&mut self, count: usize) -> Result<Vec<f64>, BundleError> {
        let bytes = self.take(count * size_of::<f64>())?;
        let (chunks, _) = bytes.as_chunks();
        Ok(chunks
            .iter()
            .map(|chunk| f64::from_le_bytes(*chunk))
            .collect())
    }
}
