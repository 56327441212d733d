//! Reads some rows of a snapshot back before it counts as complete.

use super::backend::Backend;
use super::view_rows::ViewRows;
use crate::error::{Error, ErrorKind, Result};
use crate::online::StagedRow;

/// Between half as many rows and as many are read back; all, where there are fewer.
const MOST: usize = 4_096;

/// Rows that are read at once.
const ROWS_A_READ: usize = 512;

/// Every nth key of a snapshot, from all over it, with the hash of its row; none where the key vanished.
#[derive(Debug)]
pub(super) struct Sample {
    every: u64,
    seen: u64,
    keys: Vec<(Vec<u8>, Option<u64>)>,
}

impl Default for Sample {
    fn default() -> Self {
        Self {
            every: 1,
            seen: 0,
            keys: Vec::new(),
        }
    }
}

impl Sample {
    /// Takes the next key, or passes it over.
    pub(super) fn offer(&mut self, key: &[u8], hash: Option<u64>) {
        if self.seen.is_multiple_of(self.every) {
            self.keys.push((key.to_vec(), hash));
        }
        self.seen += 1;
        if self.keys.len() > MOST {
            let mut nth = 0;
            self.keys.retain(|_| {
                nth += 1;
                nth % 2 == 1
            });
            self.every *= 2;
        }
    }

    /// # Errors
    /// `Corrupt` when a row is not what was written.
    pub(super) async fn read_back(&self, backend: &dyn Backend, view: &ViewRows) -> Result<()> {
        for some in self.keys.chunks(ROWS_A_READ) {
            let keys: Vec<&[u8]> = some.iter().map(|(key, _)| key.as_slice()).collect();
            let versions = backend.versions(view, &keys).await?;
            for ((key, hash), versions) in some.iter().zip(versions) {
                let row = view.horizon.row(&versions)?;
                let found = row.map(|row| StagedRow { key, row }.hash());
                if found != *hash {
                    return Err(Error::new(
                        ErrorKind::Corrupt,
                        format!(
                            "a row of snapshot `{}` does not read back as it was written",
                            view.horizon.snapshot().0
                        ),
                    ));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_holds_all_of_few_and_is_spread_over_many() {
        for count in [10, MOST as u64, 100_000, 1_000_003] {
            let mut sample = Sample::default();
            for key in 0..count {
                sample.offer(&key.to_be_bytes(), Some(key));
            }
            let hashes: Vec<u64> = sample.keys.iter().filter_map(|(_, hash)| *hash).collect();
            assert_eq!(hashes.len(), sample.keys.len());
            assert!(hashes.len() as u64 >= count.min(MOST as u64 / 2), "{count}");
            assert!(hashes.len() <= MOST);
            let gap = count.div_ceil(hashes.len() as u64) * 2;
            assert!(hashes.is_sorted_by(|one, next| one < next && next - one <= gap));
            assert!(count - hashes[hashes.len() - 1] <= gap);
        }
    }
}
