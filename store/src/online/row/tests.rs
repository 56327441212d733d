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

fn all_types() -> Vec<DataType> {
    let texts = [
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
        "decimal(38,2)",
        "string",
        "bytes",
        "uuid",
        "date",
        "timestamp",
        "vector<float16, 3>",
        "vector<float64, 1>",
        "list<bool>",
        "list<list<string>>",
        "list<struct<a: int16, b: list<uuid>, c: vector<float32, 2>>>",
        "struct<a: decimal(38,2), b: bytes, c: timestamp, d: date, e: float64>",
    ];
    texts
        .map(|text| DataType::parse(text).expect(text))
        .to_vec()
}

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
fn rows_of_halves_and_uuids_are_pinned() {
    let features = [
        feature(0, DataType::Float16, true),
        feature(1, DataType::Uuid, true),
    ];
    let uuid = [
        0xf8, 0x1d, 0x4f, 0xae, 0x7d, 0xec, 0x11, 0xd0, 1, 2, 3, 4, 5, 6, 7, 8,
    ];
    #[rustfmt::skip]
    let golden = [
        1, 0, 150, 225, 156, 189, 164, 4,               // format, flags, layout
        7, 0, 0, 0, 0, 0, 0, 0,                         // event time
        0b00,
        0x00, 0xc1,                                     // -2.5
        0xf8, 0x1d, 0x4f, 0xae, 0x7d, 0xec, 0x11, 0xd0, 1, 2, 3, 4, 5, 6, 7, 8,
    ];
    assert_eq!(
        encode(&features, &[Value::Float(-2.5), Value::Uuid(uuid)], 7),
        golden
    );
}

#[test]
fn rows_of_lists_structs_and_vectors_are_pinned() {
    let of = |text: &str| DataType::parse(text).expect(text);
    let features = [
        feature(0, of("list<int16>"), true),
        feature(1, of("vector<float16, 2>"), true),
        feature(2, of("struct<a: string, b: list<bool>, c: uint8>"), false),
        feature(3, of("string"), true),
        feature(4, of("list<string>"), true),
    ];
    let text = |text: &str| Value::String(text.to_owned());
    let values = [
        Value::List(vec![Value::Int(-2), Value::Null, Value::Int(3)]),
        Value::List(vec![Value::Float(1.0), Value::Float(-2.5)]),
        Value::Struct(vec![
            text("né"),
            Value::List(vec![Value::Bool(true)]),
            Value::Null,
        ]),
        text("x"),
        Value::Null,
    ];
    #[rustfmt::skip]
    let golden = [
        1, 0, 81, 169, 92, 180, 57, 138,                // format, flags, layout
        7, 0, 0, 0, 0, 0, 0, 0,                         // event time
        0b1000,                                         // f4 is null
        9, 0, 0, 0,                                     // f0 ends at 9
        0x00, 0x3c, 0x00, 0xc1,                         // f1
        23, 0, 0, 0,                                    // f2 ends at 23
        24, 0, 0, 0,                                    // f3 ends at 24
        24, 0, 0, 0,                                    // f4 ends where it starts
        3, 0, 0, 0, 0b010, 0xfe, 0xff, 3, 0,            // f0: three, the second null
        0b100, 3, 0, 0, 0, b'n', 0xc3, 0xa9,            // f2: c is null; a
        1, 0, 0, 0, 0, 1,                               //     b: one, not null
        b'x',                                           // f3
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
        feature(3, DataType::Float32.vector_of(2).expect("a vector"), true),
    ];
    let layout = RowLayout::new(&features);
    let numbers: Vec<Value> = (0..9).map(Value::Int).collect();
    let vector = DataType::Float32.vector_of(2).expect("a vector");
    let vectors = (0..9).map(|i| match i {
        2 => Value::Null,
        i => Value::List(vec![Value::Float(f64::from(i)), Value::Float(0.5)]),
    });
    let vectors: Vec<Value> = vectors.collect();
    let texts: Vec<Value> = (0..9).map(|i| Value::String(format!("t{i}"))).collect();
    let flags: Vec<Value> = (0..9).map(|i| Value::Bool(i % 2 == 0)).collect();
    let columns = [
        Value::array(&numbers, DataType::Int64).slice(3, 4),
        Value::array(&texts, DataType::String).slice(3, 4),
        Value::array(&flags, DataType::Bool).slice(3, 4),
        Value::array(&vectors, vector).slice(3, 4),
    ];
    let times = event_times(5, 9).slice(3, 4);
    let encoder = RowEncoder::new(&layout, &columns, &times).expect("columns fit");
    let mut bytes = Vec::new();
    encoder.encode(1, &mut bytes).expect("a row");
    let view = RowView::new(&layout, &bytes).expect("a row");
    assert_eq!(view.value(0), numbers[4]);
    assert_eq!(view.value(1), texts[4]);
    assert_eq!(view.value(2), flags[4]);
    assert_eq!(view.value(3), vectors[4]);
}

/// Equal to the bit: NaN equals the same NaN, 0.0 is not -0.0.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Float(one), Value::Float(other)) => one.to_bits() == other.to_bits(),
        (Value::List(one), Value::List(other)) | (Value::Struct(one), Value::Struct(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
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
        DataType::Float16 => any::<u16>()
            .prop_map(|bits| Value::Float(half::f16::from_bits(bits).into()))
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
        DataType::Uuid => any::<[u8; 16]>().prop_map(Value::Uuid).boxed(),
        DataType::Date => any::<i32>().prop_map(Value::Date).boxed(),
        DataType::Timestamp => any::<i64>()
            .prop_map(|v| Value::Timestamp(Instant::from_micros(v)))
            .boxed(),
        DataType::List(element) => prop::collection::vec(any_or_null(*element), 0..12)
            .prop_map(Value::List)
            .boxed(),
        DataType::Vector { element, length } => {
            prop::collection::vec(any_value(*element), length as usize)
                .prop_map(Value::List)
                .boxed()
        }
        DataType::Struct(of) => {
            let fields = of.fields.iter().map(|field| any_or_null(field.data_type));
            fields.collect::<Vec<_>>().prop_map(Value::Struct).boxed()
        }
    }
}

fn any_or_null(data_type: DataType) -> BoxedStrategy<Value> {
    prop_oneof![3 => any_value(data_type), 1 => Just(Value::Null)].boxed()
}

fn any_column() -> impl Strategy<Value = (DataType, bool, Value)> {
    (prop::sample::select(all_types()), any::<bool>(), 0_u8..4).prop_flat_map(
        |(data_type, nullable, null)| {
            let value = if nullable && null == 0 {
                Just(Value::Null).boxed()
            } else {
                any_value(data_type)
            };
            (Just(data_type), Just(nullable), value)
        },
    )
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
                _ if !features[index].data_type.is_model_input() => prop_assert!(input.is_nan()),
                Value::Null => prop_assert!(input.is_nan()),

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
