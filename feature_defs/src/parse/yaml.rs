//! YAML texts as trees in which everything knows its place. Only the plain part of YAML is accepted: one document, no
//! anchors, aliases or tags, each key once, text keys.

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, StrInput};

use crate::definitions::DefinitionFile;
use crate::error::{Problem, Span};
use crate::name::Name;
use crate::parse::scan_fault::{Scanned, scan_fault};

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
    /// A map.
    Mapping(Map),
    /// What cannot be read. The problem is recorded, and nothing more is to be said of it.
    Refused,
}

/// The entries of a map, in the order of the text.
#[derive(Debug, Clone)]
pub(crate) struct Map {
    /// Each key once.
    pub(crate) entries: Vec<(Text, Node)>,
    /// Entries whose keys stand in the map before.
    pub(crate) repeated: Vec<(Text, Node)>,
    /// Whether no entry was refused: if not, that a key is not there proves nothing.
    pub(crate) whole: bool,
}

impl Map {
    /// A map without entries.
    pub(crate) const EMPTY: Self = Self {
        entries: Vec::new(),
        repeated: Vec::new(),
        whole: true,
    };

    /// The value of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        let (_, node) = self.entries.iter().find(|(text, _)| text.text == key)?;
        Some(node)
    }

    /// Whether a key stands here more than once, so that its value is in doubt.
    pub(crate) fn repeats(&self, key: &str) -> bool {
        self.repeated.iter().any(|(text, _)| text.text == key)
    }
}

/// A text with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text {
    /// The text.
    pub(crate) text: String,
    /// Where it stands.
    pub(crate) span: Span,
}

/// The tree of a file's text: an empty map for an empty file, [`Kind::Refused`] when the problems say why it cannot be
/// read.
pub(crate) fn read(file: &DefinitionFile, found: &mut Vec<Problem>) -> Node {
    let mut reader = TreeReader {
        file,
        offsets: file.text.char_indices().map(|(at, _)| at).collect(),
        parser: Parser::new_from_str(&file.text),
        open: Vec::new(),
        found,
    };
    let start = reader.span(0, 0);
    let kind = match reader.document() {
        Ok(Some(node)) => return node,
        Ok(None) => Kind::Mapping(Map::EMPTY),
        Err(Unreadable) => Kind::Refused,
    };
    Node { span: start, kind }
}

struct TreeReader<'a> {
    file: &'a DefinitionFile,
    /// Byte offset of each character: the parser counts characters.
    offsets: Vec<usize>,
    parser: Parser<'a, StrInput<'a>>,
    /// Where the lists and maps start that have not ended.
    open: Vec<usize>,
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
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                self.open.push(span.bytes.start);
                let node = match event {
                    Event::SequenceStart(..) => self.sequence(span, depth),
                    _ => self.mapping(span, depth),
                }?;
                self.open.pop();
                Ok(node)
            }
            _ => Ok(Node {
                span,
                kind: Kind::Refused,
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
        let mut map = Map::EMPTY;
        let mut end = start.bytes.end;
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::MappingEnd) {
                return Ok(Node {
                    span: self.between(&start, end),
                    kind: Kind::Mapping(map),
                });
            }
            let key = self.node(event, span, depth + 1)?;
            let (event, span) = self.next()?;
            let merged = matches!(&key.kind, Kind::Scalar { text, plain: true } if text == "<<");
            if merged && matches!(event, Event::Alias(_)) {
                map.whole = false;
                self.refuse_extras(&event, &span);
                continue;
            }
            let value = self.node(event, span, depth + 1)?;
            end = end.max(value.span.bytes.end);
            let Kind::Scalar { text, .. } = key.kind else {
                map.whole = false;
                if !matches!(key.kind, Kind::Refused) {
                    self.refuse(key.span, "a key that is not a text", "write `name: value`");
                }
                continue;
            };
            let key = Text {
                text,
                span: key.span,
            };
            if self.goes_on(&mut map, &start, &key, &value) {
                continue;
            }
            if map.get(&key.text).is_some() {
                let message = format!("the key `{}` stands here twice", key.text);
                self.refuse(key.span.clone(), &message, "keep one of the two");
                map.repeated.push((key, value));
            } else {
                map.entries.push((key, value));
            }
        }
    }

    /// Whether a key without a value is the rest of the value before it, which a comma has cut: `{a: decimal(12,2)}`.
    /// That value is made whole, so that it is checked like any other.
    fn goes_on(&mut self, map: &mut Map, start: &Span, key: &Text, value: &Node) -> bool {
        let in_braces = self.file.text[start.bytes.start..].starts_with('{');
        let no_value = matches!(&value.kind, Kind::Scalar { text, plain: true } if text.is_empty());
        let Some((_, cut)) = map.entries.last_mut().filter(|_| in_braces && no_value) else {
            return false;
        };
        let Kind::Scalar { text, plain: true } = &mut cut.kind else {
            return false;
        };
        // A word that stands alone may be a key that somebody forgot to give a value.
        let is_prose = closes(text);
        if is_prose && Name::parse(&key.text).is_ok() {
            return false;
        }
        let told = text.contains(',');
        let bytes = cut.span.bytes.start..key.span.bytes.end;
        self.file.text[bytes.clone()].clone_into(text);
        cut.span.bytes = bytes;
        if !told {
            let span = cut.span.clone();
            let rest = &self.file.text[span.bytes.start..];
            let end = match is_prose {
                true => Some(end_of_prose(rest)),
                false => rest
                    .match_indices([')', '>'])
                    .map(|(at, _)| at + 1)
                    .find(|end| closes(&rest[..*end])),
            };
            let whole = end.filter(|end| !rest[..*end].contains(['\n', '"']));
            if whole.is_none() && !is_prose {
                cut.kind = Kind::Refused;
            }
            let help = whole.map_or_else(
                || "write the value in quotes".to_owned(),
                |end| format!("write it in quotes: `\"{}\"`", &rest[..end]),
            );
            self.refuse(span, "inside `{}`, a comma ends this value", &help);
        }
        true
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
                let fault = scan_fault(&self.file.text, &self.scanned(&error));
                let span = Span {
                    file: self.file.path.clone(),
                    bytes: fault.bytes,
                };
                Err(self.refuse(span, &fault.message, &fault.help))
            }
            None => Ok((Event::StreamEnd, self.span(usize::MAX, usize::MAX))),
        }
    }

    /// What the parser stumbled over.
    fn scanned(&self, error: &ScanError) -> Scanned {
        Scanned {
            info: error.info().to_owned(),
            at: self
                .span(error.marker().index(), error.marker().index())
                .bytes
                .start,
            open: self.open.last().copied(),
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

/// Where a text inside `{}` ends that goes on after commas: before the next `, key:`, or the end of the map.
fn end_of_prose(rest: &str) -> usize {
    let end = rest.find(['}', '\n']).unwrap_or(rest.len());
    let before_key = rest[..end]
        .find(": ")
        .and_then(|colon| rest[..colon].rfind(','));
    rest[..before_key.unwrap_or(end)].trim_end().len()
}

/// Whether every parenthesis is closed, and every `<` of a type: that of an expression is a comparison.
fn closes(text: &str) -> bool {
    let closes =
        |open: char, close: char| text.matches(open).count() <= text.matches(close).count();
    let is_type = ["list", "vector", "struct"]
        .iter()
        .any(|name| text.starts_with(name));
    closes('(', ')') && (!is_type || closes('<', '>'))
}
