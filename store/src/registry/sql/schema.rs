//! The registry's schema: made in a new registry, and brought up to date where somebody says so.

use std::time::Duration;

use sqlx::migrate::{Migrate, MigrateError, Migrator};
use sqlx::{Row, query};

use super::SqlRegistry;
use super::connect::Database;
use super::error::{failed, not_migrated};
use crate::error::{Error, ErrorKind, Result};

static SQLITE_MIGRATIONS: Migrator = sqlx::migrate!("../migrations/sqlite");
static POSTGRES_MIGRATIONS: Migrator = sqlx::migrate!("../migrations/postgres");

/// How often two processes that bring a schema up to date together try again, and how long they wait.
const ATTEMPTS: usize = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// From which version of the schema a registry was brought to which. Versions are the numbers of `migrations/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct SchemaChange {
    /// What it was; 0 for a new registry.
    pub from: i64,
    /// What it is.
    pub to: i64,
}

impl SqlRegistry {
    /// The registry, if its schema is this binary's. A new one, and one that nobody applied anything to, is brought to
    /// it: nobody relies on what it was.
    ///
    /// # Errors
    /// `Unsupported` when the schema is older, or newer.
    pub(super) async fn ready(self) -> Result<Self> {
        let (held, known) = (self.schema_version().await?, self.newest_schema());
        if held == known {
            return Ok(self);
        }
        // A registry that is being made by another process right now has all of its schema before it holds anything.
        let is_old = held > 0 && held < known && self.holds_definitions().await?;
        if is_old && self.schema_version().await? < known {
            let message = format!(
                "its schema has version {held}, and this binary's is {known}: `nightfill migrate` brings it up to date, after which older binaries refuse it"
            );
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        self.bring_up_to_date().await?;
        Ok(self)
    }

    /// Brings the schema up to this binary's, each step of it whole or not at all.
    ///
    /// # Errors
    /// `Unsupported` when it is newer.
    pub(super) async fn migrate(&self) -> Result<SchemaChange> {
        let from = self.schema_version().await?;
        self.bring_up_to_date().await?;
        Ok(SchemaChange {
            from,
            to: self.newest_schema(),
        })
    }

    fn migrations(&self) -> &'static Migrator {
        match self.database {
            Database::Sqlite => &SQLITE_MIGRATIONS,
            Database::Postgres => &POSTGRES_MIGRATIONS,
        }
    }

    /// The schema's version that this binary works with.
    fn newest_schema(&self) -> i64 {
        let versions = self.migrations().iter().map(|migration| migration.version);
        versions.max().unwrap_or(0)
    }

    /// The version that the registry has; 0 for a new one.
    async fn schema_version(&self) -> Result<i64> {
        let table = &self.migrations().table_name;
        patiently(async || {
            let mut connection = self.pool.acquire().await?;
            connection.ensure_migrations_table(table).await?;
            let applied = connection.list_applied_migrations(table).await?;
            Ok(applied.iter().map(|step| step.version).max().unwrap_or(0))
        })
        .await
    }

    async fn holds_definitions(&self) -> Result<bool> {
        let row = query("SELECT count(*) AS versions FROM definitions")
            .fetch_one(&self.pool)
            .await
            .map_err(failed)?;
        let versions: i64 = row.try_get("versions").map_err(failed)?;
        Ok(versions > 0)
    }

    async fn bring_up_to_date(&self) -> Result<()> {
        let migrations = self.migrations();
        patiently(async || migrations.run(&self.pool).await).await
    }
}

/// Tries again while another process changes the schema.
async fn patiently<T>(work: impl AsyncFn() -> std::result::Result<T, MigrateError>) -> Result<T> {
    let mut attempt = 1;
    loop {
        match work().await {
            Ok(done) => return Ok(done),
            Err(MigrateError::Execute(_) | MigrateError::ExecuteMigration(..))
                if attempt < ATTEMPTS =>
            {
                attempt += 1;
                tokio::time::sleep(PAUSE).await;
            }
            Err(error) => return Err(not_migrated(error)),
        }
    }
}
