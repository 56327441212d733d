//! `a` or `an`, by how the word after it is spoken.

use std::fmt::Display;

/// A word with its article: `a date`, `an int32`, `a uint8`, ``an `entity` ``.
#[must_use]
pub fn with_article(word: impl Display) -> String {
    let word = word.to_string();
    let spoken = word.trim_start_matches(['`', '"', '\'']);
    // Spoken as `you`.
    let is_you = ["uint", "uni", "use", "uuid"]
        .iter()
        .any(|start| spoken.starts_with(start));
    let is_vowel = spoken.starts_with(['a', 'e', 'i', 'o', 'u', 'A', 'E', 'I', 'O', 'U']);
    let article = if is_vowel && !is_you { "an" } else { "a" };
    format!("{article} {word}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data_type::DataType;

    #[test]
    fn words_have_the_article_that_is_spoken() {
        for (word, expected) in [
            ("entity", "an entity"),
            ("source", "a source"),
            ("`int32`", "an `int32`"),
            ("unknown name", "an unknown name"),
        ] {
            assert_eq!(with_article(word), expected);
        }
        for name in DataType::names() {
            let expected = if name.starts_with("int") { "an" } else { "a" };
            assert_eq!(with_article(name), format!("{expected} {name}"));
        }
    }
}
