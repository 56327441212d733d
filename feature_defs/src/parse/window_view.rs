//! The two kinds of feature view that read one source without SQL: windows and latest.

use crate::aggregation::{AggregateFunction, Window};
use crate::parse::objects::{DeclaredAggregate, DeclaredComputation};
use crate::parse::reader::{Fields, Placed, Reader};
use crate::parse::yaml::{Node, Text};
use crate::suggestion::accepted;
use crate::time::{TimeError, TimeSpan};

/// `source`, `join`, `windows` and `aggregate`.
pub(crate) fn read_windows<'a>(
    reader: &mut Reader<'a>,
    fields: &Fields<'a>,
) -> Option<DeclaredComputation> {
    let source = reader.require(fields, "source");
    let source = source.and_then(|node| reader.text(node, "`source`"));
    let join = read_join(reader, fields);
    let node = reader.require(fields, "windows");
    let windows = node.and_then(|node| read_window_list(reader, node));
    let node = reader.require(fields, "aggregate");
    let entries = node
        .and_then(|node| reader.map(node, "`aggregate`"))
        .unwrap_or_default();
    let mut aggregates = Vec::new();
    for (key, node) in entries {
        let name = reader.name(key);
        let call = read_call(reader, node);
        if let (Some(name), Some((function, column, span))) = (name, call) {
            let name = Placed {
                value: name,
                span: key.span.clone(),
            };
            aggregates.push(DeclaredAggregate {
                name,
                function,
                column,
                span,
            });
        }
    }
    if let (Some(node), true) = (node, entries.is_empty()) {
        reader.refuse(
            &node.span,
            "the view has no aggregates",
            "write `aggregate: {spend: sum(amount)}`",
        );
    }
    let whole = aggregates.len() == entries.len() && !entries.is_empty();
    whole.then_some(())?;
    Some(DeclaredComputation::Windows {
        source: source?,
        join: join?,
        aggregates,
        windows: windows?,
    })
}

fn read_window_list<'a>(reader: &mut Reader<'a>, node: &'a Node) -> Option<Vec<Placed<Window>>> {
    let items = reader.list(node, "`windows`")?;
    if items.is_empty() {
        reader.refuse(
            &node.span,
            "the view has no windows",
            "write `windows: [7d, lifetime]`",
        );
    }
    let mut windows: Vec<Placed<Window>> = Vec::new();
    for item in items {
        let Some(window) = reader.parsed(item, "a window", parse_window) else {
            continue;
        };
        if windows.iter().any(|earlier| earlier.value == window.value) {
            let message = format!("the window {} stands here twice", window.value);
            reader.refuse(&window.span, message, "keep one of the two");
            continue;
        }
        windows.push(window);
    }
    (windows.len() == items.len() && !items.is_empty()).then_some(windows)
}

fn parse_window(text: &str) -> Result<Window, TimeError> {
    match text {
        "lifetime" => Ok(Window::Lifetime),
        text => match TimeSpan::parse(text)? {
            span if span.micros() > 0 => Ok(Window::Last(span)),
            _ => Err(TimeError {
                text: text.to_owned(),
                expected: "a window: it holds no instant",
            }),
        },
    }
}

type Call = (AggregateFunction, Option<String>, crate::error::Span);

/// `function(column)`, or `count()`.
fn read_call(reader: &mut Reader<'_>, node: &Node) -> Option<Call> {
    let text = reader.text(node, "an aggregate")?;
    let names = AggregateFunction::NAMED.map(|(name, _)| name);
    let parts = text
        .text
        .strip_suffix(')')
        .and_then(|call| call.split_once('('));
    let Some((name, argument)) = parts else {
        let message = format!("`{}` is not an aggregate", text.text);
        reader.refuse(
            &text.span,
            message,
            format!(
                "write `function(column)`, like `sum(amount)`; functions: {}",
                names.join(", ")
            ),
        );
        return None;
    };
    let name = name.trim();
    let Some((_, function)) = AggregateFunction::NAMED
        .iter()
        .find(|(known, _)| *known == name)
    else {
        reader.refuse(
            &text.span,
            format!("unknown function `{name}`"),
            accepted(name, &names),
        );
        return None;
    };
    let argument = argument.trim();
    if argument == "*" {
        reader.refuse(
            &text.span,
            "`*` is not a column",
            "write `count()` to count rows",
        );
        return None;
    }
    let column = (!argument.is_empty()).then(|| argument.to_owned());
    Some((*function, column, text.span))
}

/// `source`, `join` and `latest`.
pub(crate) fn read_latest<'a>(
    reader: &mut Reader<'a>,
    fields: &Fields<'a>,
) -> Option<DeclaredComputation> {
    let source = reader.require(fields, "source");
    let source = source.and_then(|node| reader.text(node, "`source`"));
    let join = read_join(reader, fields);
    let node = reader.require(fields, "latest")?;
    let items = reader.list(node, "`latest`")?;
    if items.is_empty() {
        reader.refuse(
            &node.span,
            "the view takes no columns",
            "write `latest: [column, ...]`",
        );
        return None;
    }
    let mut columns: Vec<Text> = Vec::new();
    for item in items {
        let text = reader.text(item, "a column")?;
        if columns.iter().any(|earlier| earlier.text == text.text) {
            reader.refuse(
                &text.span,
                format!("the column `{}` stands here twice", text.text),
                "keep one of the two",
            );
            continue;
        }
        columns.push(text);
    }
    Some(DeclaredComputation::Latest {
        source: source?,
        join: join?,
        columns,
    })
}

/// `join: {key: column}`; a key that is not there has a column of its own name.
fn read_join<'a>(reader: &mut Reader<'a>, fields: &Fields<'a>) -> Option<Vec<(Text, Text)>> {
    let Some(node) = fields.get("join") else {
        return Some(Vec::new());
    };
    let entries = reader.map(node, "`join`")?;
    let mut pairs = Vec::new();
    for (key, node) in entries {
        pairs.push((key.clone(), reader.text(node, "a column")?));
    }
    Some(pairs)
}
