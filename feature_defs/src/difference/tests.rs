use std::path::Path;

use super::*;
use crate::definitions::DefinitionFile;
use crate::parse;

/// Definitions with a view over a source that says this of itself.
fn definitions(source: &str) -> Definitions {
    definitions_with(source, "")
}

/// The same, with a view that has these keys too.
fn definitions_with(source: &str, keys: &str) -> Definitions {
    let file = |path: &str, text: String| DefinitionFile {
        path: path.to_owned(),
        text,
    };
    let text = format!(
        "entities:\n  thing: {{ keys: {{ k: int64 }} }}\nsources:\n  rows:\n    event_time: at\n    columns: {{ k: int64, at: timestamp, year: int32 }}\n{source}views:\n  v: {{ entity: thing, source: rows, {keys}windows: [7d], aggregate: {{ n: count() }} }}\n"
    );
    let files = vec![
        file("nightfill.yaml", "version: 1\nproject: shop\n".to_owned()),
        file("all.yaml", text),
    ];
    parse::parse(Path::new("/"), files).expect("definitions")
}

#[test]
fn how_files_are_read_changes_a_source_and_how_long_it_keeps_rows_does_not() {
    let csv = "    path: d/*/a.csv\n";
    for (before, after, change, details) in [
        (
            csv.to_owned(),
            format!("{csv}    retention: 400d\n"),
            Change::Compatible,
            "retention: none -> 400d",
        ),
        (
            format!("{csv}    retention: 30d\n"),
            format!("{csv}    retention: 7d\n"),
            Change::Compatible,
            "retention: 30d -> 7d",
        ),
        (
            csv.to_owned(),
            format!("{csv}    partitions: [year]\n"),
            Change::Incompatible,
            "partitions: [] -> [year]",
        ),
        (
            csv.to_owned(),
            format!("{csv}    delimiter: \"\\t\"\n"),
            Change::Incompatible,
            "format: csv -> csv with `\\t`",
        ),
        (
            csv.to_owned(),
            format!("{csv}    format: jsonl\n"),
            Change::Incompatible,
            "format: csv -> jsonl",
        ),
    ] {
        let difference = Difference::between(Some(&definitions(&before)), &definitions(&after));
        let source = &difference.objects[0];
        assert_eq!((source.kind, source.change), (ObjectKind::Source, change));
        assert_eq!(source.details, [details]);
        let recomputed = change == Change::Incompatible;
        assert_eq!(!difference.recomputed.is_empty(), recomputed, "{details}");
    }
}

#[test]
fn checks_change_a_view_and_recompute_nothing() {
    let source = "    path: a.csv\n";
    let with = |checks: &str| definitions_with(source, checks);
    let before = with("checks: { rows: { min: 5, change: 10% } }, ");
    let after = with(
        "checks: { rows: { min: 7, on_failure: warn }, features: { n_7d: { max: 9, nulls: 0% } } }, ",
    );
    assert_ne!(before.fingerprint, after.fingerprint);
    let meaning = |definitions: &Definitions| definitions.views[0].fingerprint;
    assert_eq!(meaning(&before), meaning(&after));
    let difference = Difference::between(Some(&before), &after);
    let view = &difference.objects[0];
    assert_eq!(
        (view.kind, view.change),
        (ObjectKind::FeatureView, Change::Compatible)
    );
    assert_eq!(
        view.details,
        [
            "check `rows min`: `min: 5`, else block -> `min: 7`, else warn",
            "check `n_7d nulls`: new",
            "check `n_7d max`: new",
            "check `rows change`: gone",
        ]
    );
    assert!(difference.recomputed.is_empty());
}
