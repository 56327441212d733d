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

/// A parameter that a function does not take.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// There should be none.
    #[error("`{0}` takes a column and nothing behind it")]
    Unexpected(&'static str),
    /// It is not a number of values.
    #[error("`{0}` is not a number of values")]
    Length(String),
}

impl ParameterError {
    /// What to write instead.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Unexpected(name) => format!("write `{name}(column)`"),
            Self::Length(_) => format!(
                "write a whole number from 1 to {}, like `last(amount, 3)`",
                ListLength::MAX
            ),
        }
    }
}
