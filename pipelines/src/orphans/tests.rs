use feature_defs::definitions::DefinitionFile;
use feature_defs::fingerprint::Fingerprint;
use feature_defs::time::SystemClock;
use futures::{StreamExt, stream};
use store::conformance::offline::sample;
use store::error::ErrorKind;
use store::offline::SnapshotIdentity;
use store::registry::NewDefinitions;

use super::*;
use crate::lease::NIGHT_LEASE;
use crate::progress::Silent;
use crate::testing::*;

const PROJECT: &str = "\
version: 1
project: test
entities:
  thing: { keys: { k: int64 } }
sources:
  facts: { path: facts.csv, event_time: at, columns: { k: int64, at: date } }
views:
  kept: { entity: thing, source: facts, windows: [lifetime], aggregate: { n: count() } }
";

struct Project {
    dir: tempfile::TempDir,
    definitions: Definitions,
    clean_up: CleanUp,
}

impl Project {
    async fn new() -> Self {
        let dir = tempfile::tempdir().expect("dir");
        let file = DefinitionFile {
            path: "nightfill.yaml".to_owned(),
            text: PROJECT.to_owned(),
        };
        let parsed = feature_defs::parse::parse(dir.path(), vec![file]);
        let definitions = parsed.unwrap_or_else(|problems| panic!("{problems}"));
        let project = &definitions.project;
        let clean_up = CleanUp {
            registry: store::open::registry(project).await.expect("registry"),
            offline: store::open::offline(project).expect("offline"),
            online: store::open::online(project).expect("online"),
            clock: Arc::new(SystemClock),
        };
        Self {
            dir,
            definitions,
            clean_up,
        }
    }

    async fn apply(&self) {
        let applied = NewDefinitions {
            project: Some(self.definitions.project.name.clone()),
            fingerprint: self.definitions.fingerprint,
            files: self.definitions.files.clone(),
            applied_at: at("2024-01-01"),
            applied_by: "test".to_owned(),
        };
        let applied = self.clean_up.registry.apply(0, &applied, None).await;
        assert_eq!(applied.expect("applied"), 1);
    }

    async fn keep(&self, view: &str) {
        let identity = SnapshotIdentity {
            view: name(view),
            fingerprint: Fingerprint::of([view]),
            as_of: at("2024-01-01"),
        };
        let batch = sample(10);
        let rows = stream::iter([Ok(batch.clone())]).boxed();
        let written = self
            .clean_up
            .offline
            .append(&identity, batch.schema(), rows);
        written.await.expect("kept");
    }

    fn request(&self, view: &str) -> DropRequest {
        DropRequest {
            view: name(view),
            root: self.dir.path().to_owned(),
            holder: "test".to_owned(),
            lease_length: TimeSpan::parse("300ms").expect("span"),
        }
    }

    async fn drop(&self, view: &str) -> Result<KeptSnapshots> {
        drop_view(&self.clean_up, &self.request(view), &Silent).await
    }
}

#[tokio::test]
async fn views_that_are_not_defined_are_orphans_and_go_when_dropped() {
    let project = Project::new().await;
    for view in ["kept", "gone", "also_gone"] {
        project.keep(view).await;
    }
    project.apply().await;
    let offline = &*project.clean_up.offline;
    let found = orphans(offline, &project.definitions)
        .await
        .expect("orphans");
    let views: Vec<&str> = found.iter().map(|orphan| orphan.view.as_str()).collect();
    assert_eq!(views, ["also_gone", "gone"]);

    let request = project.request("gone");
    let would = would_drop(&project.clean_up, &request)
        .await
        .expect("known");
    assert_eq!(would, found[1].kept);
    assert_eq!(project.drop("gone").await.expect("dropped"), would);
    assert_eq!(
        project.drop("gone").await.expect("again"),
        KeptSnapshots::default()
    );
    let left = orphans(offline, &project.definitions)
        .await
        .expect("orphans");
    assert_eq!(left, found[..1]);
}

#[tokio::test]
async fn what_is_applied_is_not_dropped_and_nothing_is_before_the_first_apply() {
    let project = Project::new().await;
    project.keep("kept").await;
    let refused = project.drop("kept").await.expect_err("nothing applied");
    assert!(
        refused
            .to_string()
            .starts_with("no definitions are applied yet"),
        "{refused}"
    );
    project.apply().await;
    let refused = project.drop("kept").await.expect_err("applied");
    assert_eq!(
        refused.to_string(),
        "view `kept` is applied (version 1): take it out of the definition files and `nightfill apply` them first"
    );
    let kept = project
        .clean_up
        .offline
        .kept(&name("kept"))
        .await
        .expect("kept");
    assert_eq!(kept.snapshots, 1);
}

#[tokio::test]
async fn a_night_that_runs_is_waited_for_and_then_conflicts() {
    let project = Project::new().await;
    project.apply().await;
    project.keep("gone").await;
    let registry = &project.clean_up.registry;
    let now = project.clean_up.clock.now();
    let long = TimeSpan::parse("1h").expect("span");
    let night = registry
        .acquire_lease(NIGHT_LEASE, "a night", now, long)
        .await;
    let night = night.expect("a lease");
    let refused = project.drop("gone").await.expect_err("a night runs");
    let Error::Store(store) = &refused else {
        panic!("{refused}");
    };
    assert_eq!(store.kind(), ErrorKind::Conflict);
    let kept = project
        .clean_up
        .offline
        .kept(&name("gone"))
        .await
        .expect("kept");
    assert_eq!(kept.snapshots, 1);
    registry.release_lease(&night).await.expect("given back");
    assert_eq!(project.drop("gone").await.expect("dropped"), kept);
}
