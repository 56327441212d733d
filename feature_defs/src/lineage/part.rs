//! The part of a graph that lies around a node.

use std::collections::BTreeSet;

use serde::Serialize;

use super::graph::{Direction, Edge, Kind, Lineage, NodeId, Role};

/// Nodes, and the edges between them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Part {
    /// The nodes that were asked for.
    pub found: Vec<NodeId>,
    /// All nodes that are reached from them, their members, and the objects that those are members of.
    pub nodes: BTreeSet<NodeId>,
    /// The edges on the way.
    pub edges: BTreeSet<Edge>,
}

/// A [`Part`] as a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Document<'a> {
    /// Ids of the nodes that were asked for.
    pub found: Vec<String>,
    /// The nodes: objects in the order of their kinds and definitions, each followed by its members.
    pub nodes: Vec<DocumentNode<'a>>,
    /// The edges, by what is made, in the order of nodes.
    pub edges: Vec<DocumentEdge>,
}

/// A node in a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DocumentNode<'a> {
    /// `kind:name`.
    pub id: String,
    /// What it is.
    pub kind: Kind,
    /// Its full name.
    pub name: &'a str,
    /// Id of the object that it is a member of.
    pub of: Option<String>,
}

/// An edge in a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DocumentEdge {
    /// Id of what it is made from.
    pub from: String,
    /// Id of what is made.
    pub to: String,
    /// What the one is to the other.
    pub role: Role,
}

impl Lineage {
    /// All that is reached from nodes in these directions.
    #[must_use]
    pub fn around(&self, found: &[NodeId], directions: &[Direction]) -> Part {
        let mut part = Part {
            found: found.to_vec(),
            ..Part::default()
        };
        let start: Vec<NodeId> = found.iter().flat_map(|id| self.members(*id)).collect();
        for direction in directions {
            self.reach(&start, *direction, &mut part);
        }
        part.nodes.extend(found.iter().chain(&start));
        let objects = part.nodes.iter().filter_map(|id| self.node(*id).of);
        let objects: Vec<NodeId> = objects.collect();
        part.nodes.extend(objects);
        part
    }

    fn reach(&self, start: &[NodeId], direction: Direction, part: &mut Part) {
        let mut seen: BTreeSet<NodeId> = start.iter().copied().collect();
        let mut waiting = start.to_vec();
        while let Some(id) = waiting.pop() {
            for (role, other) in self.neighbours(id, direction) {
                let (role, other) = (*role, *other);
                part.edges.insert(match direction {
                    Direction::Upstream => Edge {
                        to: id,
                        role,
                        from: other,
                    },
                    Direction::Downstream => Edge {
                        to: other,
                        role,
                        from: id,
                    },
                });
                if seen.insert(other) {
                    waiting.push(other);
                }
            }
        }
        part.nodes.extend(seen);
    }

    /// A part as a document.
    #[must_use]
    pub fn document(&self, part: &Part) -> Document<'_> {
        let id = |id: NodeId| self.node(id).to_string();
        let nodes = part.nodes.iter().map(|place| {
            let node = self.node(*place);
            DocumentNode {
                id: node.to_string(),
                kind: node.kind,
                name: &node.name,
                of: node.of.map(id),
            }
        });
        let edges = part.edges.iter().map(|edge| DocumentEdge {
            from: id(edge.from),
            to: id(edge.to),
            role: edge.role,
        });
        Document {
            found: part.found.iter().map(|found| id(*found)).collect(),
            nodes: nodes.collect(),
            edges: edges.collect(),
        }
    }
}
