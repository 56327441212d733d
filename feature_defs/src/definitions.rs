//! The definitions of a project: validated, immutable, fingerprinted.

use indexmap::IndexMap;

use crate::entity::Entity;
use crate::feature_service::FeatureService;
use crate::feature_view::FeatureView;
use crate::fingerprint::Fingerprint;
use crate::model::Model;
use crate::name::Name;
use crate::project::Project;
use crate::request_view::RequestView;
use crate::source::Source;

/// Everything that a project declares, in the order of files (by path) and of lines. Only [`crate::parse`] makes one,
/// so every reference in it resolves, every type is known and every expression plans.
#[derive(Debug, Clone, PartialEq)]
pub struct Definitions {
    /// Settings.
    pub project: Project,
    /// Entities by name.
    pub entities: IndexMap<Name, Entity>,
    /// Sources by name.
    pub sources: IndexMap<Name, Source>,
    /// Feature views by name. A feature view and a request view never share a name.
    pub views: IndexMap<Name, FeatureView>,
    /// Request views by name.
    pub request_views: IndexMap<Name, RequestView>,
    /// Feature services by name.
    pub services: IndexMap<Name, FeatureService>,
    /// Models by name.
    pub models: IndexMap<Name, Model>,
    /// Hash of all the objects; settings of the project are not part of it.
    pub fingerprint: Fingerprint,
    /// The files that all this was read from.
    pub files: Vec<DefinitionFile>,
}

/// A definition file as it was read: YAML, or SQL that a view names.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct DefinitionFile {
    /// Path relative to the project's root, with `/` between parts.
    pub path: String,
    /// The whole text.
    pub text: String,
}

impl Definitions {
    /// Whether no object is declared.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entities.is_empty()
            && self.sources.is_empty()
            && self.views.is_empty()
            && self.request_views.is_empty()
            && self.services.is_empty()
            && self.models.is_empty()
    }

    /// The entity that a view's rows describe.
    ///
    /// # Panics
    /// Never for a view of these definitions: references were checked when they were made.
    #[must_use]
    pub fn entity_of(&self, view: &FeatureView) -> &Entity {
        &self.entities[&view.entity]
    }

    /// The service of this name, or with this alias.
    #[must_use]
    pub fn service(&self, name: &str) -> Option<&FeatureService> {
        let by_alias = || {
            let mut services = self.services.values();
            services.find(|service| service.aliases.iter().any(|alias| alias.as_str() == name))
        };
        self.services.get(name).or_else(by_alias)
    }

    /// The names of all services and their aliases.
    pub fn service_names(&self) -> impl Iterator<Item = &Name> {
        let aliases = self.services.values().flat_map(|service| &service.aliases);
        self.services.keys().chain(aliases)
    }

    /// The sources that a view reads, by name.
    #[must_use]
    pub fn sources_of<'a>(&'a self, view: &'a FeatureView) -> Vec<&'a Source> {
        let names = view.computation.sources();
        names.iter().map(|name| &self.sources[name]).collect()
    }

    /// The views that a view reads, by name.
    #[must_use]
    pub fn views_of<'a>(&'a self, view: &'a FeatureView) -> Vec<&'a FeatureView> {
        let names = view.computation.views();
        names.iter().map(|name| &self.views[name]).collect()
    }

    /// These views, and all that they read directly or through others, each once and behind all that it reads. Names of
    /// no views are passed over.
    #[must_use]
    pub fn with_read_views<'a>(
        &'a self,
        names: impl IntoIterator<Item = &'a Name>,
    ) -> Vec<&'a FeatureView> {
        let mut found = IndexMap::new();
        for view in names.into_iter().filter_map(|name| self.views.get(name)) {
            self.add_with_read_views(view, &mut found);
        }
        found.into_values().collect()
    }

    /// Calls itself no deeper than views may read each other.
    fn add_with_read_views<'a>(
        &'a self,
        view: &'a FeatureView,
        found: &mut IndexMap<&'a Name, &'a FeatureView>,
    ) {
        if found.contains_key(&view.name) {
            return;
        }
        for read in self.views_of(view) {
            self.add_with_read_views(read, found);
        }
        found.insert(&view.name, view);
    }
}
