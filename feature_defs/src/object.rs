//! What a project is made of: the kinds of objects, and all objects of a project in one list.

use crate::about::About;
use crate::definitions::Definitions;
use crate::name::Name;

/// What an object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ObjectKind {
    /// An entity.
    Entity,
    /// A source.
    Source,
    /// A feature view.
    FeatureView,
    /// A request view.
    RequestView,
    /// A feature service.
    FeatureService,
    /// A model.
    Model,
}

impl ObjectKind {
    /// As people say it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Entity => "entity",
            Self::Source => "source",
            Self::FeatureView => "feature view",
            Self::RequestView => "request view",
            Self::FeatureService => "feature service",
            Self::Model => "model",
        }
    }
}

/// An object, as far as every kind has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Object<'a> {
    /// What it is.
    pub kind: ObjectKind,
    /// Its name, which no other object of its kind has.
    pub name: &'a Name,
    /// What it says of itself.
    pub about: &'a About,
}

impl Definitions {
    /// All objects, by kind, then in the order of the definitions.
    pub fn objects(&self) -> impl Iterator<Item = Object<'_>> {
        let of = |kind| move |(name, about)| Object { kind, name, about };
        let entities = self.entities.iter().map(|(name, it)| (name, &it.about));
        let sources = self.sources.iter().map(|(name, it)| (name, &it.about));
        let views = self.views.iter().map(|(name, it)| (name, &it.about));
        let request_views = self
            .request_views
            .iter()
            .map(|(name, it)| (name, &it.about));
        let services = self.services.iter().map(|(name, it)| (name, &it.about));
        let models = self.models.iter().map(|(name, it)| (name, &it.about));
        entities
            .map(of(ObjectKind::Entity))
            .chain(sources.map(of(ObjectKind::Source)))
            .chain(views.map(of(ObjectKind::FeatureView)))
            .chain(request_views.map(of(ObjectKind::RequestView)))
            .chain(services.map(of(ObjectKind::FeatureService)))
            .chain(models.map(of(ObjectKind::Model)))
    }
}
