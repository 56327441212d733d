//! JSON as people like to read it: members in their own order, what is short on one line.

/// Widest line that stays whole.
const WIDTH: usize = 110;

/// Lays out a JSON text. Strings and numbers stay as they are written, and members keep their order; a text that is
/// not JSON comes out in some layout.
pub(crate) fn pretty(json: &str) -> String {
    let mut reader = Reader { text: json, at: 0 };
    let value = reader.value();
    let mut out = String::new();
    write(&value, 0, 0, &mut out);
    out
}

/// The same JSON object with `null` as one of its members, in its own order.
pub(crate) fn with_null(json: &str, member: &str) -> String {
    let mut reader = Reader { text: json, at: 0 };
    let mut value = reader.value();
    if let Node::Inner('{', _, members) = &mut value {
        let named = members
            .iter_mut()
            .filter(|(name, _)| name.trim_matches('"') == member);
        for (_, value) in named {
            *value = Node::Leaf("null");
        }
    }
    value.flat()
}

/// JSON as a tree of its own text.
enum Node<'a> {
    Leaf(&'a str),
    /// Brackets, and members: each with the text of its name, empty in lists.
    Inner(char, char, Vec<(&'a str, Node<'a>)>),
}

impl Node<'_> {
    fn flat(&self) -> String {
        match self {
            Self::Leaf(text) => (*text).to_owned(),
            Self::Inner(open, close, members) => {
                let members: Vec<String> = members
                    .iter()
                    .map(|(name, value)| format!("{}{}", labelled(name), value.flat()))
                    .collect();
                format!("{open}{}{close}", members.join(", "))
            }
        }
    }
}

fn labelled(name: &str) -> String {
    if name.is_empty() {
        String::new()
    } else {
        format!("{name}: ")
    }
}

fn write(node: &Node<'_>, indent: usize, label: usize, out: &mut String) {
    let flat = node.flat();
    let (open, close, members) = match node {
        Node::Inner(open, close, members) if indent + label + flat.chars().count() > WIDTH => {
            (open, close, members)
        }
        _ => return out.push_str(&flat),
    };
    out.push(*open);
    for (index, (name, value)) in members.iter().enumerate() {
        let separator = if index > 0 { ",\n" } else { "\n" };
        let name = labelled(name);
        out.push_str(&format!("{separator}{:1$}{name}", "", indent + 2));
        write(value, indent + 2, name.chars().count(), out);
    }
    out.push_str(&format!("\n{:indent$}{close}", ""));
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn value(&mut self) -> Node<'a> {
        self.skip(|byte| byte.is_ascii_whitespace());
        match self.text.as_bytes().get(self.at) {
            Some(b'{') => self.members('{', '}'),
            Some(b'[') => self.members('[', ']'),
            Some(b'"') => Node::Leaf(self.string()),
            _ => {
                let start = self.at;
                self.skip(|byte| {
                    !matches!(byte, b',' | b']' | b'}') && !byte.is_ascii_whitespace()
                });
                Node::Leaf(&self.text[start..self.at])
            }
        }
    }

    fn members(&mut self, open: char, close: char) -> Node<'a> {
        self.at += 1;
        let mut members = Vec::new();
        loop {
            self.skip(|byte| byte.is_ascii_whitespace() || byte == b',');
            match self.text.as_bytes().get(self.at) {
                None => break,
                Some(byte) if char::from(*byte) == close => {
                    self.at += 1;
                    break;
                }
                // Stray brackets end the text: nothing more of it can be laid out.
                Some(b'}' | b']') => {
                    self.at = self.text.len();
                    break;
                }
                Some(_) if open == '{' => {
                    let name = self.string();
                    self.skip(|byte| byte.is_ascii_whitespace() || byte == b':');
                    members.push((name, self.value()));
                }
                Some(_) => members.push(("", self.value())),
            }
        }
        Node::Inner(open, close, members)
    }

    fn string(&mut self) -> &'a str {
        let start = self.at;
        let mut escaped = true; // the opening quote does not close the string
        for (offset, byte) in self.text.as_bytes()[start..].iter().enumerate() {
            if *byte == b'"' && !escaped {
                self.at = start + offset + 1;
                return &self.text[start..self.at];
            }
            escaped = *byte == b'\\' && !escaped;
        }
        self.at = self.text.len();
        &self.text[start..]
    }

    fn skip(&mut self, wanted: impl Fn(u8) -> bool) {
        let rest = &self.text.as_bytes()[self.at..];
        let skipped = rest.iter().position(|byte| !wanted(*byte));
        self.at += skipped.unwrap_or(rest.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_short_stays_on_a_line_and_order_is_kept() {
        let filler = "x".repeat(96);
        let json =
            format!(r#"{{"z":[1,2.50,"a\"],b"],"a":{{}},"long":{{"k":"{filler}","n":null}}}}"#);
        let expected = format!(
            "{{\n  \"z\": [1, 2.50, \"a\\\"],b\"],\n  \"a\": {{}},\n  \"long\": {{\n    \"k\": \"{filler}\",\n    \"n\": null\n  }}\n}}"
        );
        assert_eq!(pretty(&json), expected);
    }

    #[test]
    fn only_the_outermost_member_becomes_null() {
        let json = r#"{"a": 1, "release": 7, "b": {"release": 8}}"#;
        assert_eq!(
            with_null(json, "release"),
            r#"{"a": 1, "release": null, "b": {"release": 8}}"#
        );
    }

    #[test]
    fn what_is_no_json_ends_all_the_same() {
        for text in ["", "{", "[1,", "{\"a", "]", "{]}", "plain", "{1:2}", "\"é"] {
            let _ = pretty(text);
        }
    }
}
