//! Partial sums as bytes, as they travel between operators: the count of their values (8 bytes) and their total, 32 bytes
//! for integers and decimals, [`ExactSum::append_to`] for floats.

use arrow::datatypes::i256;
use datafusion::error::{DataFusionError, Result};

use super::super::ExactSum;

/// Appends a partial sum of floats.
pub(super) fn append_float(bytes: &mut Vec<u8>, count: i64, sum: ExactSum) {
    bytes.extend(count.to_le_bytes());
    sum.append_to(bytes);
}

/// Appends a partial sum of integers or of decimals' digits.
pub(super) fn append_whole(bytes: &mut Vec<u8>, count: i64, sum: i256) {
    bytes.extend(count.to_le_bytes());
    bytes.extend(sum.to_le_bytes());
}

/// Reads what [`append_float`] wrote.
pub(super) fn read_float(state: &[u8]) -> Result<(i64, ExactSum)> {
    let (count, total) = split(state)?;
    Ok((count, ExactSum::from_bytes(total).ok_or_else(broken)?))
}

/// Reads what [`append_whole`] wrote.
pub(super) fn read_whole(state: &[u8]) -> Result<(i64, i256)> {
    let (count, total) = split(state)?;
    let total = total.try_into().map_err(|_| broken())?;
    Ok((count, i256::from_le_bytes(total)))
}

fn split(state: &[u8]) -> Result<(i64, &[u8])> {
    let (count, total) = state.split_first_chunk::<8>().ok_or_else(broken)?;
    Ok((i64::from_le_bytes(*count), total))
}

fn broken() -> DataFusionError {
    DataFusionError::Internal("a partial sum is broken".to_owned())
}
