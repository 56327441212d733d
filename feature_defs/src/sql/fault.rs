//! What is wrong with a SQL text, in the user's words.

use std::ops::Range;

use datafusion_common::{DataFusionError, SchemaError};
use datafusion_sql::sqlparser::parser::ParserError;
use datafusion_sql::sqlparser::tokenizer::{Location, Span};

use crate::sql::reword::reword;
use crate::suggestion::accepted;

/// Something wrong at a place of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// What: lower case, names in backticks.
    pub(crate) message: String,
    /// Bytes of the text; `None` for all of it.
    pub(crate) range: Option<Range<usize>>,
    /// A few words at the place.
    pub(crate) label: String,
    /// What to write instead.
    pub(crate) help: Option<String>,
}

impl Fault {
    /// A fault without a label.
    pub(crate) fn new(
        message: impl Into<String>,
        range: Option<Range<usize>>,
        help: impl Into<String>,
    ) -> Self {
        let help = help.into();
        Self {
            message: message.into(),
            range,
            label: String::new(),
            help: (!help.is_empty()).then_some(help),
        }
    }
}

/// The bytes of a parser's span; `None` for spans that are not known.
pub(crate) fn range_of(text: &str, span: Span) -> Option<Range<usize>> {
    let start = offset(text, span.start)?;
    let end = offset(text, span.end)?;
    (start <= end).then_some(start..end)
}

/// The byte at a line and column, both counted from 1 in characters.
fn offset(text: &str, location: Location) -> Option<usize> {
    let line = usize::try_from(location.line).ok()?.checked_sub(1)?;
    let column = usize::try_from(location.column).ok()?.checked_sub(1)?;
    let mut start = 0;
    for _ in 0..line {
        start += text[start..].find('\n')? + 1;
    }
    let rest = &text[start..];
    let byte = rest
        .char_indices()
        .nth(column)
        .map_or(rest.len(), |(at, _)| at);
    Some(start + byte)
}

/// A parser's error at the place that its message names.
pub(crate) fn parser_fault(text: &str, error: &ParserError) -> Fault {
    let message = match error {
        ParserError::RecursionLimitExceeded => {
            return Fault::new("the SQL is nested too deeply", None, "");
        }
        ParserError::TokenizerError(message) | ParserError::ParserError(message) => message,
    };
    let (what, at) = message.rsplit_once(" at Line: ").unwrap_or((message, ""));
    let range = at.split_once(", Column: ").and_then(|(line, column)| {
        let start = offset(
            text,
            Location {
                line: line.trim().parse().ok()?,
                column: column.trim().parse().ok()?,
            },
        )?;
        Some(start..end_of_word(text, start))
    });
    let range = range.or_else(|| what.ends_with("EOF").then(|| end_of_text(text)));
    let before = range.as_ref().and_then(|range| text.get(..range.start));
    let help = match what.rsplit_once("found: ") {
        Some((_, found)) if found.starts_with(['‘', '’', '“', '”', '„', '‚']) => {
            "write a text as '...', with straight quotes"
        }
        Some((_, found)) if found.starts_with(['{', '}']) => {
            "SQL is not a template here: write `$as_of` for the instant from which the view looks"
        }
        Some((_, "<" | ">")) if before.is_some_and(|before| before.ends_with('=')) => {
            "write `<=` or `>=`"
        }
        Some((expected, _)) if expected.contains(" after IS,") => {
            "after `IS` stands `NULL`, `NOT NULL`, `TRUE`, `FALSE` or `DISTINCT FROM`"
        }
        _ => "",
    };
    let what = what.replace("found: EOF", "found the end of the text");
    let mut what = what.replace("an SQL statement", "a SELECT");
    if let Some(first) = what.get_mut(0..1) {
        first.make_ascii_lowercase();
    }
    Fault::new(format!("this is not SQL: {what}"), range, help)
}

fn end_of_text(text: &str) -> Range<usize> {
    let end = text.trim_end().len();
    let start = text[..end]
        .char_indices()
        .next_back()
        .map_or(0, |(at, _)| at);
    start..end
}

