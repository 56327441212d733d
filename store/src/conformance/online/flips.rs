//! Which release is served, and which were gone back behind.

use super::{numbered, publish, read, release, stage};
use crate::error::ErrorKind;
use crate::online::OnlineStore;
use crate::release::ReleaseNumber;

pub(super) async fn compare_and_swap(store: &dyn OnlineStore) {
    let (one, two) = (ReleaseNumber(1), ReleaseNumber(2));
    for number in [2, 1] {
        store
            .register(&release(number, Vec::new()))
            .await
            .expect("register");
    }
    let numbers: Vec<ReleaseNumber> = store
        .releases()
        .await
        .expect("releases")
        .iter()
        .map(|release| release.number)
        .collect();
    assert_eq!(numbers, [one, two]);
    let absent = store
        .flip(None, ReleaseNumber(3))
        .await
        .expect_err("absent");
    assert_eq!(absent.kind(), ErrorKind::NotFound);
    let early = store.flip(Some(one), two).await.expect_err("not served");
    assert_eq!(early.kind(), ErrorKind::Conflict);
    assert_eq!(store.served().await.expect("served"), None);
    store.flip(None, one).await.expect("first flip");
    let late = store.flip(None, two).await.expect_err("served already");
    assert_eq!(late.kind(), ErrorKind::Conflict);
    assert_eq!(store.served().await.expect("served"), Some(one));
    store.flip(Some(one), two).await.expect("forward");
    store.flip(Some(two), one).await.expect("and back");
    assert_eq!(store.served().await.expect("served"), Some(one));
    let served = store.drop_release(one).await.expect_err("served");
    assert_eq!(served.kind(), ErrorKind::Conflict);
}

pub(super) async fn readers_keep_their_release(store: &dyn OnlineStore) {
    let mut served = None;
    let mut releases = Vec::new();
    for number in 1..=5 {
        let label = format!("release {number}");
        let views = vec![stage(store, "spend", &numbered(50, &label)).await];
        let release = publish(store, served, release(number, views)).await;
        served = Some(release.number);
        releases.push(release);
        for release in &releases {
            for key in [0, 25, 49] {
                let answer = read(store, release, &[(0, format!("key {key:05}").as_bytes())]).await;
                let expected = format!("release {} {key}", release.number);
                assert_eq!(answer, [Some(expected.into_bytes())]);
            }
        }
    }
}

/// Registers releases 1 to `count`, without views, and flips to each in turn.
async fn publish_empty(store: &dyn OnlineStore, count: u64) {
    let mut served = None;
    for number in 1..=count {
        served = Some(
            publish(store, served, release(number, Vec::new()))
                .await
                .number,
        );
    }
}

async fn flip(store: &dyn OnlineStore, from: u64, to: u64) {
    let flipped = store
        .flip(Some(ReleaseNumber(from)), ReleaseNumber(to))
        .await;
    flipped.expect("flip");
}

async fn rolled_back(store: &dyn OnlineStore) -> Vec<u64> {
    let numbers = store.rolled_back().await.expect("rolled back");
    numbers.into_iter().map(|number| number.0).collect()
}

pub(super) async fn back_are_remembered(store: &dyn OnlineStore) {
    publish_empty(store, 4).await;
    assert_eq!(rolled_back(store).await, [0; 0]);
    flip(store, 4, 2).await;
    assert_eq!(rolled_back(store).await, [3, 4]);
    publish(store, Some(ReleaseNumber(2)), release(5, Vec::new())).await;
    assert_eq!(rolled_back(store).await, [3, 4]);
    let late = store.flip(Some(ReleaseNumber(2)), ReleaseNumber(1)).await;
    assert_eq!(late.expect_err("not served").kind(), ErrorKind::Conflict);
    assert_eq!(rolled_back(store).await, [3, 4]);
    flip(store, 5, 1).await;
    assert_eq!(rolled_back(store).await, [2, 3, 4, 5]);
    flip(store, 1, 4).await;
    assert_eq!(rolled_back(store).await, [2, 3, 5]);
    flip(store, 4, 4).await;
    assert_eq!(rolled_back(store).await, [2, 3, 5]);
}

pub(super) async fn back_and_dropped_releases_are_forgotten(store: &dyn OnlineStore) {
    publish_empty(store, 3).await;
    flip(store, 3, 1).await;
    store.drop_release(ReleaseNumber(2)).await.expect("drop");
    assert_eq!(rolled_back(store).await, [3]);
}
