//! What readers make of one file: objects whose shape is right and whose references are still texts.

use indexmap::IndexMap;

use crate::aggregation::{AggregateFunction, Window};
use crate::data_type::DataType;
use crate::entity::Entity;
use crate::error::Span;
use crate::feature_view::Schedule;
use crate::model::Transform;
use crate::name::Name;
use crate::parse::embedded::Embedded;
use crate::parse::reader::Placed;
use crate::parse::yaml::{Node, Text};
use crate::request_view::RequestField;
use crate::source::Source;
use crate::time::Ttl;

/// Objects of one kind over all files, by name. `None` stands for one that was declared with problems, so that
/// references to it are not reported on top.
pub(crate) type Section<T> = IndexMap<Name, Declared<T>>;

/// An object and where its name stands.
#[derive(Debug)]
pub(crate) struct Declared<T> {
    /// Where.
    pub(crate) span: Span,
    /// What, if its shape is right.
    pub(crate) object: Option<T>,
}

/// Everything that all files declare.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    pub(crate) entities: Section<Entity>,
    pub(crate) sources: Section<Source>,
    pub(crate) views: Section<DeclaredView>,
    pub(crate) request_views: Section<DeclaredRequestView>,
    pub(crate) services: Section<DeclaredService>,
    pub(crate) models: Section<DeclaredModel>,
}

/// A feature view as written.
#[derive(Debug)]
pub(crate) struct DeclaredView {
    pub(crate) description: Option<String>,
    pub(crate) entity: Text,
    pub(crate) ttl: Ttl,
    pub(crate) schedule: Option<Schedule>,
    pub(crate) computation: DeclaredComputation,
}

/// A feature view's computation as written.
#[derive(Debug)]
pub(crate) enum DeclaredComputation {
    Sql {
        text: Embedded,
        features: Vec<DeclaredFeature>,
    },
    Windows {
        source: Text,
        join: Vec<(Text, Text)>,
        aggregates: Vec<DeclaredAggregate>,
        windows: Vec<Placed<Window>>,
    },
    Latest {
        source: Text,
        join: Vec<(Text, Text)>,
        columns: Vec<Text>,
    },
}

/// A feature of a SQL view as written.
#[derive(Debug)]
pub(crate) struct DeclaredFeature {
    pub(crate) name: Placed<Name>,
    pub(crate) data_type: Placed<DataType>,
    pub(crate) description: Option<String>,
}

/// An aggregate as written.
#[derive(Debug)]
pub(crate) struct DeclaredAggregate {
    pub(crate) name: Placed<Name>,
    pub(crate) function: AggregateFunction,
    pub(crate) column: Option<String>,
    pub(crate) span: Span,
}

/// A request view as written.
#[derive(Debug)]
pub(crate) struct DeclaredRequestView {
    pub(crate) description: Option<String>,
    pub(crate) inputs: Vec<Placed<RequestField>>,
    pub(crate) features: Vec<DeclaredRequestFeature>,
}

/// A request-time feature as written.
#[derive(Debug)]
pub(crate) struct DeclaredRequestFeature {
    pub(crate) name: Placed<Name>,
    pub(crate) expression: Embedded,
    pub(crate) description: Option<String>,
}

/// A feature service as written.
#[derive(Debug)]
pub(crate) struct DeclaredService {
    pub(crate) description: Option<String>,
    pub(crate) features: Vec<DeclaredServiceFeature>,
}

/// An entry of a service's list.
#[derive(Debug)]
pub(crate) struct DeclaredServiceFeature {
    pub(crate) view: String,
    /// `None` for `view.*`.
    pub(crate) feature: Option<String>,
    pub(crate) default: Option<Node>,
    pub(crate) span: Span,
}

/// A model as written.
#[derive(Debug)]
pub(crate) struct DeclaredModel {
    pub(crate) description: Option<String>,
    pub(crate) service: Text,
    pub(crate) output: Name,
    pub(crate) transform: Option<Transform>,
}
