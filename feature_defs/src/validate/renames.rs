//! Renames: the old name is free, and one object took it over.

use std::collections::BTreeMap;

use crate::name::Name;
use crate::parse::objects::{Objects, Section};
use crate::validate::Validator;

impl Validator<'_> {
    /// Checks every `renamed_from`.
    pub(super) fn renames(&mut self, objects: &Objects) {
        self.renames_of("entity", &objects.entities);
        self.renames_of("source", &objects.sources);
        self.renames_of("view", &objects.views);
        self.renames_of("request view", &objects.request_views);
        self.renames_of("service", &objects.services);
        self.renames_of("model", &objects.models);
    }

    fn renames_of<T>(&mut self, what: &str, section: &Section<T>) {
        let mut taken: BTreeMap<&Name, &Name> = BTreeMap::new();
        for (name, declared) in section {
            let Some(old) = &declared.about.renamed_from else {
                continue;
            };
            if section.contains_key(&old.value) {
                let message = format!("the {what} `{}` is still declared", old.value);
                let help = format!("take `{}` away, or leave `renamed_from` out", old.value);
                self.refuse(&old.span, message, help);
            } else if let Some(other) = taken.insert(&old.value, name) {
                let message = format!(
                    "the {what} `{}` was renamed to `{other}` already",
                    old.value
                );
                self.refuse(&old.span, message, "leave one `renamed_from` out");
            }
        }
    }
}
