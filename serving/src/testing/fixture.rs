//! A small project, served from memory.
//!
//! Two entities: `customer` (`customer_id: int64`) and `visit` (`user: string`, `merchant: string`). Three views:
//! `spend` (TTL 3 days), `worth` (no TTL) and `visits` (TTL 1 day); one request view, `basket`. Models `churn` over
//! service `churn_v1` and `fits` over `fits_v1`.

use std::sync::Arc;

use arrow::array::ArrayRef;
use axum::body::Body;
use axum::http::{Request, Response, StatusCode};
use feature_defs::about::About;
use feature_defs::data_type::DataType;
use feature_defs::definitions::Definitions;
use feature_defs::entity::{Entity, EntityKey, KeyPart};
use feature_defs::feature_service::{FeatureService, Origin, ServiceFeature};
use feature_defs::feature_view::{Computation, Feature, FeatureView, SqlSnapshot};
use feature_defs::fingerprint::Fingerprint;
use feature_defs::model::{Model, Transform};
use feature_defs::name::{FeatureRef, Name};
use feature_defs::project::{Location, Places, Project};
use feature_defs::request_view::{RequestFeature, RequestField, RequestView};
use feature_defs::time::{Instant, ManualClock, TimeSpan, Ttl};
use feature_defs::value::Value;
use http_body_util::BodyExt;
use indexmap::IndexMap;
use scorer::Scorer;
use serde_json::Value as Json;
use store::online::row::{RowEncoder, RowLayout};
use store::release::{Release, ReleaseModel, ReleaseNumber, ReleaseView, SnapshotId};
use tower::ServiceExt;

use crate::app::App;
use crate::config::{Limits, ServerSettings};
use crate::metrics::Metrics;
use crate::predict::Predictor;
use crate::predict::plan::{OpenBundle, ReleasePlan};
use crate::release_watch::Failure;
use crate::testing::memory_store::MemoryStore;

pub(crate) const LTV: DataType = DataType::Decimal {
    precision: 12,
    scale: 2,
};

/// The as-of of release 1.
pub(crate) fn as_of() -> Instant {
    Instant::parse("1997-10-01").expect("date")
}

pub(crate) fn after(instant: Instant, span: &str) -> Instant {
    let span = TimeSpan::parse(span).expect("span");
    Instant::from_micros(instant.micros() + span.micros())
}

pub(crate) fn name(text: &str) -> Name {
    Name::parse(text).expect("name")
}

pub(crate) fn decimal(unscaled: i128) -> Value {
    Value::Decimal { unscaled, scale: 2 }
}

pub(crate) fn customer(id: i64) -> EntityKey {
    let mut key = EntityKey::new();
    key.push_int(id);
    key
}

pub(crate) fn visit(user: &str, merchant: &str) -> EntityKey {
    let mut key = EntityKey::new();
    key.push_str(user);
    key.push_str(merchant);
    key
}

/// Adds up its inputs, each times ten as often as its position says, a missing one counting -1: 123.0 is inputs 3, 2, 1.
#[derive(Debug)]
pub(crate) struct Digits(pub(crate) usize);

impl Scorer for Digits {
    fn width(&self) -> usize {
        self.0
    }

    fn score(&self, rows: &[f64], scores: &mut [f64]) {
        for (row, score) in rows.chunks_exact(self.0).zip(scores) {
            let digits = row.iter().map(|x| if x.is_nan() { -1.0 } else { *x });
            *score = digits.rev().fold(0.0, |sum, digit| sum * 10.0 + digit);
        }
    }
}

/// The project, served: change what the store holds, ask, look at the answer.
pub(crate) struct Fixture {
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) predictor: Arc<Predictor>,
    pub(crate) settings: ServerSettings,
}

