//! What a night, or a training set, says while it works. It draws nothing: the command line does.

use feature_defs::name::Name;
use feature_defs::time::Instant;
use store::release::ReleaseNumber;

/// Something that happened.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Event<'a> {
    /// Another night runs, or died and left its lease: this one waits, until the given time at most.
    Waiting {
        /// When it gives up.
        until: Instant,
    },
    /// The night knows what it has to do.
    Planned {
        /// How many views will be computed.
        views: usize,
    },
    /// A table is being copied from its database.
    CopyStarted {
        /// The source.
        source: &'a Name,
    },
    /// A table has been copied from its database.
    Copied {
        /// The source.
        source: &'a Name,
        /// How many of its rows.
        rows: u64,
    },
    /// A view is being computed.
    ViewStarted {
        /// The view.
        view: &'a Name,
    },
    /// Rows of a view have been computed.
    Computed {
        /// The view.
        view: &'a Name,
        /// How many so far.
        rows: u64,
    },
    /// A view has been computed and is kept offline.
    Kept {
        /// The view.
        view: &'a Name,
    },
    /// Rows of a view have been staged in the online store.
    Staged {
        /// The view.
        view: &'a Name,
        /// How many so far.
        rows: u64,
        /// How many in all.
        of: u64,
    },
    /// A view of SQL has been computed as of some of the different instants of an entity frame, each on its own.
    Instants {
        /// The view.
        view: &'a Name,
        /// How many so far.
        done: usize,
        /// How many in all.
        of: usize,
    },
    /// A view has been joined to an entity frame.
    Joined {
        /// The view.
        view: &'a Name,
    },
    /// A view is done: computed, kept offline, staged and verified.
    ViewFinished {
        /// The view.
        view: &'a Name,
        /// Its keys.
        keys: u64,
    },
    /// Another release is served.
    Flipped {
        /// Which was served before.
        from: Option<ReleaseNumber>,
        /// Which is served now.
        to: ReleaseNumber,
    },
}

/// Who is told. An implementation MUST return at once: the work waits for it.
pub trait Progress: Send + Sync {
    /// Takes note of an event.
    fn event(&self, event: Event<'_>);
}

/// Says nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn event(&self, _event: Event<'_>) {}
}
