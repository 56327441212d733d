//! The answer's JSON, written straight into the reply's buffer.
//!
//! ```text
//! predict   {"model", "bundle", "release", "as_of", "results": [one an entity, in the request's order], "timings"}
//!   result  {<output>: score or null, "degraded": [views], "states": {feature: state}, "defaulted": [features]}
//!   explain {<output>: score or null, "degraded": [views], "features": {feature: {"value", "state", "age", "defaulted"}}}
//! features  {"service", "release", "as_of", "results": [{"degraded", "features"}], "timings"}
//! ```
//!
//! The score is null when an input was unavailable: the store did not answer for its row, or it could not be computed
//! from the request's values, in which case `error` says why beside the other members.
//! `states` lists only features whose state is not `present`. `degraded` lists the views whose row is expired,
//! unavailable, or missing without a default for all that the service reads of it. `defaulted` stands only where a default took the value's place; `age` only where a row is there.
//! Timings are in microseconds. NaN and the infinities are the strings `"NaN"`, `"Infinity"`, `"-Infinity"`.

use feature_defs::age::Age;
use feature_defs::as_of::State;
use feature_defs::data_type::DataType;
use feature_defs::time::Instant;
use feature_defs::value::Value;
use store::online::row::RowView;
use store::release::Release;

use crate::metrics::StateCounts;
use crate::predict::fetch::{StoredRow, StoredRows};
use crate::predict::json::{write_age, write_f64, write_integer, write_plain};
use crate::predict::plan::ModelPlan;
use crate::predict::request_features::{Computed, Values};
use crate::predict::score::scorable;
use crate::predict::service_plan::{FeaturePlan, FeatureSource, ServicePlan};
use crate::predict::timings::{Step, Steps};

/// All that an answer is written from.
#[derive(Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) release: &'a Release,
    pub(crate) service: &'a ServicePlan,
    pub(crate) stored: StoredRows<'a>,
    pub(crate) computed: &'a Computed,
    pub(crate) as_of: Instant,
    /// Whether the request asks for every feature's value beside the score.
    pub(crate) explain: bool,
}

/// What an answer tells of one feature of one entity.
struct Told<'a> {
    state: State,
    value: ToldValue<'a>,
    event_time: Option<Instant>,
    defaulted: bool,
}

