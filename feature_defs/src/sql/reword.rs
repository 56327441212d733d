//! The engine's most common messages, with what to do about them.

use std::ops::Range;

use crate::article::with_article;
use crate::sql::Fault;
use crate::time;

/// The fault that a message tells; `None` for messages that are told as they are.
pub(super) fn reword(text: &str, message: &str) -> Option<Fault> {
    call(message)
        .or_else(|| nested(text, message))
        .or_else(|| cast(text, message))
        .or_else(|| names(text, message))
        .or_else(|| types(message))
        .or_else(|| queries(message))
        .or_else(|| foreign(message))
}

/// A message that only people who know the engine understand.
fn foreign(message: &str) -> Option<Fault> {
    const WORDS: [&str; 16] = [
        "Internal",
        "nternal error",
        "Interval",
        "Some(",
        "Field",
        "List",
        "Dictionary",
        "Struct",
        "Uniform",
        "Signature",
        "signature",
        "Arrow",
        "Expr",
        "UDF",
        "::",
        "bug",
    ];
    let is_foreign = WORDS.iter().any(|word| message.contains(word));
    let help = "cast what it puts together to types that features have";
    is_foreign.then(|| Fault::new("the types here do not fit together", None, help))
}

/// `failed to coerce arguments to satisfy a call to `f` function: coercion from T to the signature ... failed`
fn call(message: &str) -> Option<Fault> {
    let name = between(message, "a call to `", "` function");
    let name = name
        .or_else(|| between(message, "For function `", "`"))
        .or_else(|| between(message, "unction `", "` user-defined coercion"))
        .or_else(|| {
            let is_told = ["` requires ", "` expects ", "` failed to match"];
            let told = is_told.iter().any(|words| message.contains(words));
            let counts = message.contains(" arguments but received ")
                && !message.contains("failed to match");
            between(message, "unction `", "`").filter(|_| told && !counts)
        })?;
    let message = match between(message, "coercion from ", " to the signature") {
        Some(types) => format!("`{name}` does not take ({types})"),
        None => match between(message, "but received ", "") {
            Some(given) => {
                let given = between(given, "(DataType: ", ")").unwrap_or(given);
                format!("`{name}` does not take ({})", given.to_lowercase())
            }
            None => format!("`{name}` does not take these arguments"),
        },
    };
    Some(Fault::new(
        message,
        None,
        "cast the arguments to types that it takes",
    ))
}

/// What reads a list or a struct, and finds another type.
fn nested(text: &str, message: &str) -> Option<Fault> {
    if let Some(name) = between(message, "field ", " not found in struct") {
        let help = "write one of its fields, in the letters of the declaration";
        let message = format!("the struct has no field `{name}`");
        return Some(Fault::new(message, word(text, name), help));
    }
    if let Some(found) = between(message, ": type ", " is not Struct, Map, or Null") {
        let message = format!("only a struct has fields to read by name, and this is {found}");
        let help = match found {
            "list" => "take an element first, like `recent[1]['amount']`",
            _ => "leave the field out",
        };
        return Some(Fault::new(message, None, help));
    }
    let (name, found) = message.split_once(" does not support type")?;
    let found = found.trim_start_matches([':', ' ']);
    let found_alone = !name.contains(' ') && !found.is_empty();
    found_alone.then(|| {
        let message = match name {
            "array_element" => {
                format!("only a list has elements to read by place, and this is {found}")
            }
            _ => format!("`{name}` does not take ({found})"),
        };
        Fault::new(message, None, "give it a list")
    })
}

fn cast(text: &str, message: &str) -> Option<Fault> {
    let name = between(message, "unsupported SQL type ", "")?;
    let message = format!("`{}` is not a type in SQL", name.to_lowercase());
    let help = "write one like `bigint`, `double`, `decimal(12,2)`, `varchar`, `boolean`, `date` or `timestamp`";
    Some(Fault::new(message, word(text, name), help))
}

fn names(text: &str, message: &str) -> Option<Fault> {
    if let Some(name) = between(message, "query name \"", "\" specified more than once") {
        let message = format!("the name `{name}` stands in `WITH` twice");
        return Some(Fault::new(
            message,
            second_word(text, name),
            "give one of the two another name",
        ));
    }
    if message.starts_with("projections require unique expression names") {
        let name = between(message, " AS ", "\" at position").unwrap_or("?");
        let message = format!("the SQL gives two columns `{name}`");
        return Some(Fault::new(
            message,
            second_word(text, name),
            "name one with `AS`",
        ));
    }
    if message.starts_with("column in SELECT must be in GROUP BY") {
        let column = between(message, "column \"", "\" must")?;
        let column = column.rsplit('.').next().unwrap_or(column);
        let message = format!(
            "the column `{column}` is neither in `GROUP BY` nor inside an aggregate function"
        );
        return Some(Fault::new(
            message,
            None,
            "write `max(...)` or another aggregate around it, or group by it",
        ));
    }
    None
}

const UUID_LITERAL: &str =
    "a uuid is written by its 32 digits, like `X'f81d4fae7dec11d0a76500a0c91e6bf6'`";

