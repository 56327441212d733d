//! What is wrong with a text that is not YAML, in plain words, at the place where it went wrong.

use std::ops::Range;

/// What the parser stumbled over.
pub(crate) struct Scanned {
    /// Its own words.
    pub(crate) info: String,
    /// The byte at which it noticed.
    pub(crate) at: usize,
    /// Where the innermost list or map starts that has not ended.
    pub(crate) open: Option<usize>,
}

/// A fault at a place of a text.
pub(crate) struct ScanFault {
    pub(crate) message: String,
    pub(crate) help: String,
    pub(crate) bytes: Range<usize>,
}

/// The fault in plain words.
pub(crate) fn scan_fault(text: &str, scanned: &Scanned) -> ScanFault {
    let Scanned { info, at, open } = scanned;
    let here = character(text, *at);
    let says = |words: &str| info.contains(words);
    if says("tab") {
        let tab = text[here.start..].find('\t').map(|tab| here.start + tab);
        let tab = tab.or_else(|| text[..here.start].rfind('\t'));
        let bytes = tab.map_or(here, |tab| tab..tab + 1);
        return fault("a tab in the indentation", "indent with spaces", bytes);
    }
    if says("unknown anchor") && !is_alias(&text[here.start..]) {
        return unquoted(text, here);
    }
    if says("unknown anchor") {
        let message = "anchors and aliases are not accepted";
        return fault(message, "write the value out where it is used", here);
    }
    if let Some(bytes) = open.and_then(|open| unclosed(text, open, here.start)) {
        let message = format!("this `{}` is not closed", &text[bytes.clone()]);
        return fault(&message, "close it, or check what stands inside it", bytes);
    }
    if says("anchor or alias") || says("unexpected character") || says("cannot start any token") {
        return unquoted(text, here);
    }
    if says("block scalar") {
        let line = text[..here.start]
            .rfind('\n')
            .map_or(0, |newline| newline + 1);
        let sign = text[line..].find(['>', '|']);
        let start = sign.map_or(here.start, |sign| line + sign);
        return unquoted(text, start..start + 1);
    }
    if says("comment") {
        let help = "leave the comment out, or write a text of several lines after `|`: `sql: |`, and the lines below it, indented";
        return fault("the text goes on after a comment", help, here);
    }
    if says("quoted scalar") || says("quote") {
        return fault(
            "this text in quotes does not end well",
            "close the quote, and indent the lines inside it",
            here,
        );
    }
    if let Some(bytes) = bare_struct(text, here.start) {
        let help = format!("write it in quotes: `\"{}\"`", &text[bytes.clone()]);
        return fault("a type with `: ` in it stands without quotes", &help, bytes);
    }
    if says("mapping values are not allowed") {
        let help = "check the indentation; write a text with `: ` in it in quotes";
        return fault("a `:` is not expected here", help, here);
    }
    if says("simple key expect") || says("could not find expected ':'") {
        let bytes = line_before(text, here.start);
        return fault(
            "this is not `key: value`",
            "write a space after the colon",
            bytes,
        );
    }
    if says("did not find expected key") || says("did not find expected '-'") || says("indentation")
    {
        let help = "align the line with those that it belongs to";
        return fault("the indentation does not match the lines above", help, here);
    }
    let help = "check indentation, quotes and brackets just before this place";
    fault(&format!("this is not YAML: {info}"), help, here)
}

/// A value whose first character means something else in YAML.
fn unquoted(text: &str, first: Range<usize>) -> ScanFault {
    let message = format!("a value does not start with `{}`", &text[first.clone()]);
    let line = text[first.start..].lines().next().unwrap_or_default();
    let value = line.split(" #").next().unwrap_or_default().trim_end();
    let plain = !value.contains(['"', '{', '}', ',', '\\']);
    let help = match plain {
        true => format!("write it in quotes: `\"{value}\"`"),
        false => "write it in quotes".to_owned(),
    };
    fault(&message, &help, first)
}

/// Whether a text starts with an alias, and not with the star of a schedule or a pattern.
fn is_alias(text: &str) -> bool {
    let word = text.trim_start_matches('*').split_whitespace().next();
    word.is_some_and(|word| {
        word.chars()
            .all(|c| c.is_alphanumeric() || "_-,}]".contains(c))
    })
}

fn fault(message: &str, help: &str, bytes: Range<usize>) -> ScanFault {
    ScanFault {
        message: message.to_owned(),
        help: help.to_owned(),
        bytes,
    }
}

/// The character at a byte, or the last one that is not blank.
fn character(text: &str, at: usize) -> Range<usize> {
    let end = text.trim_end().len();
    let start = match text.get(at..).and_then(|rest| rest.chars().next()) {
        Some(_) if at < end => at,
        _ => text[..end]
            .char_indices()
            .next_back()
            .map_or(0, |(at, _)| at),
    };
    let length = text[start..].chars().next().map_or(0, char::len_utf8);
    start..start + length
}

/// The bracket at `open`, if it opens a list or map on a line before `at`, or one that the file does not close.
fn unclosed(text: &str, open: usize, at: usize) -> Option<Range<usize>> {
    let bracket = text[open..]
        .chars()
        .next()
        .filter(|c| matches!(c, '[' | '{'))?;
    let later = text.get(open..at)?.contains('\n') || text[at..].trim().len() <= 1;
    later.then(|| open..open + bracket.len_utf8())
}

/// The type around a place, if it is a struct that is written without quotes on one line.
fn bare_struct(text: &str, at: usize) -> Option<Range<usize>> {
    let line = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let before = text[line..at].rfind("struct<")?;
    let of_type = |c: char| c.is_ascii_alphanumeric() || c == '<';
    let start = text[..line + before].trim_end_matches(of_type).len();
    let mut open = 0_usize;
    for (offset, sign) in text[start..].lines().next()?.char_indices() {
        match sign {
            '"' | '\'' => return None,
            '<' | '(' => open += 1,
            '>' | ')' => open = open.saturating_sub(1),
            _ => continue,
        }
        let end = start + offset + sign.len_utf8();
        if open == 0 {
            return (end > at).then_some(start..end);
        }
    }
    None
}

/// The last line with words before the one at `at`.
fn line_before(text: &str, at: usize) -> Range<usize> {
    let line_start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let before = text[..line_start].trim_end();
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let indent = before[start..].len() - before[start..].trim_start().len();
    start + indent..before.len()
}
