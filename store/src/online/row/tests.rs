use std::sync::Arc;

use arrow::array::{Array, ArrayRef, TimestampMicrosecondArray};
use feature_defs::data_type::DataType;
use feature_defs::feature_view::Feature;
use feature_defs::fingerprint::Fingerprint;
use feature_defs::name::Name;
use feature_defs::time::Instant;
use feature_defs::value::Value;
use proptest::prelude::*;

use super::*;
use crate::error::ErrorKind;

const DECIMAL: DataType = DataType::Decimal {
    precision: 38,
    scale: 2,
};

const ALL_TYPES: [DataType; 16] = [
    DataType::Bool,
    DataType::Int8,
    DataType::Int16,
    DataType::Int32,
    DataType::Int64,
    DataType::UInt8,
    DataType::UInt16,
    DataType::UInt32,
    DataType::UInt64,
    DataType::Float32,
    DataType::Float64,
    DECIMAL,
    DataType::String,
    DataType::Bytes,
    DataType::Date,
    DataType::Timestamp,
];

fn feature(index: usize, data_type: DataType, nullable: bool) -> Feature {
    Feature {
        name: Name::parse(&format!("f{index}")).expect("a name"),
        data_type,
        nullable,
        description: None,
        fingerprint: Fingerprint::of([""]),
    }
}

fn event_times(micros: i64, rows: usize) -> ArrayRef {
    Arc::new(TimestampMicrosecondArray::from(vec![micros; rows]).with_timezone("UTC"))
}

fn encode(features: &[Feature], values: &[Value], event_time: i64) -> Vec<u8> {
    let layout = RowLayout::new(features);
    let columns: Vec<ArrayRef> = features
        .iter()
        .zip(values)
        .map(|(feature, value)| Value::array([value], feature.data_type))
        .collect();
    let event_time = event_times(event_time, 1);
    let encoder = RowEncoder::new(&layout, &columns, &event_time).expect("columns fit");
    let mut bytes = Vec::new();
    encoder.encode(0, &mut bytes).expect("a row");
    bytes
}

#[test]
fn row_bytes_are_pinned() {
    let features = [
        feature(0, DataType::Int32, false),
        feature(1, DataType::String, true),
        feature(2, DataType::Float64, true),
        feature(3, DataType::Bytes, true),
        feature(4, DataType::Bool, false),
    ];
    let values = [
        Value::Int(-2),
        Value::String("né".to_owned()),
        Value::Null,
        Value::Bytes(vec![0, 255]),
        Value::Bool(true),
    ];
    #[rustfmt::skip]
    let golden = [
        1, 0, 240, 168, 111, 154, 34, 227,       // format, flags, layout
        7, 0, 0, 0, 0, 0, 0, 0,                         // event time
        0b010,                                          // f2 is null
        0xfe, 0xff, 0xff, 0xff,                         // f0
        3, 0, 0, 0,                                     // f1 ends at 3
        0, 0, 0, 0, 0, 0, 0, 0,                         // f2
        5, 0, 0, 0,                                     // f3 ends at 5
        1,                                              // f4
        b'n', 0xc3, 0xa9, 0, 255,
    ];
    assert_eq!(encode(&features, &values, 7), golden);
}

#[test]
fn rows_of_another_layout_are_refused() {
    let features = [feature(0, DataType::Int64, false)];
    let bytes = encode(&features, &[Value::Int(1)], 0);
    for other in [
        feature(1, DataType::Int64, false),
        feature(0, DataType::UInt64, false),
        feature(0, DataType::Int32, true),
    ] {
        let layout = RowLayout::new(&[other]);
        let error = RowView::new(&layout, &bytes).expect_err("another layout");
        assert_eq!(error.kind(), ErrorKind::Corrupt);
    }
}

#[test]
fn nulls_and_foreign_types_are_refused_by_name() {
    let layout = RowLayout::new(&[feature(0, DataType::Int64, false)]);
    let null = Value::array([&Value::Null], DataType::Int64);
    let error = RowEncoder::new(&layout, &[null], &event_times(0, 1)).expect_err("a null");
    assert_eq!(
        error.to_string(),
        "column `f0` has nulls and its feature is not nullable"
    );
    let narrow = Value::array([&Value::Int(1)], DataType::Int32);
    let error = RowEncoder::new(&layout, &[narrow], &event_times(0, 1)).expect_err("a type");
    assert_eq!(error.to_string(), "column `f0` is Int32 and not int64");
}

#[test]
fn sliced_columns_are_read_from_their_slice() {
    let features = [
        feature(0, DataType::Int64, true),
        feature(1, DataType::String, true),
        feature(2, DataType::Bool, true),
    ];
    let layout = RowLayout::new(&features);
    let numbers: Vec<Value> = (0..9).map(Value::Int).collect();
    let texts: Vec<Value> = (0..9).map(|i| Value::String(format!("t{i}"))).collect();
    let flags: Vec<Value> = (0..9).map(|i| Value::Bool(i % 2 == 0)).collect();
    let columns = [
        Value::array(&numbers, DataType::Int64).slice(3, 4),
        Value::array(&texts, DataType::String).slice(3, 4),
        Value::array(&flags, DataType::Bool).slice(3, 4),
    ];
    let times = event_times(5, 9).slice(3, 4);
    let encoder = RowEncoder::new(&layout, &columns, &times).expect("columns fit");
    let mut bytes = Vec::new();
    encoder.encode(1, &mut bytes).expect("a row");
    let view = RowView::new(&layout, &bytes).expect("a row");
    assert_eq!(view.value(0), numbers[4]);
    assert_eq!(view.value(1), texts[4]);
    assert_eq!(view.value(2), flags[4]);
}

