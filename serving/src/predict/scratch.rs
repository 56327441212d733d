//! Memory that one request leaves to the next on the same thread. A request that is dropped half-way takes its memory
//! with it, so nothing of it can show in another.

use std::cell::Cell;

use crate::predict::body::Body;
use crate::predict::fetch::Fetched;
use crate::predict::request_features::Computed;

/// Most entities of a request whose memory is kept: a huge one must not hold its memory for ever.
const KEPT_ENTITIES: usize = 1_000;

/// What a request works in.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) inputs: Inputs,
    pub(crate) matrix: Vec<f64>,
    pub(crate) scores: Vec<f64>,
}

/// What a request brings and what is found for it, scored or not.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    pub(crate) body: Body,
    pub(crate) fetched: Fetched,
    pub(crate) computed: Computed,
}

thread_local! {
    static KEPT: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

/// The memory that this thread keeps, or new memory.
pub(crate) fn take() -> Box<Scratch> {
    KEPT.take().unwrap_or_default()
}

/// Leaves the memory of a request of so many entities to this thread's next request.
pub(crate) fn give_back(mut scratch: Box<Scratch>, entities: usize) {
    scratch.inputs.computed.clear();
    if entities <= KEPT_ENTITIES {
        KEPT.set(Some(scratch));
    }
}
