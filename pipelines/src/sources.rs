//! The sources of a project, apart from any night.

use feature_defs::definitions::Definitions;
use feature_defs::name::Name;
use feature_defs::source::Source;

use crate::scan::{self, files};

/// Sources that a night could not read now, with why: no file is there, or one has not the declared columns in types that
/// widen to the declared ones. Rows are not read, but for the first ones of JSON lines, which say what there is.
#[must_use]
pub fn unreadable(definitions: &Definitions) -> Vec<(Name, String)> {
    let root = &definitions.project.root;
    let sources = definitions.sources.values();
    let unreadable = sources.filter_map(|source| {
        let why = match files::find(root, &source.path) {
            Ok(files) => misfits(source, files)?,
            Err(error) => error.to_string(),
        };
        Some((source.name.clone(), why))
    });
    unreadable.collect()
}

/// What is wrong with the first file that does not fit, and how many others do not.
fn misfits(source: &Source, files: Vec<files::SourceFile>) -> Option<String> {
    let misfits = scan::misfits(files, source);
    let (first, others) = misfits.split_first()?;
    Some(match others.len() {
        0 => first.to_string(),
        1 => format!("{first}; another file of the source does not fit either"),
        count => format!("{first}; {count} other files of the source do not fit either"),
    })
}
