//! Types as definitions write them.

use std::fmt;
use std::ops::Range;

use super::nested::is_field_name;
use super::{DataType, MAX_DECIMAL_PRECISION, MAX_DEPTH, MAX_VECTOR_LENGTH, PLAIN, StructField};

/// Why a text is not a [`DataType`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{fault}")]
pub struct DataTypeError {
    /// The bytes of the text that are at fault.
    pub range: Range<usize>,
    /// What is wrong with them.
    pub fault: DataTypeFault,
}

/// What is wrong with a text or a part of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DataTypeFault {
    /// No type is named so.
    #[error("`{0}` is not a type")]
    Unknown(String),
    /// Something else stands where a sign is expected.
    #[error("expected `{expected}`, found {found}")]
    Expected {
        /// What belongs there.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// Something stands after the type.
    #[error("`{0}` is not expected after the type")]
    Rest(String),
    /// A vector of other elements than floats.
    #[error("a vector holds `float16`, `float32` or `float64`, not `{0}`")]
    Element(DataType),
    /// A vector's length.
    #[error("`{0}` is not a length: write 1 to {MAX_VECTOR_LENGTH}")]
    Length(String),
    /// A field's name.
    #[error("`{0}` is not a field's name: letters, digits and `_`, not a digit first")]
    FieldName(String),
    /// Two fields of one name.
    #[error("the struct has two fields `{0}`")]
    Repeated(String),
    /// Types too deep in each other.
    #[error("types stand in each other more than {MAX_DEPTH} deep")]
    TooDeep,
}

impl DataType {
    /// Names of all types as they are written, for messages and suggestions.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let others = [
            "decimal(p,s)",
            "list<T>",
            "vector<F, n>",
            "struct<a: T, ...>",
        ];
        PLAIN.iter().map(|(name, _)| *name).chain(others)
    }

    /// Parses a type as it is written in definition files.
    ///
    /// # Errors
    /// [`DataTypeError`] for unknown names, for decimals outside 1 to 38 digits, and for lists, vectors and structs
    /// that are not whole.
    pub fn parse(text: &str) -> Result<Self, DataTypeError> {
        let mut parser = Parser { text, at: 0 };
        let parsed = parser.data_type(1);
        let whole = || parser.fault(0..text.len(), DataTypeFault::Unknown(text.to_owned()));
        match parsed {
            // A text that starts with no type of ours is at fault as a whole.
            Err(error) if error.range.start == 0 && is_unknown(&error) => Err(whole()),
            Ok(data_type) if parser.rest().is_empty() => Ok(data_type),
            Ok(data_type) if !data_type.is_nested() => Err(whole()),
            Ok(_) => {
                let rest = parser.rest().to_owned();
                Err(parser.fault(
                    text.len() - rest.len()..text.len(),
                    DataTypeFault::Rest(rest),
                ))
            }
            Err(error) => Err(error),
        }
    }
}

const fn is_unknown(error: &DataTypeError) -> bool {
    matches!(error.fault, DataTypeFault::Unknown(_))
}

