//! Helpers that read declared shapes from trees, and record every problem on the way.

use std::fmt::Display;

use chrono_tz::Tz;
use indexmap::IndexMap;

use crate::data_type::DataTypeFault;
use crate::definitions::DefinitionFile;
use crate::error::{Problem, Span};
use crate::language::{Shape, written};
use crate::name::Name;
use crate::parse::Embedded;
use crate::parse::yaml::{Kind, Map, Node, Text};
use crate::project::Root;
use crate::suggestion::{accepted, nearest};

/// A value with its place.
#[derive(Debug, Clone)]
pub(crate) struct Placed<T> {
    /// The value.
    pub(crate) value: T,
    /// Where it stands.
    pub(crate) span: Span,
}

/// Reads one file's tree. Methods that return `None` have recorded why, unless they say otherwise.
pub(crate) struct Reader<'a> {
    /// The file.
    pub(crate) file: &'a DefinitionFile,
    /// All files, for SQL texts that the file names.
    pub(crate) files: &'a [DefinitionFile],
    /// Those of them that are not text.
    pub(crate) unreadable: &'a [String],
    /// SQL files that are there and that no view names.
    pub(crate) unnamed_sql: &'a [String],
    /// The project's zone.
    pub(crate) timezone: Tz,
    /// The project's databases, once they could be read.
    pub(crate) databases: Option<&'a IndexMap<Name, String>>,
    /// The project's roots, once they could be read.
    pub(crate) roots: Option<&'a IndexMap<Name, Root>>,
    /// The problems found.
    pub(crate) found: &'a mut Vec<Problem>,
}

/// The entries of a map whose keys are known. An unknown key that is near to one that is not there is taken for it, so
/// that its value is checked, and what it would have said is not missed on top.
pub(crate) struct Fields<'a> {
    /// What the map describes, for messages.
    owner: String,
    /// Where a missing key is reported.
    span: Span,
    map: &'a Map,
    meant: Vec<Meant>,
}

/// An unknown key that is taken for a known one.
pub(crate) struct Meant {
    /// The known key.
    pub(crate) key: String,
    /// The entry.
    pub(crate) at: usize,
}

impl<'a> Fields<'a> {
    fn entry(&self, key: &str) -> Option<&'a (Text, Node)> {
        let entries = &self.map.entries;
        let exact = entries.iter().find(|(text, _)| text.text == key);
        let meant = || self.meant.iter().find(|meant| meant.key == key);
        exact.or_else(|| entries.get(meant()?.at))
    }

    /// The value of a key, if it is there.
    pub(crate) fn get(&self, key: &str) -> Option<&'a Node> {
        self.entry(key).map(|(_, node)| node)
    }

    /// Whether the map surely has no other keys than these.
    pub(crate) fn has_only(&self, keys: &[&str]) -> bool {
        let mut entries = self.map.entries.iter();
        self.map.whole && entries.all(|(key, _)| keys.contains(&key.text.as_str()))
    }

    /// Where a key stands, or the whole map.
    pub(crate) fn key_span(&self, key: &str) -> Span {
        let entry = self.entry(key);
        entry.map_or_else(|| self.span.clone(), |(text, _)| text.span.clone())
    }
}

/// Unknown keys that are near to known ones that are not there.
pub(crate) fn meant(map: &Map, known: &[&str]) -> Vec<Meant> {
    let mut meant: Vec<Meant> = Vec::new();
    for (at, (key, _)) in map.entries.iter().enumerate() {
        if known.contains(&key.text.as_str()) {
            continue;
        }
        let Some(near) = nearest(&key.text, known.iter().copied()) else {
            continue;
        };
        if map.get(near).is_none() && meant.iter().all(|earlier| earlier.key != near) {
            meant.push(Meant {
                key: near.to_owned(),
                at,
            });
        }
    }
    meant
}

/// Whether a map has a key, or one that is taken for it.
pub(crate) fn has(map: &Map, meant: &[Meant], key: &str) -> bool {
    map.get(key).is_some() || meant.iter().any(|meant| meant.key == key)
}

impl<'a> Reader<'a> {
    /// Records a problem.
    pub(crate) fn refuse(
        &mut self,
        span: &Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.found.push(Problem::new(span.clone(), message, help));
    }

