//! The sources of a project: what a night finds of them, and whether it would find them.

mod database;
mod open;
mod state;

use std::collections::BTreeMap;

use feature_defs::definitions::Definitions;
use feature_defs::name::Name;
use feature_defs::source::{Source, SourcePlace, SourceTable};

use crate::error::Result;
use crate::scan;
use database::OpenDatabase;

pub(crate) use open::{OpenSource, OpenSources};
pub use state::{DeltaState, FileState, SourceState, TableState};

/// Sources that a night could not read now, with why: no file or table is there, or one has not the declared columns in
/// types that widen to the declared ones. Rows are not read, but for the first ones of JSON lines, which say what there is.
pub async fn unreadable(definitions: &Definitions) -> Vec<(Name, String)> {
    let mut databases: BTreeMap<&Name, Result<OpenDatabase>> = BTreeMap::new();
    let mut unreadable = Vec::new();
    for source in definitions.sources.values() {
        let why = match &source.place {
            SourcePlace::Files(_) => misfits(definitions, source).await,
            SourcePlace::Table(table) => {
                let name = &table.database;
                if !databases.contains_key(name) {
                    let open = OpenDatabase::open(&definitions.project, name).await;
                    databases.insert(name, open);
                }
                match databases.get_mut(name) {
                    Some(Ok(database)) => misfit(database, source, table).await,
                    Some(Err(error)) => Some(told(error)),
                    None => None,
                }
            }
        };
        unreadable.extend(why.map(|why| (source.name.clone(), why)));
    }
    unreadable
}

/// What is wrong with a table.
async fn misfit(
    database: &mut OpenDatabase,
    source: &Source,
    table: &SourceTable,
) -> Option<String> {
    let error = database.plan(source, table).await.err()?;
    Some(told(&error))
}

/// An error and its causes, in one line.
fn told(error: &crate::error::Error) -> String {
    let mut told = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(current) = cause {
        told.push_str(": ");
        told.push_str(&current.to_string());
        cause = current.source();
    }
    told
}

/// What is wrong with the first file that does not fit, and how many others do not.
async fn misfits(definitions: &Definitions, source: &Source) -> Option<String> {
    let found = match OpenSource::files(&definitions.project, source).await {
        Ok(found) => found.files,
        Err(error) => return Some(told(&error)),
    };
    let source = source.clone();
    let look = move || {
        let misfits = scan::misfits(found, &source);
        let (first, others) = misfits.split_first()?;
        Some(match others.len() {
            0 => first.to_string(),
            1 => format!("{first}; another file of the source does not fit either"),
            count => format!("{first}; {count} other files of the source do not fit either"),
        })
    };
    tokio::task::spawn_blocking(look).await.unwrap_or_default()
}
