use feature_defs::aggregation::AggregateFunction as F;
use feature_defs::data_type::DataType;
use feature_defs::time::SystemClock;
use store::online::{RowAddress, RowState, Rows};
use store::registry::NewDefinitions;

use super::*;
use crate::progress::Silent;
use crate::testing::*;

mod checks;
mod view_reads;

/// A project with one source, `facts`, and two views over it, on stores in its own folder.
struct Project {
    dir: tempfile::TempDir,
    definitions: Definitions,
    night: Night,
    version: u64,
    allow_earlier: bool,
    allow_failed_checks: bool,
}

impl Project {
    async fn new() -> Self {
        let dir = tempfile::tempdir().expect("dir");
        let mut definitions = definitions(dir.path());
        add_entity(&mut definitions, "thing", &[("k", DataType::Int64)]);
        let columns = [
            ("k", DataType::Int64),
            ("at", DataType::Date),
            ("v", DataType::Int64),
        ];
        add_source(&mut definitions, "facts", "facts.csv", &columns, "at", None);
        let aggregates = [("n", F::Count, None), ("sum", F::Sum, Some("v"))];
        add_windows(
            &mut definitions,
            "counts",
            "thing",
            "facts",
            &aggregates,
            &["lifetime"],
        );
        add_latest(
            &mut definitions,
            "newest",
            "thing",
            "facts",
            feature_defs::time::Ttl::Unlimited,
            &["v"],
        );
        let night = Night {
            session: session(2),
            registry: store::open::registry(&definitions.project)
                .await
                .expect("registry"),
            offline: store::open::offline(&definitions.project).expect("offline"),
            online: store::open::online(&definitions.project).expect("online"),
            clock: Arc::new(SystemClock),
        };
        let applied = NewDefinitions {
            project: Some(definitions.project.name.clone()),
            fingerprint: definitions.fingerprint,
            files: Vec::new(),
            applied_at: at("2024-01-01"),
            applied_by: "test".to_owned(),
        };
        let version = night
            .registry
            .apply(0, &applied, None)
            .await
            .expect("applied");
        let project = Self {
            dir,
            definitions,
            night,
            version,
            allow_earlier: false,
            allow_failed_checks: false,
        };
        project.write("k,at,v\n1,2024-01-01,5\n1,2024-01-02,7\n0,2024-01-02,9\n");
        project
    }

    fn write(&self, facts: &str) {
        std::fs::write(self.dir.path().join("facts.csv"), facts).expect("file");
    }

    async fn run(&self, as_of: &str, views: Option<&[&str]>) -> Result<RunReport> {
        self.run_as(as_of, views, false).await
    }

    async fn run_as(
        &self,
        as_of: &str,
        views: Option<&[&str]>,
        allow_empty: bool,
    ) -> Result<RunReport> {
        let request = RunRequest {
            allow_empty,
            allow_failed_checks: self.allow_failed_checks,
            allow_earlier: self.allow_earlier,
            as_of: at(as_of),
            views: views.map(|views| views.iter().map(|view| name(view)).collect()),
            holder: "test".to_owned(),
            lease_length: TimeSpan::parse("10s").expect("span"),
        };
        run(
            &self.night,
            &self.definitions,
            self.version,
            &request,
            &Silent,
        )
        .await
    }

    async fn served(&self) -> Option<Release> {
        served_release(&self.night).await.expect("served")
    }

    /// The sum that the served release has for a key.
    async fn sum(&self, key: i64) -> Option<feature_defs::value::Value> {
        let release = self.served().await.expect("a release");
        let view = release
            .views
            .iter()
            .position(|view| view.view == name("counts"))
            .expect("view");
        let mut bytes = feature_defs::entity::EntityKey::new();
        bytes.push_int(key);
        let mut rows = Rows::default();
        let addresses = [RowAddress {
            view,
            key: bytes.as_bytes(),
        }];
        self.night
            .online
            .read(&release, &addresses, &mut rows)
            .await
            .expect("rows");
        let layout =
            store::online::row::RowLayout::new(&self.definitions.views[&name("counts")].features);
        match rows.get(0) {
            RowState::Found(row) => Some(
                store::online::row::RowView::new(&layout, row)
                    .expect("row")
                    .value(1),
            ),
            _ => None,
        }
    }
}