impl Fixture {
    /// Without a release.
    pub(crate) fn empty() -> Self {
        let store = Arc::new(MemoryStore::default());
        let clock = Arc::new(ManualClock::new(after(as_of(), "2h")));
        let metrics = Arc::new(Metrics::new().expect("metrics"));
        let predictor = Arc::new(Predictor::new(
            store.clone(),
            clock.clone(),
            Limits {
                entities: 300,
                body_bytes: 64 << 10,
            },
            metrics,
        ));
        Self {
            store,
            clock,
            predictor,
            settings: ServerSettings::default(),
        }
    }

    /// With release 1, which has no rows.
    pub(crate) fn served() -> Self {
        let fixture = Self::empty();
        fixture.predictor.serve(Arc::new(plan(1)));
        fixture
    }

    /// Puts a row of a view into release 1.
    pub(crate) fn put(&self, view: &str, key: &EntityKey, event_time: Instant, values: &[Value]) {
        put(&self.store, 1, view, key, event_time, values);
    }

    pub(crate) async fn get(&self, path: &str) -> (StatusCode, Json) {
        let request = Request::get(path).body(Body::empty()).expect("request");
        let response = self.respond(request).await;
        json(response).await
    }

    pub(crate) async fn post(&self, path: &str, body: &str) -> (StatusCode, Json) {
        let body = Body::from(body.to_owned());
        let request = Request::post(path).body(body).expect("request");
        json(self.respond(request).await).await
    }

    pub(crate) async fn respond(&self, request: Request<Body>) -> Response<Body> {
        let app = App::new(
            Arc::clone(&self.predictor),
            Arc::new(Failure::default()),
            self.settings.concurrent_requests,
            self.settings.request_deadline,
        );
        app.router().oneshot(request).await.expect("infallible")
    }
}

/// Status and whole body, which must be JSON.
pub(crate) async fn json(response: Response<Body>) -> (StatusCode, Json) {
    let status = response.status();
    let bytes = response.into_body().collect().await.expect("body");
    let json = serde_json::from_slice(&bytes.to_bytes()).expect("json");
    (status, json)
}

/// Puts a row of a view into a release.
pub(crate) fn put(
    store: &MemoryStore,
    release: u64,
    view: &str,
    key: &EntityKey,
    event_time: Instant,
    values: &[Value],
) {
    let definitions = definitions();
    let definition = &definitions.views[view];
    let columns: Vec<ArrayRef> = definition
        .features
        .iter()
        .zip(values)
        .map(|(feature, value)| Value::array([value], feature.data_type))
        .collect();
    let event_time = Value::array([&Value::Timestamp(event_time)], DataType::Timestamp);
    let layout = RowLayout::new(&definition.features);
    let encoder = RowEncoder::new(&layout, &columns, &event_time).expect("columns");
    let mut row = Vec::new();
    encoder.encode(0, &mut row).expect("row");
    let release = self::release(&definitions, release);
    let found = release.views.iter().find(|v| v.view.as_str() == view);
    store.put(found.expect("view").snapshot, key.as_bytes(), row);
}

/// Release `number` of the project, ready to answer.
pub(crate) fn plan(number: u64) -> ReleasePlan {
    let definitions = definitions();
    let release = release(&definitions, number);
    let bundles = definitions.models.values().map(|model| {
        // A bundle names its inputs in an order of its own.
        let features = definitions.services[&model.service].features.iter().rev();
        let inputs: Vec<String> = features.map(|feature| feature.name.clone()).collect();
        let bundle = OpenBundle {
            short: "0123abcd".to_owned(),
            scorer: Arc::new(Digits(inputs.len())),
            inputs,
            transform: Transform::Identity,
        };
        (model.name.clone(), bundle)
    });
    let bundles = bundles.collect();
    ReleasePlan::new(definitions, release, bundles).expect("plan")
}

