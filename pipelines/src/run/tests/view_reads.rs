//! Nights with views that read other views.

use super::*;
use crate::snapshot;

/// `doubled` reads `counts`, and stands before `above`, which reads `doubled` and `newest`.
async fn project() -> Project {
    let mut project = Project::new().await;
    let total = [("total", DataType::Int64)];
    let definitions = &mut project.definitions;
    let text = "select k, sum_lifetime * 2 as total from counts";
    add_sql(definitions, "doubled", "thing", &["counts"], text, &total);
    let text = "select k, total + v as total from doubled join newest using (k)";
    add_sql(
        definitions,
        "above",
        "thing",
        &["doubled", "newest"],
        text,
        &total,
    );
    // Named before what it reads.
    let places = ["above", "doubled", "newest", "counts"].map(name);
    let place = |view: &Name| places.iter().position(|name| name == view);
    definitions
        .views
        .sort_by(|a, _, b, _| place(a).cmp(&place(b)));
    project
}

fn computed(report: &RunReport) -> Vec<(String, String, bool)> {
    let views = report.views.iter();
    let shown = |view: &ViewReport| {
        let day = view.as_of.to_string()[..10].to_owned();
        (view.view.to_string(), day, view.computed)
    };
    views.map(shown).collect()
}

fn expected(views: &[(&str, &str, bool)]) -> Vec<(String, String, bool)> {
    let views = views.iter();
    views
        .map(|(view, day, computed)| ((*view).to_owned(), (*day).to_owned(), *computed))
        .collect()
}

/// What the release that is served has of a view, kept offline.
async fn rows_of(project: &Project, view: &str) -> Vec<String> {
    let release = project.served().await.expect("a release");
    let view = &project.definitions.views[&name(view)];
    let served = snapshot_of(&release, view).expect("the view");
    let manifests = project.night.offline.manifests(&view.name).await;
    let mut manifests = manifests.expect("manifests").into_iter();
    let manifest = manifests.rfind(|manifest| manifest.content == served.content);
    let batches = project.night.offline.read(&manifest.expect("kept")).await;
    let batches: Vec<_> = futures::TryStreamExt::try_collect(batches.expect("rows"))
        .await
        .expect("batches");
    let schema = snapshot::schema(&project.definitions, view);
    let all = arrow::compute::concat_batches(&schema, &batches).expect("one schema");
    shown(&all)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_night_computes_a_view_behind_what_it_reads_and_tells_them_as_declared() {
    let project = project().await;
    let report = project.run("2024-01-03", None).await.expect("night");
    let day = "2024-01-03";
    let names = ["above", "doubled", "newest", "counts"];
    assert_eq!(
        computed(&report),
        expected(&names.map(|name| (name, day, true)))
    );
    // 2 * (5 + 7) + 7, and 2 * 9 + 9.
    let stamp = "2024-01-03T00:00:00Z";
    let rows = [format!("0 {stamp} 27"), format!("1 {stamp} 31")];
    assert_eq!(rows_of(&project, "above").await, rows);
    let read: Vec<u64> = report.views.iter().map(|view| view.rows_read).collect();
    assert_eq!(read, [4, 2, 3, 3], "rows of views that are read count too");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_night_reads_of_kept_views_is_what_computing_them_gives() {
    let project = project().await;
    project.run("2024-01-03", None).await.expect("night");
    for view in ["above", "doubled"] {
        let computed = rows(&session(1), &project.definitions, view, "2024-01-03").await;
        assert_eq!(
            rows_of(&project, view).await,
            shown(&computed.expect("rows"))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_view_that_is_due_takes_along_what_it_reads_and_no_other() {
    let project = project().await;
    project.run("2024-01-02", None).await.expect("first");
    // The purchases of the second day count from now on: in `doubled`, and not in `above`, which is kept.
    let second = project
        .run("2024-01-03", Some(&["doubled"]))
        .await
        .expect("second");
    assert_eq!(
        computed(&second),
        expected(&[
            ("above", "2024-01-02", false),
            ("doubled", "2024-01-03", true),
            ("newest", "2024-01-02", false),
            ("counts", "2024-01-03", true),
        ])
    );
    assert_eq!(
        rows_of(&project, "above").await,
        ["1 2024-01-02T00:00:00Z 17"]
    );
    let stamp = "2024-01-03T00:00:00Z";
    let doubled = [format!("0 {stamp} 18"), format!("1 {stamp} 24")];
    assert_eq!(rows_of(&project, "doubled").await, doubled);
    // Now `above` alone is asked for: all of it is as of one instant again.
    let third = project
        .run("2024-01-04", Some(&["above"]))
        .await
        .expect("third");
    let day = "2024-01-04";
    let names = ["above", "doubled", "newest", "counts"];
    assert_eq!(
        computed(&third),
        expected(&names.map(|name| (name, day, true)))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_night_says_which_views_it_computes_unasked_and_why() {
    let project = project().await;
    let request = |views: &[&str]| RunRequest {
        allow_empty: false,
        allow_failed_checks: false,
        allow_earlier: false,
        as_of: at("2024-01-03"),
        views: Some(views.iter().map(|view| name(view)).collect()),
        holder: "test".to_owned(),
        lease_length: TimeSpan::parse("10s").expect("span"),
    };
    let told = |views: &[&str], served: Option<&Release>| -> Vec<String> {
        let request = request(views);
        let unasked = unasked_views(&project.definitions, &request, served);
        let shown = |unasked: &UnaskedView<'_>| match unasked.read_by {
            Some(reader) => format!("{} for {reader}", unasked.view),
            None => unasked.view.to_string(),
        };
        unasked.iter().map(shown).collect()
    };
    assert_eq!(told(&["above"], None), ["counts", "doubled", "newest"]);
    project.run("2024-01-02", None).await.expect("first");
    let served = project.served().await;
    assert_eq!(
        told(&["above"], served.as_ref()),
        [
            "counts for doubled",
            "doubled for above",
            "newest for above"
        ]
    );
    assert_eq!(told(&["doubled"], served.as_ref()), ["counts for doubled"]);
    assert!(told(&["counts"], served.as_ref()).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_view_that_became_empty_stops_the_night_before_its_readers() {
    let project = project().await;
    project.run("2024-01-03", None).await.expect("first");
    project.write("k,at,v\n");
    let refused = project.run("2024-01-04", None).await.expect_err("empty");
    let refused = refused.to_string();
    assert!(refused.starts_with("`counts`: has no row"), "{refused}");
    assert_eq!(rows_of(&project, "above").await.len(), 2);
}
