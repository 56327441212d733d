//! What is sent to a server, counted by a server of one's own.

use std::collections::BTreeMap;

use tempfile::TempDir;

use super::*;
use crate::conformance::servers::OwnRedis;

/// How often each command was called.
async fn calls(url: &str) -> BTreeMap<String, u64> {
    let text: String = cmd("INFO")
        .arg("commandstats")
        .query_async(&mut connect(url).await)
        .await
        .expect("statistics");
    let line = |line: &str| {
        let (command, figures) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
        let (calls, _) = figures.split_once(',')?;
        Some((command.to_owned(), calls.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

async fn bytes_sent(url: &str) -> u64 {
    let text: String = cmd("INFO")
        .arg("stats")
        .query_async(&mut connect(url).await)
        .await
        .expect("statistics");
    let mut lines = text.lines();
    let bytes = lines.find_map(|line| line.strip_prefix("total_net_input_bytes:"));
    bytes.expect("a figure").trim().parse().expect("a number")
}

#[tokio::test]
async fn a_request_is_one_command_and_nothing_is_ever_searched_for() {
    let folder = TempDir::new().expect("a folder");
    for server in OwnRedis::start_all(folder.path(), &["--appendonly", "no"]) {
        let store = store_in(&server.url(), "shop");
        let content = numbered(2_000, "row");
        let one = publish(&store, None, 1, &content).await;
        let two = publish(&store, Some(1), 2, &numbered(1_500, "two")).await;
        let begun = store
            .begin(&one.views[0].view, Fingerprint::of(["dead"]), 1)
            .await;
        assert!(matches!(begun, Ok(Staging::Open(_))), "{begun:?}");
        publish(&store, Some(2), 3, &content).await;
        let two = store.release(two.number).await.expect("release");
        let before = calls(&server.url()).await;
        for _ in 0..10 {
            read_rows(&store, &two, &keys_of(&content)).await;
        }
        let after = calls(&server.url()).await;
        let made = |calls: &BTreeMap<String, u64>| -> u64 {
            let own = calls.iter().filter(|(command, _)| {
                !["info", "client", "client|setinfo", "hello"].contains(&command.as_str())
            });
            own.map(|(_, count)| count).sum()
        };
        assert_eq!(made(&after) - made(&before), 10, "{before:?} {after:?}");
        assert_eq!(after["mget"] - before["mget"], 10);
        store.drop_release(one.number).await.expect("drop");
        let all = calls(&server.url()).await;
        for search in ["scan", "keys", "hscan", "sscan", "randomkey"] {
            assert_eq!(all.get(search), None, "{search}");
        }
    }
}

#[tokio::test]
async fn a_night_that_changes_a_twentieth_sends_less_than_a_tenth() {
    const ROWS: usize = 20_000;
    let folder = TempDir::new().expect("a folder");
    for server in OwnRedis::start_all(folder.path(), &["--appendonly", "no"]) {
        let url = server.url();
        let store = store_in(&url, "shop");
        let row = |index: usize, label: u8| {
            let mut row = vec![label; 120];
            row[..8].copy_from_slice(&index.to_be_bytes());
            row
        };
        let content = |label: &dyn Fn(usize) -> u8| -> Content {
            let mut content = Content::new();
            for index in 0..ROWS {
                let mut key = feature_defs::entity::EntityKey::new();
                key.push_int(i64::try_from(index).expect("small"));
                content.push((key.as_bytes().to_vec(), row(index, label(index))));
            }
            content
        };
        let start = bytes_sent(&url).await;
        publish(&store, None, 1, &content(&|_| 1)).await;
        let whole = bytes_sent(&url).await - start;
        for night in 2..=6_u8 {
            let start = bytes_sent(&url).await;
            let some = content(&|index| if index % 20 == 0 { night } else { 1 });
            publish(&store, Some(u64::from(night) - 1), night.into(), &some).await;
            let part = bytes_sent(&url).await - start;
            assert!(part * 10 < whole, "night {night}: {part} of {whole} bytes");
        }
        let start = bytes_sent(&url).await;
        let same = content(&|index| if index % 20 == 0 { 6 } else { 1 });
        let staged = online::stage(&store, "other_view_of_the_same", &same).await;
        assert!(
            bytes_sent(&url).await - start > whole / 2,
            "{staged:?} is another view"
        );
    }
}