fn types(message: &str) -> Option<Fault> {
    let fault = |message: String, help: &str| Some(Fault::new(message, None, help));
    if let Some(literal) = between(message, "cannot cast string `", "` to value of ") {
        let data_type = between(message, "` to value of ", " type").unwrap_or("that");
        let help = time::impossible(literal);
        return fault(
            format!("`{literal}` is not {}", with_article(data_type)),
            help.as_deref().unwrap_or("write a text that reads as one"),
        );
    }
    if let Some(operation) = between(
        message,
        "cannot coerce arithmetic expression ",
        " to valid types",
    ) {
        return fault(
            format!("there is no `{operation}`"),
            "cast one side to the type of the other",
        );
    }
    if let Some(operation) = between(
        message,
        "cannot infer common argument type for comparison operation ",
        "",
    ) {
        let help = if operation.contains("uuid") {
            UUID_LITERAL
        } else {
            "cast one side to the type of the other"
        };
        return fault(format!("there is no comparison `{operation}`"), help);
    }
    if let Some(operation) = between(message, "logical boolean operation ", "") {
        return fault(
            format!("there is no `{operation}`: `AND` and `OR` take conditions"),
            "compare the other side with a value",
        );
    }
    if let Some(operation) = between(message, "cannot infer common argument type for ", "") {
        return fault(
            format!("the types do not fit together in {operation}"),
            "cast one side to the type of the other",
        );
    }
    if message.starts_with("unary operator `-`") {
        return fault(
            "`-` stands before a value that is no number".to_owned(),
            "cast it to one",
        );
    }
    if let Some(given) = between(message, "requires a boolean expression, got ", "") {
        return fault(
            format!("`NOT` needs a condition, and this is {given}"),
            "compare it with a value",
        );
    }
    if message.contains("in CASE WHEN expression") {
        let then = between(message, "then (", ")").unwrap_or("one type");
        let other = between(message, "else (", ")").unwrap_or("another");
        return fault(
            format!("the branches of `CASE` have types that do not fit together: {then}, {other}"),
            "cast them to one type",
        );
    }
    if message.contains("common type to coerce") {
        let operation = between(message, "common type to coerce ", " in ").unwrap_or("these types");
        let keyword = message
            .split(" in ")
            .last()
            .unwrap_or_default()
            .replace(" expression", "");
        return fault(
            format!("`{keyword}` does not take {operation}"),
            "cast one side to the type of the other",
        );
    }
    if message.contains("compatible types to compare") && message.contains("uuid") {
        return fault(
            "uuids are compared with uuids alone".to_owned(),
            UUID_LITERAL,
        );
    }
    if let Some(rest) = message.strip_prefix("unsupported CAST from ") {
        return fault(
            format!("there is no cast from {rest}"),
            "leave the cast out, or select the column as it is",
        );
    }
    if let Some(rest) = message.strip_prefix("cannot create filter with non-boolean predicate ") {
        let data_type = rest.rsplit(' ').next().unwrap_or_default();
        return fault(
            format!("`WHERE` needs a condition, and this is {data_type}"),
            "compare it with a value",
        );
    }
    None
}

fn queries(message: &str) -> Option<Fault> {
    let (message, help) = if message.eq_ignore_ascii_case("divide by zero error") {
        (
            "a division by zero",
            "write `a / nullif(b, 0)`, which is null there",
        )
    } else if message.contains("queries have different number of columns") {
        (
            "the parts of a `UNION` have different numbers of columns",
            "select the same columns in each",
        )
    } else if message.starts_with("too many columns! The subquery") {
        (
            "a sub-query in the place of a value gives more than one column",
            "select one column in it",
        )
    } else if message.starts_with("aggregate functions are not allowed in the WHERE clause") {
        (
            "`WHERE` looks at single rows, and an aggregate function at many",
            "write the condition after `HAVING`",
        )
    } else if message.starts_with("unsupported binary operator") {
        (
            "there is no such operator here",
            "write it with `AND`, `OR`, comparisons, arithmetic or functions",
        )
    } else if message.starts_with("aggregate function calls cannot be nested") {
        (
            "an aggregate function stands inside another",
            "compute the inner one in a sub-query",
        )
    } else {
        return None;
    };
    Some(Fault::new(message, None, help))
}

/// What stands between two texts, the second of which may be empty for the end.
fn between<'a>(message: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let start = message.find(before)? + before.len();
    let rest = &message[start..];
    match after {
        "" => Some(rest),
        after => rest.find(after).map(|end| &rest[..end]),
    }
}

/// Where a word first stands in a text, in letters of any case.
fn word(text: &str, word: &str) -> Option<Range<usize>> {
    let start = text.to_ascii_lowercase().find(&word.to_ascii_lowercase())?;
    Some(start..start + word.len())
}

/// Where a word stands the second time.
fn second_word(text: &str, word: &str) -> Option<Range<usize>> {
    let lower = word.to_ascii_lowercase();
    let text = text.to_ascii_lowercase();
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut places = text.match_indices(&lower).filter(|(at, _)| {
        let before = text[..*at].chars().next_back();
        let after = text[at + lower.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    });
    let second = places.nth(1)?;
    Some(second.0..second.0 + lower.len())
}
