//! Servers that tests need, by the URLs that `tests/run` hands them. A test whose server is not there says that it is
//! skipped; where `REQUIRE_BACKENDS` is set it fails.

use std::sync::atomic::{AtomicU32, Ordering};

use bytes::Bytes;
use object_store::ObjectStoreExt;
use object_store::path::Path;
use sqlx::any::install_default_drivers;
use sqlx::{AssertSqlSafe, Connection, Executor, raw_sql};

use crate::objects::Objects;

/// The URL of an empty schema of a PostgreSQL server. `None` when there is no server.
///
/// # Panics
/// When there is none and there has to be one, or it does not make a schema.
pub async fn postgres_schema() -> Option<String> {
    let filled = postgres_filled("").await?;
    Some(filled.url)
}

/// A schema of a PostgreSQL server that a test has filled.
#[derive(Debug, Clone)]
pub struct FilledSchema {
    /// Its URL: names alone are in it.
    pub url: String,
    /// Its name.
    pub name: String,
}

/// A schema of a PostgreSQL server in which `statements` have run. `None` when there is no server.
///
/// # Panics
/// When there is none and there has to be one, or it does not do what it is told.
#[allow(clippy::expect_used)] // for tests
pub async fn postgres_filled(statements: &str) -> Option<FilledSchema> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let server = url("NIGHTFILL_TEST_POSTGRES", "PostgreSQL")?;
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let schema = format!("test_{}_{count}", std::process::id());
    install_default_drivers();
    let mut connection = sqlx::AnyConnection::connect(&server)
        .await
        .expect("a server that answers");
    let make = format!("CREATE SCHEMA {schema}; SET search_path TO {schema}; {statements}");
    connection
        .execute(raw_sql(AssertSqlSafe(make)))
        .await
        .expect("a schema");
    Some(FilledSchema {
        url: format!("{server}?options=-csearch_path%3D{schema}"),
        name: schema,
    })
}

/// A place in object storage that a test has for itself.
#[derive(Debug, Clone)]
pub struct TestBucket {
    /// Its URL.
    pub url: String,
    /// The settings that find it, as variables of the environment.
    pub settings: Vec<(String, String)>,
    objects: Objects,
}

impl TestBucket {
    /// The place, opened.
    #[must_use]
    pub const fn objects(&self) -> &Objects {
        &self.objects
    }

    /// Writes an object.
    ///
    /// # Panics
    /// When the server refuses.
    #[allow(clippy::expect_used)] // for tests
    pub async fn put(&self, path: &str, bytes: impl Into<Bytes>) {
        let store = self.objects.clone().into_store();
        let put = store
            .put(&Path::parse(path).expect("a path"), bytes.into().into())
            .await;
        put.expect("an object");
    }

    /// Takes an object away.
    ///
    /// # Panics
    /// When the server refuses.
    #[allow(clippy::expect_used)] // for tests
    pub async fn delete(&self, path: &str) {
        let store = self.objects.clone().into_store();
        store
            .delete(&Path::parse(path).expect("a path"))
            .await
            .expect("deleted");
    }
}

/// An empty place of an S3 server. `None` when there is no server.
///
/// # Panics
/// When there is none and there has to be one.
#[allow(clippy::expect_used)] // for tests
#[must_use]
pub fn s3_bucket() -> Option<TestBucket> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let server = url("NIGHTFILL_TEST_S3", "S3 server")?;
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let place = format!("s3://nightfill/test {}/{count}", std::process::id());
    let settings = [
        ("AWS_ENDPOINT_URL", server.as_str()),
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
        ("AWS_REGION", "us-east-1"),
    ];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let objects = Objects::with_settings(&place, settings.clone()).expect("a place");
    Some(TestBucket {
        url: place,
        settings: settings.to_vec(),
        objects,
    })
}

#[allow(clippy::print_stderr)] // a skipped test says so
fn url(variable: &str, server: &str) -> Option<String> {
    let url = std::env::var(variable).ok();
    if url.is_none() {
        let required = std::env::var_os("REQUIRE_BACKENDS").is_some();
        assert!(!required, "{server} is required: run with `tests/run`");
        eprintln!("SKIPPED: no {server} (`{variable}` is not set; `tests/run` starts one)");
    }
    url
}
