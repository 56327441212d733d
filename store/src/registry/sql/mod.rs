//! The registry in SQLite: one file, used by several processes at once. The tables are in `migrations/`.
//!
//! Every method that changes something takes the write lock when it starts, so that what it read is still so when it
//! writes; readers go on meanwhile (write-ahead log).

mod error;
mod rows;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use feature_defs::fingerprint::Fingerprint;
use feature_defs::time::{Instant, TimeSpan};
use sqlx::migrate::Migrator;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{Row, Sqlite, Transaction, query};

use self::error::{failed, not_migrated};
use self::rows::{to_json, to_number};
use super::{
    AppliedDefinitions, BundleEntry, Lease, NewBundle, NewDefinitions, NewRun, Registry, Run,
    RunId, RunOutcome,
};
use crate::error::{Error, ErrorKind, Result};
use crate::release::{Release, ReleaseNumber};

static MIGRATIONS: Migrator = sqlx::migrate!("../migrations");

/// How long a call waits for another process's write.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// How often two processes that bring a new schema up to date together try again, and how long they wait.
const MIGRATION_ATTEMPTS: usize = 20;
const MIGRATION_PAUSE: Duration = Duration::from_millis(50);

const CONNECTIONS: u32 = 4;

/// A [`Registry`] in a SQLite file.
#[derive(Debug, Clone)]
pub struct SqlRegistry {
    pool: SqlitePool,
}

impl SqlRegistry {
    /// Opens the registry in `file`, which is made when it is not there, and brings its schema up to date.
    ///
    /// # Errors
    /// `Unavailable` when the file cannot be had, `Unsupported` when its schema is newer than this binary.
    pub async fn open(file: &Path) -> Result<Self> {
        let doing = || format!("opening registry `{}`", file.display());
        let unusable = |error: std::io::Error| {
            Error::new(ErrorKind::Unavailable, "its folder cannot be used")
                .with_source(error)
                .while_doing(doing())
        };
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).map_err(unusable)?;
        }
        let options = SqliteConnectOptions::new()
            .filename(file)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(BUSY_TIMEOUT)
            .foreign_keys(true);
        let pool = SqlitePoolOptions::new()
            .max_connections(CONNECTIONS)
            .connect_with(options)
            .await
            .map_err(|error| failed(error).while_doing(doing()))?;
        migrate(&pool)
            .await
            .map_err(|error| error.while_doing(doing()))?;
        Ok(Self { pool })
    }

    /// Closes its connections, which also folds the write-ahead log into the file.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    async fn write(&self) -> Result<Transaction<'static, Sqlite>> {
        self.pool
            .begin_with("BEGIN IMMEDIATE")
            .await
            .map_err(failed)
    }
}

async fn migrate(pool: &SqlitePool) -> Result<()> {
    let mut attempt = 1;
    loop {
        match MIGRATIONS.run(pool).await {
            Ok(()) => return Ok(()),
            Err(
                sqlx::migrate::MigrateError::Execute(_)
                | sqlx::migrate::MigrateError::ExecuteMigration(..),
            ) if attempt < MIGRATION_ATTEMPTS => {
                attempt += 1;
                tokio::time::sleep(MIGRATION_PAUSE).await;
            }
            Err(error) => return Err(not_migrated(error)),
        }
    }
}

#[async_trait]
impl Registry for SqlRegistry {
    async fn apply(&self, expected: u64, definitions: &NewDefinitions) -> Result<u64> {
        let mut txn = self.write().await?;
        let newest =
            query("SELECT version, fingerprint FROM definitions ORDER BY version DESC LIMIT 1")
                .fetch_optional(&mut *txn)
                .await
                .map_err(failed)?;
        let fingerprint = definitions.fingerprint.to_string();
        let mut version = 0;
        if let Some(row) = newest {
            version = rows::number(&row, "version")?;
            if row.try_get::<String, _>("fingerprint").map_err(failed)? == fingerprint {
                return Ok(version);
            }
        }
        if version != expected {
            return Err(Error::new(
                ErrorKind::Conflict,
                format!("the newest definitions are version {version} and not {expected}"),
            ));
        }
        let next = version + 1;
        query("INSERT INTO definitions (version, fingerprint, files, applied_at, applied_by) VALUES (?, ?, ?, ?, ?)")
            .bind(to_number(next)?)
            .bind(fingerprint)
            .bind(to_json(&definitions.files)?)
            .bind(definitions.applied_at.micros())
            .bind(&definitions.applied_by)
            .execute(&mut *txn)
            .await
            .map_err(failed)?;
        txn.commit().await.map_err(failed)?;
        Ok(next)
    }

