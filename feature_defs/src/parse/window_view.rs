//! The two kinds of feature view that read one source without SQL: windows and latest.

use crate::aggregation::{AggregateFunction, Window};
use crate::language::keys::{AGGREGATE, EVENT_SOURCE};
use crate::parse::embedded::Embedded;
use crate::parse::members::Members;
use crate::parse::objects::{
    DeclaredAggregate, DeclaredCall, DeclaredComputation, DeclaredEventSource, DeclaredEvents,
    DeclaredFilter,
};
use crate::parse::reader::{Fields, Placed, Reader};
use crate::parse::yaml::{Kind, Node, Text};
use crate::sql::functions::is_sql_aggregate;
use crate::suggestion::accepted;
use crate::time::{TimeError, TimeSpan};

/// `source` and `join` or `sources`, `windows` and `aggregate`.
pub(crate) fn read_windows<'a>(
    reader: &mut Reader<'a>,
    fields: &Fields<'a>,
) -> DeclaredComputation {
    let events = read_events(reader, fields);
    let windows = reader.require(fields, "windows");
    let windows = windows.and_then(|node| read_window_list(reader, node));
    let aggregates = reader.require(fields, "aggregate");
    let aggregates = aggregates.and_then(|node| read_aggregates(reader, node));
    DeclaredComputation::Windows {
        events,
        aggregates: aggregates.unwrap_or(Members::unknown()),
        windows: windows.unwrap_or(Members::unknown()),
    }
}

/// One `source` with its `join`, or several.
fn read_events<'a>(reader: &mut Reader<'a>, fields: &Fields<'a>) -> DeclaredEvents {
    let Some(node) = fields.get("sources") else {
        let source = reader.require(fields, "source");
        let source = source.and_then(|node| reader.text(node, "`source`"));
        let join = read_join(reader, fields);
        return DeclaredEvents {
            several: false,
            sources: [Some(DeclaredEventSource { source, join })]
                .into_iter()
                .collect(),
        };
    };
    for (key, message, help) in [
        (
            "source",
            "`source` and `sources` both stand here",
            "keep one of the two",
        ),
        (
            "join",
            "`join` stands beside several sources",
            "write it at its source: `sources: [{ returns: { join: { key: column } } }]`",
        ),
    ] {
        if fields.get(key).is_some() {
            reader.refuse(&fields.key_span(key), message, help);
        }
    }
    let sources = reader.list(node, "`sources`");
    if sources.is_some_and(<[Node]>::is_empty) {
        let help = "write `sources: [purchases, returns]`";
        reader.refuse(&node.span, "the view has no sources", help);
    }
    let mut events = DeclaredEvents {
        several: true,
        sources: Members::none().whole_if(sources.is_some_and(|sources| !sources.is_empty())),
    };
    for item in sources.unwrap_or_default() {
        let Some((source, join)) = read_event_source(reader, item) else {
            events.sources.whole = false;
            continue;
        };
        let mut earlier = events.sources.items.iter();
        let is_same = |earlier: &DeclaredEventSource| {
            earlier
                .source
                .as_ref()
                .is_some_and(|earlier| earlier.text == source.text)
        };
        if earlier.any(is_same) {
            let message = format!("the source `{}` stands here twice", source.text);
            reader.refuse(&source.span, message, "keep one of the two");
            continue;
        }
        let source = Some(source);
        events
            .sources
            .items
            .push(DeclaredEventSource { source, join });
    }
    events
}

/// A source's name, or `name: {join}`.
fn read_event_source<'a>(
    reader: &mut Reader<'a>,
    item: &'a Node,
) -> Option<(Text, Members<(Text, Text)>)> {
    match &item.kind {
        Kind::Mapping(map) if map.entries.len() == 1 => {
            let (key, node) = &map.entries[0];
            let owner = format!("source `{}`", key.text);
            let fields = reader.fields(node, &key.span, &owner, &EVENT_SOURCE.names())?;
            Some((key.clone(), read_join(reader, &fields)))
        }
        _ => Some((reader.text(item, "a source")?, Members::none())),
    }
}

fn read_window_list<'a>(
    reader: &mut Reader<'a>,
    node: &'a Node,
) -> Option<Members<Placed<Window>>> {
    let items = reader.list(node, "`windows`")?;
    if items.is_empty() {
        let help = "write `windows: [7d, lifetime]`";
        reader.refuse(&node.span, "the view has no windows", help);
        return None;
    }
    let mut windows: Members<Placed<Window>> = Members::none();
    for item in items {
        let Some(window) = reader.parsed(item, "a window", parse_window) else {
            windows.whole = false;
            continue;
        };
        let mut earlier = windows.items.iter();
        if earlier.any(|earlier| earlier.value == window.value) {
            let message = format!("the window {} stands here twice", window.value);
            reader.refuse(&window.span, message, "keep one of the two");
            continue;
        }
        windows.items.push(window);
    }
    Some(windows)
}

