use feature_defs::about::About;
use feature_defs::feature_service::{Origin, ServiceFeature};
use feature_defs::name::FeatureRef;
use feature_defs::value::Value;

use super::*;
use crate::import::lightgbm;
use crate::trees::Objective;

const TEXT: &str = include_str!("../../tests/data/tiny.txt");

fn name(text: &str) -> Name {
    Name::parse(text).expect("name")
}

fn feature(full_name: &str, data_type: DataType) -> ServiceFeature {
    let (view, feature) = full_name.split_once('.').expect("view.feature");
    ServiceFeature {
        name: full_name.to_owned(),
        reference: FeatureRef {
            view: name(view),
            feature: name(feature),
        },
        data_type,
        fingerprint: Fingerprint::of([full_name]),
        origin: Origin::Stored,
        default: None,
    }
}

fn service(features: Vec<ServiceFeature>) -> FeatureService {
    FeatureService {
        name: name("buys_again_v1"),
        about: About::default(),
        aliases: Vec::new(),
        features,
        fingerprint: Fingerprint::of(["service"]),
    }
}

/// The features of the model, not in its order.
fn fitting() -> FeatureService {
    service(vec![
        feature("basket.amount", DataType::Float64),
        feature(
            "customer_spend.spend_30d",
            DataType::Decimal {
                precision: 12,
                scale: 2,
            },
        ),
    ])
}

fn model(transform: Transform) -> Model {
    Model {
        name: name("buys_again"),
        about: About::default(),
        service: name("buys_again_v1"),
        output: name("buys_again_90d"),
        transform: Some(transform),
        fingerprint: Fingerprint::of(["model"]),
    }
}

fn tiny() -> Ensemble {
    lightgbm::read(TEXT).expect("tiny model")
}

fn bundle() -> Bundle {
    Bundle::build(&model(Transform::Sigmoid), &fitting(), &tiny()).expect("bundle")
}

#[test]
fn bundle_read_from_its_bytes_is_the_same() {
    let built = bundle();
    let read = Bundle::from_bytes(&built.to_bytes()).expect("reads");
    assert_eq!(read.manifest, built.manifest);
    assert_eq!(read.quantized, built.quantized);
    assert_eq!(read.fingerprint(), built.fingerprint());
    assert_eq!(read.to_bytes(), built.to_bytes());
    let inputs: Vec<String> = read.inputs().iter().map(|i| i.name.to_string()).collect();
    assert_eq!(inputs, ["customer_spend.spend_30d", "basket.amount"]);
    let report = read.report();
    assert_eq!((report.trees, report.leaves, report.depth), (2, 4, 2));
    assert_eq!((report.max_difference, report.verified_rows), (0.0, 512));
}

#[test]
fn golden_bytes_are_still_read_and_written() {
    let golden: &[u8] = include_bytes!("../../tests/data/tiny.bundle");
    assert_eq!(bundle().to_bytes(), golden);
    Bundle::from_bytes(golden).expect("golden bundle");
}

#[test]
fn bundles_of_before_features_had_fingerprints_are_still_read_and_fit() {
    let golden: &[u8] = include_bytes!("../../tests/data/tiny_without_fingerprints.bundle");
    let read = Bundle::from_bytes(golden).expect("golden bundle");
    assert_eq!(read.to_bytes(), golden);
    read.check_model(&model(Transform::Sigmoid), &fitting())
        .expect("fits");
}

/// Case MOD-07: the order of a service's features never decides.
#[test]
fn columns_in_another_order_score_the_same() {
    let by_hand = |spend: f64, amount: f64| tiny().score(&[spend, amount]);
    for features in [
        ["customer_spend.spend_30d", "basket.amount"],
        ["basket.amount", "customer_spend.spend_30d"],
    ] {
        let service = service(features.map(|f| feature(f, DataType::Float64)).to_vec());
        let bundle = Bundle::build(&model(Transform::Sigmoid), &service, &tiny()).expect("binds");
        bundle.check_service(&service).expect("fits");
        for (spend, amount) in [(0.0, 1.0), (1.0, 0.0), (0.0, 9.0), (9.0, 9.0)] {
            let row: Vec<f64> = bundle
                .inputs()
                .iter()
                .map(|input| match input.name.as_str() {
                    "basket.amount" => amount,
                    _ => spend,
                })
                .collect();
            let mut scores = [0.0];
            bundle.scorer().score(&row, &mut scores);
            assert_eq!(scores[0].to_bits(), by_hand(spend, amount).to_bits());
        }
    }
}

