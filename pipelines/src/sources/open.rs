//! The sources that a night or a training set reads: found once, read as often as computations ask, and still the same
//! at the end.
//!
//! ```text
//!   files   found by path; looked at again at the end, so that all of it is one and the same
//!   tables  of Delta: the files of the newest version, which never change
//!           of databases: copied, all those of one as of one instant of it, into files of ours that go with the night
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use datafusion::execution::SpillFile;
use feature_defs::definitions::Definitions;
use feature_defs::name::Name;
use feature_defs::project::Project;
use feature_defs::source::{Source, SourceFormat, SourcePlace, SourceTable};
use feature_defs::time::Instant;

use super::database::OpenDatabase;
use super::state::{DeltaState, FileState, SourceState};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::scan::files::{self, SourceFile};
use crate::scan::{self, ObjectFile, delta};
use crate::session::Session;

/// Some sources, as they were found.
#[derive(Debug, Default)]
pub(crate) struct OpenSources(BTreeMap<Name, Arc<OpenSource>>);

/// What was found of a source.
pub(crate) struct OpenSource {
    /// Its files, in order; of a table, its copy.
    pub(crate) files: Vec<SourceFile>,
    states: BTreeMap<String, SourceState>,
    /// Goes with its last reader.
    _copy: Option<Arc<dyn SpillFile>>,
}

impl OpenSources {
    /// Finds the sources that these views read, directly or through other views. Rows of tables are read up to `until`:
    /// nothing looks from a later instant.
    pub(crate) async fn of_views<'a>(
        session: &Session,
        definitions: &'a Definitions,
        views: impl IntoIterator<Item = &'a Name>,
        until: Instant,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let views = definitions.with_read_views(views).into_iter();
        let sources = views.flat_map(|view| definitions.sources_of(view));
        let sources: BTreeMap<&Name, &Source> =
            sources.map(|source| (&source.name, source)).collect();
        let mut open = BTreeMap::new();
        let mut tables: BTreeMap<&Name, Vec<(&Source, &SourceTable)>> = BTreeMap::new();
        for source in sources.into_values() {
            match &source.place {
                SourcePlace::Files(_) => {
                    let found = OpenSource::files(&definitions.project, source).await?;
                    open.insert(source.name.clone(), Arc::new(found));
                }
                SourcePlace::Table(table) => {
                    tables
                        .entry(&table.database)
                        .or_default()
                        .push((source, table));
                }
            }
        }
        for (database, tables) in tables {
            let mut database = OpenDatabase::open(&definitions.project, database).await?;
            for (source, table) in tables {
                let copied = database
                    .copy(session, source, table, until, progress)
                    .await?;
                open.insert(source.name.clone(), Arc::new(copied));
            }
        }
        Ok(Self(open))
    }

    /// What was found of a source, if it is one of these.
    pub(crate) fn get(&self, source: &Name) -> Option<Arc<OpenSource>> {
        self.0.get(source).cloned()
    }

    /// What was seen, by source and file or table.
    pub(crate) fn states(&self) -> BTreeMap<Name, BTreeMap<String, SourceState>> {
        let states = self.0.iter();
        states
            .map(|(source, open)| (source.clone(), open.states.clone()))
            .collect()
    }

    /// Looks at files again.
    ///
    /// # Errors
    /// When a file has changed, is new or is gone: what was read in between may be a mixture.
    pub(crate) async fn check(&self, definitions: &Definitions) -> Result<()> {
        for (source, before) in &self.0 {
            let source = &definitions.sources[source];
            // What a Delta table was as of a version stays so.
            let files = source.files();
            if files.is_none_or(|files| files.format == SourceFormat::Delta) {
                continue;
            }
            let after = OpenSource::found(&definitions.project, source).await?;
            let (before, after) = (&before.states, &after.states);
            let mut changed = before.keys().chain(after.keys());
            if let Some(file) = changed.find(|file| before.get(*file) != after.get(*file)) {
                let message = format!(
                    "changed while source `{}` was read, so that parts of it may be of different times: nothing was published; run again",
                    source.name
                );
                return Err(Error::input(file, message));
            }
        }
        Ok(())
    }
}

