//! A file in object storage, for readers that block.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{ChunkReader, Length};
use store::objects::{FoundObject, Objects};
use tokio::runtime::Handle;

use super::files::{FilePlace, SourceFile};
use crate::error::Result;

/// The last bytes of a Parquet file that are read at once: most often they hold all that it says of itself.
const END_BYTES: u64 = 32 << 10;

/// What is read at once where nobody says how much is needed.
const PIECE_BYTES: u64 = 1 << 20;

/// How many files are asked for their ends at the same time.
const ENDS_AT_ONCE: usize = 16;

/// A file in object storage.
#[derive(Debug)]
pub(crate) struct ObjectFile {
    objects: Arc<Objects>,
    pub(crate) found: FoundObject,
    runtime: Handle,
    end: OnceLock<Bytes>,
}

impl ObjectFile {
    pub(super) const fn new(objects: Arc<Objects>, found: FoundObject, runtime: Handle) -> Self {
        Self {
            objects,
            found,
            runtime,
            end: OnceLock::new(),
        }
    }

    async fn read_end(self: Arc<Self>) -> store::error::Result<()> {
        let length = self.found.length;
        let range = length.saturating_sub(END_BYTES)..length;
        let mut read = self.objects.ranges(&self.found, &[range]).await?;
        self.end.get_or_init(|| read.pop().unwrap_or_default());
        Ok(())
    }

    /// Reads the ends of Parquet files, many at a time, for those who open them.
    pub(crate) async fn read_ends(files: &[SourceFile]) -> Result<()> {
        let objects = files.iter().filter_map(|file| match &file.place {
            FilePlace::Object(object) => Some(Arc::clone(object)),
            FilePlace::Local(_) => None,
        });
        let ends = objects.map(|object| object.read_end().boxed());
        let read = stream::iter(ends.collect::<Vec<_>>());
        read.buffer_unordered(ENDS_AT_ONCE)
            .try_collect::<()>()
            .await?;
        Ok(())
    }
}

/// Bytes of a file from the first on.
pub(crate) struct ObjectRead {
    file: Arc<ObjectFile>,
    stream: Option<BoxStream<'static, store::error::Result<Bytes>>>,
    left: Bytes,
}

impl ObjectRead {
    pub(super) fn new(file: &Arc<ObjectFile>) -> Self {
        Self {
            file: Arc::clone(file),
            stream: None,
            left: Bytes::new(),
        }
    }
}

impl Read for ObjectRead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Self { file, stream, left } = self;
        while left.is_empty() {
            let next = async {
                if stream.is_none() {
                    *stream = Some(file.objects.stream(&file.found).await?);
                }
                match stream {
                    Some(stream) => stream.try_next().await,
                    None => Ok(None),
                }
            };
            match file.runtime.block_on(next).map_err(io::Error::other)? {
                Some(bytes) => *left = bytes,
                None => return Ok(0),
            }
        }
        let taken = left.split_to(left.len().min(buffer.len()));
        buffer[..taken.len()].copy_from_slice(&taken);
        Ok(taken.len())
    }
}

/// The bytes of a Parquet file, by places. What was asked for ahead is kept until it goes.
#[derive(Debug, Clone)]
pub(super) struct ObjectChunks {
    file: Arc<ObjectFile>,
    fetched: Arc<Mutex<Vec<Piece>>>,
}

/// Where bytes are in the file, and the bytes.
type Piece = (Range<u64>, Bytes);

impl ObjectChunks {
    pub(super) fn new(file: &Arc<ObjectFile>) -> Self {
        let length = file.found.length;
        let end = file.end.get();
        let end = end.map(|end| (length - end.len() as u64..length, end.clone()));
        Self {
            file: Arc::clone(file),
            fetched: Arc::new(Mutex::new(end.into_iter().collect())),
        }
    }

    /// Reads what will be needed, together.
    pub(super) fn fetch(&self, ranges: &[Range<u64>]) -> ParquetResult<()> {
        let file = &self.file;
        let read = file.objects.ranges(&file.found, ranges);
        let read = file.runtime.block_on(read).map_err(failed)?;
        let mut fetched = self.fetched.lock().unwrap_or_else(PoisonError::into_inner);
        fetched.extend(ranges.iter().cloned().zip(read));
        Ok(())
    }

    fn at(&self, range: &Range<u64>) -> Option<Bytes> {
        let fetched = self.fetched.lock().unwrap_or_else(PoisonError::into_inner);
        let mut pieces = fetched.iter();
        let (piece, bytes) =
            pieces.find(|(piece, _)| piece.start <= range.start && range.end <= piece.end)?;
        let start = usize::try_from(range.start - piece.start).ok()?;
        let end = usize::try_from(range.end - piece.start).ok()?;
        Some(bytes.slice(start..end))
    }

    fn read(&self, range: Range<u64>) -> ParquetResult<Bytes> {
        if let Some(bytes) = self.at(&range) {
            return Ok(bytes);
        }
        let file = &self.file;
        let ranges = [range];
        let read = file.objects.ranges(&file.found, &ranges);
        let mut read = file.runtime.block_on(read).map_err(failed)?;
        Ok(read.pop().unwrap_or_default())
    }
}

fn failed(error: store::error::Error) -> ParquetError {
    ParquetError::External(Box::new(error))
}

impl Length for ObjectChunks {
    fn len(&self) -> u64 {
        self.file.found.length
    }
}

impl ChunkReader for ObjectChunks {
    type T = ChunkRead;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(ChunkRead {
            chunks: self.clone(),
            at: start,
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        let end = start + length as u64;
        if end > self.len() {
            return Err(ParquetError::EOF(format!("{end} bytes of {}", self.len())));
        }
        self.read(start..end)
    }
}

/// Bytes of a file from some place on.
pub(super) struct ChunkRead {
    chunks: ObjectChunks,
    at: u64,
}

impl Read for ChunkRead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.chunks.len();
        let wanted = self.at..(self.at + buffer.len() as u64).min(length);
        if wanted.is_empty() {
            return Ok(0);
        }
        if self.chunks.at(&wanted).is_none() {
            let ahead = self.at..(self.at + PIECE_BYTES.max(buffer.len() as u64)).min(length);
            self.chunks.fetch(&[ahead]).map_err(io::Error::other)?;
        }
        let bytes = self.chunks.read(wanted).map_err(io::Error::other)?;
        buffer[..bytes.len()].copy_from_slice(&bytes);
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }
}