/// Case MOD-07: extra, missing and renamed features are refused with both lists, at the import and at the load.
#[test]
fn extra_missing_and_renamed_features_are_refused_with_both_lists() {
    let spend = || {
        feature(
            "customer_spend.spend_30d",
            DataType::Decimal {
                precision: 12,
                scale: 2,
            },
        )
    };
    let amount = || feature("basket.amount", DataType::Float64);
    let other = || feature("basket.amount_1", DataType::Float64);
    let built = bundle();
    for (features, missing, extra) in [
        (
            vec![spend(), amount(), other()],
            vec![],
            vec!["basket.amount_1"],
        ),
        (vec![spend()], vec!["basket.amount"], vec![]),
        (
            vec![spend(), other()],
            vec!["basket.amount"],
            vec!["basket.amount_1"],
        ),
    ] {
        let service = service(features);
        let at_load = built.check_service(&service).expect_err("refused");
        assert_eq!(
            (&at_load.missing, &at_load.extra),
            (&owned(&missing), &owned(&extra))
        );
        let text = at_load.to_string();
        assert!(
            text.contains("model:   `customer_spend.spend_30d`, `basket.amount`"),
            "{text}"
        );
        assert!(
            text.contains("service: `customer_spend.spend_30d`"),
            "{text}"
        );
        let at_import = Bundle::build(&model(Transform::Sigmoid), &service, &tiny());
        let Err(BundleError::Mismatch(at_import)) = at_import else {
            panic!("not refused: {at_import:?}");
        };
        assert_eq!(
            (&at_import.missing, &at_import.extra),
            (&at_load.missing, &at_load.extra)
        );
    }
}

#[test]
fn a_mismatch_tells_the_difference_first_and_shortens_the_lists() {
    let many = |count: usize| {
        let names = (0..count).map(|nth| format!("v.f{nth}"));
        names.collect::<Box<[String]>>()
    };
    let mismatch = Mismatch {
        service: Name::parse("s").expect("a name"),
        missing: owned(&["v.a"]),
        extra: owned(&["v.b"]),
        different: owned(&[]),
        model_features: many(9),
        service_features: many(300),
    };
    let text = mismatch.to_string();
    let [first, model, service] = text.lines().collect::<Vec<_>>()[..] else {
        panic!("three lines: {text}");
    };
    assert_eq!(
        first,
        "service `s` and the model do not have the same features; only in the model: `v.a`; only in the service: `v.b`; their order does not matter"
    );
    assert!(model.ends_with("`v.f7` and 1 more"), "{model}");
    assert!(service.ends_with("`v.f7` and 292 more"), "{service}");
}

fn owned(names: &[&str]) -> Box<[String]> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn changed_types_and_defaults_are_refused() {
    let mut changed = fitting();
    changed.features[0].data_type = DataType::Float32;
    let mismatch = bundle().check_service(&changed).expect_err("type");
    let expected = "`basket.amount` is float64 in the model, float32 in the service";
    assert_eq!(*mismatch.different, [expected]);
    let mut defaulted = fitting();
    defaulted.features[0].default = Some(Value::Float(0.0));
    let mismatch = bundle().check_service(&defaulted).expect_err("default");
    let expected = "`basket.amount` has default none in the model, 0.0 in the service";
    assert_eq!(*mismatch.different, [expected]);
}

#[test]
fn defaults_of_every_readable_type_are_kept() {
    let decimal = DataType::Decimal {
        precision: 38,
        scale: 3,
    };
    let unscaled = -1_i128 << 100;
    let micros = feature_defs::time::Instant::from_micros(-1);
    for (data_type, default) in [
        (DataType::Int8, Value::Null),
        (DataType::Bool, Value::Bool(true)),
        (DataType::Int64, Value::Int(i64::MIN)),
        (DataType::UInt64, Value::UInt(u64::MAX)),
        (DataType::Float64, Value::Float(0.1)),
        (DataType::Float64, Value::Float(f64::NEG_INFINITY)),
        (decimal, Value::Decimal { unscaled, scale: 3 }),
        (DataType::Date, Value::Date(-1)),
        (DataType::Timestamp, Value::Timestamp(micros)),
    ] {
        let mut service = fitting();
        service.features[0].data_type = data_type;
        service.features[0].default = Some(default.clone());
        let built = Bundle::build(&model(Transform::Sigmoid), &service, &tiny()).expect("binds");
        let read = Bundle::from_bytes(&built.to_bytes()).expect("reads");
        assert_eq!(read.inputs()[1].default, Some(default));
        read.check_service(&service).expect("fits");
    }
}

#[test]
fn string_features_are_refused() {
    let mut service = fitting();
    service.features[0].data_type = DataType::String;
    let refused = Bundle::build(&model(Transform::Sigmoid), &service, &tiny());
    let expected =
        "feature `basket.amount` is a string: a model reads numbers, bools, dates and timestamps";
    assert_eq!(refused.expect_err("refused").to_string(), expected);
}

