//! Latency of one prediction: in process, and over HTTP on loopback beside an empty handler measured in the same run.
//!
//! 30 stored and 5 request-time features, 100 trees of 31 leaves, embedded store, 10,000 customers, one entity a request.
//! `cargo bench --bench predict`
//!
//! On idle cores waking the other one is most of what HTTP takes; `taskset -c 0` keeps server and client on one, which
//! shows what the server itself takes.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

#[path = "../tests/support/mod.rs"]
mod support;

use std::fmt::Write as _;
use std::io::{Read, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::post;
use feature_defs::time::{ManualClock, Stopwatch};
use feature_defs::value::Value;
use scorer::trees::{Child, Ensemble, Missing, Rule, Split, Tree};
use serving::{Limits, ServerSettings, open_predictor, start};
use support::{Project, as_of};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

const CUSTOMERS: i64 = 10_000;
const STORED: usize = 30;
const COMPUTED: usize = 5;
const TREES: usize = 100;
const LEAVES: usize = 31;
const ROUNDS: usize = 40;
const PER_ROUND: usize = 2_000;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let project = runtime.block_on(project());
    runtime.block_on(in_process(&project));
    over_http(&project, &runtime);
}

async fn project() -> Project {
    let project = Project::new(&yaml(), Some(&ensemble())).await;
    let value = |_: &str, position: usize, id: i64| {
        Value::Float(((id * 31 + position as i64 * 17) % 1_000) as f64 / 10.0)
    };
    project.register(1, CUSTOMERS, value).await;
    project.flip(1).await;
    project
}

/// A generator of its own, so that every run asks the same.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

fn body(numbers: &mut Numbers) -> String {
    let id = numbers.below(CUSTOMERS.unsigned_abs());
    let amount = numbers.below(10_000) as f64 / 100.0;
    format!(
        r#"{{"entities":{{"customer_id":[{id}]}},"request":{{"amount":[{amount}],"items":[3]}}}}"#
    )
}

async fn in_process(project: &Project) {
    let clock = Arc::new(ManualClock::new(as_of()));
    let components = project.components(clock);
    let predictor = open_predictor(&components, Limits::default())
        .await
        .unwrap();
    let mut numbers = Numbers(7);
    let mut out = Vec::new();
    let mut times = Vec::new();
    let mut steps = std::collections::BTreeMap::<&str, Vec<Duration>>::new();
    for round in 0..ROUNDS {
        for _ in 0..PER_ROUND {
            let body = body(&mut numbers);
            out.clear();
            let watch = Stopwatch::start();
            let answered = predictor
                .predict("churn", body.as_bytes(), &mut out)
                .await
                .unwrap();
            let elapsed = watch.elapsed();
            if round > 0 {
                times.push(elapsed);
                for (step, time) in answered.timings.steps() {
                    steps.entry(step).or_default().push(time);
                }
            }
        }
    }
    println!("answer: {}", String::from_utf8_lossy(&out));
    println!("in process      {}", summary(&mut times));
    for (step, mut times) in steps {
        println!("  {step:<14}{}", summary(&mut times));
    }
}

/// Servers run on `servers`; the client blocks on its own thread, so that an answer costs it one wake-up.
fn over_http(project: &Project, servers: &Runtime) {
    let clock = Arc::new(ManualClock::new(as_of()));
    let settings = ServerSettings {
        listen: ([127, 0, 0, 1], 0).into(),
        ..ServerSettings::default()
    };
    let components = project.components(clock);
    let server = servers.block_on(start(settings, components)).unwrap();
    let empty = servers.block_on(empty_server());
    let mut ours = Client::connect(server.address());
    let mut bare = Client::connect(empty);
    let mut numbers = Numbers(7);
    let (mut our_times, mut bare_times) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        for _ in 0..PER_ROUND {
            let body = body(&mut numbers);
            let ours = ours.post("/v1/predict/churn", &body);
            let bare = bare.post("/", &body);
            if round > 0 {
                our_times.push(ours);
                bare_times.push(bare);
            }
        }
    }
    println!("over HTTP       {}", summary(&mut our_times));
    println!("empty handler   {}", summary(&mut bare_times));
    for part in [50, 99] {
        let ratio =
            quantile(&our_times, part).as_secs_f64() / quantile(&bare_times, part).as_secs_f64();
        println!("  p{part} is {ratio:.2} times that of the empty handler");
    }
    servers.block_on(server.shut_down());
}

async fn empty_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let listener =
            axum::serve::ListenerExt::tap_io(listener, |stream: &mut tokio::net::TcpStream| {
                stream.set_nodelay(true).unwrap();
            });
        let handler = post(async |_: bytes::Bytes| axum::Json(serde_json::json!({"empty": true})));
        axum::serve(listener, Router::new().route("/", handler))
            .await
            .unwrap();
    });
    address
}

