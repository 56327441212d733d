//! What is different about one object, a line each.

use std::fmt::Display;

use indexmap::IndexMap;

use crate::about::About;
use crate::fingerprint::Fingerprint;

/// What is different about one object, and whether it means another thing.
#[derive(Default)]
pub(super) struct Compared {
    pub(super) details: Vec<String>,
    pub(super) incompatible: bool,
}

impl Compared {
    pub(super) fn fingerprints(before: Fingerprint, after: Fingerprint) -> Self {
        Self {
            details: Vec::new(),
            incompatible: before != after,
        }
    }

    /// A setting that may be another one.
    pub(super) fn setting<T: PartialEq>(
        &mut self,
        what: &str,
        before: &T,
        after: &T,
        show: impl Fn(&T) -> String,
    ) {
        if before != after {
            let line = format!("{what}: {} -> {}", show(before), show(after));
            self.details.push(line);
        }
    }

    /// What the object says of itself.
    pub(super) fn about(&mut self, before: &About, after: &About) {
        self.setting("description", &before.description, &after.description, text);
        self.setting("owner", &before.owner, &after.owner, text);
        self.setting("tags", &before.tags, &after.tags, |tags| {
            format!("[{}]", tags.join(", "))
        });
        self.setting("deprecated", &before.deprecated, &after.deprecated, text);
    }

    /// Named parts that may have come, changed or gone.
    pub(super) fn parts<T: PartialEq>(
        &mut self,
        what: &str,
        before: impl IntoIterator<Item = (String, T)>,
        after: impl IntoIterator<Item = (String, T)>,
        show: impl Fn(&T, &T) -> String,
    ) {
        let before: IndexMap<String, T> = before.into_iter().collect();
        let after: IndexMap<String, T> = after.into_iter().collect();
        for (name, part) in &after {
            match before.get(name) {
                None => self.details.push(format!("{what} `{name}`: new")),
                Some(old) if old != part => {
                    self.details
                        .push(format!("{what} `{name}`: {}", show(old, part)));
                }
                Some(_) => {}
            }
        }
        for name in before.keys().filter(|name| !after.contains_key(*name)) {
            self.details.push(format!("{what} `{name}`: gone"));
        }
        let kept = |map: &IndexMap<String, T>, other: &IndexMap<String, T>| {
            let kept = map.keys().filter(|name| other.contains_key(*name));
            kept.cloned().collect::<Vec<String>>()
        };
        if kept(&before, &after) != kept(&after, &before) {
            self.details.push(format!("{what}s: in another order"));
        }
    }
}

pub(super) fn quoted(text: &impl Display) -> String {
    format!("`{text}`")
}

pub(super) fn text(text: &Option<String>) -> String {
    text.as_ref()
        .map_or_else(|| "none".to_owned(), |text| format!("`{}`", text.trim()))
}
