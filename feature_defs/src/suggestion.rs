//! What was most likely meant by a word that is not known.

use crate::name::MAX_NAME_LENGTH;

/// A help text that suggests the word that was meant and lists all.
#[must_use]
pub fn accepted(wrong: &str, words: &[impl AsRef<str>]) -> String {
    let list = words
        .iter()
        .map(AsRef::as_ref)
        .collect::<Vec<_>>()
        .join(", ");
    match meant(wrong, words.iter().map(AsRef::as_ref)) {
        _ if list.is_empty() => "there are none yet".to_owned(),
        Some(near) => format!("did you mean `{near}`? accepted: {list}"),
        None => format!("accepted: {list}"),
    }
}

/// A wrong word in backticks, shortened, with the word that was meant, or with all that there are:
/// `` `chrun` (did you mean `churn`?) ``.
#[must_use]
pub fn named<'w>(wrong: &str, words: impl IntoIterator<Item = &'w str>) -> String {
    let shown: String = wrong.chars().take(MAX_NAME_LENGTH).collect();
    let words: Vec<&str> = words.into_iter().collect();
    match meant(wrong, words.iter().copied()) {
        _ if words.is_empty() => format!("`{shown}`"),
        Some(near) => format!("`{shown}` (did you mean `{near}`?)"),
        None => format!("`{shown}` (there is: `{}`)", words.join("`, `")),
    }
}

/// The word that `wrong` was most likely meant to be: the [`nearest`] one, else the only one that is longer or shorter by
/// whole parts (`customer` for `customer_id`).
#[must_use]
pub fn meant<'w>(wrong: &str, words: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let words: Vec<&str> = words.into_iter().collect();
    nearest(wrong, words.iter().copied()).or_else(|| {
        let lower = wrong.to_lowercase();
        let mut longer = words.into_iter().filter(|word| {
            let word = word.to_lowercase();
            extends(&word, &lower) || extends(&lower, &word)
        });
        let first = longer.next();
        first.filter(|_| longer.next().is_none())
    })
}

/// Whether `long` is `short` with parts before or after it.
fn extends(long: &str, short: &str) -> bool {
    let starts = long.strip_prefix(short);
    let ends = long.strip_suffix(short);
    !short.is_empty()
        && (starts.is_some_and(|rest| rest.starts_with(['_', '.']))
            || ends.is_some_and(|rest| rest.ends_with(['_', '.'])))
}

/// The word that `wrong` was most likely mistyped from: the fewest edits, swapped letters before wrong ones.
#[must_use]
pub fn nearest<'w>(wrong: &str, words: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let limit = (wrong.chars().count() / 3).max(1);
    let lower = wrong.to_lowercase();
    let length = lower.chars().count();
    words
        .into_iter()
        .map(|word| (word, word.to_lowercase()))
        .filter(|(_, candidate)| candidate.chars().count().abs_diff(length) <= limit)
        .map(|(word, candidate)| {
            let distance = strsim::damerau_levenshtein(&lower, &candidate);
            (distance, letters(&lower) != letters(&candidate), word)
        })
        .filter(|(distance, ..)| *distance <= limit)
        .min_by_key(|(distance, other_letters, _)| (*distance, *other_letters))
        .map(|(.., word)| word)
}

fn letters(word: &str) -> Vec<char> {
    let mut letters: Vec<char> = word.chars().collect();
    letters.sort_unstable();
    letters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistyped_and_partial_words_are_recognised() {
        for (wrong, words, expected) in [
            (
                "custmer_id",
                &["customer_id", "shop_id"][..],
                Some("customer_id"),
            ),
            ("customer", &["customer_id", "shop_id"], Some("customer_id")),
            ("id", &["customer_id", "shop_id"], None),
            ("id", &["customer_id"], Some("customer_id")),
            (
                "customer_spend_7d",
                &["spend_7d", "orders_7d"],
                Some("spend_7d"),
            ),
            ("amuont", &["amount"], Some("amount")),
            ("zzz", &["amount"], None),
            ("", &["amount"], None),
        ] {
            assert_eq!(meant(wrong, words.iter().copied()), expected, "{wrong}");
        }
    }

    #[test]
    fn a_wrong_word_is_told_with_what_there_is() {
        assert_eq!(named("chrun", ["churn"]), "`chrun` (did you mean `churn`?)");
        assert_eq!(
            named("x", ["churn", "ltv"]),
            "`x` (there is: `churn`, `ltv`)"
        );
        assert_eq!(named("x", []), "`x`");
        let long = "x".repeat(200);
        assert_eq!(named(&long, []), format!("`{}`", &long[..MAX_NAME_LENGTH]));
    }

    #[test]
    fn long_words_cost_no_comparison() {
        let long = "x".repeat(1 << 20);
        assert_eq!(meant(&long, ["churn"]), None);
    }
}
