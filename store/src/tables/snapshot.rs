//! A database as of one instant.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Field, Schema, SchemaRef};
use feature_defs::time::Instant;
use futures::TryStreamExt;
use sqlx::postgres::{PgConnectOptions, PgRow};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row, ValueRef, query};
use tokio::sync::mpsc;

use super::column::ColumnBuilder;
use super::column_type::{ColumnType, FoundColumn};
use super::fault::{not_opened, unread};
use super::statement::TableRead;

use crate::error::{Error, ErrorKind, Result};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A batch ends after this many rows, or bytes.
const BATCH_ROWS: usize = 8_192;
const BATCH_BYTES: usize = 16 << 20;

/// Columns that tell people which row is meant.
const TOLD_COLUMNS: usize = 4;

/// A transaction in which a PostgreSQL database does not change.
#[derive(Debug)]
pub struct DatabaseSnapshot {
    database: String,
    connection: PgConnection,
}

impl DatabaseSnapshot {
    /// Connects and takes the snapshot. `database` is the name that messages use; what the URL does not say comes from
    /// the environment (`PGPASSWORD`, `PGSSLMODE`, ...) and the user's password file.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer or refuses.
    pub async fn begin(database: &str, url: &str) -> Result<Self> {
        let failed = |error| not_opened(database, error);
        let options = PgConnectOptions::from_str(url).map_err(failed)?;
        let connecting = PgConnection::connect_with(&options);
        let connected = tokio::time::timeout(CONNECT_TIMEOUT, connecting).await;
        let connected = connected.map_err(|_| failed(sqlx::Error::PoolTimedOut))?;
        let mut connection = connected.map_err(failed)?;
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
        connection.execute(begin).await.map_err(failed)?;
        Ok(Self {
            database: database.to_owned(),
            connection,
        })
    }

    /// The columns of a table or view, in its order.
    ///
    /// # Errors
    /// `NotFound` when there is none of this name that can be seen.
    pub async fn columns(&mut self, schema: &str, table: &str) -> Result<Vec<FoundColumn>> {
        let rows = query(
            "SELECT a.attname::text AS name, format_type(a.atttypid, a.atttypmod) AS shown, \
                CASE WHEN t.typtype = 'e' OR d.typtype = 'e' THEN 'text' \
                    ELSE coalesce(d.typname, t.typname)::text END AS type, \
                CASE WHEN d.oid IS NULL THEN a.atttypmod ELSE t.typtypmod END AS modifier \
             FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
             JOIN pg_attribute a ON a.attrelid = c.oid JOIN pg_type t ON t.oid = a.atttypid \
             LEFT JOIN pg_type d ON t.typtype = 'd' AND d.oid = t.typbasetype \
             WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'p', 'v', 'm', 'f') \
                AND a.attnum > 0 AND NOT a.attisdropped \
             ORDER BY a.attnum",
        )
        .bind(schema)
        .bind(table)
        .fetch_all(&mut self.connection);
        let rows = rows.await.map_err(|e| unread(&self.database, e))?;
        if rows.is_empty() {
            let message = format!(
                "database `{}` has no table `{schema}.{table}`: names are written in the case in which it keeps them",
                self.database
            );
            return Err(Error::new(ErrorKind::NotFound, message));
        }
        let columns = rows
            .iter()
            .map(found)
            .collect::<std::result::Result<_, _>>();
        columns.map_err(|e| unread(&self.database, e))
    }

    /// The database's own time, that of all its rows that are read.
    ///
    /// # Errors
    /// `Unavailable` when the database stops answering.
    pub async fn read_at(&mut self) -> Result<Instant> {
        let time = query("SELECT (extract(epoch FROM transaction_timestamp()) * 1000000)::int8");
        let row = time.fetch_one(&mut self.connection).await;
        let micros = row.and_then(|row| row.try_get(0));
        let micros = micros.map_err(|e| unread(&self.database, e))?;
        Ok(Instant::from_micros(micros))
    }

    /// The schema of the batches that [`DatabaseSnapshot::read`] gives: the columns in the order of `read`.
    #[must_use]
    pub fn schema(read: &TableRead) -> SchemaRef {
        let fields = read.columns.iter().map(|column| {
            let data_type = column.column_type.to_arrow(column.declared);
            Field::new(&column.name, data_type, true)
        });
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    }

    /// Reads rows and sends them, batch by batch as they come, until nobody takes them. One batch is held at a time.
    ///
    /// # Errors
    /// `Invalid` when a value is none that Arrow holds, with its column and its row; `Unavailable` when the database stops
    /// answering.
    pub async fn read(&mut self, read: &TableRead, to: mpsc::Sender<RecordBatch>) -> Result<()> {
        let Self {
            database,
            connection,
        } = self;
        let mut batch = Batch::new(Self::schema(read))?;
        let mut rows = query(AssertSqlSafe(read.sql())).fetch(connection);
        while let Some(row) = rows.try_next().await.map_err(|e| unread(database, e))? {
            batch.append(&row, read, database)?;
            let full = batch.rows == BATCH_ROWS || batch.bytes >= BATCH_BYTES;
            if full && to.send(batch.finish()?).await.is_err() {
                return Ok(());
            }
        }
        if batch.rows > 0 {
            // Whoever does not take them says why.
            let _ = to.send(batch.finish()?).await;
        }
        Ok(())
    }
}