fn parse_window(text: &str) -> Result<Window, TimeError> {
    match text {
        "lifetime" => Ok(Window::Lifetime),
        text => match TimeSpan::parse(text).map_err(|_| TimeError {
            text: text.to_owned(),
            expected: format!("a window: {}, or `lifetime`", TimeSpan::forms(text)).into(),
        })? {
            span if span.micros() > 0 => Ok(Window::Last(span)),
            _ => Err(TimeError {
                text: text.to_owned(),
                expected: "a window: it holds no instant".into(),
            }),
        },
    }
}

fn read_aggregates<'a>(
    reader: &mut Reader<'a>,
    node: &'a Node,
) -> Option<Members<DeclaredAggregate>> {
    let map = reader.map(node, "`aggregate`")?;
    if map.entries.is_empty() && map.whole {
        let help = "write `aggregate: {spend: sum(amount)}`";
        reader.refuse(&node.span, "the view has no aggregates", help);
        return None;
    }
    let read = |(key, node): &'a (Text, Node)| {
        let name = reader.name(key);
        let (call, by, filter) = read_aggregate(reader, key, node);
        let call = call.filter(|_| !map.repeats(&key.text));
        Some(DeclaredAggregate {
            name: Placed {
                value: name?,
                span: key.span.clone(),
            },
            call,
            by,
            filter,
        })
    };
    let aggregates: Members<_> = map.entries.iter().map(read).collect();
    Some(aggregates.whole_if(map.whole))
}

/// A call, or `{of: call, by: column, filter: condition}`. Without a call where the column cannot be read.
fn read_aggregate<'a>(
    reader: &mut Reader<'a>,
    key: &'a Text,
    node: &'a Node,
) -> (Option<DeclaredCall>, Option<Text>, DeclaredFilter) {
    let Kind::Mapping(_) = node.kind else {
        return (read_call(reader, node), None, DeclaredFilter::None);
    };
    let owner = format!("aggregate `{}`", key.text);
    let Some(fields) = reader.fields(node, &key.span, &owner, &AGGREGATE.names()) else {
        return (None, None, DeclaredFilter::Unreadable);
    };
    let call = reader.require_with(&fields, "of", "write the call: `of: sum(amount)`");
    let call = call.and_then(|node| read_call(reader, node));
    let by = fields.get("by").map(|node| reader.text(node, "`by`"));
    let call = call.filter(|_| !matches!(by, Some(None)));
    let by = by.flatten();
    let Some(node) = fields.get("filter") else {
        return (call, by, DeclaredFilter::None);
    };
    match reader.text(node, "`filter`") {
        Some(text) => {
            let condition = Embedded::scalar(&text, &reader.file.text);
            (call, by, DeclaredFilter::Condition(condition))
        }
        None => (call, by, DeclaredFilter::Unreadable),
    }
}

/// `function(column)`, or `count()`.
fn read_call(reader: &mut Reader<'_>, node: &Node) -> Option<DeclaredCall> {
    let scalar = reader.text(node, "an aggregate")?;
    let text = Embedded::scalar(&scalar, &reader.file.text);
    let call = scalar.text.strip_suffix(')');
    let Some((name, argument)) = call.and_then(|call| call.split_once('(')) else {
        let message = format!("`{}` is not an aggregate", scalar.text);
        let help = format!(
            "write `function(column)`, like `sum(amount)`; functions: {}",
            AggregateFunction::NAMES.join(", ")
        );
        reader.refuse(&scalar.span, message, help);
        return None;
    };
    let place = |part: &str, from: usize| {
        let start = from + part.len() - part.trim_start().len();
        text.place(Some(start..start + part.trim().len()))
    };
    let name_span = place(name, 0);
    let (argument, parameter) = split_parameter(name.trim(), argument);
    let argument_from = name.len() + 1;
    let argument_span = place(argument, argument_from);
    let parameter_span =
        parameter.map(|parameter| place(parameter, argument_from + argument.len() + 1));
    let (name, argument) = (name.trim(), argument.trim());
    let called = AggregateFunction::called(name, parameter.map(str::trim));
    if let Some(column) = distinct(name, argument) {
        let message = format!("`{}` is not an aggregate", scalar.text);
        let help = format!("write `distinct_count({column})`");
        reader.refuse(&scalar.span, message, help);
        return None;
    }
    let function = match called {
        Some(Ok(function)) => Some(function),
        Some(Err(error)) => {
            let span = parameter_span.as_ref().unwrap_or(&name_span);
            reader.refuse(span, error.to_string(), error.help());
            None
        }
        None => {
            let message = format!("unknown function `{name}`");
            reader.refuse(&name_span, message, function_help(name, argument));
            None
        }
    };
    if argument == "*" {
        let help = "write `count()` to count rows";
        reader.refuse(&argument_span, "`*` is not a column", help);
        return None;
    }
    let column = (!argument.is_empty()).then(|| Text {
        text: argument.to_owned(),
        span: argument_span,
    });
    Some(DeclaredCall {
        function,
        column,
        span: scalar.span,
    })
}

