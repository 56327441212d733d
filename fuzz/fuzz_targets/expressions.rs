//! Any text as the expression of a request-time feature.

#![no_main]

use feature_defs::definitions::DefinitionFile;
use feature_defs::parse::parse;
use libfuzzer_sys::fuzz_target;

const SHOP: &str = "
entities:
  customer: { keys: { id: int64 } }
sources:
  rows:
    path: rows.csv
    event_time: at
    columns: { id: int64, at: timestamp, whole: int32, text: string, yes: bool, day: date, raw: bytes, part: float64 }
views:
  v: { entity: customer, source: rows, latest: [whole, text, yes, day, raw, part] }
request_views:
  r:
    inputs: { a: int64, b: uint64, f: float32, s: string, d: \"decimal(12,2)\", t: timestamp, y: bool, x: bytes }
    features:
      computed: ";

fuzz_target!(|text: &str| {
    let expression = text.replace('\'', "''").replace(['\n', '\r'], " ");
    let file = |path: &str, text: String| DefinitionFile {
        path: path.to_owned(),
        text,
    };
    let project = file("nightfill.yaml", "version: 1\nproject: shop\n".to_owned());
    let shop = file("shop.yaml", format!("{SHOP}'{expression}'\n"));
    if let Err(problems) = parse("/".as_ref(), vec![project, shop]) {
        assert!(!problems.problems.is_empty());
        assert!(!problems.to_string().is_empty());
    }
});
