//! From a name to nodes.

use super::graph::{Kind, Lineage, Node, NodeId};
use crate::suggestion::nearest;

impl Lineage {
    /// The nodes that a name stands for: an object (`purchases`), a member of one (`purchases.amount`), or either with
    /// its kind before it (`source:purchases`). A name that several have stands for all of them, in order.
    #[must_use]
    pub fn find(&self, name: &str) -> Vec<NodeId> {
        let (kind, name) = told_apart(name);
        let wanted = |id: &NodeId| kind.is_none_or(|kind| self.node(*id).kind == kind);
        let own = self.nodes().filter(|(_, node)| node.name == name);
        let also = self.also_named.iter().filter(|(also, _)| also == name);
        let mut found: Vec<NodeId> = own
            .map(|(id, _)| id)
            .chain(also.map(|(_, id)| *id))
            .filter(wanted)
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// What a name that stands for nothing was most likely meant to be.
    #[must_use]
    pub fn nearest(&self, name: &str) -> Option<&str> {
        let (kind, name) = told_apart(name);
        let nodes = self.nodes.iter();
        let of_kind = nodes.filter(|node| kind.is_none_or(|kind| node.kind == kind));
        // Of an object that is there, only its members are meant.
        if let Some((object, member)) = name.split_once('.') {
            let is_its = |node: &&Node| node.of.is_some_and(|of| self.node(of).name == object);
            let members: Vec<&Node> = of_kind.clone().filter(is_its).collect();
            if !members.is_empty() {
                let near = nearest(member, members.iter().map(|node| node.short_name()))?;
                let mut members = members.into_iter();
                return members.find_map(|node| (node.short_name() == near).then_some(&*node.name));
            }
        }
        nearest(name, of_kind.map(|node| node.name.as_str()))
    }

    /// The names of an object's members, if a name has an object before its point.
    #[must_use]
    pub fn members_of(&self, name: &str) -> Vec<&str> {
        let (_, name) = told_apart(name);
        let Some((object, _)) = name.split_once('.') else {
            return Vec::new();
        };
        let objects = self.nodes().filter(|(_, node)| node.name == object);
        let members = objects.flat_map(|(id, _)| self.members(id));
        let members = members.filter(|id| self.node(*id).of.is_some());
        members.map(|id| self.node(id).short_name()).collect()
    }
}

/// The kind before a name, if there is one: no name of an object holds a colon.
fn told_apart(name: &str) -> (Option<Kind>, &str) {
    let apart = name.split_once(':').and_then(|(kind, rest)| {
        let mut named = Kind::NAMED.iter();
        let (_, kind) = named.find(|(name, _)| *name == kind)?;
        Some((Some(*kind), rest))
    });
    apart.unwrap_or((None, name))
}
