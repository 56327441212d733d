//! Work that is done piece by piece on the session's threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use arrow::error::ArrowError;
use datafusion::common::runtime::SpawnedTask;
use datafusion::error::DataFusionError;

use crate::error::{Error, Result};

/// How many threads work at a time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Workers {
    threads: usize,
}

/// Pieces of work that nobody has taken yet.
#[derive(Debug, Default)]
struct Queue {
    next: AtomicUsize,
    is_over: AtomicBool,
}

impl Workers {
    pub(super) const fn new(threads: usize) -> Self {
        Self { threads }
    }

    /// Does `work` on each of the pieces from 0; their results come in the order of pieces.
    ///
    /// # Errors
    /// That of the first piece that failed, of those that were done.
    pub(super) async fn each<T: Send + 'static>(
        self,
        pieces: usize,
        work: impl Fn(usize) -> Result<T> + Send + Sync + 'static,
    ) -> Result<Vec<T>> {
        let work = Arc::new(work);
        let queue = OverWhenDropped(Arc::default());
        let threads = (0..self.threads.min(pieces)).map(|_| {
            let (work, queue) = (Arc::clone(&work), Arc::clone(&queue.0));
            SpawnedTask::spawn_blocking(move || {
                let mut done = Vec::new();
                loop {
                    let piece = queue.next.fetch_add(1, Ordering::Relaxed);
                    if piece >= pieces || queue.is_over.load(Ordering::Relaxed) {
                        return done;
                    }
                    let result = work(piece);
                    if result.is_err() {
                        queue.is_over.store(true, Ordering::Relaxed);
                    }
                    done.push((piece, result));
                }
            })
        });
        let threads: Vec<_> = threads.collect();
        let mut done = Vec::with_capacity(pieces);
        for thread in threads {
            let of_thread = thread.join().await;
            done.extend(of_thread.map_err(|e| Error::Refused(e.to_string()))?);
        }
        done.sort_unstable_by_key(|(piece, _)| *piece);
        done.into_iter().map(|(_, result)| result).collect()
    }
}

/// Ends the work when nobody waits for it any more.
struct OverWhenDropped(Arc<Queue>);

impl Drop for OverWhenDropped {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Relaxed);
    }
}

/// An error of a kernel.
pub(super) fn engine(error: ArrowError) -> Error {
    let error = DataFusionError::from(error);
    Error::engine("joining a frame", &error)
}
