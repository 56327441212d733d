//! Whether the files of sources are still what they were: a night or a training set reads each source several times, and
//! all of it has to be one and the same.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;

use feature_defs::definitions::Definitions;
use feature_defs::name::Name;
use feature_defs::time::Instant;

use super::files;
use crate::error::{Error, Result};

/// The files of some sources at one time.
#[derive(Debug)]
pub(crate) struct SourceFiles(BTreeMap<Name, BTreeMap<String, FileState>>);

/// What changes when a file is replaced or written to.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FileState {
    /// Its size in bytes.
    pub length: u64,
    /// When it was written to last, where the file system says so.
    pub modified: Option<Instant>,
    /// Its place in the file system, where that has a number.
    #[serde(skip)]
    inode: u64,
}

impl SourceFiles {
    /// Looks at the files of the sources that these views read, directly or through other views.
    pub(crate) async fn of_views<'a>(
        definitions: &'a Definitions,
        views: impl IntoIterator<Item = &'a Name>,
    ) -> Result<Self> {
        let views = definitions.with_read_views(views).into_iter();
        let sources = views.flat_map(|view| definitions.sources_of(view));
        let paths: BTreeMap<Name, String> = sources
            .map(|source| (source.name.clone(), source.path.clone()))
            .collect();
        look(definitions.project.root.clone(), paths).await
    }

    /// What was seen, by source and path.
    pub(crate) const fn states(&self) -> &BTreeMap<Name, BTreeMap<String, FileState>> {
        &self.0
    }

    /// Looks again.
    ///
    /// # Errors
    /// When a file has changed, is new or is gone: what was read in between may be a mixture.
    pub(crate) async fn check(&self, definitions: &Definitions) -> Result<()> {
        let sources = self.0.keys().map(|name| &definitions.sources[name]);
        let paths = sources.map(|source| (source.name.clone(), source.path.clone()));
        let now = look(definitions.project.root.clone(), paths.collect()).await?;
        for (source, before) in &self.0 {
            let after = &now.0[source];
            let files = before.keys().chain(after.keys());
            let mut changed = files.filter(|file| before.get(*file) != after.get(*file));
            if let Some(file) = changed.next() {
                let message = format!(
                    "changed while source `{source}` was read, so that parts of it may be of different times: nothing was published; run again"
                );
                return Err(Error::input(file, message));
            }
        }
        Ok(())
    }
}

async fn look(root: std::path::PathBuf, paths: BTreeMap<Name, String>) -> Result<SourceFiles> {
    let look = move || {
        let states = paths.into_iter();
        let states = states.map(|(source, path)| Ok((source, states_of(&root, &path)?)));
        states.collect::<Result<_>>().map(SourceFiles)
    };
    tokio::task::spawn_blocking(look)
        .await
        .map_err(|e| Error::Refused(e.to_string()))?
}

fn states_of(root: &Path, path: &str) -> Result<BTreeMap<String, FileState>> {
    let mut states = BTreeMap::new();
    for file in files::find(root, path)? {
        let metadata = file.path.metadata();
        let metadata = metadata.map_err(|e| Error::unreadable(&file.shown, &e))?;
        let state = FileState {
            length: metadata.len(),
            modified: metadata.modified().ok().and_then(instant),
            inode: inode(&metadata),
        };
        states.insert(file.shown, state);
    }
    Ok(states)
}

/// A time of the file system, to the microsecond.
fn instant(time: SystemTime) -> Option<Instant> {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    let micros = i64::try_from(since.as_micros()).ok()?;
    Some(Instant::from_micros(micros))
}

#[cfg(unix)]
fn inode(metadata: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn inode(_metadata: &std::fs::Metadata) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use feature_defs::aggregation::AggregateFunction as F;
    use feature_defs::data_type::DataType;

    use super::*;
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
        let look = async || {
            SourceFiles::of_views(&definitions, &views)
                .await
                .expect("files")
        };
        let refused = async |before: &SourceFiles| {
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
