//! Nodes, and edges that say what is made from what.

use std::fmt;

use serde::Serialize;

use crate::name::Name;

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// An entity.
    Entity,
    /// A source.
    Source,
    /// A column of a source.
    Column,
    /// A feature view.
    FeatureView,
    /// A feature of a feature view.
    Feature,
    /// A request view.
    RequestView,
    /// A field that a request brings. Request views that declare one of the same name share it.
    RequestField,
    /// A feature of a request view.
    RequestFeature,
    /// A feature service.
    FeatureService,
    /// A model.
    Model,
}

impl Kind {
    /// The kinds by the names that they have in documents, and in `kind:name`.
    pub const NAMED: [(&'static str, Self); 10] = [
        ("entity", Self::Entity),
        ("source", Self::Source),
        ("column", Self::Column),
        ("feature_view", Self::FeatureView),
        ("feature", Self::Feature),
        ("request_view", Self::RequestView),
        ("request_field", Self::RequestField),
        ("request_feature", Self::RequestFeature),
        ("feature_service", Self::FeatureService),
        ("model", Self::Model),
    ];

    /// The kind's name in documents, and in `kind:name`.
    #[must_use]
    pub fn name(self) -> &'static str {
        let named = Self::NAMED.iter().find(|(_, kind)| *kind == self);
        named.map_or("", |(name, _)| name)
    }

    /// As people say it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Entity => "entity",
            Self::Source => "source",
            Self::Column => "column",
            Self::FeatureView => "feature view",
            Self::Feature => "feature",
            Self::RequestView => "request view",
            Self::RequestField => "request field",
            Self::RequestFeature => "request-time feature",
            Self::FeatureService => "feature service",
            Self::Model => "model",
        }
    }
}

/// What a node is to one that is made from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Its values are computed from it.
    Value,
    /// It decides which rows count: filters, join conditions, keys, the order that something is cut by, and always the
    /// event time and the created time of a source.
    Rows,
    /// It decides between rows that are equal in all that they are ordered by, and nothing else.
    Ties,
    /// It says whose rows these are: from an entity to the features that describe it.
    Key,
}

/// A node's place among [`Lineage::nodes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub(super) usize);

/// An object, or a member of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// Its full name: `purchases`, `purchases.amount`.
    pub name: String,
    /// The object that it is a member of: the source of a column, the view of a feature.
    pub of: Option<NodeId>,
}

impl Node {
    /// The name within the object that it is a member of, else the full one.
    #[must_use]
    pub fn short_name(&self) -> &str {
        match self.of {
            Some(_) => self.name.split_once('.').map_or(&self.name, |(_, own)| own),
            None => &self.name,
        }
    }
}

/// `kind:name`, which tells any two nodes apart.
impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind.name(), self.name)
    }
}

/// One node is made from another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    /// What is made.
    pub to: NodeId,
    /// What the other one is to it. Two nodes may be joined in more than one role.
    pub role: Role,
    /// What it is made from.
    pub from: NodeId,
}

/// Which way one looks from a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// What it is made from.
    Upstream,
    /// What is made from it.
    Downstream,
}

/// The lineage of definitions cannot be told. Never for checked ones.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the SQL of `{view}` does not plan: {message}")]
pub struct LineageError {
    /// The view.
    pub view: Name,
    /// Why.
    pub message: String,
}

/// What is made from what in a project.
///
/// Objects stand in the order of their kinds and of their definitions, each followed by its members. Edges join columns,
/// features, services and whatever else is no mere holder of members.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lineage {
    pub(super) nodes: Vec<Node>,
    /// Sorted.
    pub(super) edges: Vec<Edge>,
    /// Neighbours of each node, sorted.
    pub(super) made_from: Vec<Vec<(Role, NodeId)>>,
    pub(super) used_by: Vec<Vec<(Role, NodeId)>>,
    /// Other names of nodes: a service's aliases, and request fields as members of the views that declare them.
    pub(super) also_named: Vec<(String, NodeId)>,
}

impl Lineage {
    /// All nodes.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        let nodes = self.nodes.iter().enumerate();
        nodes.map(|(place, node)| (NodeId(place), node))
    }

    /// All edges, sorted by what is made, then by role.
    #[must_use]
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// A node.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0]
    }

    /// What a node is made from, or what is made from it, right beside it.
    #[must_use]
    pub fn neighbours(&self, id: NodeId, direction: Direction) -> &[(Role, NodeId)] {
        match direction {
            Direction::Upstream => &self.made_from[id.0],
            Direction::Downstream => &self.used_by[id.0],
        }
    }

    /// The members of an object; a node without members stands for itself.
    #[must_use]
    pub fn members(&self, id: NodeId) -> Vec<NodeId> {
        // They follow their object.
        let after = self.nodes.iter().enumerate().skip(id.0 + 1);
        let members = after.take_while(|(_, node)| node.of == Some(id));
        let members: Vec<NodeId> = members.map(|(place, _)| NodeId(place)).collect();
        match self.node(id).kind {
            Kind::Source | Kind::FeatureView | Kind::RequestView => members,
            _ => vec![id],
        }
    }
}
