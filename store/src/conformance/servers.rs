//! Servers that tests need, by the URLs that `tests/run` hands them. A test whose server is not there says that it is
//! skipped; where `REQUIRE_BACKENDS` is set it fails.

use std::sync::atomic::{AtomicU32, Ordering};

use sqlx::any::install_default_drivers;
use sqlx::{AssertSqlSafe, Connection, Executor};

/// The URL of an empty schema of a PostgreSQL server. `None` when there is no server.
///
/// # Panics
/// When there is none and there has to be one, or it does not make a schema.
#[allow(clippy::expect_used)] // for tests
pub async fn postgres_schema() -> Option<String> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let server = url("NIGHTFILL_TEST_POSTGRES", "PostgreSQL")?;
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let schema = format!("test_{}_{count}", std::process::id());
    install_default_drivers();
    let mut connection = sqlx::AnyConnection::connect(&server)
        .await
        .expect("a server that answers");
    connection
        .execute(AssertSqlSafe(format!("CREATE SCHEMA {schema}")))
        .await
        .expect("a schema");
    Some(format!("{server}?options=-csearch_path%3D{schema}"))
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
