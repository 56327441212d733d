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

/// A registry as the first schema had it, with one version of definitions where `applied`.
async fn of_the_first_schema(file: &std::path::Path, applied: bool) {
    let url = format!("sqlite://{}?mode=rwc", file.display());
    let registry = SqlRegistry::connect(&url, Database::Sqlite).await;
    let registry = registry.expect("connects");
    let mut migrator = sqlx::migrate!("../migrations/sqlite");
    let first = migrator.migrations.iter().take(1).cloned().collect();
    migrator.migrations = first;
    migrator
        .run(&registry.pool)
        .await
        .expect("the first schema");
    if applied {
        query("INSERT INTO definitions (version, fingerprint, files, applied_at, applied_by) VALUES (1, $1, '[]', 5, 'Zoë')")
            .bind(Fingerprint::of(["old"]).to_string())
            .execute(&registry.pool)
            .await
            .expect("a version");
    }
    registry.close().await;
}

#[tokio::test]
async fn an_older_schema_waits_for_migrate_and_loses_nothing() {
    let folder = TempDir::new().expect("folder");
    let file = folder.path().join("registry.db");
    of_the_first_schema(&file, true).await;
    let refused = SqlRegistry::sqlite(&file).await.expect_err("older");
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    assert!(
        refused
            .to_string()
            .contains("version 1, and this binary's is 2: `nightfill migrate`"),
        "{refused}"
    );
    let again = SqlRegistry::sqlite(&file).await.expect_err("still older");
    assert_eq!(again.to_string(), refused.to_string());

    let change = SqlRegistry::migrate_sqlite(&file).await.expect("migrated");
    assert_eq!(change, SchemaChange { from: 1, to: 2 });
    let change = SqlRegistry::migrate_sqlite(&file).await.expect("nothing");
    assert_eq!(change, SchemaChange { from: 2, to: 2 });
    let registry = SqlRegistry::sqlite(&file).await.expect("opens");
    let old = registry
        .definitions(None)
        .await
        .expect("read")
        .expect("kept");
    assert_eq!((old.version, old.definitions.project), (1, None));
    // Nobody's yet: the first project that applies takes it.
    let new = crate::conformance::registry::definitions("new");
    assert_eq!(registry.apply(1, &new, None).await.expect("taken"), 2);
}

#[tokio::test]
async fn an_older_schema_without_definitions_is_brought_up_to_date_at_once() {
    let folder = TempDir::new().expect("folder");
    let file = folder.path().join("registry.db");
    of_the_first_schema(&file, false).await;
    let registry = SqlRegistry::sqlite(&file).await.expect("opens");
    assert_eq!(registry.history().await.expect("history"), []);
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
