//! The sources of a project, apart from any night.

use feature_defs::definitions::Definitions;
use feature_defs::name::Name;

use crate::scan::files;

/// Sources whose path names no file that can be read now, with why.
#[must_use]
pub fn missing(definitions: &Definitions) -> Vec<(Name, String)> {
    let root = &definitions.project.root;
    let sources = definitions.sources.values();
    let missing = sources.filter_map(|source| {
        let error = files::find(root, &source.path).err()?;
        Some((source.name.clone(), error.to_string()))
    });
    missing.collect()
}