/// Equal to the bit: NaN equals the same NaN, 0.0 is not -0.0.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Float(one), Value::Float(other)) => one.to_bits() == other.to_bits(),
        _ => one == other,
    }
}

fn any_value(data_type: DataType) -> BoxedStrategy<Value> {
    let floats = || {
        prop_oneof![
            any::<f64>(),
            Just(f64::NAN),
            Just(-0.0),
            Just(f64::INFINITY),
            Just(f64::MIN_POSITIVE)
        ]
    };
    match data_type {
        DataType::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        DataType::Int8 => any::<i8>().prop_map(|v| Value::Int(v.into())).boxed(),
        DataType::Int16 => any::<i16>().prop_map(|v| Value::Int(v.into())).boxed(),
        DataType::Int32 => any::<i32>().prop_map(|v| Value::Int(v.into())).boxed(),
        DataType::Int64 => prop_oneof![any::<i64>(), Just(i64::MIN), Just(i64::MAX)]
            .prop_map(Value::Int)
            .boxed(),
        DataType::UInt8 => any::<u8>().prop_map(|v| Value::UInt(v.into())).boxed(),
        DataType::UInt16 => any::<u16>().prop_map(|v| Value::UInt(v.into())).boxed(),
        DataType::UInt32 => any::<u32>().prop_map(|v| Value::UInt(v.into())).boxed(),
        DataType::UInt64 => prop_oneof![any::<u64>(), Just(u64::MAX)]
            .prop_map(Value::UInt)
            .boxed(),
        #[allow(clippy::cast_possible_truncation)]
        DataType::Float32 => floats()
            .prop_map(|v| Value::Float(f64::from(v as f32)))
            .boxed(),
        DataType::Float64 => floats().prop_map(Value::Float).boxed(),
        DataType::Decimal { scale, .. } => {
            let limit = 10_i128.pow(38) - 1;
            (-limit..=limit)
                .prop_map(move |unscaled| Value::Decimal { unscaled, scale })
                .boxed()
        }
        DataType::String => any::<String>().prop_map(Value::String).boxed(),
        DataType::Bytes => any::<Vec<u8>>().prop_map(Value::Bytes).boxed(),
        DataType::Date => any::<i32>().prop_map(Value::Date).boxed(),
        DataType::Timestamp => any::<i64>()
            .prop_map(|v| Value::Timestamp(Instant::from_micros(v)))
            .boxed(),
    }
}

fn any_column() -> impl Strategy<Value = (DataType, bool, Value)> {
    (
        prop::sample::select(ALL_TYPES.as_slice()),
        any::<bool>(),
        0_u8..4,
    )
        .prop_flat_map(|(data_type, nullable, null)| {
            let value = if nullable && null == 0 {
                Just(Value::Null).boxed()
            } else {
                any_value(data_type)
            };
            (Just(data_type), Just(nullable), value)
        })
}

fn any_row() -> impl Strategy<Value = (Vec<Feature>, Vec<Value>)> {
    prop::collection::vec(any_column(), 0..24).prop_map(|columns| {
        columns
            .into_iter()
            .enumerate()
            .map(|(index, (data_type, nullable, value))| {
                (feature(index, data_type, nullable), value)
            })
            .unzip()
    })
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded((features, values) in any_row(), event_time: i64) {
        let bytes = encode(&features, &values, event_time);
        let layout = RowLayout::new(&features);
        let view = RowView::new(&layout, &bytes).expect("a row");
        prop_assert_eq!(view.event_time(), Instant::from_micros(event_time));
        for (index, value) in values.iter().enumerate() {
            prop_assert!(same(&view.value(index), value), "{:?}", value);
            prop_assert_eq!(view.is_null(index), *value == Value::Null);
            let column = gather(&layout, index, &[Some(view), None]);
            prop_assert_eq!(column.data_type(), &features[index].data_type.to_arrow());
            prop_assert!(same(&Value::from_array(&column, 0), value));
            prop_assert!(column.is_null(1));
            let input = view.model_input(index);
            match value {
                Value::Float(value) => prop_assert_eq!(input.to_bits(), value.to_bits()),
                #[allow(clippy::cast_precision_loss)]
                Value::Int(value) => prop_assert!(input == *value as f64),
                Value::Date(days) => prop_assert!(input == f64::from(*days)),
                Value::Null | Value::String(_) | Value::Bytes(_) => prop_assert!(input.is_nan()),
                _ => prop_assert!(input.is_finite()),
            }
        }
    }

    #[test]
    fn damaged_rows_never_panic(
        (features, values) in any_row(),
        cut: prop::sample::Index,
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let whole = encode(&features, &values, 1);
        let layout = RowLayout::new(&features);
        let cut_short = &whole[..cut.index(whole.len())];
        prop_assert!(RowView::new(&layout, cut_short).is_err());
        let mut flipped = whole.clone();
        for (place, byte) in flips {
            let place = place.index(flipped.len());
            flipped[place] ^= byte;
        }
        if let Ok(view) = RowView::new(&layout, &flipped) {
            let mut json = Vec::new();
            for index in 0..layout.len() {
                let _ = (view.value(index), view.model_input(index));
                view.write_json(index, &mut json);
                let _ = gather(&layout, index, &[Some(view)]);
            }
        }
    }
}