    /// A map with none but the known keys. `span` is where a missing key is reported.
    pub(crate) fn fields(
        &mut self,
        node: &'a Node,
        span: &Span,
        owner: &str,
        known: &[&str],
    ) -> Option<Fields<'a>> {
        let map = self.map(node, owner)?;
        for (key, node) in &map.entries {
            if !known.contains(&key.text.as_str()) {
                let message = format!("unknown key `{}` in {owner}", key.text);
                let mut help = accepted(&key.text, known);
                if self.is_without_colon(key, node) {
                    help = format!(
                        "inside `{{}}`, a comma ends a value: write a text with commas in quotes; {help}"
                    );
                }
                self.refuse(&key.span, message, help);
            }
        }
        Some(Fields {
            owner: owner.to_owned(),
            ..self.fields_among(map, span, known)
        })
    }

    /// Whether a key is only a word that stands alone.
    fn is_without_colon(&self, key: &Text, node: &Node) -> bool {
        let rest = self.file.text.get(key.span.bytes.end..).unwrap_or_default();
        is_null(node) && rest.trim_start().starts_with([',', '}'])
    }

    /// The entries of some known keys among others that are somebody else's to check.
    pub(crate) fn fields_among(&self, map: &'a Map, span: &Span, known: &[&str]) -> Fields<'a> {
        Fields {
            owner: String::new(),
            span: span.clone(),
            map,
            meant: meant(map, known),
        }
    }

    /// The value of a key that must be there; `help` says what to write where `add ...` is not enough.
    pub(crate) fn require_with(
        &mut self,
        fields: &Fields<'a>,
        key: &str,
        help: &str,
    ) -> Option<&'a Node> {
        let node = fields.get(key);
        if node.is_none() && fields.map.whole {
            let message = format!("{} has no `{key}`", fields.owner);
            self.refuse(&fields.span, message, help);
        }
        node
    }

    /// The value of a key that must be there.
    pub(crate) fn require(&mut self, fields: &Fields<'a>, key: &str) -> Option<&'a Node> {
        self.require_with(fields, key, &format!("add `{key}: ...`"))
    }

    /// A map, empty for an empty value.
    pub(crate) fn map(&mut self, node: &'a Node, what: &str) -> Option<&'a Map> {
        static EMPTY: Map = Map::EMPTY;
        match &node.kind {
            Kind::Mapping(map) => Some(map),
            Kind::Refused => None,
            _ if is_null(node) => Some(&EMPTY),
            _ => {
                let help = written(what, Shape::Map);
                let help = help.unwrap_or_else(|| "`key: value` lines".to_owned());
                self.refuse(
                    &node.span,
                    format!("{what} is not a map"),
                    format!("write {help}"),
                );
                None
            }
        }
    }

    /// A list.
    pub(crate) fn list(&mut self, node: &'a Node, what: &str) -> Option<&'a [Node]> {
        match &node.kind {
            Kind::Sequence(items) => return Some(items),
            Kind::Refused => return None,
            _ => {}
        }
        let help = written(what, Shape::List);
        let help = help.unwrap_or_else(|| "`[a, b]`, or lines that start with `- `".to_owned());
        self.refuse(
            &node.span,
            format!("{what} is not a list"),
            format!("write {help}"),
        );
        None
    }

    /// A single value that is not null.
    pub(crate) fn text(&mut self, node: &Node, what: &str) -> Option<Text> {
        let problem = match &node.kind {
            Kind::Scalar { text, .. } if !is_null(node) => {
                return Some(Text {
                    text: text.clone(),
                    span: node.span.clone(),
                });
            }
            Kind::Refused => return None,
            Kind::Scalar { .. } => "is empty",
            Kind::Sequence(_) | Kind::Mapping(_) => "is not a single value",
        };
        let message = format!("{what} {problem}");
        let help = written(what, Shape::Scalar).unwrap_or_else(|| one_of_its_kind(what).to_owned());
        self.refuse(&node.span, message, format!("write {help}"));
        None
    }

    /// A single value as something else.
    pub(crate) fn parsed<T, E: Display>(
        &mut self,
        node: &Node,
        what: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<Placed<T>> {
        let text = self.text(node, what)?;
        match parse(&text.text) {
            Ok(value) => Some(Placed {
                value,
                span: text.span,
            }),
            Err(error) => {
                self.refuse(&text.span, error.to_string(), "");
                None
            }
        }
    }

    /// A key as a name.
    pub(crate) fn name(&mut self, text: &Text) -> Option<Name> {
        Name::parse(&text.text)
            .map_err(|error| self.refuse(&text.span, error.to_string(), ""))
            .ok()
    }

    /// An optional description.
    pub(crate) fn description(&mut self, fields: &Fields<'a>) -> Option<String> {
        let node = fields.get("description")?;
        Some(self.text(node, "`description`")?.text)
    }

    /// One of a few words.
    pub(crate) fn one_of<T: Copy>(
        &mut self,
        node: &Node,
        what: &str,
        named: &[(&str, T)],
    ) -> Option<T> {
        let text = self.text(node, what)?;
        if let Some((_, value)) = named.iter().find(|(name, _)| *name == text.text) {
            return Some(*value);
        }
        let names: Vec<&str> = named.iter().map(|(name, _)| *name).collect();
        let message = format!("`{}` is not {what}", text.text);
        self.refuse(&text.span, message, accepted(&text.text, &names));
        None
    }

    /// A zone by its name in the IANA database.
    pub(crate) fn timezone(&mut self, node: &Node) -> Option<Tz> {
        let text = self.text(node, "a time zone")?;
        if let Ok(zone) = text.text.parse() {
            return Some(zone);
        }
        let near = nearest(
            &text.text,
            chrono_tz::TZ_VARIANTS.iter().map(|zone| zone.name()),
        );
        let help = near.map_or_else(
            || "write a name like `UTC` or `Europe/Berlin`".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        self.refuse(
            &text.span,
            format!("`{}` is not a time zone", text.text),
            help,
        );
        None
    }

    /// A type.
    pub(crate) fn data_type(&mut self, node: &Node) -> Option<Placed<crate::data_type::DataType>> {
        use crate::data_type::DataType;
        let text = self.text(node, "a type")?;
        match DataType::parse(&text.text) {
            Ok(value) => Some(Placed {
                value,
                span: text.span,
            }),
            Err(error) => {
                let whole = error.range == (0..text.text.len());
                let span = match whole {
                    true => text.span,
                    false => Embedded::scalar(&text, &self.file.text).place(Some(error.range)),
                };
                self.refuse(&span, error.fault.to_string(), type_help(&error.fault));
                None
            }
        }
    }
}

/// What to write for a single value that is no key's, or stands for many keys.
fn one_of_its_kind(what: &str) -> &'static str {
    match what {
        "a type" => "the name of a type, like `int64`",
        "an aggregate" => "`function(column)`, like `sum(amount)`",
        "an expression" => "a SQL expression, like `amount / nullif(items, 0)`",
        "a schedule" => "five cron fields, like `0 2 * * *`",
        _ => "one text or number",
    }
}

/// What to write instead of what is not a type.
fn type_help(fault: &DataTypeFault) -> String {
    /// Starts of types made of others, elsewhere and here.
    const MADE: [(&str, &str); 9] = [
        (
            "decimal",
            "write `decimal(p,s)`: 1 to 38 digits in all, `s` of them after the point",
        ),
        (
            "numeric",
            "write `decimal(p,s)`: 1 to 38 digits in all, `s` of them after the point",
        ),
        ("list", LIST),
        ("array", LIST),
        ("vector", VECTOR),
        ("embedding", VECTOR),
        ("struct", STRUCT),
        ("row", STRUCT),
        (
            "map",
            "there are no maps: write `list<struct<key: string, value: int64>>`",
        ),
    ];
    const LIST: &str = "write a list like `list<int64>`";
    const VECTOR: &str = "write a vector like `vector<float32, 128>`";
    const STRUCT: &str = "write a struct like `struct<a: int64, b: string>`";
    let wrong = match fault {
        DataTypeFault::Unknown(wrong) => wrong,
        DataTypeFault::Expected { .. } | DataTypeFault::Rest(_) => {
            return "types are written like `list<int64>`, `vector<float32, 128>` and `struct<a: int64, b: string>`".to_owned();
        }
        DataTypeFault::Element(_) => return "write `list<T>` for other elements".to_owned(),
        DataTypeFault::FieldName(_) => return STRUCT.to_owned(),
        DataTypeFault::Length(_) | DataTypeFault::Repeated(_) | DataTypeFault::TooDeep => {
            return String::new();
        }
    };
    const ELSEWHERE: [(&str, &str); 15] = [
        ("int", "int64"),
        ("integer", "int64"),
        ("long", "int64"),
        ("bigint", "int64"),
        ("smallint", "int16"),
        ("half", "float16"),
        ("guid", "uuid"),
        ("float", "float64"),
        ("double", "float64"),
        ("real", "float32"),
        ("text", "string"),
        ("varchar", "string"),
        ("boolean", "bool"),
        ("datetime", "timestamp"),
        ("binary", "bytes"),
    ];
    let lower = wrong.to_lowercase();
    if let Some((_, help)) = MADE.iter().find(|(start, _)| lower.starts_with(start)) {
        return (*help).to_owned();
    }
    if lower.ends_with("[]") {
        return LIST.to_owned();
    }
    let names: Vec<&str> = crate::data_type::DataType::names().collect();
    let elsewhere = ELSEWHERE.iter().find(|(name, _)| *name == lower);
    match elsewhere {
        Some((_, ours)) => format!("did you mean `{ours}`? accepted: {}", names.join(", ")),
        None => accepted(wrong, &names),
    }
}

/// Whether a node says nothing: empty, `null` or `~`.
pub(crate) fn is_null(node: &Node) -> bool {
    matches!(&node.kind, Kind::Scalar { text, plain: true } if matches!(text.as_str(), "" | "~" | "null"))
}
