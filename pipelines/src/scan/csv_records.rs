//! Records of CSV (RFC 4180): fields between delimiters, quoted where they hold delimiters, quotes or line ends.

use std::io::BufRead;

/// Reads records one by one, keeping which fields were quoted and on which line each record starts.
#[derive(Debug)]
pub(super) struct Records<R> {
    input: R,
    delimiter: u8,
    /// The current record's fields, one after the other.
    text: Vec<u8>,
    /// Where each field ends in `text`, and whether it was quoted.
    ends: Vec<(usize, bool)>,
    /// The line on which the current record starts, from 1.
    line: u64,
    next_line: u64,
    raw: Vec<u8>,
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl<R: BufRead> Records<R> {
    pub(super) const fn new(input: R, delimiter: u8) -> Self {
        Self {
            input,
            delimiter,
            text: Vec::new(),
            ends: Vec::new(),
            line: 0,
            next_line: 1,
            raw: Vec::new(),
        }
    }

    /// Goes to the next record; false at the end.
    pub(super) fn next(&mut self) -> Result<bool, String> {
        self.text.clear();
        self.ends.clear();
        self.line = self.next_line;
        if !self.read_line()? {
            return Ok(false);
        }
        if self.line == 1 && self.raw.starts_with(BYTE_ORDER_MARK) {
            self.raw.drain(..BYTE_ORDER_MARK.len());
        }
        let mut place = 0;
        loop {
            place = if self.raw.get(place) == Some(&b'"') {
                self.quoted_field(place + 1)?
            } else {
                self.plain_field(place)
            };
            match self.raw.get(place) {
                Some(byte) if *byte == self.delimiter => place += 1,
                _ => return Ok(true),
            }
        }
    }

    /// Takes a field that starts at `start`; returns where it ends.
    fn plain_field(&mut self, start: usize) -> usize {
        let rest = &self.raw[start..];
        let length = rest
            .iter()
            .position(|byte| *byte == self.delimiter)
            .unwrap_or(rest.len());
        self.text.extend_from_slice(&rest[..length]);
        self.ends.push((self.text.len(), false));
        start + length
    }

    /// Takes a quoted field whose text starts at `start`; returns where its closing quote is behind.
    fn quoted_field(&mut self, start: usize) -> Result<usize, String> {
        let mut place = start;
        loop {
            match (self.raw.get(place), self.raw.get(place + 1)) {
                (Some(b'"'), Some(b'"')) => {
                    self.text.push(b'"');
                    place += 2;
                }
                (Some(b'"'), after) => {
                    if after.is_some_and(|byte| *byte != self.delimiter) {
                        return Err(format!(
                            "line {}: text after a closing quote",
                            self.next_line - 1
                        ));
                    }
                    self.ends.push((self.text.len(), true));
                    return Ok(place + 1);
                }
                (Some(byte), _) => {
                    self.text.push(*byte);
                    place += 1;
                }
                (None, _) => {
                    self.text.push(b'\n');
                    place = 0;
                    if !self.read_line()? {
                        return Err(format!("line {}: a quoted field does not end", self.line));
                    }
                }
            }
        }
    }

    /// Reads a line without its end into `raw`; false at the end of input.
    fn read_line(&mut self) -> Result<bool, String> {
        self.raw.clear();
        let read = self
            .input
            .read_until(b'\n', &mut self.raw)
            .map_err(|e| format!("cannot be read: {}", feature_defs::foreign::system(&e)))?;
        if self.raw.last() == Some(&b'\n') {
            self.raw.pop();
        }
        if self.raw.last() == Some(&b'\r') {
            self.raw.pop();
        }
        self.next_line += 1;
        Ok(read > 0)
    }

    /// The line on which the record starts.
    pub(super) const fn line(&self) -> u64 {
        self.line
    }

    /// How many fields the record has.
    pub(super) const fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn is_empty_line(&self) -> bool {
        self.ends == [(0, false)]
    }

    /// A field's text, and whether it was quoted.
    pub(super) fn field(&self, index: usize) -> (&[u8], bool) {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before].0);
        let (end, quoted) = self.ends[index];
        (&self.text[start..end], quoted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &str) -> Result<Vec<(u64, Vec<String>)>, String> {
        let mut records = Records::new(text.as_bytes(), b',');
        let mut all = Vec::new();
        while records.next()? {
            let fields = (0..records.len()).map(|field| {
                let (text, quoted) = records.field(field);
                let text = String::from_utf8_lossy(text);
                if quoted {
                    format!("\"{text}\"")
                } else {
                    text.into_owned()
                }
            });
            all.push((records.line(), fields.collect()));
        }
        Ok(all)
    }

    #[test]
    fn quotes_line_ends_and_empty_fields_are_kept_apart() {
        let text = "\u{feff}a,b\r\n1,\"x,\"\"y\"\"\nz\"\n,\"\"\n\nlast,";
        let expected = [
            (1, vec!["a", "b"]),
            (2, vec!["1", "\"x,\"y\"\nz\""]),
            (4, vec!["", "\"\""]),
            (5, vec![""]),
            (6, vec!["last", ""]),
        ];
        let records = records(text).expect("records");
        for ((line, fields), (expected_line, expected_fields)) in records.iter().zip(&expected) {
            assert_eq!((line, fields.len()), (expected_line, expected_fields.len()));
            assert_eq!(fields, expected_fields);
        }
        assert_eq!(records.len(), expected.len());
    }

    #[test]
    fn broken_quotes_name_their_line() {
        assert_eq!(
            records("a\n\"b").expect_err("open"),
            "line 2: a quoted field does not end"
        );
        assert_eq!(
            records("a\n\"b\"c").expect_err("after"),
            "line 2: text after a closing quote"
        );
    }
}
