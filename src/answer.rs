//! A server's JSON answer, laid out for people.

use feature_defs::time::Instant;
use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::args::Format;
use crate::output::{self, table};
use crate::pretty::{pretty, with_null};

/// Writes an answer to standard output.
///
/// # Errors
/// When it is not an answer, or standard output is gone.
pub(crate) fn tell(reply: &[u8], asked: &Map<String, Value>, format: Format) -> anyhow::Result<()> {
    match format {
        Format::Json => output::line(pretty(std::str::from_utf8(reply)?)),
        Format::Text => {
            let answer: Answer = serde_json::from_slice(reply)?;
            output::line(answer.text(asked))
        }
    }
}

/// The same answer, saying that no release gave it: it was computed for this one question.
///
/// # Errors
/// When it is not an answer.
pub(crate) fn of_no_release(reply: &[u8]) -> anyhow::Result<Vec<u8>> {
    Ok(with_null(std::str::from_utf8(reply)?, "release").into_bytes())
}

/// What a server answers, in its order.
#[derive(Debug, Deserialize)]
struct Answer {
    model: Option<String>,
    service: Option<String>,
    bundle: Option<String>,
    /// None when the features were computed for this question.
    release: Option<u64>,
    as_of: Instant,
    results: Vec<Entity>,
}

#[derive(Debug, Deserialize)]
struct Entity {
    #[serde(default)]
    features: IndexMap<String, Feature>,
    /// The model's output among other members.
    #[serde(flatten)]
    others: IndexMap<String, Value>,
}

#[derive(Debug, Deserialize)]
struct Feature {
    #[serde(default)]
    value: Value,
    state: String,
    #[serde(default)]
    age: Option<String>,
    #[serde(default)]
    defaulted: bool,
}

impl Answer {
    /// The answer as text: its head, then each entity with its score, its features and their states.
    fn text(&self, asked: &Map<String, Value>) -> String {
        let mut text = self.head();
        for (index, entity) in self.results.iter().enumerate() {
            text.push_str("\n\n");
            text.push_str(&key(asked, index));
            for (name, score) in &entity.others {
                if score.is_number() || score.is_null() {
                    text.push_str(&format!("  {name} {score}"));
                }
            }
            if !entity.features.is_empty() {
                text.push('\n');
                text.push_str(&features(&entity.features));
            }
        }
        text
    }

    fn head(&self) -> String {
        let of = self.model.as_ref().or(self.service.as_ref());
        let bundle = self.bundle.as_ref().map(|bundle| format!(" ({bundle})"));
        let from = match self.release {
            Some(release) => format!("release {release}, as of"),
            None => "computed as of".to_owned(),
        };
        format!(
            "{}{}, {from} {}",
            of.map_or("answer", String::as_str),
            bundle.unwrap_or_default(),
            self.as_of
        )
    }
}

/// The key of the entity at `index` of the request: `customer_id=7`.
fn key(asked: &Map<String, Value>, index: usize) -> String {
    let keys = asked.get("entities").and_then(Value::as_object);
    let parts = keys.into_iter().flatten();
    let parts: Vec<String> = parts
        .map(|(name, values)| format!("{name}={}", plain(&values[index])))
        .collect();
    parts.join(",")
}

fn features(features: &IndexMap<String, Feature>) -> String {
    let rows: Vec<Vec<String>> = features
        .iter()
        .map(|(name, feature)| {
            let defaulted = if feature.defaulted { ", defaulted" } else { "" };
            vec![
                format!("  {name}"),
                plain(&feature.value),
                format!("{}{defaulted}", feature.state),
                feature.age.clone().unwrap_or_default(),
            ]
        })
        .collect();
    table(&["  feature", "value", "state", "age"], &[1], &rows)
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_shows_score_values_and_states_in_its_own_order() {
        let asked = json!({ "entities": { "customer_id": [7] } });
        let reply = r#"{
            "model": "churn", "bundle": "churn@3f2a", "release": 2, "as_of": "1997-10-01T00:00:00Z",
            "results": [{
                "churns": 0.25, "degraded": [],
                "features": {
                    "spend.sum_7d": { "value": "12.00", "state": "present", "age": "1h" },
                    "spend.n": { "value": 0, "state": "missing", "defaulted": true }
                }
            }],
            "timings": { "parse": 1.0 }
        }"#;
        let answer: Answer = serde_json::from_str(reply).expect("an answer");
        assert_eq!(
            answer.text(asked.as_object().expect("an object")),
            "churn (churn@3f2a), release 2, as of 1997-10-01T00:00:00Z\n\n\
             customer_id=7  churns 0.25\n\
             \u{20} feature       value  state               age\n\
             \u{20} spend.sum_7d  12.00  present             1h\n\
             \u{20} spend.n           0  missing, defaulted"
        );
    }

    #[test]
    fn an_answer_of_no_release_says_that_it_was_computed() {
        let reply = br#"{"service":"s","release":1,"as_of":"1997-10-01T00:00:00Z","results":[]}"#;
        let reply = of_no_release(reply).expect("an answer");
        let answer: Answer = serde_json::from_slice(&reply).expect("an answer");
        assert_eq!(answer.release, None);
        assert_eq!(
            answer.text(&Map::new()),
            "s, computed as of 1997-10-01T00:00:00Z"
        );
    }
}
