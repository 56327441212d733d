//! What readers make of one file: objects as far as they could be read, references still texts.
//!
//! A part that could not be read is left out, or stands as one that no later check refuses: its problem is recorded, and
//! definitions only come about without any.

use indexmap::IndexMap;

use crate::aggregation::{AggregateFunction, Window};
use crate::check::{Demand, OnFailure, Percent};
use crate::data_type::DataType;
use crate::error::Span;
use crate::feature_view::Schedule;
use crate::model::Transform;
use crate::name::Name;
use crate::parse::about::DeclaredAbout;
use crate::parse::embedded::Embedded;
use crate::parse::members::{Members, Typed};
use crate::parse::reader::Placed;
use crate::parse::yaml::{Node, Text};
use crate::source::Source;
use crate::time::{TimeSpan, Ttl};
use crate::value::Value;

/// Objects of one kind over all files, by name.
pub(crate) type Section<T> = IndexMap<Name, Declared<T>>;

/// An object and where its name stands.
#[derive(Debug)]
pub(crate) struct Declared<T> {
    /// Where.
    pub(crate) span: Span,
    /// What it says of itself.
    pub(crate) about: DeclaredAbout,
    /// What.
    pub(crate) object: T,
    /// Whether nothing is certain of what the name stands for: it is declared more than once, or is not a name.
    pub(crate) doubtful: bool,
}

/// Everything that all files declare.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    pub(crate) entities: Section<DeclaredEntity>,
    pub(crate) sources: Section<DeclaredSource>,
    pub(crate) views: Section<DeclaredView>,
    pub(crate) request_views: Section<DeclaredRequestView>,
    pub(crate) services: Section<DeclaredService>,
    pub(crate) models: Section<DeclaredModel>,
    pub(crate) unread: Unread,
}

/// The texts of parts that could not be read: what they name may be declared there.
#[derive(Debug, Default)]
pub(crate) struct Unread(Vec<String>);

impl Unread {
    /// Adds a part's text.
    pub(crate) fn add(&mut self, text: &str) {
        self.0.push(alike(text));
    }

    /// Whether a name may be declared in one of the parts.
    pub(crate) fn may_declare(&self, name: &str) -> bool {
        let name = alike(name);
        self.0.iter().any(|text| text.contains(&name))
    }
}

/// Letters of one case, and one sign for all that stands between words.
pub(crate) fn alike(text: &str) -> String {
    text.to_lowercase().replace(['-', ' ', '.'], "_")
}

/// An entity as written.
#[derive(Debug)]
pub(crate) struct DeclaredEntity {
    pub(crate) keys: Members<DeclaredKey>,
}

/// A key part as written.
#[derive(Debug, Clone)]
pub(crate) struct DeclaredKey {
    pub(crate) name: Name,
    pub(crate) data_type: Option<DataType>,
}

/// A source as written.
#[derive(Debug)]
pub(crate) struct DeclaredSource {
    pub(crate) columns: Members<DeclaredColumn>,
    /// How far back it goes, if that is declared and could be read.
    pub(crate) retention: Option<TimeSpan>,
    /// All of it, if it has no problem.
    pub(crate) source: Option<Source>,
}

/// A source's column as written.
#[derive(Debug, Clone)]
pub(crate) struct DeclaredColumn {
    pub(crate) name: String,
    pub(crate) data_type: Option<DataType>,
}

/// A feature view as written.
#[derive(Debug)]
pub(crate) struct DeclaredView {
    pub(crate) entity: Option<Text>,
    pub(crate) ttl: Option<Placed<Ttl>>,
    pub(crate) schedule: Option<Schedule>,
    pub(crate) checks: DeclaredChecks,
    pub(crate) computation: Option<DeclaredComputation>,
}

/// A feature view's checks as written.
#[derive(Debug, Default)]
pub(crate) struct DeclaredChecks {
    pub(crate) rows: Vec<DeclaredRowCheck>,
    pub(crate) features: Vec<DeclaredFeatureCheck>,
}

/// One demand on a view's rows.
#[derive(Debug)]
pub(crate) struct DeclaredRowCheck {
    pub(crate) demand: Demand,
    pub(crate) on_failure: OnFailure,
}

/// The demands on a feature; bounds are read once its type is known.
#[derive(Debug)]
pub(crate) struct DeclaredFeatureCheck {
    pub(crate) feature: Text,
    pub(crate) nulls: Option<Percent>,
    pub(crate) min: Option<Node>,
    pub(crate) max: Option<Node>,
    pub(crate) psi: Option<Placed<f64>>,
    pub(crate) on_failure: OnFailure,
}

