//! What the operating system and readers of JSON say, in the words of our messages.

use std::error::Error;
use std::io::{self, ErrorKind};

use serde_json::error::Category;

/// Why a file, a folder or an address cannot be had: lower case, after `cannot be read: `.
#[must_use]
pub fn system(error: &io::Error) -> String {
    let text = error.to_string();
    let said = match error.kind() {
        ErrorKind::NotFound => "there is no such file or folder",
        ErrorKind::PermissionDenied => "this user is not allowed to",
        ErrorKind::AlreadyExists => "a file of its name is there already",
        ErrorKind::NotADirectory => "a part of its path is a file and no folder",
        ErrorKind::IsADirectory => "it is a folder and no file",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "the disk is full",
        ErrorKind::ReadOnlyFilesystem => "its file system cannot be written to",
        ErrorKind::InvalidData if text.contains("UTF-8") => "it is not UTF-8 text",
        ErrorKind::UnexpectedEof => "it ends too early",
        ErrorKind::ConnectionRefused => "nothing answers there",
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => "the other side hung up",
        ErrorKind::TimedOut => "it did not answer in time",
        ErrorKind::AddrInUse => "it is taken by another process",
        ErrorKind::AddrNotAvailable => "this machine has no such address",
        _ => return without_number(&text),
    };
    said.to_owned()
}

/// The system's error behind another one, if there is one: the innermost of errors that wrap each other.
#[must_use]
pub fn system_cause<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e io::Error> {
    let mut cause = Some(error);
    while let Some(current) = cause {
        if let Some(system) = current.downcast_ref::<io::Error>() {
            // What an error of the system wraps is none of its sources.
            let inner = system.get_ref().and_then(|inner| system_cause(inner));
            return Some(inner.unwrap_or(system));
        }
        cause = current.source();
    }
    None
}

/// A message that may repeat the system's, without the number of its error.
fn without_number(text: &str) -> String {
    let start = text.find(" (os error ");
    let mut text = text[..start.unwrap_or(text.len())].to_owned();
    if let Some(first) = text.get_mut(0..1) {
        first.make_ascii_lowercase();
    }
    text
}

/// Why a text is not the JSON that it should be, with its line and column where it is not JSON at all.
#[must_use]
pub fn json(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let (what, place) = text.split_once(" at line ").unwrap_or((&text, ""));
    let place = match place {
        "" => String::new(),
        place => format!(" at line {place}"),
    };
    match error.classify() {
        Category::Eof => {
            format!("the JSON ends too early,{place}: is a bracket or a quote not closed?")
        }
        Category::Syntax => format!("this is not JSON{place}: {what}"),
        Category::Io => without_number(what),
        Category::Data => found(what),
    }
}

/// `invalid type: string "x", expected a boolean` as `found the string "x", expected a boolean`.
fn found(what: &str) -> String {
    let invalid = ["invalid type: ", "invalid value: ", "invalid length "];
    let rest = invalid.iter().find_map(|prefix| what.strip_prefix(prefix));
    let Some(rest) = rest else {
        return what.to_owned();
    };
    let words = [
        ("sequence,", "a list,"),
        ("map,", "an object,"),
        ("expected a map", "expected an object"),
        ("expected a sequence", "expected a list"),
        ("expected a boolean", "expected `true` or `false`"),
    ];
    let mut found = format!("found {rest}");
    for (theirs, ours) in words {
        found = found.replacen(theirs, ours, 1);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_of_the_system_shows() {
        for number in 1..=133 {
            let said = system(&io::Error::from_raw_os_error(number));
            assert!(!said.contains("os error"), "{said}");
            assert!(!said.starts_with(char::is_uppercase), "{said}");
        }
        let text = io::Error::new(ErrorKind::InvalidData, "stream did not contain valid UTF-8");
        assert_eq!(system(&text), "it is not UTF-8 text");
    }

    #[test]
    fn json_says_what_is_wrong_and_where() {
        for (text, said) in [
            (
                "{",
                "the JSON ends too early, at line 1 column 1: is a bracket or a quote not closed?",
            ),
            (
                "{]",
                "this is not JSON at line 1 column 2: key must be a string",
            ),
            (
                "{} x",
                "this is not JSON at line 1 column 4: trailing characters",
            ),
            ("[1]", "found a list, expected an object"),
            ("true", "found boolean `true`, expected an object"),
        ] {
            let error = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text);
            assert_eq!(json(&error.expect_err(text)), said);
        }
    }
}
