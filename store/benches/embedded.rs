//! Reads from the embedded store: `cargo bench -p store --bench embedded`.
//!
//! One snapshot of a million rows of 256 bytes; random keys, one view, requests of 1, 100 and 1,000 rows.

#![allow(clippy::print_stdout)] // a benchmark prints

use std::time::Duration;

use feature_defs::entity::EntityKey;
use feature_defs::fingerprint::Fingerprint;
use feature_defs::name::Name;
use feature_defs::time::{Instant, Stopwatch};
use store::config::EmbeddedSettings;
use store::online::embedded::EmbeddedStore;
use store::online::{Checksum, OnlineStore, RowAddress, RowState, Rows, StagedRow, Staging};
use store::release::{Release, ReleaseNumber, ReleaseView};

const ROWS: u64 = 1_000_000;
const ROWS_A_WRITE: usize = 50_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let store = EmbeddedStore::open(folder.path(), EmbeddedSettings::default())?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .build()?;
    let keys: Vec<EntityKey> = (0..ROWS).map(key).collect();
    let release = runtime.block_on(load(&store, &keys))?;
    for rows_a_read in [1, 100, 1_000] {
        let repeats = 200_000 / rows_a_read.max(10);
        runtime.block_on(read(&store, &release, &keys, rows_a_read, repeats))?;
    }
    Ok(())
}

async fn load(
    store: &EmbeddedStore,
    keys: &[EntityKey],
) -> Result<Release, Box<dyn std::error::Error>> {
    let row = [7; 256];
    let view = Name::parse("spend")?;
    let content = Fingerprint::of(["content"]);
    let Staging::Open(snapshot) = store.begin(&view, content, ROWS).await? else {
        return Err("the store is not empty".into());
    };
    let mut checksum = Checksum::default();
    let mut watch = Stopwatch::start();
    for some in keys.chunks(ROWS_A_WRITE) {
        let rows: Vec<StagedRow<'_>> = some
            .iter()
            .map(|key| StagedRow {
                key: key.as_bytes(),
                row: &row,
            })
            .collect();
        for row in &rows {
            checksum.add(*row);
        }
        store.write(snapshot, &rows).await?;
    }
    println!("load      {:>8.0} rows/ms", per_milli(watch.lap()));
    store.complete(snapshot, checksum).await?;
    println!("read back {:>8.0} rows/ms", per_milli(watch.lap()));
    let release = Release {
        number: ReleaseNumber(1),
        as_of: Instant::from_micros(0),
        created_at: Instant::from_micros(0),
        definitions_version: 1,
        definitions: content,
        views: vec![ReleaseView {
            view,
            fingerprint: content,
            as_of: Instant::from_micros(0),
            content,
            rows: ROWS,
            snapshot,
        }],
        models: Vec::new(),
    };
    store.register(&release).await?;
    store.flip(None, release.number).await?;
    Ok(release)
}

async fn read(
    store: &EmbeddedStore,
    release: &Release,
    keys: &[EntityKey],
    rows_a_read: usize,
    repeats: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut random = 1_u64;
    let mut rows = Rows::default();
    let mut times = Vec::with_capacity(repeats);
    for _ in 0..repeats {
        let addresses: Vec<RowAddress<'_>> = (0..rows_a_read)
            .map(|_| {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let index = usize::try_from((random >> 33) % ROWS).unwrap_or(0);
                RowAddress {
                    view: 0,
                    key: keys[index].as_bytes(),
                }
            })
            .collect();
        let watch = Stopwatch::start();
        store.read(release, &addresses, &mut rows).await?;
        times.push(watch.elapsed());
        assert!(matches!(rows.get(rows_a_read - 1), RowState::Found(_)));
    }
    times.sort_unstable();
    let micros = |share: usize| times[times.len() * share / 100].as_secs_f64() * 1e6;
    println!(
        "read {rows_a_read:>5} rows: p50 {:>8.2} us, p99 {:>8.2} us",
        micros(50),
        micros(99)
    );
    Ok(())
}

fn key(number: u64) -> EntityKey {
    let mut key = EntityKey::new();
    key.push_int(i64::try_from(number).unwrap_or(i64::MAX));
    key
}

#[allow(clippy::cast_precision_loss)]
fn per_milli(time: Duration) -> f64 {
    ROWS as f64 / (time.as_secs_f64() * 1e3)
}
