//! What is known of views, for the objects that refer to them: also of those that have problems.

use crate::data_type::DataType;
use crate::feature_service::Origin;
use crate::name::{FeatureRef, Name};
use crate::parse::members::{Members, Typed};

/// A view of either kind.
#[derive(Debug)]
pub(super) struct KnownView {
    /// Which kind.
    pub(super) origin: Origin,
    /// A feature view's entity.
    pub(super) entity: Option<Name>,
    /// Its features.
    pub(super) features: Members<KnownFeature>,
}

/// A feature of a view.
#[derive(Debug, Clone)]
pub(super) struct KnownFeature {
    pub(super) name: Name,
    pub(super) data_type: Option<DataType>,
    /// The request fields that it reads.
    pub(super) fields: Vec<Name>,
    /// The stored features that it reads.
    pub(super) stored: Vec<FeatureRef>,
}

impl KnownFeature {
    /// A feature that is not computed from others.
    pub(super) const fn stored(name: Name, data_type: Option<DataType>) -> Self {
        Self {
            name,
            data_type,
            fields: Vec::new(),
            stored: Vec::new(),
        }
    }
}

impl Typed for KnownFeature {
    fn name(&self) -> &str {
        self.name.as_str()
    }

    fn data_type(&self) -> Option<DataType> {
        self.data_type
    }
}