/// Release `number`, with snapshots of its own.
pub(crate) fn release(definitions: &Definitions, number: u64) -> Release {
    let mut views: Vec<ReleaseView> = definitions
        .views
        .values()
        .zip(1..)
        .map(|(view, position)| ReleaseView {
            view: view.name.clone(),
            fingerprint: view.fingerprint,
            as_of: as_of(),
            content: Fingerprint::of([view.name.as_str()]),
            rows: 0,
            snapshot: SnapshotId(number * 100 + position),
        })
        .collect();
    views.sort_by(|a, b| a.view.cmp(&b.view));
    Release {
        number: ReleaseNumber(number),
        as_of: as_of(),
        created_at: as_of(),
        definitions_version: 1,
        definitions: definitions.fingerprint,
        views,
        models: ["churn", "fits"]
            .map(|model| ReleaseModel {
                model: name(model),
                bundle: Fingerprint::of(["bundle", model]),
            })
            .into(),
    }
}

pub(crate) fn definitions() -> Definitions {
    let mut definitions = Definitions {
        project: Project {
            name: name("shop"),
            renamed_from: None,
            root: "/nowhere".into(),
            timezone: "UTC".parse().expect("zone"),
            places: Places {
                registry: Location::Sqlite("registry.db".into()),
                offline: Location::Local("offline".into()),
                online: Location::Embedded("online".into()),
            },
            databases: IndexMap::new(),
            roots: IndexMap::new(),
            environment: None,
            environments: IndexMap::new(),
        },
        entities: IndexMap::new(),
        sources: IndexMap::new(),
        views: IndexMap::new(),
        request_views: IndexMap::new(),
        services: IndexMap::new(),
        models: IndexMap::new(),
        fingerprint: Fingerprint::of(["definitions"]),
        files: Vec::new(),
    };
    entity(
        &mut definitions,
        "customer",
        &[("customer_id", DataType::Int64)],
    );
    let parts = [("user", DataType::String), ("merchant", DataType::String)];
    entity(&mut definitions, "visit", &parts);
    let days = |text| Ttl::AtMost(TimeSpan::parse(text).expect("span"));
    view(
        &mut definitions,
        "spend",
        "customer",
        days("3d"),
        &[
            ("total", DataType::Float64),
            ("orders", DataType::Int64),
            ("shop", DataType::String),
        ],
    );
    view(
        &mut definitions,
        "worth",
        "customer",
        Ttl::Unlimited,
        &[("ltv", LTV)],
    );
    view(
        &mut definitions,
        "visits",
        "visit",
        days("1d"),
        &[("count", DataType::Int64)],
    );
    service(
        &mut definitions,
        "churn_v1",
        &[
            ("spend", "total", None),
            ("spend", "orders", None),
            ("worth", "ltv", Some(decimal(700))),
        ],
    );
    service(
        &mut definitions,
        "everything",
        &[
            ("spend", "total", None),
            ("spend", "orders", Some(Value::Int(0))),
            ("spend", "shop", None),
            ("worth", "ltv", None),
        ],
    );
    service(&mut definitions, "visits_v1", &[("visits", "count", None)]);
    basket(&mut definitions);
    service(
        &mut definitions,
        "basket_v1",
        &[
            ("basket", "to_usual", None),
            ("basket", "units_each", None),
            ("basket", "channel_seen", None),
        ],
    );
    service(
        &mut definitions,
        "fits_v1",
        &[("basket", "units_each", None), ("spend", "orders", None)],
    );
    service(
        &mut definitions,
        "usual_v1",
        &[("basket", "to_usual", None)],
    );
    model(&mut definitions, "churn", "churn_v1", "buys_again");
    model(&mut definitions, "fits", "fits_v1", "fit");
    definitions
}

fn model(definitions: &mut Definitions, model: &str, service: &str, output: &str) {
    let model = Model {
        name: name(model),
        about: About {
            description: Some(format!("Tells `{output}`")),
            ..About::default()
        },
        service: name(service),
        output: name(output),
        transform: None,
        fingerprint: Fingerprint::of([model]),
    };
    definitions.models.insert(model.name.clone(), model);
}

