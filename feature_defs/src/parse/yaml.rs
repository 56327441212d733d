//! YAML texts as trees in which everything knows its place. Only the plain part of YAML is accepted: one document, no
//! anchors, aliases or tags, each key once, text keys.

use saphyr_parser::{Event, Parser, ScalarStyle, StrInput};

use crate::definitions::DefinitionFile;
use crate::error::{Problem, Span};

/// Deepest nesting that is read. Definitions need six levels.
const MAX_DEPTH: usize = 32;

/// A value with its place.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// Where it stands.
    pub(crate) span: Span,
    /// What it is.
    pub(crate) kind: Kind,
}

/// What a [`Node`] is.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// A single value.
    Scalar {
        /// Its text, quotes and escapes resolved.
        text: String,
        /// Whether it is written without quotes, so that `7` is a number and `null` a null.
        plain: bool,
    },
    /// A list.
    Sequence(Vec<Node>),
    /// A map, in the order of the text.
    Mapping(Vec<(Text, Node)>),
}

/// A text with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text {
    /// The text.
    pub(crate) text: String,
    /// Where it stands.
    pub(crate) span: Span,
}

/// Reads a file's text. `None` for an empty file, and when the problems say why it cannot be read.
pub(crate) fn read(file: &DefinitionFile, found: &mut Vec<Problem>) -> Option<Node> {
    let mut reader = TreeReader {
        file,
        offsets: file.text.char_indices().map(|(at, _)| at).collect(),
        parser: Parser::new_from_str(&file.text),
        found,
    };
    reader.document().ok().flatten()
}

struct TreeReader<'a> {
    file: &'a DefinitionFile,
    /// Byte offset of each character: the parser counts characters.
    offsets: Vec<usize>,
    parser: Parser<'a, StrInput<'a>>,
    found: &'a mut Vec<Problem>,
}

/// The rest of the file cannot be read; the problem is recorded.
struct Unreadable;

impl<'a> TreeReader<'a> {
    fn document(&mut self) -> Result<Option<Node>, Unreadable> {
        let mut root = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamEnd => return Ok(root),
                Event::Nothing | Event::StreamStart | Event::DocumentEnd => {}
                Event::DocumentStart(_) if root.is_some() => {
                    return Err(self.refuse(
                        span,
                        "a second document in one file",
                        "write one document a file, without `---` between parts",
                    ));
                }
                Event::DocumentStart(_) => {}
                event => root = Some(self.node(event, span, 0)?),
            }
        }
    }

    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node, Unreadable> {
        if depth > MAX_DEPTH {
            return Err(self.refuse(span, "nested too deeply", "definitions need six levels"));
        }
        self.refuse_extras(&event, &span);
        match event {
            Event::Scalar(text, style, ..) => Ok(Node {
                span,
                kind: Kind::Scalar {
                    text: text.into_owned(),
                    plain: style == ScalarStyle::Plain,
                },
            }),
            Event::SequenceStart(..) => self.sequence(span, depth),
            Event::MappingStart(..) => self.mapping(span, depth),
            _ => Ok(Node {
                span,
                kind: Kind::Scalar {
                    text: String::new(),
                    plain: true,
                },
            }),
        }
    }

    fn sequence(&mut self, start: Span, depth: usize) -> Result<Node, Unreadable> {
        let mut items = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::SequenceEnd) {
                let end = items
                    .last()
                    .map_or(span.bytes.end, |last: &Node| last.span.bytes.end);
                return Ok(Node {
                    span: self.between(&start, end.max(span.bytes.start.min(span.bytes.end))),
                    kind: Kind::Sequence(items),
                });
            }
            items.push(self.node(event, span, depth + 1)?);
        }
    }

    fn mapping(&mut self, start: Span, depth: usize) -> Result<Node, Unreadable> {
        let mut entries: Vec<(Text, Node)> = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::MappingEnd) {
                let end = entries
                    .last()
                    .map_or(span.bytes.end, |(_, last)| last.span.bytes.end);
                return Ok(Node {
                    span: self.between(&start, end),
                    kind: Kind::Mapping(entries),
                });
            }
            let key = self.node(event, span, depth + 1)?;
            let (event, span) = self.next()?;
            let value = self.node(event, span, depth + 1)?;
            let Kind::Scalar { text, .. } = key.kind else {
                self.refuse(key.span, "a key that is not a text", "write `name: value`");
                continue;
            };
            let key = Text {
                text,
                span: key.span,
            };
            match entries.iter().find(|(earlier, _)| earlier.text == key.text) {
                Some(_) => {
                    let message = format!("the key `{}` stands here twice", key.text);
                    self.refuse(key.span, &message, "keep one of the two");
                }
                None => entries.push((key, value)),
            }
        }
    }

    fn refuse_extras(&mut self, event: &Event<'a>, span: &Span) {
        let (anchor, tagged) = match event {
            Event::Alias(_) => (1, false),
            Event::Scalar(_, _, anchor, tag) => (*anchor, tag.is_some()),
            Event::SequenceStart(anchor, tag) | Event::MappingStart(anchor, tag) => {
                (*anchor, tag.is_some())
            }
            _ => (0, false),
        };
        if anchor != 0 {
            self.refuse(
                span.clone(),
                "anchors and aliases are not accepted",
                "write the value out where it is used",
            );
        }
        if tagged {
            self.refuse(
                span.clone(),
                "tags are not accepted",
                "write the plain value",
            );
        }
    }

    fn next(&mut self) -> Result<(Event<'a>, Span), Unreadable> {
        match self.parser.next_event() {
            Some(Ok((event, span))) => {
                let span = self.span(span.start.index(), span.end.index());
                Ok((event, span))
            }
            Some(Err(error)) => {
                let at = error.marker().index();
                let span = self.span(at, at + 1);
                let message = format!("this is not YAML: {}", error.info());
                Err(self.refuse(
                    span,
                    &message,
                    "check indentation, quotes and brackets just before this place",
                ))
            }
            None => Ok((Event::StreamEnd, self.span(usize::MAX, usize::MAX))),
        }
    }

    fn refuse(&mut self, span: Span, message: &str, help: &str) -> Unreadable {
        self.found.push(Problem::new(span, message, help));
        Unreadable
    }

    fn between(&self, start: &Span, end: usize) -> Span {
        Span {
            file: self.file.path.clone(),
            bytes: start.bytes.start..end.max(start.bytes.start),
        }
    }

    fn span(&self, start: usize, end: usize) -> Span {
        let byte = |index: usize| {
            self.offsets
                .get(index)
                .copied()
                .unwrap_or(self.file.text.len())
        };
        let start = byte(start);
        Span {
            file: self.file.path.clone(),
            bytes: start..byte(end).max(start),
        }
    }
}