enum ToldValue<'a> {
    Null,
    Stored(RowView<'a>, usize),
    Computed(Values<'a>),
    Default(&'a Value),
}

impl Answer<'_> {
    /// Writes the answer of a model.
    pub(crate) fn write_predictions(
        &self,
        model: &ModelPlan,
        scores: &[f64],
        steps: &mut Steps,
        out: &mut Vec<u8>,
    ) -> StateCounts {
        let mut counts = StateCounts::default();
        out.extend_from_slice(b"{\"model\":");
        write_plain(&model.name, out);
        out.extend_from_slice(b",\"bundle\":");
        write_plain(&model.bundle, out);
        self.write_head(out);
        for (entity, score) in scores.iter().enumerate() {
            out.extend_from_slice(if entity > 0 { b",{\"" } else { b"{\"" });
            out.extend_from_slice(model.output.as_str().as_bytes());
            out.extend_from_slice(b"\":");
            if scorable(self.service, &self.stored, self.computed, entity) {
                write_f64(*score, out);
            } else {
                counts.unscored += 1;
                out.extend_from_slice(b"null");
            }
            out.push(b',');
            self.write_degraded(entity, out);
            if self.explain {
                self.write_features(entity, &mut counts, out);
            } else {
                self.write_states(entity, &mut counts, out);
            }
            self.write_failure(entity, out);
            out.push(b'}');
        }
        write_tail(steps, out);
        counts
    }

    /// Writes the answer of a service.
    pub(crate) fn write_service(&self, steps: &mut Steps, out: &mut Vec<u8>) -> StateCounts {
        let mut counts = StateCounts::default();
        out.extend_from_slice(b"{\"service\":");
        write_plain(&self.service.name, out);
        self.write_head(out);
        for entity in 0..self.stored.entities() {
            out.extend_from_slice(if entity > 0 { b",{" } else { b"{" });
            self.write_degraded(entity, out);
            self.write_features(entity, &mut counts, out);
            self.write_failure(entity, out);
            out.push(b'}');
        }
        write_tail(steps, out);
        counts
    }

    fn write_head(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b",\"release\":");
        write_integer(self.release.number.0, out);
        out.extend_from_slice(b",\"as_of\":");
        write_plain(&self.as_of, out);
        out.extend_from_slice(b",\"results\":[");
    }

    fn write_degraded(&self, entity: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\"degraded\":[");
        let start = out.len();
        for (position, view) in self.service.views.iter().enumerate() {
            let is_as_declared = match self.stored.get(position, entity) {
                StoredRow::Usable(_) => true,
                StoredRow::Missing => view.may_be_missing,
                StoredRow::Expired { .. } | StoredRow::Unavailable => false,
            };
            if is_as_declared {
                continue;
            }
            if out.len() > start {
                out.push(b',');
            }
            write_plain(&view.name, out);
        }
        out.push(b']');
    }

    /// `,"states":{...},"defaulted":[...]`
    fn write_states(&self, entity: usize, counts: &mut StateCounts, out: &mut Vec<u8>) {
        out.extend_from_slice(b",\"states\":{");
        let start = out.len();
        let mut defaulted = 0;
        for feature in &self.service.features {
            let told = self.tell(feature, entity);
            counts.add(told.state);
            defaulted += u64::from(told.defaulted);
            if told.state == State::Present {
                continue;
            }
            if out.len() > start {
                out.push(b',');
            }
            write_plain(&feature.name, out);
            out.push(b':');
            write_plain(&told.state.as_str(), out);
        }
        counts.defaulted += defaulted;
        out.extend_from_slice(b"},\"defaulted\":[");
        if defaulted > 0 {
            let start = out.len();
            for feature in &self.service.features {
                if !self.tell(feature, entity).defaulted {
                    continue;
                }
                if out.len() > start {
                    out.push(b',');
                }
                write_plain(&feature.name, out);
            }
        }
        out.push(b']');
    }

    /// `,"features":{...}`
    fn write_features(&self, entity: usize, counts: &mut StateCounts, out: &mut Vec<u8>) {
        out.extend_from_slice(b",\"features\":{");
        for (position, feature) in self.service.features.iter().enumerate() {
            if position > 0 {
                out.push(b',');
            }
            let told = self.tell(feature, entity);
            counts.add(told.state);
            counts.defaulted += u64::from(told.defaulted);
            write_plain(&feature.name, out);
            out.extend_from_slice(b":{\"value\":");
            told.value.write_json(feature.data_type, entity, out);
            out.extend_from_slice(b",\"state\":");
            write_plain(&told.state.as_str(), out);
            if let Some(event_time) = told.event_time {
                out.extend_from_slice(b",\"age\":");
                write_age(Age::at(self.as_of, event_time), out);
            }
            if told.defaulted {
                out.extend_from_slice(b",\"defaulted\":true");
            }
            out.push(b'}');
        }
        out.push(b'}');
    }

    /// `,"error":"..."` for an entity with a feature that could not be computed.
    fn write_failure(&self, entity: usize, out: &mut Vec<u8>) {
        if let Some(message) = self.computed.failure(entity) {
            out.extend_from_slice(b",\"error\":");
            Value::String(message.to_owned()).write_json(DataType::String, out);
        }
    }

    fn tell<'f>(&'f self, feature: &'f FeaturePlan, entity: usize) -> Told<'f> {
        match &feature.source {
            FeatureSource::Stored { view, position } => {
                self.tell_stored(feature, *view, *position, entity)
            }
            FeatureSource::Computed { feature, reads } => {
                let unavailable = reads
                    .iter()
                    .any(|view| self.stored.get(*view, entity).is_unavailable());
                let unavailable = unavailable || self.computed.failed(*feature, entity);
                let values = self.computed.values(*feature);
                let (state, value) = if unavailable {
                    (State::Unavailable, ToldValue::Null)
                } else if values.is_null(entity) {
                    (State::Null, ToldValue::Null)
                } else {
                    (State::Present, ToldValue::Computed(values))
                };
                Told {
                    state,
                    value,
                    event_time: None,
                    defaulted: false,
                }
            }
        }
    }

    fn tell_stored<'f>(
        &'f self,
        feature: &'f FeaturePlan,
        view: usize,
        position: usize,
        entity: usize,
    ) -> Told<'f> {
        let row = self.stored.get(view, entity);
        let (state, event_time) = match row {
            StoredRow::Usable(row) if row.is_null(position) => {
                (State::Null, Some(row.event_time()))
            }
            StoredRow::Usable(row) => (State::Present, Some(row.event_time())),
            StoredRow::Expired { event_time } => (State::Expired, Some(event_time)),
            StoredRow::Missing => (State::Missing, None),
            StoredRow::Unavailable => (State::Unavailable, None),
        };
        let value = match (row, &feature.default) {
            (StoredRow::Usable(row), _) => ToldValue::Stored(row, position),
            (StoredRow::Missing | StoredRow::Expired { .. }, Some(default)) => {
                ToldValue::Default(default)
            }
            _ => ToldValue::Null,
        };
        Told {
            defaulted: matches!(value, ToldValue::Default(_)),
            state,
            value,
            event_time,
        }
    }
}

impl ToldValue<'_> {
    fn write_json(&self, data_type: DataType, entity: usize, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(b"null"),
            Self::Stored(row, position) => row.write_json(*position, out),
            Self::Computed(values) => values.value(entity).write_json(data_type, out),
            Self::Default(value) => value.write_json(data_type, out),
        }
    }
}

/// Ends the last step and writes all of them.
fn write_tail(steps: &mut Steps, out: &mut Vec<u8>) {
    steps.end(Step::Respond);
    out.extend_from_slice(b"],\"timings\":");
    steps.timings().write_json(out);
    out.push(b'}');
}
