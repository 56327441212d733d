use std::sync::atomic::{AtomicUsize, Ordering};

use tempfile::TempDir;

use super::*;
use crate::conformance::registry;
use crate::conformance::servers::postgres_schema;

#[tokio::test]
async fn sqlite_registry_conforms() {
    let folder = TempDir::new().expect("folder");
    let count = AtomicUsize::new(0);
    registry::all(async || {
        let next = count.fetch_add(1, Ordering::Relaxed);
        let file = folder.path().join(format!("{next}/registry.db"));
        SqlRegistry::sqlite(&file).await.expect("opens")
    })
    .await;
}

#[tokio::test]
async fn postgres_registry_conforms() {
    if postgres_schema().await.is_none() {
        return;
    }
    registry::all(async || {
        let schema = postgres_schema().await.expect("a schema");
        SqlRegistry::postgres(&schema).await.expect("opens")
    })
    .await;
}

#[tokio::test]
async fn many_openers_and_writers_share_one_registry() {
    let folder = TempDir::new().expect("folder");
    let file = folder.path().join("registry.db");
    share(async || SqlRegistry::sqlite(&file).await.expect("opens")).await;
    if let Some(schema) = postgres_schema().await {
        share(async || SqlRegistry::postgres(&schema).await.expect("opens")).await;
    }
}

/// Eight openers at once, the first of them bringing the schema, and five numbers each.
async fn share(open: impl AsyncFn() -> SqlRegistry) {
    let opened = futures::future::join_all((0..8).map(|_| open())).await;
    let mut tasks = tokio::task::JoinSet::new();
    for registry in opened {
        tasks.spawn(async move {
            let mut numbers = Vec::new();
            for _ in 0..5 {
                numbers.push(registry.reserve_release_number().await.expect("a number").0);
            }
            registry.close().await;
            numbers
        });
    }
    let mut numbers: Vec<u64> = tasks.join_all().await.into_iter().flatten().collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=40).collect::<Vec<u64>>());
}

#[tokio::test]
async fn a_schema_newer_than_the_binary_is_refused() {
    let folder = TempDir::new().expect("folder");
    let file = folder.path().join("registry.db");
    let registry = SqlRegistry::sqlite(&file).await.expect("opens");
    query("INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) VALUES (9999, 'future', TRUE, x'00', 0)")
        .execute(&registry.pool)
        .await
        .expect("a migration of the future");
    registry.close().await;
    let refused = SqlRegistry::sqlite(&file).await.expect_err("newer");
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    assert!(refused.to_string().contains("version 9999"), "{refused}");
}

#[tokio::test]
async fn paths_of_any_signs_are_one_file() {
    let folder = TempDir::new().expect("folder");
    let file = folder.path().join("a b?c#d%20é&e.db");
    let registry = SqlRegistry::sqlite(&file).await.expect("opens");
    registry.close().await;
    assert!(file.exists());
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unavailable() {
    let refused = SqlRegistry::postgres("postgres://nobody@127.0.0.1:1/none")
        .await
        .expect_err("no server");
    assert_eq!(refused.kind(), ErrorKind::Unavailable);
    assert!(
        refused
            .to_string()
            .contains("postgres://nobody@127.0.0.1:1/none")
    );
}

#[tokio::test]
async fn what_is_no_registry_is_refused() {
    let folder = TempDir::new().expect("folder");
    let file = folder.path().join("registry.db");
    std::fs::write(
        &file,
        "a text that is no database, long enough for a header",
    )
    .expect("a file");
    let refused = SqlRegistry::sqlite(&file).await.expect_err("no database");
    assert_eq!(refused.kind(), ErrorKind::Unavailable);
}