/// A call's column, and the number behind it. A column with a comma in its name is one for functions without a number.
fn split_parameter<'t>(name: &str, argument: &'t str) -> (&'t str, Option<&'t str>) {
    let is_number = |part: &str| {
        let first = part.trim_start().chars().next();
        first.is_some_and(|first| first.is_ascii_digit() || matches!(first, '+' | '-' | '.'))
    };
    match argument.rsplit_once(',') {
        Some((column, parameter))
            if AggregateFunction::takes_parameter(name) || is_number(parameter) =>
        {
            (column, Some(parameter))
        }
        _ => (argument, None),
    }
}

/// The column of `count(distinct column)`.
fn distinct<'t>(name: &str, argument: &'t str) -> Option<&'t str> {
    let (word, column) = argument.split_once(char::is_whitespace)?;
    let is_distinct = name == "count" && word.eq_ignore_ascii_case("distinct");
    is_distinct.then(|| column.trim())
}

/// What to write instead of a function that windows do not have.
fn function_help(name: &str, argument: &str) -> String {
    const ELSEWHERE: [(&[&str], &str); 14] = [
        (&["avg", "average"], "mean"),
        (&["total", "sum_of"], "sum"),
        (&["maximum", "greatest"], "max"),
        (&["minimum", "least"], "min"),
        (&["latest", "last_value", "newest"], "last"),
        (&["earliest", "first_value", "oldest"], "first"),
        (&["var", "var_samp", "var_sample"], "variance"),
        (&["var_pop", "var_population"], "variance_pop"),
        (&["std", "stdev", "stddev_samp"], "stddev"),
        (&["pstdev", "stddev_population"], "stddev_pop"),
        (&["size", "cardinality", "n", "rows"], "count"),
        (&["mode", "most_frequent", "topk", "approx_top_k"], "top_k"),
        (
            &["percentile", "percentile_cont", "quantile_cont"],
            "quantile",
        ),
        (
            &[
                "nunique",
                "count_distinct",
                "n_distinct",
                "unique",
                "approx_distinct",
            ],
            "distinct_count",
        ),
    ];
    let names = AggregateFunction::NAMES;
    let lower = name.to_lowercase();
    if names.contains(&lower.as_str()) {
        return format!("write `{lower}({argument})`");
    }
    let elsewhere = ELSEWHERE
        .iter()
        .find(|(words, _)| words.contains(&lower.as_str()));
    if let Some((_, ours)) = elsewhere {
        let parameter = match *ours {
            "top_k" => ", 1",
            "quantile" => ", 0.9",
            _ => "",
        };
        return format!("write `{ours}({argument}{parameter})`");
    }
    let help = accepted(name, &names);
    match is_sql_aggregate(&lower) {
        true => format!("a view of SQL has it; {help}"),
        false => help,
    }
}

/// `source`, `join` and `latest`.
pub(crate) fn read_latest<'a>(reader: &mut Reader<'a>, fields: &Fields<'a>) -> DeclaredComputation {
    let source = reader.require(fields, "source");
    let source = source.and_then(|node| reader.text(node, "`source`"));
    let join = read_join(reader, fields);
    let columns = reader.require(fields, "latest");
    let columns = columns.and_then(|node| read_columns(reader, node));
    DeclaredComputation::Latest {
        source,
        join,
        columns: columns.unwrap_or(Members::unknown()),
    }
}

fn read_columns<'a>(reader: &mut Reader<'a>, node: &'a Node) -> Option<Members<Text>> {
    let items = reader.list(node, "`latest`")?;
    if items.is_empty() {
        let help = "write `latest: [column, ...]`";
        reader.refuse(&node.span, "the view takes no columns", help);
        return None;
    }
    let mut columns: Members<Text> = Members::none();
    for item in items {
        let Some(text) = reader.text(item, "a column") else {
            columns.whole = false;
            continue;
        };
        if columns
            .items
            .iter()
            .any(|earlier| earlier.text == text.text)
        {
            let message = format!("the column `{}` stands here twice", text.text);
            reader.refuse(&text.span, message, "keep one of the two");
            continue;
        }
        columns.items.push(text);
    }
    Some(columns)
}

/// `join: {key: column}`; a key that is not there has a column of its own name.
fn read_join<'a>(reader: &mut Reader<'a>, fields: &Fields<'a>) -> Members<(Text, Text)> {
    let Some(node) = fields.get("join") else {
        return Members::none();
    };
    let Some(map) = reader.map(node, "`join`") else {
        return Members::unknown();
    };
    let read = |(key, node): &'a (Text, Node)| {
        let column = reader.text(node, "a column")?;
        Some((key.clone(), column))
    };
    let pairs: Members<_> = map.entries.iter().map(read).collect();
    pairs.whole_if(map.whole)
}
