//! A source whose rows are known by their places, so that one reading may choose rows and another fetch them.
//!
//! ```text
//!   files --> pieces: parts of row groups, whole files --> read: times and some columns of all rows
//!                                                      --> pick: other columns of the rows at some places
//! ```
//!
//! Places hold while the files stay as they are, which [`crate::sources::OpenSources`] looks after.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, UInt32Array};
use arrow::compute::take as take_rows;
use feature_defs::definitions::Definitions;
use feature_defs::source::Source;
use feature_defs::time::Instant;

use super::columns::Columns;
use super::parquet::{ParquetFile, RowGroup, Rows};
use super::pieces::{self, pieces};
use super::{Cut, Timed};
use crate::error::{Error, Result};
use crate::session::Session;

/// Where a row is: in which piece of the source, and its number in the row group or file, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RowPlace {
    pub(crate) piece: u32,
    pub(crate) row: u32,
}

/// The pieces of a source that may hold rows which somebody asks for.
#[derive(Debug)]
pub(crate) struct PlacedSource {
    source: Arc<Source>,
    pieces: Vec<Piece>,
}

/// What one thread reads at a time.
#[derive(Debug)]
enum Piece {
    Part(Arc<ParquetFile>, RowGroup, Range<usize>),
    Whole(pieces::Piece),
}

/// Takes a batch: the place of its first row, times, and columns; false ends the reading.
type TakeRead<'a> = &'a mut dyn FnMut(RowPlace, &Timed, Vec<ArrayRef>) -> Result<bool>;

/// Below this, opening a file once more costs more than a second thread saves.
const LEAST_ROWS: usize = 65_536;

/// Pieces for each thread, so that all of them end at about the same time.
const PIECES_A_THREAD: usize = 4;

impl PlacedSource {
    /// Checks the columns of the source's files. Leaves out row groups without any row that `cut` sees, and
    /// those whose rows are all older than `oldest`.
    pub(crate) async fn open(
        session: &Session,
        definitions: &Definitions,
        source: &Source,
        cut: Cut,
        oldest: Option<Instant>,
    ) -> Result<Self> {
        let files = session.files_of(definitions, source).await?;
        let threads = session.threads();
        let source = Arc::new(source.clone());
        let opened = Arc::clone(&source);
        let pieces = tokio::task::spawn_blocking(move || -> Result<Vec<Piece>> {
            if !pieces::is_parquet(&opened) {
                let whole = pieces(files, &opened, cut)?.into_iter();
                return Ok(whole.map(Piece::Whole).collect());
            }
            let mut groups = Vec::new();
            for file in files {
                let file = Arc::new(ParquetFile::open(file, &opened)?);
                let found = file.row_groups_since(&opened, cut, oldest);
                groups.extend(found.into_iter().map(|group| (Arc::clone(&file), group)));
            }
            Ok(parts(groups, threads))
        });
        let pieces = pieces
            .await
            .map_err(|e| Error::view(&source.name, e.to_string()))??;
        Ok(Self { source, pieces })
    }

    /// How many pieces there are.
    pub(crate) const fn pieces(&self) -> usize {
        self.pieces.len()
    }