fn found(row: &PgRow) -> sqlx::Result<FoundColumn> {
    let data_type: String = row.try_get("type")?;
    Ok(FoundColumn {
        name: row.try_get("name")?,
        shown: row.try_get("shown")?,
        column_type: ColumnType::of(&data_type, row.try_get("modifier")?),
    })
}

/// Rows on their way.
struct Batch {
    schema: SchemaRef,
    columns: Vec<ColumnBuilder>,
    rows: usize,
    bytes: usize,
}

impl Batch {
    fn new(schema: SchemaRef) -> Result<Self> {
        let columns = schema.fields().iter();
        let columns = columns.map(|field| ColumnBuilder::new(field.data_type()));
        let columns = columns.collect::<Option<Vec<_>>>().ok_or_else(|| {
            Error::new(
                ErrorKind::Unsupported,
                "a column is of a type that is not read",
            )
        })?;
        Ok(Self {
            schema,
            columns,
            rows: 0,
            bytes: 0,
        })
    }

    fn append(&mut self, row: &PgRow, read: &TableRead, database: &str) -> Result<()> {
        for (place, column) in self.columns.iter_mut().enumerate() {
            let value = row.try_get_raw(place).map_err(|e| unread(database, e))?;
            let bytes = match value.is_null() {
                true => None,
                false => Some(
                    value
                        .as_bytes()
                        .map_err(|e| unread(database, sqlx::Error::Decode(e)))?,
                ),
            };
            self.bytes += bytes.map_or(1, <[u8]>::len);
            column.append(bytes).map_err(|refusal| {
                let (schema, table) = (&read.schema, &read.table);
                let message = format!(
                    "column `{}` of table `{schema}.{table}` in database `{database}` {refusal} (the row with {})",
                    read.columns[place].name,
                    told(row, read)
                );
                Error::new(ErrorKind::Invalid, message)
            })?;
        }
        self.rows += 1;
        Ok(())
    }

    fn finish(&mut self) -> Result<RecordBatch> {
        let failed = |message: String| Error::new(ErrorKind::Internal, message);
        let columns = self.columns.iter_mut().map(ColumnBuilder::finish);
        let columns = columns
            .collect::<std::result::Result<_, _>>()
            .map_err(failed)?;
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        (self.rows, self.bytes) = (0, 0);
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)
            .map_err(|e| failed(e.to_string()))
    }
}

/// Whole numbers and texts of a row, by which people find it.
fn told(row: &PgRow, read: &TableRead) -> String {
    let mut told = Vec::new();
    for (place, column) in read.columns.iter().enumerate() {
        let value = match column.column_type {
            ColumnType::Int16 => shown::<i16>(row, place),
            ColumnType::Int32 => shown::<i32>(row, place),
            ColumnType::Int64 => shown::<i64>(row, place),
            ColumnType::Text | ColumnType::AsText => shown::<String>(row, place),
            _ => None,
        };
        told.extend(value.map(|value| format!("`{}` {value}", column.name)));
    }
    told.truncate(TOLD_COLUMNS);
    if told.is_empty() {
        return "no number or text".to_owned();
    }
    told.join(", ")
}

fn shown<'r, T>(row: &'r PgRow, place: usize) -> Option<String>
where
    T: sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres> + std::fmt::Display,
{
    let value: Option<T> = row.try_get(place).ok()?;
    Some(value.map_or_else(|| "null".to_owned(), |value| value.to_string()))
}