    async fn definitions(&self, version: Option<u64>) -> Result<Option<AppliedDefinitions>> {
        let version = version.map(to_number).transpose()?;
        let row = query("SELECT * FROM definitions WHERE version = coalesce(?, (SELECT max(version) FROM definitions))")
            .bind(version)
            .fetch_optional(&self.pool)
            .await
            .map_err(failed)?;
        row.as_ref().map(rows::definitions).transpose()
    }

    async fn start_run(&self, run: &NewRun) -> Result<RunId> {
        let inserted =
            query("INSERT INTO runs (as_of, definitions_version, started_at) VALUES (?, ?, ?)")
                .bind(run.as_of.micros())
                .bind(to_number(run.definitions_version)?)
                .bind(run.started_at.micros())
                .execute(&self.pool)
                .await
                .map_err(failed)?;
        Ok(RunId(inserted.last_insert_rowid()))
    }

    async fn finish_run(&self, run: RunId, at: Instant, outcome: &RunOutcome) -> Result<()> {
        let mut txn = self.write().await?;
        let row = query("SELECT * FROM runs WHERE id = ?")
            .bind(run.0)
            .fetch_optional(&mut *txn)
            .await
            .map_err(failed)?
            .ok_or_else(|| {
                Error::new(ErrorKind::NotFound, format!("run `{}` is not known", run.0))
            })?;
        if let Some((_, known)) = rows::run(&row)?.finished {
            return if known == *outcome {
                Ok(())
            } else {
                Err(Error::new(
                    ErrorKind::Conflict,
                    format!("run `{}` ended otherwise already", run.0),
                ))
            };
        }
        query("UPDATE runs SET finished_at = ?, outcome = ? WHERE id = ?")
            .bind(at.micros())
            .bind(to_json(outcome)?)
            .bind(run.0)
            .execute(&mut *txn)
            .await
            .map_err(failed)?;
        txn.commit().await.map_err(failed)
    }

    async fn runs(&self, limit: u32) -> Result<Vec<Run>> {
        let found = query("SELECT * FROM runs ORDER BY id DESC LIMIT ?")
            .bind(limit)
            .fetch_all(&self.pool)
            .await
            .map_err(failed)?;
        found.iter().map(rows::run).collect()
    }

    async fn reserve_release_number(&self) -> Result<ReleaseNumber> {
        let mut txn = self.write().await?;
        // SQLite's own counter never gives a number twice; a release that was recorded without one moves it on.
        let row = query(
            "INSERT INTO reserved_release_numbers (number)
             SELECT 1 + max(
                 coalesce((SELECT max(number) FROM reserved_release_numbers), 0),
                 coalesce((SELECT max(number) FROM releases), 0)
             )
             RETURNING number",
        )
        .fetch_one(&mut *txn)
        .await
        .map_err(failed)?;
        let number = rows::number(&row, "number")?;
        txn.commit().await.map_err(failed)?;
        Ok(ReleaseNumber(number))
    }

    async fn record_release(&self, release: &Release) -> Result<()> {
        let mut txn = self.write().await?;
        let number = to_number(release.number.0)?;
        let known = query("SELECT release FROM releases WHERE number = ?")
            .bind(number)
            .fetch_optional(&mut *txn)
            .await
            .map_err(failed)?;
        if let Some(row) = known {
            return if rows::json::<Release>(&row, "release")? == *release {
                Ok(())
            } else {
                Err(Error::new(
                    ErrorKind::Conflict,
                    format!("release `{}` is another one already", release.number),
                ))
            };
        }
        query("INSERT INTO releases (number, release) VALUES (?, ?)")
            .bind(number)
            .bind(to_json(release)?)
            .execute(&mut *txn)
            .await
            .map_err(failed)?;
        txn.commit().await.map_err(failed)
    }