fn end_of_word(text: &str, start: usize) -> usize {
    let rest = &text[start..];
    let word = rest
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(rest.len());
    start + word.max(rest.chars().next().map_or(0, char::len_utf8))
}

/// All of a planner's errors in the words of definitions.
pub(crate) fn engine_faults(text: &str, error: &DataFusionError) -> Vec<Fault> {
    match error {
        DataFusionError::Collection(causes) => causes
            .iter()
            .flat_map(|cause| engine_faults(text, cause))
            .collect(),
        error => vec![engine_fault(text, error)],
    }
}

/// Why a query or an expression that was planned has no result, in the words of definitions, with what to write.
#[must_use]
pub fn failure(error: &DataFusionError) -> String {
    let Fault { message, help, .. } = engine_fault("", error);
    match help {
        Some(help) => format!("{message}: {help}"),
        None => message,
    }
}

/// A planner's error in the words of definitions.
pub(crate) fn engine_fault(text: &str, error: &DataFusionError) -> Fault {
    match error {
        DataFusionError::Diagnostic(diagnostic, cause) => {
            let mut fault = engine_fault(text, cause);
            let span = diagnostic
                .span
                .and_then(|span| range_of(text, sql_span(span)));
            fault.range = fault.range.or(span);
            fault
        }
        DataFusionError::Context(_, cause) => engine_fault(text, cause),
        DataFusionError::Shared(cause) => engine_fault(text, cause),
        DataFusionError::Collection(causes) => match causes.first() {
            Some(cause) => engine_fault(text, cause),
            None => Fault::new("the SQL cannot be planned", None, ""),
        },
        DataFusionError::SchemaError(error, _) => schema_fault(text, error),
        DataFusionError::SQL(error, _) => parser_fault(text, error),
        DataFusionError::Plan(message)
        | DataFusionError::NotImplemented(message)
        | DataFusionError::Execution(message)
        | DataFusionError::Internal(message) => told(text, message),
        other => told(text, &other.strip_backtrace()),
    }
}

/// An engine's message in our words, with what to do about it.
fn told(text: &str, message: &str) -> Fault {
    let plain = in_our_words(message);
    match reword(text, &plain) {
        Some(fault) => fault,
        None => Fault::new(plain, None, ""),
    }
}

const AS_OF: &str = "write `$as_of` for the instant from which the view looks";

/// A name in double quotes that is none.
pub(crate) fn quoted(name: &str, range: Option<Range<usize>>) -> Fault {
    let message = format!("unknown column `\"{name}\"`");
    let help = format!("in SQL, `\"...\"` is the name of a column: write a text as `'{name}'`");
    Fault::new(message, range, help)
}

fn schema_fault(text: &str, error: &SchemaError) -> Fault {
    match error {
        SchemaError::FieldNotFound {
            field,
            valid_fields,
        } => {
            let range = field
                .spans
                .first()
                .and_then(|span| range_of(text, sql_span(span)));
            let mut names: Vec<&str> = valid_fields
                .iter()
                .map(|field| field.name.as_str())
                .collect();
            names.dedup();
            if text.contains(&format!("\"{}\"", field.name)) {
                return quoted(&field.name, range);
            }
            let message = format!("unknown column `{}`", field.flat_name());
            let help = match field.name.as_str() {
                "as_of" => AS_OF.to_owned(),
                name => accepted(name, &names),
            };
            Fault::new(message, range, help)
        }
        SchemaError::AmbiguousReference { field } => {
            let range = field
                .spans
                .first()
                .and_then(|span| range_of(text, sql_span(span)));
            let message = format!("the column `{}` is in more than one source", field.name);
            Fault::new(message, range, "write `source.column`")
        }
        SchemaError::DuplicateQualifiedField { name, .. }
        | SchemaError::DuplicateUnqualifiedField { name } => Fault::new(
            format!("two columns have the name `{name}`"),
            None,
            "name one with `AS`",
        ),
    }
}

