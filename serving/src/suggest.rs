//! Near-misses of unknown names.

use feature_defs::name::MAX_NAME_LENGTH;

/// Least similarity (Jaro-Winkler, 0 to 1) of a suggestion.
const SIMILAR: f64 = 0.8;

/// `" (did you mean `x`?)"` for the known name most like `unknown`, else all known names, else nothing.
pub(crate) fn suggestion<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = known.into_iter().collect();
    let best = names
        .iter()
        .map(|name| (strsim::jaro_winkler(unknown, name), *name))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match best {
        Some((similarity, name)) if similarity >= SIMILAR => {
            format!(" (did you mean `{name}`?)")
        }
        Some(_) => format!(" (there is: `{}`)", names.join("`, `")),
        None => String::new(),
    }
}

/// The unknown name in backticks, shortened, with a [`suggestion`].
pub(crate) fn named<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let shown: String = unknown.chars().take(MAX_NAME_LENGTH).collect();
    format!("`{shown}`{}", suggestion(unknown, known))
}