impl fmt::Debug for OpenSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OpenSource").field(&self.states).finish()
    }
}

impl OpenSource {
    /// Finds files that are going to be read.
    pub(crate) async fn files(project: &Project, source: &Source) -> Result<Self> {
        let found = Self::found(project, source).await?;
        if scan::is_parquet(source) {
            ObjectFile::read_ends(&found.files).await?;
        }
        Ok(found)
    }

    async fn found(project: &Project, source: &Source) -> Result<Self> {
        let mut states = BTreeMap::new();
        let files = match source.files() {
            Some(files) if files.format == SourceFormat::Delta => {
                let (found, version) = delta::find(project, source, files).await?;
                let state = SourceState::Delta(DeltaState { version });
                states.insert(files.to_string(), state);
                found
            }
            Some(files) => files::find(project, files).await?,
            None => Vec::new(),
        };
        for file in &files {
            states.insert(file.shown.clone(), SourceState::File(FileState::of(file)?));
        }
        Ok(Self {
            files,
            states,
            _copy: None,
        })
    }

    /// A table that was copied.
    pub(super) fn copy(file: SourceFile, copy: Arc<dyn SpillFile>, state: SourceState) -> Self {
        Self {
            states: BTreeMap::from([(file.shown.clone(), state)]),
            files: vec![file],
            _copy: Some(copy),
        }
    }
}

#[cfg(test)]
mod tests {
    use feature_defs::aggregation::AggregateFunction as F;
    use feature_defs::data_type::DataType;

    use super::*;
    use crate::progress::Silent;
    use crate::testing::*;

    #[tokio::test]
    async fn files_that_grow_change_come_or_go_are_named() {
        let dir = tempfile::tempdir().expect("dir");
        let mut definitions = definitions(dir.path());
        add_entity(&mut definitions, "thing", &[("k", DataType::Int64)]);
        let columns = [("k", DataType::Int64), ("at", DataType::Timestamp)];
        add_source(&mut definitions, "rows", "rows-*.csv", &columns, "at", None);
        add_windows(
            &mut definitions,
            "v",
            "thing",
            "rows",
            &[("n", F::Count, None)],
            &["7d"],
        );
        let write = |file: &str, text: &str| {
            std::fs::write(dir.path().join(file), text).expect("file");
        };
        let text = "k,at\n1,2024-01-01\n";
        write("rows-a.csv", text);
        write("rows-b.csv", text);
        let views = [name("v")];
        let (session, until) = (session(1), at("2024-01-02"));
        let look = async || {
            OpenSources::of_views(&session, &definitions, &views, until, &Silent)
                .await
                .expect("files")
        };
        let refused = async |before: &OpenSources| {
            let refused = before.check(&definitions).await.expect_err("changed");
            refused.to_string()
        };

        let before = look().await;
        before.check(&definitions).await.expect("unchanged");
        write("rows-b.csv", "k,at\n1,2024-01-01\n2,2024-01-01\n");
        let told = refused(&before).await;
        assert!(
            told.starts_with("`rows-b.csv`: changed while source `rows` was read"),
            "{told}"
        );

        let before = look().await;
        write("other.csv", text);
        std::fs::rename(dir.path().join("other.csv"), dir.path().join("rows-a.csv"))
            .expect("replaced");
        assert!(refused(&before).await.contains("rows-a.csv"));

        let before = look().await;
        write("rows-c.csv", text);
        assert!(refused(&before).await.contains("rows-c.csv"));

        let before = look().await;
        std::fs::remove_file(dir.path().join("rows-a.csv")).expect("removed");
        assert!(refused(&before).await.contains("rows-a.csv"));
    }
}
