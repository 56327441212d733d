//! What stands behind the column in the call of an aggregate function.

use std::fmt;

/// How many values a list holds at most: 1 to [`ListLength::MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ListLength(u16);

impl ListLength {
    /// The greatest.
    pub const MAX: u16 = 1000;

    /// A length from 1 to the greatest.
    #[must_use]
    pub const fn new(length: u16) -> Option<Self> {
        match length {
            1..=Self::MAX => Some(Self(length)),
            _ => None,
        }
    }

    /// Reads a whole number.
    ///
    /// # Errors
    /// [`ParameterError`] for another text.
    pub fn parse(text: &str) -> Result<Self, ParameterError> {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
        let length = text.parse().ok().filter(|_| is_plain);
        let length = length.and_then(Self::new);
        length.ok_or_else(|| ParameterError::Length(text.to_owned()))
    }

    /// The number.
    #[must_use]
    pub fn get(self) -> usize {
        self.0.into()
    }
}

impl fmt::Display for ListLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Which part of the values a quantile lies above: 0 to 1, in billionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Portion(u32);

impl Portion {
    /// That of the median.
    pub const HALF: Self = Self(Self::WHOLE / 2);
    /// How many billionths 1 is.
    pub const WHOLE: u32 = 1_000_000_000;
    const DIGITS: usize = 9;

    /// So many billionths.
    #[must_use]
    pub const fn billionths(billionths: u32) -> Option<Self> {
        match billionths {
            0..=Self::WHOLE => Some(Self(billionths)),
            _ => None,
        }
    }

    /// Reads a number from 0 to 1 with at most 9 digits after the point.
    ///
    /// # Errors
    /// [`ParameterError`] for another text.
    pub fn parse(text: &str) -> Result<Self, ParameterError> {
        let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
        let is_plain =
            |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let is_number = matches!(whole, "0" | "1") && is_plain(part) && part.len() <= Self::DIGITS;
        let billionths = format!("{whole}{part:0<9}").parse().ok();
        let portion = billionths.filter(|_| is_number).and_then(Self::billionths);
        portion.ok_or_else(|| ParameterError::Portion(text.to_owned()))
    }

    /// In billionths.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

/// As the shortest number that reads back.
impl fmt::Display for Portion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{:09}", self.0 % Self::WHOLE);
        match digits.trim_end_matches('0') {
            "" => write!(f, "{}", self.0 / Self::WHOLE),
            digits => write!(f, "0.{digits}"),
        }
    }
}

/// A parameter that a function does not take.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// There should be none.
    #[error("`{0}` takes a column and nothing behind it")]
    Unexpected(&'static str),
    /// It is not a number of values.
    #[error("`{0}` is not a number of values")]
    Length(String),
    /// There is none, and the function needs one.
    #[error("`{0}` does not say how many values")]
    NoLength(&'static str),
    /// It does not say which quantile.
    #[error("`{0}` is not a quantile")]
    Portion(String),
    /// There is none, and the function needs one.
    #[error("`{0}` does not say which quantile")]
    NoPortion(&'static str),
}

impl ParameterError {
    /// What to write instead.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Unexpected(name) => format!("write `{name}(column)`"),
            Self::NoLength(name) => format!("write `{name}(column, 3)`"),
            Self::Length(_) => format!(
                "write a whole number from 1 to {}, like `last(amount, 3)`",
                ListLength::MAX
            ),
            Self::Portion(_) | Self::NoPortion(_) => {
                "write a number from 0 to 1 with at most 9 digits after the point, like `quantile(amount, 0.9)`"
                    .to_owned()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portions_are_read_exactly_and_written_in_short() {
        for (text, billionths, shown) in [
            ("0", 0, "0"),
            ("0.0", 0, "0"),
            ("1", 1_000_000_000, "1"),
            ("1.000", 1_000_000_000, "1"),
            ("0.5", 500_000_000, "0.5"),
            ("0.50", 500_000_000, "0.5"),
            ("0.000000001", 1, "0.000000001"),
            ("0.999", 999_000_000, "0.999"),
        ] {
            let portion = Portion::parse(text).expect(text);
            assert_eq!(
                (portion.get(), portion.to_string().as_str()),
                (billionths, shown)
            );
        }
        assert_eq!(Portion::parse("0.500"), Ok(Portion::HALF));
        for wrong in [
            "",
            ".5",
            "0.",
            "1.1",
            "2",
            "-0.5",
            "+0.5",
            "0.0000000001",
            "1e-1",
            "00.5",
            "0.5x",
        ] {
            assert!(Portion::parse(wrong).is_err(), "{wrong}");
        }
    }
}