    async fn releases(&self) -> Result<Vec<Release>> {
        let found = query("SELECT release FROM releases ORDER BY number")
            .fetch_all(&self.pool)
            .await
            .map_err(failed)?;
        found.iter().map(|row| rows::json(row, "release")).collect()
    }

    async fn put_bundle(&self, bundle: &NewBundle) -> Result<()> {
        query("INSERT INTO bundles (model, fingerprint, bytes, imported_at) VALUES (?, ?, ?, ?) ON CONFLICT (model, fingerprint) DO NOTHING")
            .bind(bundle.model.as_str())
            .bind(bundle.fingerprint.to_string())
            .bind(bundle.bytes.as_slice())
            .bind(bundle.imported_at.micros())
            .execute(&self.pool)
            .await
            .map_err(failed)?;
        Ok(())
    }

    async fn bundle(&self, fingerprint: Fingerprint) -> Result<Vec<u8>> {
        let row = query("SELECT bytes FROM bundles WHERE fingerprint = ? ORDER BY id LIMIT 1")
            .bind(fingerprint.to_string())
            .fetch_optional(&self.pool)
            .await
            .map_err(failed)?
            .ok_or_else(|| {
                let message = format!("bundle `{}` is not in the registry", fingerprint.short());
                Error::new(ErrorKind::NotFound, message)
            })?;
        row.try_get("bytes").map_err(failed)
    }

    async fn bundles(&self) -> Result<Vec<BundleEntry>> {
        let found = query(
            "SELECT model, fingerprint, length(bytes) AS size, imported_at FROM bundles ORDER BY model, id",
        )
        .fetch_all(&self.pool)
        .await
        .map_err(failed)?;
        found.iter().map(rows::bundle).collect()
    }

    async fn acquire_lease(
        &self,
        name: &str,
        holder: &str,
        now: Instant,
        length: TimeSpan,
    ) -> Result<Lease> {
        let mut txn = self.write().await?;
        let known = query("SELECT holder, held_until FROM leases WHERE name = ?")
            .bind(name)
            .fetch_optional(&mut *txn)
            .await
            .map_err(failed)?;
        if let Some(row) = known {
            let held_until: Option<i64> = row.try_get("held_until").map_err(failed)?;
            if let Some(until) = held_until.map(Instant::from_micros)
                && until > now
            {
                let other: String = row.try_get("holder").map_err(failed)?;
                return Err(Error::new(
                    ErrorKind::Conflict,
                    format!("lease `{name}` is held by `{other}` until {until}"),
                ));
            }
        }
        let until = end_of(now, length);
        let row = query(
            "INSERT INTO leases (name, holder, fence, held_until) VALUES (?, ?, 1, ?)
             ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, fence = fence + 1, held_until = excluded.held_until
             RETURNING fence",
        )
        .bind(name)
        .bind(holder)
        .bind(until.micros())
        .fetch_one(&mut *txn)
        .await
        .map_err(failed)?;
        let fence = rows::number(&row, "fence")?;
        txn.commit().await.map_err(failed)?;
        Ok(Lease {
            name: name.to_owned(),
            holder: holder.to_owned(),
            fence,
            until,
        })
    }

    async fn renew_lease(&self, lease: &Lease, now: Instant, length: TimeSpan) -> Result<()> {
        let renewed = query(
            "UPDATE leases SET held_until = ? WHERE name = ? AND fence = ? AND held_until IS NOT NULL",
        )
        .bind(end_of(now, length).micros())
        .bind(&lease.name)
        .bind(to_number(lease.fence)?)
        .execute(&self.pool)
        .await
        .map_err(failed)?;
        if renewed.rows_affected() == 1 {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Conflict,
            format!(
                "lease `{}` is no longer held by `{}`",
                lease.name, lease.holder
            ),
        ))
    }

    async fn release_lease(&self, lease: &Lease) -> Result<()> {
        query("UPDATE leases SET held_until = NULL WHERE name = ? AND fence = ?")
            .bind(&lease.name)
            .bind(to_number(lease.fence)?)
            .execute(&self.pool)
            .await
            .map_err(failed)?;
        Ok(())
    }
}

fn end_of(now: Instant, length: TimeSpan) -> Instant {
    Instant::from_micros(now.micros().saturating_add(length.micros()))
}