    /// Reads the times and some columns of all rows of a piece, batch by batch, each with the place of its first row,
    /// until `take` says false.
    pub(crate) fn read(&self, piece: usize, names: &[String], take: TakeRead<'_>) -> Result<()> {
        let mut columns = Columns::new(Arc::clone(&self.source));
        let event_time = columns.place(&self.source.event_time);
        let created_time = self.source.created_time.as_deref();
        let created_time = created_time.map(|name| columns.place(name));
        let places: Vec<usize> = names.iter().map(|name| columns.place(name)).collect();
        let (file, start) = match &self.pieces[piece] {
            Piece::Part(file, _, rows) => (file.file(), rows.start),
            Piece::Whole(piece) => (piece.file(), 0),
        };
        let mut read = 0;
        let mut timed = |first_row: u64, arrays: Vec<ArrayRef>| {
            let created = created_time.map(|place| &arrays[place]);
            let times = Timed::of(&columns, file, first_row, &arrays[event_time], created)?;
            let first = place(piece, start + read).ok_or_else(|| {
                let message = format!("has more than {} rows: split it", u32::MAX);
                Error::input(&file.shown, message)
            })?;
            read += arrays[event_time].len();
            let asked = places.iter().map(|place| Arc::clone(&arrays[*place]));
            take(first, &times, asked.collect())
        };
        match &self.pieces[piece] {
            Piece::Part(file, group, rows) => {
                file.read(*group, &Rows::Span(rows.clone()), &columns, &mut timed)
            }
            Piece::Whole(piece) => piece.read(&columns, &mut timed),
        }
    }

    /// Reads some columns of rows of a piece, ascending and each once, batch by batch until `take` says false.
    pub(crate) fn pick(
        &self,
        piece: usize,
        rows: &[u32],
        names: &[String],
        take: &mut dyn FnMut(Vec<ArrayRef>) -> Result<bool>,
    ) -> Result<()> {
        let mut columns = Columns::new(Arc::clone(&self.source));
        let places: Vec<usize> = names.iter().map(|name| columns.place(name)).collect();
        let mut asked = |arrays: &[ArrayRef]| {
            let asked = places.iter().map(|place| Arc::clone(&arrays[*place]));
            take(asked.collect())
        };
        match &self.pieces[piece] {
            Piece::Part(file, group, _) => {
                file.read(*group, &Rows::Picked(rows), &columns, &mut |_, arrays| {
                    asked(&arrays)
                })
            }
            Piece::Whole(piece) => {
                let mut left = rows;
                piece.read(&columns, &mut |first_row, arrays| {
                    let length = arrays.first().map_or(0, |array| array.len()) as u64;
                    let here = left.partition_point(|row| u64::from(*row) + 1 < first_row + length);
                    let (wanted, rest) = left.split_at(here);
                    left = rest;
                    if wanted.is_empty() {
                        return Ok(!left.is_empty());
                    }
                    let wanted = wanted.iter().map(|row| u64::from(*row) + 1 - first_row);
                    let wanted = wanted.map(|row| u32::try_from(row).unwrap_or_default());
                    let wanted = UInt32Array::from_iter_values(wanted);
                    let picked = arrays.iter().map(|array| take_rows(array, &wanted, None));
                    let picked = picked.collect::<std::result::Result<Vec<_>, _>>();
                    let picked =
                        picked.map_err(|e| Error::input(&piece.file().shown, e.to_string()));
                    Ok(asked(&picked?)? && !left.is_empty())
                })
            }
        }
    }
}

fn place(piece: usize, row: usize) -> Option<RowPlace> {
    // A batch has far fewer rows than are left out here.
    const LAST: usize = (u32::MAX - (1 << 20)) as usize;
    let (piece, row) = (u32::try_from(piece).ok()?, (row <= LAST).then_some(row)?);
    let row = u32::try_from(row).ok()?;
    Some(RowPlace { piece, row })
}

/// Row groups in parts of about the same number of rows.
fn parts(groups: Vec<(Arc<ParquetFile>, RowGroup)>, threads: usize) -> Vec<Piece> {
    let rows: usize = groups
        .iter()
        .map(|(file, group)| file.rows_in(*group))
        .sum();
    let each = rows
        .div_ceil(threads.max(1) * PIECES_A_THREAD)
        .max(LEAST_ROWS);
    let mut parts = Vec::new();
    for (file, group) in groups {
        let rows = file.rows_in(group);
        let each = rows.div_ceil((rows / each).max(1)).max(1);
        for start in (0..rows).step_by(each) {
            let span = start..(start + each).min(rows);
            parts.push(Piece::Part(Arc::clone(&file), group, span));
        }
    }
    parts
}
