//! The LMDB environment: opened once a process and folder, with its four tables.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use heed::types::Bytes;
use heed::{CommitOrAbort, Database, Env, EnvOpenOptions, RoTxn, RwTxn, WithoutTls};

use super::error::failed;
use crate::config::EmbeddedSettings;
use crate::error::{Error, ErrorKind, Result};

/// How long a folder that another thread is just closing is waited for.
const CLOSING_WAIT: Duration = Duration::from_secs(5);

pub(super) type Table = Database<'static, Bytes, Bytes>;

/// An open folder. Dropping the last one closes the map.
#[derive(Debug)]
pub(super) struct Environment {
    env: Env<WithoutTls>,
    pub(super) rows: Table,
    pub(super) snapshots: Table,
    pub(super) releases: Table,
    pub(super) pointers: Table,
}

/// LMDB must not map one folder twice in a process, so everybody shares what is open.
static OPEN: Mutex<Option<HashMap<PathBuf, Weak<Environment>>>> = Mutex::new(None);

impl Environment {
    pub(super) fn shared(folder: &Path, settings: EmbeddedSettings) -> Result<Arc<Self>> {
        let refused = |error: std::io::Error| {
            Error::new(
                ErrorKind::Unavailable,
                format!("folder `{}` cannot be used", folder.display()),
            )
            .with_source(error)
        };
        std::fs::create_dir_all(folder).map_err(refused)?;
        let folder = folder.canonicalize().map_err(refused)?;
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let open = open.get_or_insert_with(HashMap::new);
        open.retain(|_, environment| environment.strong_count() > 0);
        if let Some(environment) = open.get(&folder).and_then(Weak::upgrade) {
            return Ok(environment);
        }
        let environment = Arc::new(Self::open(&folder, settings).map_err(|error| {
            failed(error).while_doing(format!("opening online store `{}`", folder.display()))
        })?);
        open.insert(folder, Arc::downgrade(&environment));
        Ok(environment)
    }

    fn open(folder: &Path, settings: EmbeddedSettings) -> heed::Result<Self> {
        let env = match map(folder, settings) {
            Err(heed::Error::EnvAlreadyOpened) => {
                if let Some(closing) = heed::env_closing_event(folder) {
                    closing.wait_timeout(CLOSING_WAIT);
                }
                map(folder, settings)?
            }
            env => env?,
        };
        env.clear_stale_readers()?;
        let [rows, snapshots, releases, pointers] = tables(&env)?;
        Ok(Self {
            env,
            rows,
            snapshots,
            releases,
            pointers,
        })
    }

    pub(super) fn read(&self) -> Result<RoTxn<'_, WithoutTls>> {
        self.env.read_txn().map_err(failed)
    }

    pub(super) fn write(&self) -> Result<RwTxn<'_>> {
        self.env.write_txn().map_err(failed)
    }

    /// Frees the places of readers whose process died, which would otherwise keep old pages from being reused.
    pub(super) fn clear_stale_readers(&self) -> Result<()> {
        self.env.clear_stale_readers().map(|_| ()).map_err(failed)
    }
}

const TABLES: [&str; 4] = ["rows", "snapshots", "releases", "pointers"];

/// Opens the tables, creating them when one is missing. An existing store is opened without waiting for its writer.
fn tables(env: &Env<WithoutTls>) -> heed::Result<[Table; 4]> {
    let existing = env.open_databases_and_commit(env.read_txn()?, |opener, txn| {
        let open = |name| opener.open_database::<Bytes, Bytes>(txn, Some(name));
        let [one, two, three, four] = TABLES.map(open);
        heed::Result::Ok(match (one?, two?, three?, four?) {
            (Some(one), Some(two), Some(three), Some(four)) => {
                CommitOrAbort::Commit((one, two, three, four))
            }
            _ => CommitOrAbort::Abort(()),
        })
    })?;
    let (one, two, three, four) = match existing {
        CommitOrAbort::Commit(tables) => tables,
        CommitOrAbort::Abort(()) => env
            .create_databases_and_commit(env.write_txn()?, |opener, txn| {
                let mut create = |name| opener.create_database::<Bytes, Bytes>(txn, Some(name));
                let [one, two, three, four] = TABLES.map(&mut create);
                heed::Result::Ok(CommitOrAbort::<_, ()>::Commit((one?, two?, three?, four?)))
            })?
            .unwrap_commit(),
    };
    Ok([one, two, three, four])
}

#[allow(unsafe_code)]
fn map(folder: &Path, settings: EmbeddedSettings) -> heed::Result<Env<WithoutTls>> {
    let mut options = EnvOpenOptions::new().read_txn_without_tls();
    options
        .map_size(settings.map_size)
        .max_readers(settings.max_readers)
        .max_dbs(u32::try_from(TABLES.len()).unwrap_or(u32::MAX));
    // SAFETY: a memory map is undefined behaviour when its file is changed behind LMDB's back. The folder belongs to
    // this store alone; all processes open it through here, with LMDB's locks and syncs on and no unsafe flag, and
    // `Environment::shared` maps a folder once a process.
    unsafe { options.open(folder) }
}
