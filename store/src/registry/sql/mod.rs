//! The registry in SQL: a SQLite file that several processes of one machine use at once, or a PostgreSQL schema that
//! several machines share. The tables are in `migrations/`; both databases run the same statements.
//!
//! Every method that changes something takes the write lock when it starts, so that what it read is still so when it
//! writes; readers go on meanwhile.

mod connect;
mod error;
mod rows;
mod schema;
#[cfg(test)]
mod tests;

pub use schema::SchemaChange;

use async_trait::async_trait;
use feature_defs::fingerprint::Fingerprint;
use feature_defs::name::Name;
use feature_defs::time::{Instant, TimeSpan};
use sqlx::{Any, AnyPool, Row, Transaction, query};

use self::connect::Database;
use self::error::failed;
use self::rows::{to_json, to_number};
use super::{
    AppliedDefinitions, BundleEntry, Lease, NewBundle, NewDefinitions, NewRun, Registry, Run,
    RunId, RunOutcome, VersionEntry,
};
use crate::error::{Error, ErrorKind, Result};
use crate::release::{Release, ReleaseNumber};

/// A [`Registry`] in a SQL database.
#[derive(Debug, Clone)]
pub struct SqlRegistry {
    pool: AnyPool,
    database: Database,
}

impl SqlRegistry {
    /// Closes its connections; SQLite also folds its write-ahead log into the file.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    async fn write(&self) -> Result<Transaction<'static, Any>> {
        match self.database {
            Database::Sqlite => self
                .pool
                .begin_with("BEGIN IMMEDIATE")
                .await
                .map_err(failed),
            Database::Postgres => {
                let mut txn = self.pool.begin().await.map_err(failed)?;
                query("SELECT pg_advisory_xact_lock(hashtextextended('nightfill ' || current_schema(), 0))")
                    .execute(&mut *txn)
                    .await
                    .map_err(failed)?;
                Ok(txn)
            }
        }
    }
}

#[async_trait]
impl Registry for SqlRegistry {
    async fn apply(
        &self,
        expected: u64,
        definitions: &NewDefinitions,
        former: Option<&Name>,
    ) -> Result<u64> {
        let mut txn = self.write().await?;
        let newest = query(
            "SELECT version, fingerprint, project FROM definitions ORDER BY version DESC LIMIT 1",
        )
        .fetch_optional(&mut *txn)
        .await
        .map_err(failed)?;
        let fingerprint = definitions.fingerprint.to_string();
        let mut version = 0;
        if let Some(row) = newest {
            version = rows::number(&row, "version")?;
            let owner = rows::project(&row)?;
            let same = row.try_get::<String, _>("fingerprint").map_err(failed)? == fingerprint;
            if owner == definitions.project && same {
                return Ok(version);
            }
            let is_known =
                |owner: &Name| Some(owner) == definitions.project.as_ref() || Some(owner) == former;
            if let Some(owner) = owner.filter(|owner| !is_known(owner)) {
                let message = format!("the registry is project `{owner}`'s");
                return Err(Error::new(ErrorKind::Conflict, message));
            }
        }
        if version != expected {
            return Err(Error::new(
                ErrorKind::Conflict,
                format!("the newest definitions are version {version} and not {expected}"),
            ));
        }
        let next = version + 1;
        query("INSERT INTO definitions (version, fingerprint, files, applied_at, applied_by, project) VALUES ($1, $2, $3, $4, $5, $6)")
            .bind(to_number(next)?)
            .bind(fingerprint)
            .bind(to_json(&definitions.files)?)
            .bind(definitions.applied_at.micros())
            .bind(&definitions.applied_by)
            .bind(definitions.project.as_ref().map(Name::as_str))
            .execute(&mut *txn)
            .await
            .map_err(failed)?;
        txn.commit().await.map_err(failed)?;
        Ok(next)
    }

    async fn definitions(&self, version: Option<u64>) -> Result<Option<AppliedDefinitions>> {
        let found = match version {
            Some(version) => {
                query("SELECT * FROM definitions WHERE version = $1").bind(to_number(version)?)
            }
            None => query("SELECT * FROM definitions ORDER BY version DESC LIMIT 1"),
        };
        let row = found.fetch_optional(&self.pool).await.map_err(failed)?;
        row.as_ref().map(rows::definitions).transpose()
    }

    async fn history(&self) -> Result<Vec<VersionEntry>> {
        let found = query(
            "SELECT version, project, fingerprint, applied_at, applied_by FROM definitions ORDER BY version",
        )
        .fetch_all(&self.pool)
        .await
        .map_err(failed)?;
        found.iter().map(rows::version).collect()
    }

    async fn start_run(&self, run: &NewRun) -> Result<RunId> {
        let row = query(
            "INSERT INTO runs (as_of, definitions_version, started_at) VALUES ($1, $2, $3) RETURNING id",
        )
        .bind(run.as_of.micros())
        .bind(to_number(run.definitions_version)?)
        .bind(run.started_at.micros())
        .fetch_one(&self.pool)
        .await
        .map_err(failed)?;
        row.try_get("id").map(RunId).map_err(failed)
    }

    async fn finish_run(&self, run: RunId, at: Instant, outcome: &RunOutcome) -> Result<()> {
        let mut txn = self.write().await?;
        let row = query("SELECT * FROM runs WHERE id = $1")
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
        query("UPDATE runs SET finished_at = $1, outcome = $2 WHERE id = $3")
            .bind(at.micros())
            .bind(to_json(outcome)?)
            .bind(run.0)
            .execute(&mut *txn)
            .await
            .map_err(failed)?;
        txn.commit().await.map_err(failed)
    }

    async fn runs(&self, limit: u32) -> Result<Vec<Run>> {
        let found = query("SELECT * FROM runs ORDER BY id DESC LIMIT $1")
            .bind(i64::from(limit))
            .fetch_all(&self.pool)
            .await
            .map_err(failed)?;
        found.iter().map(rows::run).collect()
    }

    async fn reserve_release_number(&self) -> Result<ReleaseNumber> {
        let mut txn = self.write().await?;
        // Reserved numbers are never deleted, so none is given twice; a release that was recorded without one moves on
        // from there.
        let row = query(
            "INSERT INTO reserved_release_numbers (number)
             SELECT 1 + coalesce(max(number), 0) FROM (
                 SELECT number FROM reserved_release_numbers UNION ALL SELECT number FROM releases
             ) AS known
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
        let known = query("SELECT release FROM releases WHERE number = $1")
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
        query("INSERT INTO releases (number, release) VALUES ($1, $2)")
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
        query("INSERT INTO bundles (model, fingerprint, bytes, imported_at) VALUES ($1, $2, $3, $4) ON CONFLICT (model, fingerprint) DO UPDATE SET imported_at = excluded.imported_at")
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
        let row = query("SELECT bytes FROM bundles WHERE fingerprint = $1 ORDER BY id LIMIT 1")
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
            "SELECT model, fingerprint, CAST(length(bytes) AS BIGINT) AS size, imported_at FROM bundles ORDER BY model, imported_at, id",
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
        let known = query("SELECT holder, held_until FROM leases WHERE name = $1")
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
            "INSERT INTO leases (name, holder, fence, held_until) VALUES ($1, $2, 1, $3)
             ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, fence = leases.fence + 1, held_until = excluded.held_until
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
            "UPDATE leases SET held_until = $1 WHERE name = $2 AND fence = $3 AND held_until IS NOT NULL",
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
        query("UPDATE leases SET held_until = NULL WHERE name = $1 AND fence = $2")
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