/// A span of the engine as one of the parser.
pub(crate) fn sql_span(span: datafusion_common::Span) -> Span {
    let location = |at: datafusion_common::Location| Location {
        line: at.line,
        column: at.column,
    };
    Span {
        start: location(span.start),
        end: location(span.end),
    }
}

/// Types as definitions write them, for the engine's names of them.
const TYPE_WORDS: [(&str, &str); 22] = [
    ("Timestamp(Microsecond, Some(\"UTC\"))", "timestamp"),
    ("Timestamp(µs, \"UTC\")", "timestamp"),
    ("Timestamp(ns)", "timestamp without zone"),
    ("Timestamp(µs)", "timestamp without zone"),
    ("LargeUtf8", "string"),
    ("Utf8View", "string"),
    ("Utf8", "string"),
    ("Decimal128", "decimal"),
    ("Boolean", "bool"),
    ("UInt16", "uint16"),
    ("UInt32", "uint32"),
    ("UInt64", "uint64"),
    ("Int8", "int8"),
    ("Int16", "int16"),
    ("Int32", "int32"),
    ("Int64", "int64"),
    ("FixedSizeBinary(16)", "uuid"),
    ("Float16", "float16"),
    ("Float32", "float32"),
    ("Float64", "float64"),
    ("Date32", "date"),
    ("Binary", "bytes"),
];

/// Types that hold others, which the engine writes out in its own way.
const NESTED_WORDS: [(&str, &str); 5] = [
    ("FixedSizeList(", "vector"),
    ("LargeList(", "list"),
    ("List(", "list"),
    ("Struct(", "struct"),
    ("Map(", "map"),
];

/// The message with one word in the place of a type and what stands between its parentheses.
fn without_contents(message: &str, engine: &str, ours: &str) -> String {
    let mut told = String::new();
    let mut rest = message;
    while let Some(start) = rest.find(engine) {
        let (before, of_type) = rest.split_at(start);
        let mut open = 0_usize;
        let end = of_type.char_indices().find_map(|(at, sign)| {
            match sign {
                '(' => open += 1,
                ')' => open = open.saturating_sub(1),
                _ => return None,
            }
            (open == 0).then_some(at + 1)
        });
        told.push_str(before);
        told.push_str(ours);
        rest = &of_type[end.unwrap_or(of_type.len())..];
    }
    told + rest
}

/// The first sentence of an engine's message, with types as definitions write them.
pub(crate) fn in_our_words(message: &str) -> String {
    let message = message.lines().next().unwrap_or_default();
    let mut message = message.to_owned();
    for end in [
        ". This ",
        " at arrow",
        ". No function matches",
        ". Consider ",
        ". You might",
    ] {
        let kept = message.find(end).unwrap_or(message.len());
        message.truncate(kept);
    }
    let prefixes = [
        "Error during planning: ",
        "Execution error: ",
        "Arrow error: ",
        "Optimizer rule ",
        "Compute error: ",
        "Cast error: ",
        "Parser error: ",
        "Invalid argument error: ",
        "This feature is not implemented: ",
        "Internal error: ",
    ];
    while let Some(rest) = prefixes
        .iter()
        .find_map(|prefix| message.strip_prefix(prefix))
    {
        message = rest.to_owned();
    }
    for (engine, ours) in NESTED_WORDS {
        message = without_contents(&message, engine, ours);
    }
    for (engine, ours) in TYPE_WORDS {
        message = message.replace(engine, ours);
    }
    let message = message
        .replace("DataFusion", "SQL")
        .replace("n't", " not")
        .replace('\'', "`");
    let mut message = message.trim_end_matches(['.', ' ', ':']).to_owned();
    let is_keyword = message.chars().nth(1).is_some_and(char::is_uppercase);
    match message.get_mut(0..1) {
        Some(first) if !is_keyword => first.make_ascii_lowercase(),
        _ => message.insert_str(0, "in SQL, "),
    }
    message
}