/// A feature view's computation as written.
#[derive(Debug)]
pub(crate) enum DeclaredComputation {
    Sql {
        text: Option<Embedded>,
        features: Members<DeclaredFeature>,
    },
    Windows {
        events: DeclaredEvents,
        aggregates: Members<DeclaredAggregate>,
        windows: Members<Placed<Window>>,
    },
    Latest {
        source: Option<Text>,
        join: Members<(Text, Text)>,
        columns: Members<Text>,
    },
}

/// Where the events of a view of windows come from, as written.
#[derive(Debug)]
pub(crate) struct DeclaredEvents {
    /// Whether they are named under `sources`: columns are then written with the name of their source.
    pub(crate) several: bool,
    pub(crate) sources: Members<DeclaredEventSource>,
}

/// A source of events as written.
#[derive(Debug)]
pub(crate) struct DeclaredEventSource {
    pub(crate) source: Option<Text>,
    pub(crate) join: Members<(Text, Text)>,
}

/// A feature of a SQL view as written.
#[derive(Debug)]
pub(crate) struct DeclaredFeature {
    pub(crate) name: Placed<Name>,
    pub(crate) data_type: Option<Placed<DataType>>,
    pub(crate) description: Option<String>,
}

/// An aggregate as written.
#[derive(Debug)]
pub(crate) struct DeclaredAggregate {
    pub(crate) name: Placed<Name>,
    pub(crate) call: Option<DeclaredCall>,
    /// The column for whose values it is computed apart.
    pub(crate) by: Option<Text>,
    pub(crate) filter: DeclaredFilter,
}

/// A filter of an aggregate as written.
#[derive(Debug)]
pub(crate) enum DeclaredFilter {
    /// There is none.
    None,
    /// There is one that cannot be read.
    Unreadable,
    Condition(Embedded),
}

/// A call of an aggregate function as written.
#[derive(Debug)]
pub(crate) struct DeclaredCall {
    /// `None` for a function that is not known.
    pub(crate) function: Option<AggregateFunction>,
    pub(crate) column: Option<Text>,
    pub(crate) span: Span,
}

/// A request view as written.
#[derive(Debug)]
pub(crate) struct DeclaredRequestView {
    pub(crate) inputs: Members<DeclaredField>,
    pub(crate) features: Members<DeclaredRequestFeature>,
}

/// A request field as written.
#[derive(Debug)]
pub(crate) struct DeclaredField {
    pub(crate) name: Placed<Name>,
    pub(crate) data_type: Option<DataType>,
    pub(crate) default: Option<Value>,
    pub(crate) nullable: bool,
    /// Whether all of it could be read.
    pub(crate) whole: bool,
}

/// A request-time feature as written.
#[derive(Debug)]
pub(crate) struct DeclaredRequestFeature {
    pub(crate) name: Placed<Name>,
    pub(crate) expression: Option<Embedded>,
    pub(crate) description: Option<String>,
}

/// A feature service as written.
#[derive(Debug)]
pub(crate) struct DeclaredService {
    pub(crate) full_names: bool,
    pub(crate) aliases: Vec<Placed<Name>>,
    pub(crate) features: Members<DeclaredServiceFeature>,
}

/// An entry of a service's list.
#[derive(Debug)]
pub(crate) struct DeclaredServiceFeature {
    /// The view; for an entry without a dot, which is none, all of it.
    pub(crate) view: String,
    /// Whether there is a dot in it.
    pub(crate) dotted: bool,
    /// `None` for `view.*`.
    pub(crate) feature: Option<String>,
    pub(crate) default: Option<Node>,
    /// What it is called.
    pub(crate) rename: Option<Placed<Name>>,
    pub(crate) span: Span,
}

/// A model as written.
#[derive(Debug)]
pub(crate) struct DeclaredModel {
    pub(crate) service: Option<Text>,
    pub(crate) output: Placed<Name>,
    pub(crate) transform: Option<Transform>,
}

impl Typed for DeclaredKey {
    fn name(&self) -> &str {
        self.name.as_str()
    }

    fn data_type(&self) -> Option<DataType> {
        self.data_type
    }
}

impl Typed for DeclaredColumn {
    fn name(&self) -> &str {
        &self.name
    }

    fn data_type(&self) -> Option<DataType> {
        self.data_type
    }
}

impl Typed for DeclaredField {
    fn name(&self) -> &str {
        self.name.value.as_str()
    }

    fn data_type(&self) -> Option<DataType> {
        self.data_type
    }
}