/// Request view `basket` over `amount` (required), `units` (1 unless given, may be null) and `channel` (`web` unless given).
fn basket(definitions: &mut Definitions) {
    let field = |field: &str, data_type, default, nullable| RequestField {
        name: name(field),
        data_type,
        default,
        nullable,
    };
    let feature = |feature: &str, expression: &str, data_type, reads: &str| RequestFeature {
        name: name(feature),
        expression: expression.to_owned(),
        data_type,
        fields: expression.split(' ').take(1).map(name).collect(),
        features: reads
            .split_once('.')
            .map(|(view, feature)| FeatureRef {
                view: name(view),
                feature: name(feature),
            })
            .into_iter()
            .collect(),
        description: None,
        fingerprint: Fingerprint::of([""]),
    };
    let view = RequestView {
        name: name("basket"),
        about: About::default(),
        inputs: vec![
            field("amount", DataType::Float64, None, false),
            field("units", DataType::Int64, Some(Value::Int(1)), true),
            field(
                "channel",
                DataType::String,
                Some(Value::String("web".to_owned())),
                false,
            ),
        ],
        features: vec![
            feature(
                "to_usual",
                "amount / spend.total",
                DataType::Float64,
                "spend.total",
            ),
            feature(
                "units_each",
                "units / spend.orders",
                DataType::Int64,
                "spend.orders",
            ),
            feature("channel_seen", "channel", DataType::String, ""),
        ],
        fingerprint: Fingerprint::of(["basket"]),
    };
    definitions.request_views.insert(view.name.clone(), view);
}

fn entity(definitions: &mut Definitions, entity: &str, keys: &[(&str, DataType)]) {
    let keys = keys.iter().map(|(part, data_type)| KeyPart {
        name: name(part),
        data_type: *data_type,
    });
    let entity = Entity {
        name: name(entity),
        about: About::default(),
        keys: keys.collect(),
    };
    definitions.entities.insert(entity.name.clone(), entity);
}

fn view(
    definitions: &mut Definitions,
    view: &str,
    entity: &str,
    ttl: Ttl,
    features: &[(&str, DataType)],
) {
    let features = features.iter().map(|(feature, data_type)| Feature {
        name: name(feature),
        data_type: *data_type,
        nullable: true,
        description: None,
        fingerprint: Fingerprint::of([""]),
    });
    let view = FeatureView {
        name: name(view),
        about: About::default(),
        entity: name(entity),
        ttl,
        schedule: None,
        checks: Vec::new(),
        computation: Computation::Sql(SqlSnapshot {
            text: String::new(),
            file: String::new(),
            sources: Vec::new(),
            views: Vec::new(),
        }),
        features: features.collect(),
        fingerprint: Fingerprint::of([view]),
    };
    definitions.views.insert(view.name.clone(), view);
}

fn service(definitions: &mut Definitions, service: &str, features: &[(&str, &str, Option<Value>)]) {
    let features = features.iter().map(|(view, feature, default)| {
        let stored = definitions.views.get(*view).map(|view| {
            let found = view.features.iter().find(|f| f.name.as_str() == *feature);
            found.expect("declared").data_type
        });
        let computed = || {
            let features = &definitions.request_views[*view].features;
            let found = features.iter().find(|f| f.name.as_str() == *feature);
            found.expect("declared").data_type
        };
        ServiceFeature {
            name: format!("{view}.{feature}"),
            reference: FeatureRef {
                view: name(view),
                feature: name(feature),
            },
            origin: stored.map_or(Origin::Request, |_| Origin::Stored),
            data_type: stored.unwrap_or_else(computed),
            fingerprint: Fingerprint::of([""]),
            default: default.clone(),
        }
    });
    let service = FeatureService {
        name: name(service),
        about: About::default(),
        aliases: Vec::new(),
        features: features.collect(),
        fingerprint: Fingerprint::of([service]),
    };
    definitions.services.insert(service.name.clone(), service);
}
