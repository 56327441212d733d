//! What was most likely meant by a word that is not known.

/// A help text that suggests the nearest accepted word and lists all.
#[must_use]
pub fn accepted(wrong: &str, words: &[impl AsRef<str>]) -> String {
    let list = words
        .iter()
        .map(AsRef::as_ref)
        .collect::<Vec<_>>()
        .join(", ");
    match nearest(wrong, words.iter().map(AsRef::as_ref)) {
        _ if list.is_empty() => "there are none yet".to_owned(),
        Some(near) => format!("did you mean `{near}`? accepted: {list}"),
        None => format!("accepted: {list}"),
    }
}

/// The word that `wrong` was most likely meant to be: the fewest edits, swapped letters before wrong ones.
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
