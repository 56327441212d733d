//! The published CDNOW sample: recency, frequency, T and monetary value against an independent computation.

use std::collections::BTreeMap;

use arrow::array::ArrayRef;

use crate::harness::{Project, parquet};

/// Frequency, recency and T in weeks, monetary value in dollars, by customer.
type Rfm = BTreeMap<i64, (i64, f64, f64, f64)>;

fn rfm(batch: &arrow::array::RecordBatch, key: &str) -> Rfm {
    let ids = parquet::integers(batch, key);
    let frequency = parquet::integers(batch, "frequency");
    let floats = |name: &str| parquet::floats(batch, name);
    let (recency, t) = (floats("recency_weeks"), floats("t_weeks"));
    let money = floats("monetary_value");
    let row = |row: usize| {
        let values = (frequency[row]?, recency[row]?, t[row]?, money[row]?);
        Some((ids[row]?, values))
    };
    let rows = (0..batch.num_rows()).map(|number| row(number).expect("no nulls"));
    rows.collect()
}

/// Weeks to two decimals, as hundredths.
fn hundredths(weeks: f64) -> i64 {
    (weeks * 100.0).round() as i64
}

#[test]
fn rfm_agrees_with_the_oracle_for_every_customer_of_the_sample() {
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let sample = parquet::read(&data.join("cdnow_sample.parquet"));
    let project = Project::example_definitions();
    let columns: Vec<(&str, ArrayRef)> = [
        ("customer_id", "sample_id"),
        ("purchase_date", "purchase_date"),
        ("cds", "cds"),
        ("amount_cents", "amount_cents"),
    ]
    .map(|(name, of)| (name, sample.column_by_name(of).expect("a column").clone()))
    .to_vec();
    parquet::write(&project.root().join("data/purchases.parquet"), columns);
    project.apply_and_run(&["1997-10-01"]);

    let files = project.snapshots("customer_rfm");
    assert_eq!(files.len(), 1, "{files:?}");
    let computed = rfm(&parquet::read(&files[0]), "customer_id");
    let oracle = rfm(
        &parquet::read(&data.join("cdnow_rfm_oracle.parquet")),
        "sample_id",
    );
    assert_eq!(oracle.len(), 2_357);
    let keys = |rfm: &Rfm| rfm.keys().copied().collect::<Vec<_>>();
    assert_eq!(keys(&computed), keys(&oracle));
    for (id, (frequency, recency, t, money)) in oracle {
        let found = computed[&id];
        assert_eq!(found.0, frequency, "frequency of {id}");
        assert_eq!(hundredths(found.1), hundredths(recency), "recency of {id}");
        assert_eq!(hundredths(found.2), hundredths(t), "T of {id}");
        assert!(
            (found.3 - money).abs() <= 0.005 + 1e-9,
            "monetary value of {id}: {found:?}, {money}"
        );
    }
}