/// A text, read up to a byte.
struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn data_type(&mut self, depth: usize) -> Result<DataType, DataTypeError> {
        self.skip_blanks();
        let start = self.at;
        if depth > MAX_DEPTH {
            return Err(self.fault(start..self.text.len(), DataTypeFault::TooDeep));
        }
        let name = self.word();
        if self.rest().trim_start().starts_with('<') {
            self.skip_blanks();
        }
        match (name, self.peek()) {
            ("list", Some('<')) => {
                self.expect("<")?;
                let element = self.data_type(depth + 1)?;
                self.expect(">")?;
                let too_deep = || self.fault(start..self.at, DataTypeFault::TooDeep);
                element.list_of().ok_or_else(too_deep)
            }
            ("vector", Some('<')) => self.vector(depth),
            ("struct", Some('<')) => self.fields(start, depth),
            ("decimal", Some('(')) => {
                let arguments = self.bracketed();
                let decimal = arguments.and_then(decimal);
                decimal.ok_or_else(|| self.unknown(start))
            }
            (name, Some('(' | '<')) if !name.is_empty() => {
                self.bracketed();
                Err(self.unknown(start))
            }
            (name, _) => {
                let plain = PLAIN.iter().find(|(known, _)| *known == name);
                let plain = plain.map(|(_, data_type)| *data_type);
                plain.ok_or_else(|| self.unknown(start))
            }
        }
    }

    fn vector(&mut self, depth: usize) -> Result<DataType, DataTypeError> {
        self.expect("<")?;
        self.skip_blanks();
        let start = self.at;
        let element = self.data_type(depth + 1)?;
        if !element.is_float() {
            return Err(self.fault(start..self.at, DataTypeFault::Element(element)));
        }
        self.expect(",")?;
        self.skip_blanks();
        let start = self.at;
        let length = self.word();
        let digits = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
        let vector = length
            .parse()
            .ok()
            .and_then(|length| element.vector_of(length));
        let vector = vector.filter(|_| digits).ok_or_else(|| {
            let range = start..self.at.max(start + self.character(start));
            let written = self.text.get(range.clone()).unwrap_or_default();
            self.fault(range, DataTypeFault::Length(written.to_owned()))
        })?;
        self.expect(">")?;
        Ok(vector)
    }

    fn fields(&mut self, start: usize, depth: usize) -> Result<DataType, DataTypeError> {
        self.expect("<")?;
        let mut fields: Vec<StructField> = Vec::new();
        loop {
            self.skip_blanks();
            let name_start = self.at;
            let name = self.word();
            let range = name_start..self.at.max(name_start + self.character(name_start));
            if !is_field_name(name) {
                let written = self.text.get(range.clone()).unwrap_or_default();
                return Err(self.fault(range, DataTypeFault::FieldName(written.to_owned())));
            }
            if fields.iter().any(|field| field.name == name) {
                return Err(self.fault(range, DataTypeFault::Repeated(name.to_owned())));
            }
            self.expect(":")?;
            fields.push(StructField {
                name: name.to_owned(),
                data_type: self.data_type(depth + 1)?,
            });
            self.skip_blanks();
            if self.peek() != Some(',') {
                break;
            }
            self.expect(",")?;
        }
        self.expect(">")?;
        let too_deep = || self.fault(start..self.at, DataTypeFault::TooDeep);
        DataType::struct_of(fields).ok_or_else(too_deep)
    }

    /// The letters, digits and `_` from here on.
    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        let word = &rest[..end.unwrap_or(rest.len())];
        self.at += word.len();
        word
    }

    /// What stands between the bracket here and the one that closes it; `None` where none does.
    fn bracketed(&mut self) -> Option<&'a str> {
        let start = self.at;
        let mut open = 0_usize;
        for (at, sign) in self.rest().char_indices() {
            match sign {
                '(' | '<' => open += 1,
                ')' | '>' => open = open.saturating_sub(1),
                _ => {}
            }
            if open == 0 {
                self.at = start + at + sign.len_utf8();
                return self.text.get(start + 1..self.at - 1);
            }
        }
        self.at = self.text.len();
        None
    }

    fn expect(&mut self, sign: &'static str) -> Result<(), DataTypeError> {
        self.skip_blanks();
        if self.rest().starts_with(sign) {
            self.at += sign.len();
            return Ok(());
        }
        let end = self.at + self.character(self.at);
        let found = match self.text.get(self.at..end) {
            Some(found) if !found.is_empty() => format!("`{found}`"),
            _ => "the end of the type".to_owned(),
        };
        let fault = DataTypeFault::Expected {
            expected: sign,
            found,
        };
        // The end is told at the last character.
        let before = self.text[..self.at].char_indices().next_back();
        let start = if end > self.at {
            self.at
        } else {
            before.map_or(0, |(at, _)| at)
        };
        Err(self.fault(start..end, fault))
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Bytes of the character at a byte; 0 at the end.
    fn character(&self, at: usize) -> usize {
        self.text[at..].chars().next().map_or(0, char::len_utf8)
    }

    /// What was read since `start`, or the character there, is no type.
    fn unknown(&self, start: usize) -> DataTypeError {
        let end = self.at.max(start + self.character(start));
        let written = self.text.get(start..end).unwrap_or_default();
        self.fault(start..end, DataTypeFault::Unknown(written.to_owned()))
    }

    const fn fault(&self, range: Range<usize>, fault: DataTypeFault) -> DataTypeError {
        DataTypeError { range, fault }
    }
}

/// `p,s`
fn decimal(arguments: &str) -> Option<DataType> {
    let (precision, scale) = arguments.split_once(',')?;
    let precision: u8 = precision.trim().parse().ok()?;
    let scale: u8 = scale.trim().parse().ok()?;
    let fits = (1..=MAX_DECIMAL_PRECISION).contains(&precision) && scale <= precision;
    fits.then_some(DataType::Decimal { precision, scale })
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decimal { precision, scale } => write!(f, "decimal({precision},{scale})"),
            Self::List(element) => write!(f, "list<{element}>"),
            Self::Vector { element, length } => write!(f, "vector<{element}, {length}>"),
            Self::Struct(of) => {
                for (place, StructField { name, data_type }) in of.fields.iter().enumerate() {
                    let before = if place == 0 { "struct<" } else { ", " };
                    write!(f, "{before}{name}: {data_type}")?;
                }
                f.write_str(">")
            }
            plain => {
                let plain = PLAIN.iter().find(|(_, t)| t == plain);
                f.write_str(plain.map_or("", |(name, _)| name))
            }
        }
    }
}