/// One connection that is kept.
struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        Self {
            stream,
            buffer: vec![0; 64 << 10],
        }
    }

    /// From the first byte written to the last byte read.
    fn post(&mut self, path: &str, body: &str) -> Duration {
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let watch = Stopwatch::start();
        self.stream.write_all(request.as_bytes()).unwrap();
        let mut filled = 0;
        loop {
            filled += self.stream.read(&mut self.buffer[filled..]).unwrap();
            if whole(&self.buffer[..filled]) {
                break;
            }
        }
        let elapsed = watch.elapsed();
        assert!(self.buffer.starts_with(b"HTTP/1.1 200 OK"));
        elapsed
    }
}

/// Whether an answer has its whole body.
fn whole(answer: &[u8]) -> bool {
    let Some(end) = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n") else {
        return false;
    };
    let head = std::str::from_utf8(&answer[..end]).unwrap();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .unwrap();
    answer.len() == end + 4 + length.parse::<usize>().unwrap()
}

fn quantile(sorted: &[Duration], percent: usize) -> Duration {
    sorted[(sorted.len() - 1) * percent / 100]
}

fn summary(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    format!(
        "p50 {:6.2} us   p99 {:6.2} us   max {:8.1} us   ({} calls)",
        micros(quantile(times, 50)),
        micros(quantile(times, 99)),
        micros(quantile(times, 100)),
        times.len()
    )
}

fn yaml() -> String {
    let columns: Vec<String> = (0..STORED).map(|i| format!("f{i}")).collect();
    let typed: Vec<String> = columns
        .iter()
        .map(|name| format!("{name}: float64"))
        .collect();
    let mut text = format!(
        "
entities:
  customer:
    keys: {{ customer_id: int64 }}
sources:
  purchases:
    path: purchases.parquet
    event_time: at
    columns: {{ customer_id: int64, at: timestamp, {} }}
views:
",
        typed.join(", ")
    );
    for (view, columns) in ["spend", "habits", "worth"]
        .iter()
        .zip(columns.chunks(STORED / 3))
    {
        write!(
            text,
            "  {view}:
    entity: customer
    source: purchases
    ttl: 3d
    latest: [{}]
",
            columns.join(", ")
        )
        .unwrap();
    }
    text + "
request_views:
  basket:
    inputs: { amount: float64, items: int64 }
    features:
      to_usual: amount / nullif(spend.f0, 0)
      to_largest: amount / nullif(spend.f1, 0)
      per_item: amount / nullif(cast(items as double), 0)
      above: case when amount > habits.f10 then amount - habits.f10 else 0 end
      ahead: amount * 12 - worth.f20
services:
  churn_v1:
    features: [spend.*, habits.*, worth.*, basket.*]
models:
  churn:
    service: churn_v1
    output: { name: buys_again, transform: sigmoid }
"
}

fn ensemble() -> Ensemble {
    let stored = (0..STORED).map(|i| format!("{}.f{i}", ["spend", "habits", "worth"][i / 10]));
    let computed = ["to_usual", "to_largest", "per_item", "above", "ahead"];
    let computed = computed.iter().map(|name| format!("basket.{name}"));
    let mut numbers = Numbers(42);
    Ensemble {
        feature_names: stored.chain(computed).collect(),
        trees: (0..TREES).map(|_| tree(&mut numbers)).collect(),
        average: false,
        objective: None,
    }
}

/// Grows a tree leaf by leaf: a random leaf becomes a split, as leaf-wise training makes lopsided trees.
fn tree(numbers: &mut Numbers) -> Tree {
    let mut splits: Vec<Split> = Vec::new();
    // Where each leaf hangs: the split and whether on its left.
    let mut hangs: Vec<Option<(usize, bool)>> = vec![None];
    for at in 0..LEAVES - 1 {
        let leaf = numbers.below(hangs.len() as u64) as usize;
        let child = Child::Split(at as u32);
        if let Some((parent, left)) = hangs[leaf] {
            if left {
                splits[parent].left = child;
            } else {
                splits[parent].right = child;
            }
        }
        let new = hangs.len();
        splits.push(Split {
            feature: numbers.below((STORED + COMPUTED) as u64) as u32,
            rule: Rule::Number {
                threshold: numbers.below(1_000) as f64 / 10.0,
                missing: Missing::NanLeft,
            },
            left: Child::Leaf(leaf as u32),
            right: Child::Leaf(new as u32),
        });
        hangs[leaf] = Some((at, true));
        hangs.push(Some((at, false)));
    }
    let leaves = (0..LEAVES).map(|_| numbers.below(200) as f64 / 1_000.0 - 0.1);
    Tree {
        splits,
        leaves: leaves.collect(),
    }
}
