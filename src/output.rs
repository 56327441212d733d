//! How verbs speak: answers on standard output, progress and failures on standard error.

use std::fmt;
use std::io::{IsTerminal, Write, stderr, stdout};
use std::path::Path;

use feature_defs::error::Problems;
use feature_defs::foreign;
use feature_defs::report;
use serde::Serialize;

use crate::pretty::pretty;

/// Writes a line of the answer.
///
/// # Errors
/// When standard output is gone.
pub(crate) fn line(text: impl fmt::Display) -> anyhow::Result<()> {
    writeln!(stdout().lock(), "{text}")?;
    Ok(())
}

/// Writes the answer as one JSON document.
///
/// # Errors
/// When standard output is gone.
pub(crate) fn json(answer: &impl Serialize) -> anyhow::Result<()> {
    line(pretty(&serde_json::to_string(answer)?))
}

/// Tells the person who waits, beside the answer. A closed standard error is no failure of the work.
pub(crate) fn note(text: impl fmt::Display) {
    let _ = writeln!(stderr().lock(), "{text}");
}

/// Reports why the work failed: definition problems with their source excerpts, all else with its causes.
pub(crate) fn failure(error: &anyhow::Error) {
    if let Some(problems) = error.downcast_ref::<Problems>() {
        note(report::render(problems, stderr().is_terminal()));
    } else if !is_closed_pipe(error) {
        note(format_args!("error: {}", chain(error)));
    }
}

/// An error and its causes in one line; a cause that the message before tells already is left out.
fn chain(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let message = told(cause);
        if text.contains(&message) {
            continue;
        }
        if !text.is_empty() {
            text.push_str(": ");
        }
        text.push_str(&message);
    }
    text
}

/// A cause in our words. What only repeats the system's words is told as the system's error behind it.
fn told(cause: &(dyn std::error::Error + 'static)) -> String {
    if let Some(json) = cause.downcast_ref::<serde_json::Error>() {
        return foreign::json(json);
    }
    let text = cause.to_string();
    let system = foreign::system_cause(cause);
    let repeats = system.filter(|system| text.contains(&system.to_string()));
    repeats.map_or(text, foreign::system)
}

/// Whether the reader of our output went away, as `head` does: nobody is left to tell.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Rows as aligned columns under their headings; columns named in `numbers` stand to the right.
pub(crate) fn table(headings: &[&str], numbers: &[usize], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        let heading = headings[column].chars().count();
        cells.chain([heading]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    let headings: Vec<String> = headings
        .iter()
        .map(|heading| (*heading).to_owned())
        .collect();
    let mut text = String::new();
    for row in std::iter::once(&headings).chain(rows) {
        let mut written = String::new();
        for (column, cell) in row.iter().enumerate() {
            let width = widths[column];
            let cell = if numbers.contains(&column) {
                format!("{cell:>width$}  ")
            } else {
                format!("{cell:<width$}  ")
            };
            written.push_str(&cell);
        }
        text.push_str(written.trim_end());
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text
}

/// `n` with its noun: `1 view`, `2 views`, `3 entities`, `4 keys`.
pub(crate) fn counted(n: impl TryInto<u64>, noun: &str) -> String {
    let n = n.try_into().unwrap_or(u64::MAX);
    let stem = noun.strip_suffix('y');
    match stem.filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u'])) {
        _ if n == 1 => format!("1 {noun}"),
        Some(stem) => format!("{n} {stem}ies"),
        None => format!("{n} {noun}s"),
    }
}

/// A size for people: `812 bytes`, `12.4 KiB`.
pub(crate) fn size(bytes: u64) -> String {
    #[allow(clippy::cast_precision_loss)]
    let mut units = bytes as f64;
    let mut name = "";
    for next in ["KiB", "MiB", "GiB", "TiB"] {
        // What would be shown as 1024.0 is one of the next.
        if units < 1023.95 {
            break;
        }
        units /= 1024.0;
        name = next;
    }
    match name {
        "" => counted(bytes, "byte"),
        name => format!("{units:.1} {name}"),
    }
}

/// A path as a shell reads it: in quotes where it holds anything that a shell would take for its own.
pub(crate) fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_align_and_leave_no_space_at_the_end() {
        let rows = [["a", "10", "x"], ["long", "5", ""]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(
            table(&["name", "rows", "by"], &[1], &rows),
            "name  rows  by\na       10  x\nlong     5"
        );
    }

    #[test]
    fn causes_are_told_once_and_in_our_words() {
        let system = || std::io::Error::from_raw_os_error(2);
        let read = anyhow::Error::new(system()).context("`x` cannot be read");
        let said = "`x` cannot be read: there is no such file or folder";
        assert_eq!(chain(&read), said);
        let wrapped = std::io::Error::other(system());
        let wrapped = anyhow::Error::new(wrapped).context("`x` cannot be read");
        assert_eq!(chain(&wrapped), said);
        let json = serde_json::from_str::<u8>("").expect_err("no JSON");
        let json = chain(&anyhow::Error::new(json).context("`x` holds no number"));
        assert!(
            json.contains("ends too early") && !json.contains("EOF"),
            "{json}"
        );
    }

    #[test]
    fn nouns_follow_their_number() {
        assert_eq!(counted(1_usize, "entity"), "1 entity");
        assert_eq!(counted(0_usize, "entity"), "0 entities");
        assert_eq!(counted(2_u64, "view"), "2 views");
        assert_eq!(counted(1_u64, "key"), "1 key");
        assert_eq!(counted(2_u64, "key"), "2 keys");
    }

    #[test]
    fn sizes_have_the_unit_that_leaves_the_fewest_digits() {
        for (bytes, shown) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (1023, "1023 bytes"),
            (1024, "1.0 KiB"),
            (12_650, "12.4 KiB"),
            ((1 << 20) - 1, "1.0 MiB"),
            (5 << 30, "5.0 GiB"),
            (u64::MAX, "16777216.0 TiB"),
        ] {
            assert_eq!(size(bytes), shown);
        }
    }

    #[test]
    fn paths_are_quoted_for_a_shell_where_they_must_be() {
        for (path, written) in [
            ("shop", "shop"),
            ("/srv/café-2", "/srv/café-2"),
            ("my shop", "'my shop'"),
            ("it's", r"'it'\''s'"),
            ("$HOME", "'$HOME'"),
            ("~", "'~'"),
        ] {
            assert_eq!(quoted(Path::new(path)), written);
        }
    }
}
