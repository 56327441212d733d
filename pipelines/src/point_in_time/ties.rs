//! Rows of one key with the same times: the one that is greatest in the source's columns, in their declared order,
//! wins (rule 3).

use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::ArrayRef;
use arrow::compute::SortOptions;
use arrow::row::{RowConverter, SortField};
use datafusion::common::HashMap;
use feature_defs::source::Source;

use super::workers::{Workers, engine};
use crate::error::Result;
use crate::scan::{PlacedSource, RowPlace};

/// As the engine sorts a key's rows by night: the greatest first, nulls last.
const GREATEST_FIRST: SortOptions = SortOptions {
    descending: true,
    nulls_first: false,
};

/// The greatest row of a slot so far: its columns, encoded so that the least bytes win, and its place.
type Greatest = HashMap<usize, (Box<[u8]>, RowPlace)>;

/// Decides between rows at `tied`, each with the slot that sees it. Holds one row a slot.
pub(super) async fn greatest(
    workers: &Workers,
    source: &Arc<PlacedSource>,
    declared: &Source,
    tied: Vec<(RowPlace, usize)>,
) -> Result<HashMap<usize, RowPlace>> {
    if tied.is_empty() {
        return Ok(HashMap::default());
    }
    let mut tied = tied;
    tied.sort_unstable();
    let names: Vec<String> = declared.columns.keys().cloned().collect();
    let columns = declared.columns.values();
    let fields = columns
        .map(|column| SortField::new_with_options(column.data_type.to_arrow(), GREATEST_FIRST));
    let converter = Arc::new(RowConverter::new(fields.collect()).map_err(engine)?);
    let pieces: Vec<_> = tied
        .chunk_by(|one, next| one.0.piece == next.0.piece)
        .map(<[_]>::to_vec)
        .collect();
    let greatest: Arc<Mutex<Greatest>> = Arc::default();
    let (held, source) = (Arc::clone(&greatest), Arc::clone(source));
    let count = pieces.len();
    let decide = move |piece: usize| -> Result<()> {
        let tied = &pieces[piece];
        let rows: Vec<u32> = tied.iter().map(|(place, _)| place.row).collect();
        let mut next = 0;
        let piece = tied[0].0.piece as usize;
        source.pick(piece, &rows, &names, &mut |columns: Vec<ArrayRef>| {
            // The converter has no state for the types of sources, so a copy encodes alike.
            let encoded = encode(&converter, &columns)?;
            let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
            for row in &encoded {
                let (place, slot) = tied[next];
                next += 1;
                let bytes = row.as_ref();
                let is_greater = held
                    .get(&slot)
                    .is_none_or(|(best, at)| (bytes, place) < (best.as_ref(), *at));
                if is_greater {
                    held.insert(slot, (bytes.into(), place));
                }
            }
            Ok(true)
        })
    };
    workers.each(count, decide).await?;
    let mut greatest = greatest.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(greatest
        .drain()
        .map(|(slot, (_, place))| (slot, place))
        .collect())
}

fn encode(converter: &RowConverter, columns: &[ArrayRef]) -> Result<arrow::row::Rows> {
    converter.convert_columns(columns).map_err(engine)
}
