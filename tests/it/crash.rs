//! `kill -9` of the night at any instant: readers see whole releases only, and a re-run ends at the right one.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use feature_defs::time::{Instant, Stopwatch};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use store::conformance::servers::redis_places;

use crate::harness::Project;
use crate::harness::server::Server;

const KILLS: i64 = 50;
const CUSTOMERS: i64 = 400;
const DAY: i64 = 86_400_000_000;

/// Three views whose every value tells the as-of that it was computed from: customer `c` bought once a day at noon
/// from 2026-01-01 on, for `c` cents, so as of day `d` the count is `d` and the sum `c * d`.
const DEFINITIONS: &str = "\
entities:
  customer:
    keys: { customer_id: int64 }
sources:
  purchases:
    path: data/purchases.csv
    event_time: at
    columns: { customer_id: int64, at: timestamp, cents: int64 }
views:
  bought:
    entity: customer
    source: purchases
    ttl: none
    windows: [lifetime]
    aggregate: { n: count(), sum: sum(cents) }
  counted:
    entity: customer
    sql: SELECT customer_id, count(*) AS n FROM purchases GROUP BY customer_id
    ttl: none
    features:
      n: { type: int64 }
  dated:
    entity: customer
    sql: SELECT DISTINCT customer_id, $as_of AS at FROM purchases
    ttl: none
    features:
      at: { type: timestamp }
services:
  all:
    features: [bought.*, counted.*, dated.*]
";

fn day(number: i64) -> Instant {
    let first = Instant::parse("2026-01-01").expect("a date");
    Instant::from_micros(first.micros() + number * DAY)
}

fn project(online: &str) -> Project {
    let project = Project::new(&[("features/all.yaml", DEFINITIONS)]);
    project.serve_from(online);
    let mut csv = "customer_id,at,cents\n".to_owned();
    for number in 0..KILLS + 2 {
        let noon = Instant::from_micros(day(number).micros() + DAY / 2);
        for customer in 1..=CUSTOMERS {
            csv.push_str(&format!("{customer},{noon},{customer}\n"));
        }
    }
    project.write("data/purchases.csv", csv);
    project.run(&["apply"]);
    project
}

/// The day whose release an answer came from, whole. Panics when its values are not all of one day.
fn whole_day(answer: &Value, customers: &[i64]) -> i64 {
    let feature = |result: &Value, name: &str| result["features"][name]["value"].clone();
    let results = answer["results"].as_array().expect("results");
    assert_eq!(results.len(), customers.len(), "{answer}");
    let n = feature(&results[0], "bought.n_lifetime").as_i64();
    let n = n.unwrap_or_else(|| panic!("no count: {answer}"));
    for (result, customer) in results.iter().zip(customers) {
        let seen = [
            feature(result, "bought.n_lifetime"),
            feature(result, "bought.sum_lifetime"),
            feature(result, "counted.n"),
            feature(result, "dated.at"),
        ];
        let expected = [
            json!(n),
            json!(n * customer),
            json!(n),
            json!(day(n).to_string()),
        ];
        assert_eq!(seen, expected, "customer {customer} of {answer}");
    }
    n
}

/// What a poller of the server saw.
#[derive(Debug, Default)]
struct Seen {
    answers: u64,
    days: Vec<i64>,
}

fn poll(server: &Server, stop: &AtomicBool, seen: &Mutex<Seen>) {
    let mut random = StdRng::seed_from_u64(2);
    while !stop.load(Ordering::Relaxed) {
        let customers: Vec<i64> = (0..20)
            .map(|_| random.random_range(1..=CUSTOMERS))
            .collect();
        let body = json!({ "entities": { "customer_id": customers } });
        let day = whole_day(&server.ask("/v1/features/all", &body), &customers);
        let mut seen = seen.lock().expect("the other side did not panic");
        seen.answers += 1;
        if seen.days.last() != Some(&day) {
            seen.days.push(day);
        }
    }
}

#[test]
fn a_night_killed_at_fifty_random_instants_shows_no_part_and_a_re_run_ends_right() {
    kill_nights("embedded://.nightfill/online");
}

#[test]
fn a_night_into_redis_killed_at_fifty_random_instants_shows_no_part_and_a_re_run_ends_right() {
    if let Some(online) = redis_places().first() {
        kill_nights(online);
    }
}

fn kill_nights(online: &str) {
    let project = project(online);
    let night_with_lease = |number: i64, lease: &str| {
        let as_of = day(number).to_string();
        project.command(&["run", "--as-of", &as_of, "--lease", lease])
    };
    // A night that was killed keeps the next one waiting for its lease: not for long here.
    let night = |number: i64| night_with_lease(number, "300ms");
    let stopwatch = Stopwatch::start();
    assert!(night(1).output().expect("a night").status.success());
    let longest = stopwatch.elapsed().mul_f64(1.1);
    let server = Server::start(&project);
    let stop = AtomicBool::new(false);
    let seen = Mutex::new(Seen::default());

    let mut killed = 0;
    thread::scope(|scope| {
        let poller = scope.spawn(|| poll(&server, &stop, &seen));
        let mut random = StdRng::seed_from_u64(1);
        for number in 2..KILLS + 2 {
            let mut child = night(number).spawn().expect("the night starts");
            thread::sleep(longest.mul_f64(random.random_range(0.0..1.0)));
            // On Unix this is SIGKILL.
            child.kill().expect("a child");
            killed += i64::from(!child.wait().expect("it ends").success());
        }
        // The one that has to end well keeps its lease however busy the machine is.
        let last = night_with_lease(KILLS + 1, "30s").output();
        thread::sleep(Duration::from_secs(1));
        stop.store(true, Ordering::Relaxed);
        if let Err(panic) = poller.join() {
            std::panic::resume_unwind(panic);
        }
        let last = last.expect("a night");
        assert!(
            last.status.success(),
            "{}",
            String::from_utf8_lossy(&last.stderr)
        );
    });

    let seen = seen.into_inner().expect("the poller did not panic");
    assert!(killed >= KILLS / 2, "only {killed} nights were killed");
    assert!(seen.answers > 100, "{seen:?}");
    assert!(seen.days.is_sorted(), "releases went back: {seen:?}");
    assert_eq!(seen.days.last(), Some(&(KILLS + 1)), "{seen:?}");
    let everyone: Vec<i64> = (1..=CUSTOMERS).collect();
    let body = json!({ "entities": { "customer_id": everyone } });
    let answer = server.ask("/v1/features/all", &body);
    assert_eq!(whole_day(&answer, &everyone), KILLS + 1);
}
