mod faults;
mod history;
mod rewriting;
mod traffic;

use feature_defs::redis_place::RedisPlace;
use redis::{Client, cmd};

use feature_defs::fingerprint::Fingerprint;
use feature_defs::name::Name;

use super::*;
use crate::conformance::online::{self, Content, numbered, release, stage};
use crate::conformance::servers::{redis_namespace, redis_urls};
use crate::online::{Checksum, OnlineStore, RowState, StagedRow, Staging};
use crate::release::{Release, ReleaseNumber};

/// A store in an empty namespace of a server.
fn empty_store(url: &str) -> VersionedStore {
    store_in(url, &redis_namespace())
}

fn store_in(url: &str, namespace: &str) -> VersionedStore {
    open(&settings(url, namespace)).expect("settings")
}

fn settings(url: &str, namespace: &str) -> RedisSettings {
    let place = RedisPlace::parse(url).expect("a scheme").expect("a place");
    RedisSettings::new(place, namespace)
}

/// A connection for what the store does not do.
async fn connect(url: &str) -> redis::aio::MultiplexedConnection {
    let client = Client::open(url).expect("a URL");
    let connection = client.get_multiplexed_async_connection().await;
    connection.expect("a server that answers")
}

/// Publishes `content` of view `spend` as release `number`.
async fn publish(
    store: &VersionedStore,
    from: Option<u64>,
    number: u64,
    content: &Content,
) -> Release {
    let release = release(number, vec![stage(store, "spend", content).await]);
    store.register(&release).await.expect("register");
    let flipped = store.flip(from.map(ReleaseNumber), release.number).await;
    flipped.expect("flip");
    release
}

/// The rows of `keys`, in view 0.
async fn read_rows(
    store: &VersionedStore,
    release: &Release,
    keys: &[Vec<u8>],
) -> Vec<Option<Vec<u8>>> {
    let addresses: Vec<RowAddress<'_>> =
        keys.iter().map(|key| RowAddress { view: 0, key }).collect();
    let mut rows = Rows::default();
    store
        .read(release, &addresses, &mut rows)
        .await
        .expect("reads");
    let row = |index| match rows.get(index) {
        RowState::Found(row) => Some(row.to_vec()),
        RowState::Missing => None,
        RowState::Unavailable => panic!("row {index} was not answered"),
    };
    (0..rows.len()).map(row).collect()
}

fn keys_of(content: &Content) -> Vec<Vec<u8>> {
    content.iter().map(|(key, _)| key.clone()).collect()
}

#[tokio::test]
async fn redis_store_conforms() {
    for url in redis_urls() {
        online::all(async || empty_store(&url)).await;
    }
}

#[tokio::test]
async fn two_projects_in_one_server_never_meet() {
    for url in redis_urls() {
        let (one, two) = (empty_store(&url), empty_store(&url));
        let ones = publish(&one, None, 1, &numbered(10, "one")).await;
        assert_eq!(two.served().await.expect("served"), None);
        assert_eq!(two.releases().await.expect("releases"), []);
        let twos = publish(&two, None, 1, &numbered(10, "two")).await;
        let keys = [b"key 00007".to_vec()];
        let read = (
            read_rows(&one, &ones, &keys).await,
            read_rows(&two, &twos, &keys).await,
        );
        let row = |text: &str| vec![Some(text.as_bytes().to_vec())];
        assert_eq!(read, (row("one 7"), row("two 7")));
    }
}

#[tokio::test]
async fn a_database_that_is_selected_is_the_one_that_is_used() {
    for url in redis_urls() {
        let namespace = redis_namespace();
        let other = format!("{}3", url.trim_end_matches('0'));
        let store = store_in(&other, &namespace);
        publish(&store, None, 1, &numbered(10, "row")).await;
        let state = Keys::new(&namespace).state();
        for (url, expected) in [(&url, 0), (&other, 1)] {
            let mut connection = connect(url).await;
            let there: u64 = cmd("EXISTS")
                .arg(&state)
                .query_async(&mut connection)
                .await
                .expect("answers");
            assert_eq!(there, expected, "{url}");
        }
    }
}

/// What a user has to be allowed, as docs/redis.md says.
const RIGHTS: &str = "+mget +set +append +get +del +hget +hmget +hgetall +hset +hdel +eval +evalsha +info +ping +select";

/// What docs/redis.md tells to allow is enough, and a wrong password is said to be one.
#[tokio::test]
async fn a_user_with_the_documented_rights_does_all_and_another_is_refused() {
    for url in redis_urls() {
        let namespace = redis_namespace();
        let mut connection = connect(&url).await;
        let () = cmd("ACL")
            .arg("SETUSER")
            .arg(&namespace)
            .arg(&["on", ">secret", &format!("~nf:{namespace}:*")])
            .arg(RIGHTS.split(' ').collect::<Vec<&str>>())
            .query_async(&mut connection)
            .await
            .expect("a user");
        let url = url.replace("redis://", &format!("redis://{namespace}@"));
        let mut allowed = settings(&url, &namespace);
        allowed.password = Some(crate::config::Password::new("secret".to_owned()));
        let store = open(&allowed).expect("settings");
        let one = publish(&store, None, 1, &numbered(100, "one")).await;
        let two = publish(&store, Some(1), 2, &numbered(90, "two")).await;
        let keys = [b"key 00095".to_vec()];
        assert_eq!(read_rows(&store, &two, &keys).await, [None]);
        store.drop_release(one.number).await.expect("drop");
        store.ping().await.expect("ping");

        allowed.password = Some(crate::config::Password::new("wrong".to_owned()));
        let store = open(&allowed).expect("settings");
        let error = store.served().await.expect_err("refused");
        assert_eq!(error.kind(), crate::error::ErrorKind::Invalid, "{error}");
        assert!(
            !format!("{error:?}{allowed:?}").contains("wrong"),
            "{error:?}"
        );
    }
}
