//! A graph as a tree of text, from one node on.
//!
//! Members of one object that have the same neighbours stand on one line, so that a view of a hundred features over five
//! columns is five lines. What hangs below a line that was shown before is not shown again.

use std::collections::HashSet;

use indexmap::IndexMap;

use super::graph::{Direction, Kind, Lineage, NodeId, Role};

/// Lines are broken to be no longer, in characters, where they can be.
const WIDTH: usize = 110;

impl Lineage {
    /// What a node is made from, or what is made from it, as lines; empty where there is nothing.
    #[must_use]
    pub fn tree(&self, id: NodeId, direction: Direction) -> String {
        let members = self.members(id);
        let level: Vec<(Role, NodeId)> = match members.as_slice() {
            [own] if *own == id => self.neighbours(id, direction).to_vec(),
            // The members themselves are the first level; those of nobody, where all are, say nothing.
            members => {
                let joined = |id: &NodeId| !self.neighbours(*id, direction).is_empty();
                match members.iter().any(joined) {
                    true => members.iter().map(|id| (Role::Value, *id)).collect(),
                    false => Vec::new(),
                }
            }
        };
        let mut writer = Writer {
            lineage: self,
            direction,
            shown: HashSet::new(),
            text: String::new(),
        };
        let first_is_own = members != [id];
        writer.level(&level, "", first_is_own);
        writer.text.truncate(writer.text.trim_end().len());
        writer.text
    }

    /// How a node is headed: `feature spend.amount_7d`.
    #[must_use]
    pub fn heading(&self, id: NodeId) -> String {
        let node = self.node(id);
        format!("{} {}", node.kind.as_str(), node.name)
    }
}

/// Nodes that stand on one line.
type Line = (Role, Vec<NodeId>);

struct Writer<'a> {
    lineage: &'a Lineage,
    direction: Direction,
    /// Lines whose children were shown.
    shown: HashSet<Vec<NodeId>>,
    text: String,
}

impl Writer<'_> {
    /// Writes nodes of one level; `own` says whether they are the members of what was asked for.
    fn level(&mut self, nodes: &[(Role, NodeId)], indent: &str, own: bool) {
        let lines = self.lines(nodes);
        for (place, (role, nodes)) in lines.iter().enumerate() {
            let last = place + 1 == lines.len();
            let (branch, below) = if last {
                ("└─ ", "   ")
            } else {
                ("├─ ", "│  ")
            };
            let mut words = self.words(*role, nodes, own);
            let children = self.lineage.neighbours(nodes[0], self.direction);
            let again = !children.is_empty() && !self.shown.insert(nodes.clone());
            if again {
                words.push("(above)".to_owned());
            } else if own && children.is_empty() {
                words.push("(nothing)".to_owned());
            }
            let below = format!("{indent}{below}");
            // Continued lines pass the children by.
            let continued = if children.is_empty() || again {
                "   "
            } else {
                "│  "
            };
            self.wrap(
                &format!("{indent}{branch}"),
                &format!("{below}{continued}"),
                &words,
            );
            if !again {
                self.level(children, &below, false);
            }
        }
    }

    /// The lines of a level, in the order of their first nodes.
    fn lines(&self, nodes: &[(Role, NodeId)]) -> Vec<Line> {
        let mut lines: IndexMap<_, Vec<NodeId>> = IndexMap::new();
        for (role, id) in nodes {
            let node = self.lineage.node(*id);
            let neighbours = self.lineage.neighbours(*id, self.direction);
            let alike = (*role, node.kind, node.of, neighbours);
            lines.entry(alike).or_default().push(*id);
        }
        let lines = lines.into_iter();
        lines.map(|((role, ..), nodes)| (role, nodes)).collect()
    }

    /// `rows by purchases.{customer_id, at}`, parted where a line may be broken.
    fn words(&self, role: Role, nodes: &[NodeId], own: bool) -> Vec<String> {
        let first = self.lineage.node(nodes[0]);
        let what = match (role, self.direction) {
            (Role::Value | Role::Key, _) => first.kind.as_str(),
            (Role::Rows, Direction::Upstream) => "rows by",
            (Role::Rows, Direction::Downstream) => "rows of",
            (Role::Ties, Direction::Upstream) => "ties by",
            (Role::Ties, Direction::Downstream) => "ties of",
        };
        let mut names: Vec<String> = nodes
            .iter()
            .map(|id| format!("{},", self.lineage.node(*id).short_name()))
            .collect();
        let (open, close) = match first.of {
            Some(object) => {
                let all = !own && nodes.len() > 1 && self.lineage.members(object) == nodes;
                if all && first.kind != Kind::Column {
                    names = vec!["*,".to_owned()];
                }
                let object = &self.lineage.node(object).name;
                match names.len() {
                    1 => (format!("{object}."), ""),
                    _ => (format!("{object}.{{"), "}"),
                }
            }
            None => (String::new(), ""),
        };
        names[0].insert_str(0, &open);
        if let Some(last) = names.last_mut() {
            last.pop();
            last.push_str(close);
        }
        names[0].insert_str(0, &format!("{what} "));
        names
    }

    fn wrap(&mut self, first: &str, next: &str, words: &[String]) {
        let mut line = first.to_owned();
        let mut empty = true;
        for word in words {
            let longer = line.chars().count() + 1 + word.chars().count();
            if !empty && longer > WIDTH {
                self.text.push_str(line.trim_end());
                self.text.push('\n');
                line = format!("{next}  ");
                empty = true;
            }
            if !empty {
                line.push(' ');
            }
            line.push_str(word);
            empty = false;
        }
        self.text.push_str(&line);
        self.text.push('\n');
    }
}
