//! Checks: what a view's new snapshot has to be like before it is served.
//!
//! They decide whether a release is made and never what is in it, so they are part of no fingerprint.

use std::fmt;

use crate::data_type::DataType;
use crate::name::Name;
use crate::value::Value;

/// One check of a view.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// The feature that it looks at; `None` for the view's rows.
    pub feature: Option<Name>,
    /// What has to hold.
    pub demand: Demand,
    /// What follows where it does not.
    pub on_failure: OnFailure,
}

/// What has to hold of a snapshot.
#[derive(Debug, Clone, PartialEq)]
pub enum Demand {
    /// At least so many rows.
    MinRows(u64),
    /// At most so many rows.
    MaxRows(u64),
    /// The number of rows differs by at most this share of those that are served.
    Change(Percent),
    /// At most this share of the rows has a null.
    Nulls(Percent),
    /// No value is less, and none is NaN.
    Min(Value, DataType),
    /// No value is greater, and none is NaN.
    Max(Value, DataType),
    /// The population stability index against what is served is at most this.
    Psi(f64),
}

impl Demand {
    /// The key that says it in definition files.
    #[must_use]
    pub const fn key(&self) -> &'static str {
        match self {
            Self::MinRows(_) | Self::Min(..) => "min",
            Self::MaxRows(_) | Self::Max(..) => "max",
            Self::Change(_) => "change",
            Self::Nulls(_) => "nulls",
            Self::Psi(_) => "psi",
        }
    }
}

/// As definition files say it: `min: 20000`.
impl fmt::Display for Demand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.key())?;
        match self {
            Self::MinRows(rows) | Self::MaxRows(rows) => rows.fmt(f),
            Self::Change(share) | Self::Nulls(share) => share.fmt(f),
            Self::Min(value, data_type) | Self::Max(value, data_type) => {
                let mut json = Vec::new();
                value.write_json(*data_type, &mut json);
                f.write_str(&String::from_utf8_lossy(&json))
            }
            Self::Psi(most) => most.fmt(f),
        }
    }
}

/// What follows where a check fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// No release is made: what is served stays served.
    Block,
    /// The release is made, and the night says so.
    Warn,
}

impl OnFailure {
    /// By the words that definitions use.
    pub const NAMED: [(&'static str, Self); 2] = [("block", Self::Block), ("warn", Self::Warn)];

    /// The word that definitions use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Warn => "warn",
        }
    }
}

/// A share, written `10%`. Not negative, and a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Percent(f64);

/// A text that is no share.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a share: write a number with `%`, like `10%` or `0.5%`")]
pub struct PercentError(String);

impl Percent {
    /// Reads `10%`.
    ///
    /// # Errors
    /// [`PercentError`]: anything but a number that is not negative, and a percent sign.
    pub fn parse(text: &str) -> Result<Self, PercentError> {
        let refused = || PercentError(text.to_owned());
        let number = text.strip_suffix('%').ok_or_else(refused)?.trim_end();
        let is_plain = number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        let number: f64 = number.parse().map_err(|_| refused())?;
        (is_plain && number.is_finite())
            .then_some(Self(number))
            .ok_or_else(refused)
    }

    /// Hundredths of the whole.
    #[must_use]
    pub const fn hundredths(self) -> f64 {
        self.0
    }

    /// Whether `part` of `whole` is at most this share; nothing of nothing is.
    #[must_use]
    #[expect(clippy::cast_precision_loss)] // counts below 2^53
    pub fn allows(self, part: u64, whole: u64) -> bool {
        part as f64 * 100.0 <= self.0 * whole as f64
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.0)
    }
}

impl DataType {
    /// Whether a check may bound its values: numbers, dates, timestamps and texts.
    #[must_use]
    pub const fn has_bounds(self) -> bool {
        self.is_numeric() || matches!(self, Self::Date | Self::Timestamp | Self::String)
    }

    /// Whether a check may compare the distribution of its values: numbers, booleans and texts.
    #[must_use]
    pub const fn has_distribution(self) -> bool {
        self.is_numeric() || matches!(self, Self::Bool | Self::String)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read_as_they_are_written() {
        for text in ["0%", "10%", "0.5%", "250%"] {
            assert_eq!(
                Percent::parse(text).map(|share| share.to_string()),
                Ok(text.to_owned())
            );
        }
        for text in ["10", "", "%", "-1%", "1e3%", "nan%", "inf%", "ten%", "1 0%"] {
            Percent::parse(text).expect_err(text);
        }
    }

    #[test]
    fn a_share_holds_its_edge() {
        let share = Percent::parse("10%").expect("a share");
        assert!(share.allows(10, 100));
        assert!(!share.allows(11, 100));
        assert!(share.allows(0, 0));
        assert!(!share.allows(1, 0));
    }
}
