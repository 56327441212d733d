//! Releases, from the registry and the embedded store to answers: followed, refused, never mixed, exactly scored.

#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use std::sync::Arc;
use std::time::Duration;

use feature_defs::time::ManualClock;
use feature_defs::value::Value;
use scorer::import::lightgbm;
use serde_json::Value as Json;
use serving::config::Limits;
use serving::metrics::Metrics;
use serving::predict::Predictor;
use serving::predict::load::Loader;
use serving::release_watch::ReleaseWatch;
use support::{Project, as_of};

const YAML: &str = "
entities:
  customer:
    keys: { customer_id: int64 }
sources:
  purchases:
    path: purchases.parquet
    event_time: at
    columns: { customer_id: int64, at: timestamp, total: float64, orders: int64 }
views:
  spend:
    entity: customer
    source: purchases
    ttl: 3d
    latest: [total]
  habits:
    entity: customer
    source: purchases
    ttl: 3d
    latest: [orders]
request_views:
  basket:
    inputs: { amount: float64 }
    features:
      to_usual: amount / spend.total
services:
  churn_v1:
    features: [spend.total, habits.orders, basket.to_usual]
models:
  churn:
    service: churn_v1
    output: { name: buys_again, transform: sigmoid }
";

const MODEL: &str = "tree
version=v4
num_class=1
num_tree_per_iteration=1
label_index=0
max_feature_idx=2
objective=binary sigmoid:1
feature_names=basket.to_usual habits.orders spend.total
feature_infos=[0:1] [0:1] [0:1]
tree_sizes=300

Tree=0
num_leaves=4
num_cat=0
split_feature=0 1 2
threshold=2.5 10.5 3.5
decision_type=2 2 8
left_child=1 -1 -3
right_child=2 -2 -4
leaf_value=0.5 -0.25 0.125 0.75
is_linear=0
shrinkage=1


end of trees

pandas_categorical:null
";

struct Served {
    project: Project,
    predictor: Arc<Predictor>,
    watch: ReleaseWatch,
}

impl Served {
    async fn new() -> Self {
        let ensemble = lightgbm::read(MODEL).expect("model");
        let project = Project::new(YAML, Some(&ensemble)).await;
        let metrics = Arc::new(Metrics::new().expect("metrics"));
        let clock = Arc::new(ManualClock::new(as_of()));
        let online = project.online.clone();
        let predictor = Predictor::new(online.clone(), clock, Limits::default(), metrics);
        let predictor = Arc::new(predictor);
        let loader = Loader {
            registry: project.registry.clone(),
            online,
            root: project.folder.path().to_owned(),
        };
        let poll = Duration::from_millis(1);
        let watch = ReleaseWatch::new(loader, Arc::clone(&predictor), poll);
        Self {
            project,
            predictor,
            watch,
        }
    }

    fn served(&self) -> Option<u64> {
        let plan = self.predictor.served()?;
        Some(plan.release().number.0)
    }
}

async fn ask(predictor: &Predictor, ids: &str) -> Json {
    let body = format!(
        r#"{{"entities": {{"customer_id": {ids}}}, "request": {{"amount": [6, 6]}}, "explain": true}}"#
    );
    let mut out = Vec::new();
    let answered = predictor.predict("churn", body.as_bytes(), &mut out).await;
    answered.expect("answer");
    serde_json::from_slice(&out).expect("json")
}

/// All values of release `number` are `number`.
fn numbered(number: u64) -> impl Fn(&str, usize, i64) -> Value {
    move |view, _, _| match view {
        "spend" => Value::Float(number as f64),
        _ => Value::Int(i64::try_from(number).expect("small")),
    }
}

#[tokio::test]
async fn flips_and_rollbacks_are_followed_and_a_release_is_loaded_once() {
    let mut served = Served::new().await;
    served.watch.step().await;
    assert_eq!(served.served(), None);
    for number in [1, 2] {
        served.project.register(number, 3, numbered(number)).await;
    }
    served.watch.step().await;
    assert_eq!(served.served(), None);
    for number in [1, 2, 1] {
        served.project.flip(number).await;
        served.watch.step().await;
        assert_eq!(served.served(), Some(number));
        let first = served.predictor.served().expect("served");
        served.watch.step().await;
        let second = served.predictor.served().expect("served");
        assert!(Arc::ptr_eq(&first, &second));
    }
}

#[tokio::test]
async fn a_release_that_cannot_be_loaded_leaves_the_one_before_and_is_told_once() {
    let mut served = Served::new().await;
    served.project.register(1, 3, numbered(1)).await;
    served.project.flip(1).await;
    served.watch.step().await;
    let bundle = feature_defs::fingerprint::Fingerprint::of(["nowhere"]);
    served.project.models[0].bundle = bundle;
    served.project.register(2, 3, numbered(2)).await;
    served.project.flip(2).await;
    let failure = served.watch.failure();
    for _ in 0..3 {
        served.watch.step().await;
        assert_eq!(served.served(), Some(1));
        let message = failure.message().expect("failure");
        let start = "release 2 cannot be served: the bundle of model `churn` cannot be read: ";
        assert!(message.starts_with(start), "{message}");
    }
    let answer = ask(&served.predictor, "[0, 1]").await;
    assert_eq!(answer["release"], 1);
    served.project.flip(1).await;
    served.watch.step().await;
    assert_eq!(failure.message(), None);
}

#[tokio::test]
async fn scores_are_those_of_the_model_and_features_bind_by_name() {
    let mut served = Served::new().await;
    let value = |view: &str, _: usize, id: i64| match view {
        "spend" => Value::Float(id as f64 / 2.0),
        _ => Value::Int(id),
    };
    served.project.register(1, 20, value).await;
    served.project.flip(1).await;
    served.watch.step().await;
    let ensemble = lightgbm::read(MODEL).expect("model");
    for id in (0..22).step_by(2) {
        let answer = ask(&served.predictor, &format!("[{id}, {}]", id + 1)).await;
        for (position, id) in [id, id + 1].into_iter().enumerate() {
            // In the order of the model's own file: to_usual, orders, total.
            let row = if id < 20 {
                let total = f64::from(id) / 2.0;
                [6.0 / total, f64::from(id), total]
            } else {
                [f64::NAN; 3]
            };
            let expected = 1.0 / (1.0 + (-ensemble.score(&row)).exp());
            let found = answer["results"][position]["buys_again"].as_f64();
            assert_eq!(found, Some(expected), "{id}: {answer}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_never_see_two_releases_in_one_answer() {
    const LAST: u64 = 12;
    let served = Served::new().await;
    served.project.register(1, 4, numbered(1)).await;
    served.project.flip(1).await;
    let Served {
        project,
        predictor,
        mut watch,
    } = served;
    watch.step().await;
    let night = tokio::spawn(async move {
        for number in 2..=LAST {
            project.register(number, 4, numbered(number)).await;
            project.flip(number).await;
            watch.step().await;
        }
        project
    });
    let mut last = 0;
    while last < LAST {
        let answer = ask(&predictor, "[3, 0]").await;
        let number = answer["release"].as_u64().expect("release");
        assert!(number >= last, "{number} after {last}");
        for result in answer["results"].as_array().expect("results") {
            let features = &result["features"];
            assert_eq!(features["spend.total"]["value"], number as f64, "{answer}");
            assert_eq!(features["habits.orders"]["value"], number, "{answer}");
            let to_usual = features["basket.to_usual"]["value"].as_f64();
            assert_eq!(to_usual, Some(6.0 / number as f64), "{answer}");
        }
        last = number;
        tokio::task::yield_now().await;
    }
    night.await.expect("night");
}