impl serde::Serialize for DataType {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for DataType {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_prints_parses_and_maps_both_ways() {
        let texts = [
            "decimal(12,2)",
            "list<int64>",
            "list<list<uuid>>",
            "vector<float16, 3>",
            "vector<float64, 16384>",
            "struct<a: int64, _B2: string>",
            "list<struct<at: timestamp, amount: decimal(12,2), tags: list<string>>>",
            "list<list<list<list<list<list<list<bool>>>>>>>",
        ];
        for text in PLAIN.iter().map(|(name, _)| *name).chain(texts) {
            let data_type = DataType::parse(text).expect(text);
            assert_eq!(data_type.to_string(), text);
            assert_eq!(DataType::from_arrow(&data_type.to_arrow()), Some(data_type));
        }
        let blanks =
            DataType::parse("struct < a:int64,b : list< decimal(5, 2) > >").expect("a type");
        assert_eq!(
            blanks.to_string(),
            "struct<a: int64, b: list<decimal(5,2)>>"
        );
    }

    #[test]
    fn faults_stand_where_they_are() {
        for (text, at, message) in [
            ("int", "int", "`int` is not a type"),
            ("", "", "`` is not a type"),
            ("decimal", "decimal", "`decimal` is not a type"),
            (
                "decimal(39,2)",
                "decimal(39,2)",
                "`decimal(39,2)` is not a type",
            ),
            (
                "decimal(2,3)",
                "decimal(2,3)",
                "`decimal(2,3)` is not a type",
            ),
            (
                "decimal(0,0)",
                "decimal(0,0)",
                "`decimal(0,0)` is not a type",
            ),
            ("Int64", "Int64", "`Int64` is not a type"),
            (
                "int64 not null",
                "int64 not null",
                "`int64 not null` is not a type",
            ),
            (
                "map<string, int64>",
                "map<string, int64>",
                "`map<string, int64>` is not a type",
            ),
            ("list", "list", "`list` is not a type"),
            ("list<int46>", "int46", "`int46` is not a type"),
            ("list<>", ">", "`>` is not a type"),
            ("list<int64", "4", "expected `>`, found the end of the type"),
            ("list<int64, string>", ",", "expected `>`, found `,`"),
            ("list<int64>>", ">", "`>` is not expected after the type"),
            (
                "list<varchar(20)>",
                "varchar(20)",
                "`varchar(20)` is not a type",
            ),
            (
                "list<decimal(5)>",
                "decimal(5)",
                "`decimal(5)` is not a type",
            ),
            ("vector<float32>", ">", "expected `,`, found `>`"),
            (
                "vector<int8, 3>",
                "int8",
                "a vector holds `float16`, `float32` or `float64`, not `int8`",
            ),
            (
                "vector<float32, 0>",
                "0",
                "`0` is not a length: write 1 to 16384",
            ),
            (
                "vector<float32, -1>",
                "-",
                "`-` is not a length: write 1 to 16384",
            ),
            (
                "vector<float32, 16385>",
                "16385",
                "`16385` is not a length: write 1 to 16384",
            ),
            (
                "vector<float32, 99999999999>",
                "99999999999",
                "`99999999999` is not a length: write 1 to 16384",
            ),
            (
                "struct<>",
                ">",
                "`>` is not a field's name: letters, digits and `_`, not a digit first",
            ),
            (
                "struct<a: int64, >",
                ">",
                "`>` is not a field's name: letters, digits and `_`, not a digit first",
            ),
            ("struct<a int64>", "i", "expected `:`, found `i`"),
            (
                "struct<a: int64, a: string>",
                "a",
                "the struct has two fields `a`",
            ),
            (
                "struct<1a: int64>",
                "1a",
                "`1a` is not a field's name: letters, digits and `_`, not a digit first",
            ),
            (
                "struct<ä: int64>",
                "ä",
                "`ä` is not a field's name: letters, digits and `_`, not a digit first",
            ),
            (
                "list<list<list<list<list<list<list<list<bool>>>>>>>>",
                "bool>>>>>>>>",
                "types stand in each other more than 8 deep",
            ),
        ] {
            let error = DataType::parse(text).expect_err(text);
            assert_eq!(error.to_string(), message, "{text}");
            assert_eq!(&text[error.range], at, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn texts_that_are_no_types_never_panic(text in "(list|vector|struct|decimal|map|int64|float32|a|ä|<|>|\\(|\\)|,|:| |7){0,12}") {
            match DataType::parse(&text) {
                Ok(data_type) => assert_eq!(DataType::parse(&data_type.to_string()), Ok(data_type)),
                Err(error) => assert!(text.get(error.range).is_some()),
            }
        }
    }
}
