//! The engine's resources, once a process: threads, memory, and the folder that it spills to.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use datafusion::execution::SpillFile;
use datafusion::execution::memory_pool::{
    FairSpillPool, MemoryConsumer, MemoryReservation, TrackConsumersPool,
};
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::prelude::{SessionConfig, SessionContext};
use feature_defs::definitions::Definitions;
use feature_defs::source::Source;

use crate::error::{Error, Result};
use crate::scan::files::SourceFile;
use crate::sources::{OpenSource, OpenSources};

/// What a [`Session`] may use. Data only.
#[derive(Debug, Clone)]
pub struct SessionSettings {
    /// Threads of the engine, and partitions of its plans.
    pub threads: NonZeroUsize,
    /// Bytes that sorts and aggregations may hold before they spill.
    pub memory_limit: usize,
    /// Where they spill to; the system's folder for temporary files by default.
    pub spill_dir: Option<PathBuf>,
}

impl Default for SessionSettings {
    /// All processors and 2 GiB.
    fn default() -> Self {
        Self {
            threads: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            memory_limit: 2 << 30,
            spill_dir: None,
        }
    }
}

/// One pool of memory and one spill folder for everything that a process computes.
#[derive(Debug, Clone)]
pub struct Session {
    threads: usize,
    memory_limit: usize,
    runtime: Arc<RuntimeEnv>,
    sources: Arc<OpenSources>,
}

/// Rows in a batch between operators.
pub(crate) const BATCH_ROWS: usize = 8_192;

/// Below this a sort cannot merge its spilled runs.
const LEAST_SORT_RESERVATION: usize = 64 << 10;

impl Session {
    /// Makes the pool and the spill folder.
    ///
    /// # Errors
    /// When the spill folder cannot be used.
    pub fn new(settings: &SessionSettings) -> Result<Self> {
        let pool = TrackConsumersPool::new(
            FairSpillPool::new(settings.memory_limit),
            NonZeroUsize::new(3).unwrap_or(NonZeroUsize::MIN),
        );
        let mut builder = RuntimeEnvBuilder::new().with_memory_pool(Arc::new(pool));
        if let Some(dir) = &settings.spill_dir {
            std::fs::create_dir_all(dir).map_err(|e| Error::io(dir, e))?;
            builder = builder.with_temp_file_path(dir);
        }
        let runtime = builder
            .build_arc()
            .map_err(|e| Error::engine("starting the engine", &e))?;
        Ok(Self {
            threads: settings.threads.get(),
            memory_limit: settings.memory_limit,
            runtime,
            sources: Arc::default(),
        })
    }

    /// The same resources, and these sources for all that is computed with them.
    pub(crate) fn reading(&self, sources: Arc<OpenSources>) -> Self {
        Self {
            sources,
            ..self.clone()
        }
    }

    /// The files of a source as they were found; files of a source that nobody opened are looked for now.
    pub(crate) async fn files_of(
        &self,
        definitions: &Definitions,
        source: &Source,
    ) -> Result<Vec<SourceFile>> {
        if let Some(open) = self.sources.get(&source.name) {
            return Ok(open.files.clone());
        }
        match source.files() {
            Some(_) => Ok(OpenSource::files(&definitions.project, source).await?.files),
            None => Err(Error::Refused(format!(
                "source `{}` is not open",
                source.name
            ))),
        }
    }

    /// An empty file in the spill folder, which goes when it is dropped.
    pub(crate) fn file_of_ours(&self, what: &str) -> Result<Arc<dyn SpillFile>> {
        let file = self.runtime.disk_manager.create_tmp_file(what);
        file.map_err(|e| Error::engine(format!("making {what}"), &e))
    }

    /// How many partitions plans have.
    #[must_use]
    pub const fn threads(&self) -> usize {
        self.threads
    }

    /// Bytes that sorts and aggregations may hold before they spill.
    #[must_use]
    pub const fn memory_limit(&self) -> usize {
        self.memory_limit
    }

    /// The same resources for plans of one partition: for many computations side by side.
    pub(crate) fn one_partition(&self) -> Self {
        Self {
            threads: 1,
            ..self.clone()
        }
    }

    /// Memory of the pool for an operator of ours; it is empty, and free again once dropped.
    pub(crate) fn reservation(&self, operator: &str) -> MemoryReservation {
        MemoryConsumer::new(operator).register(&self.runtime.memory_pool)
    }

    /// A context of its own for one computation, on the shared memory pool.
    pub(crate) fn context(&self, partitions: usize) -> SessionContext {
        let reservation =
            (self.memory_limit / (8 * partitions)).clamp(LEAST_SORT_RESERVATION, 10 << 20);
        let config = SessionConfig::new()
            .with_target_partitions(partitions)
            .with_batch_size(BATCH_ROWS)
            .with_sort_spill_reservation_bytes(reservation)
            .with_information_schema(false);
        SessionContext::new_with_config_rt(config, Arc::clone(&self.runtime))
    }
}