#[test]
fn transform_of_another_objective_is_refused() {
    let undeclared = Model {
        transform: None,
        ..model(Transform::Exp)
    };
    let built = Bundle::build(&undeclared, &fitting(), &tiny()).expect("built");
    assert_eq!(built.transform(), Transform::Sigmoid);
    assert_eq!(built.check_model(&undeclared, &fitting()), Ok(()));
    let misfit = built.check_model(&model(Transform::Identity), &fitting());
    let expected =
        "the model declares the transform `identity`, and its bundle was imported with `sigmoid`";
    assert_eq!(misfit.expect_err("another").to_string(), expected);
    let mut squared = tiny();
    squared.objective = Some(Objective {
        text: "regression sqrt".to_owned(),
        transform: None,
    });
    let refused = Bundle::build(&undeclared, &fitting(), &squared);
    let expected = "the model was trained for `regression sqrt`, whose scores no transform of ours turns into answers: \
                    declare `identity` for raw scores";
    assert_eq!(refused.expect_err("refused").to_string(), expected);
    assert!(Bundle::build(&model(Transform::Identity), &fitting(), &squared).is_ok());

    assert!(Bundle::build(&model(Transform::Identity), &fitting(), &tiny()).is_ok());
    let refused = Bundle::build(&model(Transform::Exp), &fitting(), &tiny());
    let expected = "the model was trained for `binary sigmoid:1`, whose scores `exp` does not turn into answers: \
                    declare `sigmoid`, or `identity` for raw scores";
    assert_eq!(refused.expect_err("refused").to_string(), expected);
}

#[test]
fn truncated_and_flipped_bundles_are_refused() {
    let bytes = bundle().to_bytes();
    for length in 0..bytes.len() {
        assert!(
            Bundle::from_bytes(&bytes[..length]).is_err(),
            "first {length} bytes"
        );
    }
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        assert!(Bundle::from_bytes(&flipped).is_err(), "byte {at} flipped");
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(Bundle::from_bytes(&longer).is_err());
}

/// A file with a right hash is still not trusted: every byte changed in turn, the hash made to fit.
#[test]
fn hostile_bundles_with_a_right_hash_never_panic() {
    let bytes = bundle().to_bytes();
    let content = bytes.len() - 32;
    let mut accepted = 0;
    for at in 0..content {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut hostile = bytes[..content].to_vec();
            if std::mem::replace(&mut hostile[at], value) == value {
                continue;
            }
            let hash = blake3::hash(&hostile);
            hostile.extend_from_slice(hash.as_bytes());
            if let Ok(bundle) = Bundle::from_bytes(&hostile) {
                accepted += 1;
                bundle.scorer().score(&[f64::NAN, 1.0], &mut [0.0]);
            }
        }
    }
    // what is left are other names, numbers of the report, and scores that the verification rows do not reach
    assert!(
        accepted < content,
        "{accepted} of {content} bytes are not checked"
    );
}

#[test]
fn another_version_is_named() {
    let mut bytes = bundle().to_bytes();
    bytes[8] = 2;
    let error = Bundle::from_bytes(&bytes).expect_err("refused");
    assert_eq!(
        error,
        BundleError::Version {
            found: 2,
            supported: 1
        }
    );
}

#[test]
fn features_with_names_of_the_services_own_are_bound_and_written() {
    let text = TEXT.replace("customer_spend.spend_30d", "spend_30d");
    let ensemble = lightgbm::read(&text).expect("a model");
    let mut short = fitting();
    for feature in &mut short.features {
        if feature.reference.feature.as_str() == "spend_30d" {
            feature.name = "spend_30d".to_owned();
        }
    }
    let bundle = Bundle::build(&model(Transform::Sigmoid), &short, &ensemble).expect("binds");
    let read = Bundle::from_bytes(&bundle.to_bytes()).expect("reads");
    let names = |bundle: &Bundle| -> Vec<String> {
        bundle
            .inputs()
            .iter()
            .map(|input| input.name.clone())
            .collect()
    };
    assert_eq!(names(&read), names(&bundle));
    assert!(names(&read).contains(&"spend_30d".to_owned()));
    read.check_service(&short).expect("fits");
    read.check_service(&fitting()).expect_err("another name");
}

#[test]
fn a_feature_of_another_meaning_is_refused_by_name_and_may_be_accepted() {
    let made = bundle();
    let mut changed = fitting();
    for feature in &mut changed.features {
        if feature.name == "basket.amount" {
            feature.fingerprint = Fingerprint::of(["in cents"]);
        }
    }
    let Err(Misfit::Features(mismatch)) = made.check_model(&model(Transform::Sigmoid), &changed)
    else {
        panic!("it fits");
    };
    assert_eq!(
        mismatch.different.to_vec(),
        ["`basket.amount` is computed in another way than when the model was imported"]
    );
    let accepted = made
        .accept(&model(Transform::Sigmoid), &changed)
        .expect("accepted");
    let read = Bundle::from_bytes(&accepted.to_bytes()).expect("reads");
    read.check_model(&model(Transform::Sigmoid), &changed)
        .expect("fits");
    assert_eq!(read.quantized(), made.quantized());
    let missing = service(changed.features[..1].to_vec());
    made.accept(&model(Transform::Sigmoid), &missing)
        .expect_err("a feature is missing");
}
