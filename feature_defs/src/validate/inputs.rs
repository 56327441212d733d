//! What a view is computed from, for the fingerprints of what it gives.

use crate::entity::Entity;
use crate::feature_view::{Computation, FeatureView};
use crate::fingerprint::Fingerprint;
use crate::source::Source;
use crate::time::Ttl;

/// All that a view is computed from.
pub(crate) struct Inputs<'a> {
    /// The view's entity.
    pub(crate) entity: &'a Entity,
    /// The sources that it reads, by name.
    pub(crate) sources: &'a [&'a Source],
    /// The views that it reads, by name.
    pub(crate) views: &'a [ReadView<'a>],
    /// A SQL view's statement without comments.
    pub(crate) canonical: &'a str,
}

/// A view that another one reads.
pub(crate) struct ReadView<'a> {
    /// Which.
    pub(crate) view: &'a FeatureView,
    /// What decides which rows it has, apart from its TTL.
    pub(crate) rows: Fingerprint,
}

impl ReadView<'_> {
    /// The TTL where it decides which rows are read: rows that are stamped with the instant itself have no age.
    pub(crate) fn ttl(&self) -> Ttl {
        match self.view.computation {
            Computation::Latest(_) => self.view.ttl,
            Computation::Sql(_) | Computation::Windows(_) => Ttl::Unlimited,
        }
    }
}
