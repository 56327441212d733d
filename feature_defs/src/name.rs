//! Names of declared objects, and dotted references to features.

use std::fmt;
use std::sync::Arc;

/// Longest accepted name, in characters.
pub const MAX_NAME_LENGTH: usize = 64;

/// A declared object's name: `[a-z_][a-z0-9_]*`, at most [`MAX_NAME_LENGTH`] characters. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(Arc<str>);

/// Why a text is not a [`Name`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not a name: write lower-case letters, digits and `_`, starting with a letter or `_`, at most {MAX_NAME_LENGTH} characters{}",
    like(text)
)]
pub struct NameError {
    /// The text that was refused.
    pub text: String,
}

/// The name that is nearest to a text that is none: `` , like `n_baskets` ``.
fn like(text: &str) -> String {
    let plain = |c: char| match c.to_ascii_lowercase() {
        c if c.is_ascii_alphanumeric() => c,
        _ => '_',
    };
    let near: String = text.trim().chars().map(plain).collect();
    let is_readable = near
        .trim_matches('_')
        .starts_with(|c: char| c.is_ascii_lowercase())
        && text.is_ascii();
    match Name::parse(&near) {
        Ok(near) if is_readable => format!(", like `{near}`"),
        _ => String::new(),
    }
}

impl Name {
    /// Parses a name.
    ///
    /// # Errors
    /// [`NameError`] when `text` breaks the rule for names.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let mut characters = text.chars();
        let starts_well = characters
            .next()
            .is_some_and(|c| c.is_ascii_lowercase() || c == '_');
        let goes_on_well =
            characters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if starts_well && goes_on_well && text.len() <= MAX_NAME_LENGTH {
            Ok(Self(text.into()))
        } else {
            Err(NameError {
                text: text.to_owned(),
            })
        }
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.0)
    }
}

impl serde::Serialize for Name {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> serde::Deserialize<'de> for Name {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// A feature by its full name, `view.feature`; the view is a feature view or a request view.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FeatureRef {
    /// The view that declares the feature.
    pub view: Name,
    /// The feature's name within its view.
    pub feature: Name,
}

impl fmt::Display for FeatureRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.view, self.feature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_outside_the_rule_are_refused() {
        for text in ["", "1a", "A", "a-b", "a.b", "é", &"a".repeat(65)] {
            assert!(Name::parse(text).is_err(), "{text}");
        }
        for text in ["a", "_a1", "spend_30d", &"a".repeat(64)] {
            assert_eq!(Name::parse(text).expect("valid").as_str(), text);
        }
    }
}
