//! A part of the graph as Mermaid text.

use std::collections::BTreeSet;
use std::fmt::Write;

use indexmap::IndexMap;

use super::graph::{Edge, Lineage, NodeId, Role};
use super::part::Part;

impl Lineage {
    /// A `flowchart LR` of a part: a box an object, in it its members, those of the same edges together; what decides
    /// rows is dotted. The same part gives the same text, and a node keeps its id while its name stays.
    #[must_use]
    pub fn mermaid(&self, part: &Part) -> String {
        let boxes = self.boxes(part);
        let mut text = "flowchart LR\n".to_owned();
        // Members of one object follow each other.
        let of = |nodes: &[NodeId]| self.node(nodes[0]).of;
        for boxes in boxes.chunk_by(|one, other| of(one) == of(other) && of(one).is_some()) {
            let object = of(&boxes[0]);
            let indent = match object {
                Some(object) => {
                    let heading = escaped(&self.heading(object));
                    let _ = writeln!(text, "  subgraph {}[\"{heading}\"]", self.id(object));
                    "    "
                }
                None => "  ",
            };
            for nodes in boxes {
                let _ = writeln!(
                    text,
                    "{indent}{}[\"{}\"]",
                    self.id(nodes[0]),
                    self.label(nodes)
                );
            }
            if object.is_some() {
                text.push_str("  end\n");
            }
        }
        for (from, role, to) in self.arrows(part, &boxes) {
            let arrow = match role {
                Role::Value => "-->",
                Role::Rows => "-. rows .->",
                Role::Ties => "-. ties .->",
                Role::Key => "-. key .->",
            };
            let _ = writeln!(text, "  {} {arrow} {}", self.id(from), self.id(to));
        }
        for found in &part.found {
            let drawn = boxes.iter().find(|nodes| nodes.contains(found));
            let drawn = drawn.map_or(*found, |nodes| nodes[0]);
            let _ = writeln!(text, "  style {} stroke-width:3px", self.id(drawn));
        }
        text
    }

    /// The nodes that are drawn, in order: those of one object and of the same edges are one box. An object without
    /// members here is drawn itself; what was asked for has a box of its own.
    fn boxes(&self, part: &Part) -> Vec<Vec<NodeId>> {
        let holders: BTreeSet<NodeId> = part
            .nodes
            .iter()
            .filter_map(|id| self.node(*id).of)
            .collect();
        let mut ends: IndexMap<NodeId, BTreeSet<(bool, Role, NodeId)>> = IndexMap::new();
        for Edge { to, role, from } in &part.edges {
            ends.entry(*from).or_default().insert((true, *role, *to));
            ends.entry(*to).or_default().insert((false, *role, *from));
        }
        let mut boxes: IndexMap<_, Vec<NodeId>> = IndexMap::new();
        for id in part.nodes.iter().filter(|id| !holders.contains(*id)) {
            let node = self.node(*id);
            let alone = (node.of.is_none() || part.found.contains(id)).then_some(*id);
            let alike = (alone, node.of, ends.get(id));
            boxes.entry(alike).or_default().push(*id);
        }
        boxes.into_values().collect()
    }

    fn arrows(&self, part: &Part, boxes: &[Vec<NodeId>]) -> BTreeSet<(NodeId, Role, NodeId)> {
        let drawn: IndexMap<NodeId, NodeId> = boxes
            .iter()
            .flat_map(|nodes| nodes.iter().map(|id| (*id, nodes[0])))
            .collect();
        let edges = part.edges.iter();
        edges
            .map(|edge| (drawn[&edge.from], edge.role, drawn[&edge.to]))
            .collect()
    }

    fn label(&self, nodes: &[NodeId]) -> String {
        let names: Vec<String> = nodes
            .iter()
            .map(|id| match self.node(*id).of {
                Some(_) => escaped(self.node(*id).short_name()),
                None => escaped(&self.heading(*id)),
            })
            .collect();
        names.join("<br>")
    }

    /// An id of small letters, digits and `_`, with a capital for all else, so that no two nodes share one.
    fn id(&self, id: NodeId) -> String {
        let mut text = String::new();
        for c in self.node(id).to_string().chars() {
            match c {
                'a'..='z' | '0'..='9' | '_' => text.push(c),
                '.' => text.push('D'),
                ':' => text.push('K'),
                other => {
                    let _ = write!(text, "U{:x}V", u32::from(other));
                }
            }
        }
        text
    }
}

/// A text inside a quoted label.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' | '.' | ' ' => escaped.push(c),
            c if c.is_alphanumeric() => escaped.push(c),
            other => {
                let _ = write!(escaped, "#{};", u32::from(other));
            }
        }
    }
    escaped
}
