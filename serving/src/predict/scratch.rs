//! Memory that one request leaves to the next on the same thread. A request that is dropped half-way takes its memory
//! with it, so nothing of it can show in another.

use std::cell::Cell;

use crate::predict::body::Body;
use crate::predict::fetch::Fetched;
use crate::predict::request_features::Computed;

/// Most values of a matrix whose memory is kept: one huge request must not hold its memory for ever.
const KEPT_CELLS: usize = 1 << 16;

/// What a request works in.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) body: Body,
    pub(crate) fetched: Fetched,
    pub(crate) computed: Computed,
    pub(crate) matrix: Vec<f64>,
    pub(crate) scores: Vec<f64>,
}

thread_local! {
    static KEPT: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

/// The memory that this thread keeps, or new memory.
pub(crate) fn take() -> Box<Scratch> {
    KEPT.take().unwrap_or_default()
}

/// Leaves memory to this thread's next request.
pub(crate) fn give_back(mut scratch: Box<Scratch>) {
    scratch.computed.clear();
    if scratch.matrix.capacity() <= KEPT_CELLS {
        KEPT.set(Some(scratch));
    }
}