fn int(value: i64) -> Option<feature_defs::value::Value> {
    Some(feature_defs::value::Value::Int(value))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_night_serves_its_release_and_the_same_night_again_changes_nothing() {
    let project = Project::new().await;
    let first = project.run("2024-01-03", None).await.expect("first");
    assert_eq!((first.from, first.to), (None, ReleaseNumber(1)));
    let counts: Vec<_> = first
        .views
        .iter()
        .map(|v| (v.rows_read, v.keys, v.rows_written))
        .collect();
    assert_eq!(counts, [(3, 2, 2), (3, 2, 2)]);
    assert_eq!(
        (
            project.sum(1).await,
            project.sum(0).await,
            project.sum(7).await
        ),
        (int(12), int(9), None)
    );

    let again = project.run("2024-01-03", None).await.expect("again");
    assert!(!again.flipped());
    assert_eq!(
        (again.to, again.views[0].rows_written),
        (ReleaseNumber(1), 0)
    );

    project.write("k,at,v\n1,2024-01-01,5\n");
    let corrected = project.run("2024-01-03", None).await.expect("corrected");
    assert_eq!(
        (corrected.from, corrected.to),
        (Some(ReleaseNumber(1)), ReleaseNumber(2))
    );
    assert_eq!((project.sum(1).await, project.sum(0).await), (int(5), None));
    let recorded = project.night.registry.releases().await.expect("releases");
    assert_eq!(recorded.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn views_that_are_not_asked_for_keep_their_served_snapshots() {
    let project = Project::new().await;
    let all = project
        .run("2024-01-02", Some(&["counts"]))
        .await
        .expect("all");
    assert!(
        all.views.iter().all(|view| view.computed),
        "nothing was served before"
    );
    let some = project
        .run("2024-01-03", Some(&["counts"]))
        .await
        .expect("some");
    assert_eq!(
        some.views
            .iter()
            .map(|view| view.computed)
            .collect::<Vec<_>>(),
        [true, false]
    );
    assert_eq!(
        (some.views[0].as_of, some.views[1].as_of),
        (at("2024-01-03"), at("2024-01-02"))
    );
    let unknown = project
        .run("2024-01-03", Some(&["absent"]))
        .await
        .expect_err("unknown");
    assert_eq!(
        unknown.to_string(),
        "unknown view `absent` (there is: `counts`, `newest`)"
    );
    let misspelt = project.run("2024-01-03", Some(&["count"])).await;
    let misspelt = misspelt.expect_err("unknown").to_string();
    assert!(misspelt.contains("did you mean `counts`?"), "{misspelt}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_night_as_of_the_future_is_refused_and_not_recorded() {
    let mut project = Project::new().await;
    project.night.clock = Arc::new(feature_defs::time::ManualClock::new(at("2024-01-03")));
    project.run("2024-01-03", None).await.expect("now");
    let refused = project.run("2024-01-03T00:00:00.000001Z", None).await;
    let refused = refused.expect_err("the future").to_string();
    assert!(refused.contains("is in the future"), "{refused}");
    assert_eq!(project.night.registry.runs(9).await.expect("runs").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_night_before_the_served_one_is_refused_unless_it_is_allowed() {
    let mut project = Project::new().await;
    project.run("2024-01-03", None).await.expect("first");
    project.run("2024-01-03", None).await.expect("the same");
    let refused = project.run("2024-01-02", None).await;
    let refused = refused.expect_err("earlier").to_string();
    assert!(
        refused.starts_with("release 1, which is served, is as of 2024-01-03T00:00:00Z")
            && refused.contains("`--allow-earlier`"),
        "{refused}"
    );
    let runs = project.night.registry.runs(9).await.expect("runs");
    let outcomes = runs.into_iter().map(|run| run.finished);
    let outcomes: Vec<_> = outcomes
        .map(|finished| finished.map(|(_, how)| how))
        .collect();
    let release = ReleaseNumber(1);
    assert_eq!(
        outcomes,
        [
            Some(RunOutcome::Unchanged { release }),
            Some(RunOutcome::Published { release }),
        ]
    );
    project.allow_earlier = true;
    let report = project.run("2024-01-02", None).await.expect("allowed");
    assert_eq!(report.to, ReleaseNumber(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_night_keeps_no_snapshot_later_than_its_as_of() {
    let mut project = Project::new().await;
    project.run("2024-01-03", None).await.expect("first");
    project.allow_earlier = true;
    let refused = project.run("2024-01-02", Some(&["counts"])).await;
    let refused = refused.expect_err("a later snapshot").to_string();
    assert!(
        refused.starts_with("view `newest` would be kept as of 2024-01-03T00:00:00Z")
            && refused.contains("compute `newest` too"),
        "{refused}"
    );
    let served = project.served().await.expect("served");
    assert_eq!(served.number, ReleaseNumber(1));
    project.run("2024-01-02", None).await.expect("all of them");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_compares_with_what_was_served_before() {
    let project = Project::new().await;
    let told = |report: RunReport| {
        let views = report.views.into_iter();
        views
            .map(|view| (view.rows_before, view.keys, view.changed))
            .collect::<Vec<_>>()
    };
    let first = project.run("2024-01-03", None).await.expect("first");
    assert_eq!(told(first), [(None, 2, true), (None, 2, true)]);
    project.write("k,at,v\n0,2024-01-02,9\n");
    let fewer = project.run("2024-01-03", None).await.expect("fewer");
    assert_eq!(told(fewer), [(Some(2), 1, true), (Some(2), 1, true)]);
    let same = project.run("2024-01-04", Some(&["counts"])).await;
    let same = told(same.expect("same"));
    assert_eq!(same[1], (Some(1), 1, false));
}

#[tokio::test(flavor = "multi_thread")]
async fn too_little_memory_is_told_in_one_sentence_that_names_the_view() {
    let mut project = Project::new().await;
    let rows: String = (0..40_000)
        .map(|k| format!("{k},2024-01-01,{k}\n"))
        .collect();
    project.write(&format!("k,at,v\n{rows}"));
    project.night.session = session_with(2, 1 << 10);
    let error = project.run("2024-01-03", None).await.expect_err("refused");
    assert_eq!(
        error.to_string(),
        "`counts`: computing it takes more memory than 1 MiB: raise `--memory`"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_view_that_loses_all_its_rows_is_refused_unless_that_is_meant() {
    let project = Project::new().await;
    project.run("2024-02-01", None).await.expect("report");
    project.write("k,at,v\n");
    let refused = project.run("2024-02-02", None).await.expect_err("empty");
    assert_eq!(
        refused.to_string(),
        "`counts`: has no row as of 2024-02-02T00:00:00Z, where release 1 serves 2: are its sources empty by mistake? \
         `--allow-empty` publishes it all the same"
    );
    assert_eq!(project.sum(1).await, int(12));
    let report = project.run_as("2024-02-02", None, true).await;
    assert_eq!(report.expect("report").to, ReleaseNumber(2));
    assert_eq!(project.sum(1).await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_night_that_fails_leaves_the_last_release_served_and_is_recorded() {
    let project = Project::new().await;
    project.run("2024-01-03", None).await.expect("first");
    project.write("k,at,v\n1,2024-01-01,five\n");
    let error = project.run("2024-01-04", None).await.expect_err("failure");
    assert_eq!(
        error.to_string(),
        "`facts.csv`: line 2, column `v`: `five` is not an int64: write a whole number, like `42`"
    );
    assert_eq!(
        project.served().await.map(|release| release.number),
        Some(ReleaseNumber(1))
    );
    let runs = project.night.registry.runs(10).await.expect("runs");
    let (_, outcome) = runs[0].finished.clone().expect("finished");
    assert_eq!(
        outcome,
        RunOutcome::Failed {
            message: error.to_string()
        }
    );
    project.write("k,at,v\n1,2024-01-01,6\n");
    project.run("2024-01-04", None).await.expect("repaired");
    assert_eq!(project.sum(1).await, int(6));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_release_that_was_registered_before_a_crash_is_flipped_by_the_next_night() {
    let project = Project::new().await;
    project.run("2024-01-03", None).await.expect("first");
    let first = project.served().await.expect("served");
    project.write("k,at,v\n1,2024-01-01,5\n");
    project.run("2024-01-03", None).await.expect("second");
    let second = project.served().await.expect("served");
    // Another store, in which the second release was registered and the process died before the flip.
    let crashed = Project::new().await;
    crashed.run("2024-01-03", None).await.expect("first");
    crashed.write("k,at,v\n1,2024-01-01,5\n");
    let lease = HeldLease::acquire(
        &crashed.night.registry,
        &crashed.night.clock,
        "dead",
        TimeSpan::parse("300ms").expect("span"),
        &Silent,
    )
    .await
    .expect("lease");
    let mut views = Vec::new();
    let kept = KeptViews::new(Arc::clone(&crashed.night.offline));
    for view in crashed.definitions.views.values() {
        let as_of = at("2024-01-03");
        let computed = compute_view(
            &crashed.night,
            &crashed.definitions,
            view,
            as_of,
            &kept,
            &lease,
            &Silent,
        )
        .await
        .expect("computed");
        let staged = stage_view(
            &crashed.night,
            &crashed.definitions,
            computed,
            &lease,
            &Silent,
        );
        views.push(staged.await.expect("staged").release_view);
    }
    let number = crashed
        .night
        .registry
        .reserve_release_number()
        .await
        .expect("number");
    let registered = Release {
        number,
        views,
        ..first
    };
    crashed
        .night
        .online
        .register(&registered)
        .await
        .expect("registered");
    drop(lease);
    assert_eq!(crashed.sum(1).await, int(12));

    let report = crashed.run("2024-01-03", None).await.expect("next");
    assert_eq!(report.to, number);
    assert_eq!(report.views[0].rows_written, 0);
    assert_eq!(crashed.sum(1).await, int(5));
    assert_eq!(
        crashed.served().await.expect("served").views[0].content,
        second.views[0].content
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_lease_stops_the_night_before_its_next_write() {
    let project = Project::new().await;
    let clock = Arc::new(feature_defs::time::ManualClock::new(at("2024-01-05")));
    let as_clock: Arc<dyn Clock> = clock.clone();
    let length = TimeSpan::parse("1h").expect("span");
    let lease =
        HeldLease::acquire(&project.night.registry, &as_clock, "slow", length, &Silent).await;
    let lease = lease.expect("lease");
    clock.set(at("2024-01-06"));
    let view = &project.definitions.views[&name("counts")];
    let error = compute_view(
        &project.night,
        &project.definitions,
        view,
        at("2024-01-03"),
        &KeptViews::new(Arc::clone(&project.night.offline)),
        &lease,
        &Silent,
    )
    .await
    .map(|_| ())
    .expect_err("lost");
    assert!(
        error.to_string().starts_with("the night's lease was lost"),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_example_project_publishes_every_customer_of_the_first_nine_months() {
    let root =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../feature_defs/examples/cdnow");
    let mut project = Project::new().await;
    project.definitions = feature_defs::parse::load(&root).expect("definitions");
    let report = project.run("1997-10-01", None).await.expect("report");
    for view in &report.views {
        assert_eq!(
            (view.rows_read, view.keys),
            (49_086, 23_570),
            "{}",
            view.view
        );
    }
}
