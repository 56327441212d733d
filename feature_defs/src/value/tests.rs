use proptest::prelude::*;
use serde_json::json;

use super::{StrictJson, Value};
use crate::data_type::{DataType, StructField};
use crate::time::Instant;

const MONEY: DataType = DataType::Decimal {
    precision: 12,
    scale: 2,
};

fn written(value: &Value, data_type: DataType) -> String {
    let mut out = Vec::new();
    value.write_json(data_type, &mut out);
    String::from_utf8(out).expect("JSON is UTF-8")
}

fn money(unscaled: i128) -> Value {
    Value::Decimal { unscaled, scale: 2 }
}

#[test]
fn every_type_reads_its_json_form_and_writes_it() {
    let at = |text| Value::Timestamp(Instant::parse(text).expect("instant"));
    for (data_type, json, value, form) in [
        (DataType::Bool, json!(true), Value::Bool(true), "true"),
        (DataType::Int8, json!(-128), Value::Int(-128), "-128"),
        (
            DataType::Int64,
            json!(i64::MIN),
            Value::Int(i64::MIN),
            "-9223372036854775808",
        ),
        (
            DataType::Int64,
            json!("9007199254740993"),
            Value::Int(9_007_199_254_740_993),
            "9007199254740993",
        ),
        (
            DataType::UInt64,
            json!(u64::MAX),
            Value::UInt(u64::MAX),
            "18446744073709551615",
        ),
        (
            DataType::UInt64,
            json!("18446744073709551615"),
            Value::UInt(u64::MAX),
            "18446744073709551615",
        ),
        (DataType::Float64, json!(0.1), Value::Float(0.1), "0.1"),
        (DataType::Float64, json!(3), Value::Float(3.0), "3.0"),
        (
            DataType::Float32,
            json!(0.1),
            Value::Float(f64::from(0.1_f32)),
            "0.1",
        ),
        (
            DataType::Float16,
            json!(0.1),
            Value::Float(0.099_975_585_937_5),
            "0.1",
        ),
        (
            DataType::Float16,
            json!(-65_504),
            Value::Float(-65_504.0),
            "-65500.0",
        ),
        (
            DataType::Float64,
            json!("-Infinity"),
            Value::Float(f64::NEG_INFINITY),
            "\"-Infinity\"",
        ),
        (MONEY, json!("118.4"), money(11_840), "\"118.40\""),
        (MONEY, json!("-0.05"), money(-5), "\"-0.05\""),
        (MONEY, json!(59.9), money(5_990), "\"59.90\""),
        (MONEY, json!(7), money(700), "\"7.00\""),
        (
            DataType::String,
            json!("a\"é"),
            Value::String("a\"é".to_owned()),
            "\"a\\\"é\"",
        ),
        (
            DataType::Bytes,
            json!("AP8="),
            Value::Bytes(vec![0, 255]),
            "\"AP8=\"",
        ),
        (
            DataType::Uuid,
            json!("F81D4FAE-7dec-11d0-a765-00a0c91e6bf6"),
            Value::Uuid(*b"\xf8\x1d\x4f\xae\x7d\xec\x11\xd0\xa7\x65\x00\xa0\xc9\x1e\x6b\xf6"),
            "\"f81d4fae-7dec-11d0-a765-00a0c91e6bf6\"",
        ),
        (
            DataType::Date,
            json!("1969-12-31"),
            Value::Date(-1),
            "\"1969-12-31\"",
        ),
        (
            DataType::Timestamp,
            json!("1997-10-01T02:00:00.25+02:00"),
            at("1997-10-01T00:00:00.25Z"),
            "\"1997-10-01T00:00:00.250Z\"",
        ),
        (DataType::Int32, json!(null), Value::Null, "null"),
    ] {
        assert_eq!(
            Value::from_json(&json, data_type),
            Ok(value.clone()),
            "{json}"
        );
        assert_eq!(written(&value, data_type), form);
    }
    let nan = Value::from_json(&json!("NaN"), DataType::Float64).expect("NaN");
    assert!(matches!(nan, Value::Float(value) if value.is_nan()));
    assert_eq!(written(&nan, DataType::Float64), "\"NaN\"");
}

#[test]
fn nothing_is_cast() {
    for (data_type, json) in [
        (DataType::Bool, json!(1)),
        (DataType::Bool, json!("true")),
        (DataType::Int32, json!("12")),
        (DataType::Int32, json!(12.0)),
        (DataType::Int32, json!(true)),
        (DataType::Int32, json!(2_147_483_648_i64)),
        (DataType::UInt8, json!(-1)),
        (DataType::Int64, json!("-0")),
        (DataType::Int64, json!("007")),
        (DataType::Int64, json!("+7")),
        (DataType::Int64, json!("")),
        (DataType::Int64, json!("-")),
        (DataType::Int64, json!("9223372036854775808")),
        (DataType::Float64, json!("0.1")),
        (DataType::Float64, json!("nan")),
        (DataType::Float32, json!(3.5e38)),
        (DataType::Float16, json!(65_520)),
        (DataType::Float16, json!(-1e6)),
        (DataType::Float16, json!("0.1")),
        (DataType::Uuid, json!("f81d4fae7dec11d0a76500a0c91e6bf6")),
        (DataType::Uuid, json!("")),
        (DataType::Uuid, json!(7)),
        (MONEY, json!("1.005")),
        (MONEY, json!("10000000000.00")),
        (MONEY, json!("1e2")),
        (MONEY, json!(".5")),
        (MONEY, json!("5.")),
        (MONEY, json!("")),
        (
            DataType::Decimal {
                precision: 38,
                scale: 17,
            },
            json!(0.123_456_789_012_345_67),
        ),
        (DataType::String, json!(5)),
        (DataType::Bytes, json!("AP8")),
        (DataType::Date, json!("1997-13-01")),
        (DataType::Date, json!("1997-1-1")),
        (DataType::Timestamp, json!("1997-10-01")),
        (DataType::Timestamp, json!("1997-10-01T00:00:00")),
        (DataType::Timestamp, json!("1997-10-01T00:00:00.0000001Z")),
        (DataType::Timestamp, json!("2016-12-31T23:59:60Z")),
        (DataType::Timestamp, json!(875_664_000)),
        (DataType::String, json!(["a"])),
    ] {
        assert!(
            Value::from_json(&json, data_type).is_err(),
            "{json} as {data_type}"
        );
    }
}

#[test]
fn lists_vectors_and_structs_are_arrays_and_objects() {
    for (data_type, json, form) in [
        (
            "list<int64>",
            json!([1, null, "9007199254740993"]),
            "[1,null,9007199254740993]",
        ),
        (
            "list<list<date>>",
            json!([[], ["1997-10-01"], null]),
            r#"[[],["1997-10-01"],null]"#,
        ),
        (
            "vector<float32, 3>",
            json!([0.1, "NaN", -0.0]),
            r#"[0.1,"NaN",-0.0]"#,
        ),
        (
            "struct<a: int8, b: string>",
            json!({"b": "x", "a": 1}),
            r#"{"a":1,"b":"x"}"#,
        ),
        (
            "struct<a: int8, b: string>",
            json!({}),
            r#"{"a":null,"b":null}"#,
        ),
        (
            "list<struct<at: timestamp, amount: decimal(12,2)>>",
            json!([{"at": "1997-10-01T02:00:00+02:00", "amount": 7}]),
            r#"[{"at":"1997-10-01T00:00:00Z","amount":"7.00"}]"#,
        ),
    ] {
        let data_type = DataType::parse(data_type).expect(data_type);
        let value = Value::from_json(&json, data_type).expect("a value");
        assert_eq!(written(&value, data_type), form);
        let array = Value::array([&Value::Null, &value], data_type);
        assert!(same(&Value::from_array(&array, 1), &value), "{form}");
    }
}

#[test]
fn refusals_inside_a_value_say_where() {
    for (data_type, json, message) in [
        (
            "list<int8>",
            json!([1, 300]),
            "at `[1]`: `300` is no int8: expected an integer from -128 to 127",
        ),
        (
            "list<int8>",
            json!(7),
            "`7` is no list<int8>: expected an array of int8 values",
        ),
        (
            "vector<float32, 2>",
            json!([1]),
            "`[1]` is no vector<float32, 2>: expected an array of 2 float32 values, none of them null",
        ),
        (
            "vector<float32, 2>",
            json!([1, null]),
            "at `[1]`: `null` is no float32: expected a number from -3.4028235e38 to 3.4028235e38, \"NaN\", \"Infinity\" or \"-Infinity\"",
        ),
        (
            "list<struct<amount: list<bool>>>",
            json!([null, {"amount": [true, 1]}]),
            "at `[1].amount[1]`: `1` is no bool: expected `true` or `false`",
        ),
        (
            "struct<amount: int8, at: date>",
            json!({"amuont": 1}),
            "an object with `amuont` is no struct<amount: int8, at: date>: expected `amount`, `at` (did you mean `amount`?)",
        ),
        (
            "struct<a: int8>",
            json!([1]),
            "`[1]` is no struct<a: int8>: expected an object with `a`",
        ),
    ] {
        let data_type = DataType::parse(data_type).expect(data_type);
        let refused = Value::from_json(&json, data_type).expect_err(message);
        assert_eq!(refused.to_string(), message);
    }
}

#[test]
fn an_object_with_a_member_twice_is_no_json_of_ours() {
    let read = |text| serde_json::from_str::<StrictJson>(text);
    let StrictJson(json) = read(r#"[{"a": {"b": 1.5}}, null, true, "x"]"#).expect("JSON");
    assert_eq!(json, json!([{"a": {"b": 1.5}}, null, true, "x"]));
    let refused = read(r#"[{"a": {"b": 1, "b": 2}}]"#).expect_err("twice");
    assert!(
        refused
            .to_string()
            .starts_with("`b` stands in one object twice"),
        "{refused}"
    );
}

#[test]
fn refusals_name_what_was_found_and_the_range() {
    let refused = Value::from_json(&json!("12"), DataType::Int32).expect_err("a string");
    assert_eq!(
        refused.to_string(),
        "`\"12\"` is no int32: expected an integer from -2147483648 to 2147483647"
    );
    let long = Value::from_json(&json!("é".repeat(100)), DataType::Bool).expect_err("a string");
    assert!(long.found.len() < 100, "{}", long.found);
}

/// Equal to the bit, but for NaN, of which JSON has one.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Float(one), Value::Float(other)) => {
            one.to_bits() == other.to_bits() || (one.is_nan() && other.is_nan())
        }
        (Value::List(one), Value::List(other)) | (Value::Struct(one), Value::Struct(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        _ => one == other,
    }
}

proptest! {
    #[test]
    fn json_is_exact_both_ways(
        int in any::<i64>(),
        uint in any::<u64>(),
        float in any::<f64>(),
        narrow in any::<f32>(),
        half in any::<u16>(),
        uuid in any::<[u8; 16]>(),
        unscaled in -(10_i128.pow(38) - 1)..10_i128.pow(38),
        scale in 0_u8..=38,
        days in -700_000_i32..2_900_000,
        micros in Instant::RANGE.0.micros()..Instant::RANGE.1.micros(),
        text in any::<String>(),
        bytes in any::<Vec<u8>>(),
    ) {
        let wide = DataType::Decimal { precision: 38, scale };
        let mut values = vec![
            (Value::Int(int), DataType::Int64),
            (Value::UInt(uint), DataType::UInt64),
            (Value::Float(float), DataType::Float64),
            (Value::Float(f64::from(narrow)), DataType::Float32),
            (Value::Float(half::f16::from_bits(half).into()), DataType::Float16),
            (Value::Uuid(uuid), DataType::Uuid),
            (Value::Decimal { unscaled, scale }, wide),
            (Value::Date(days), DataType::Date),
            (Value::Timestamp(Instant::from_micros(micros)), DataType::Timestamp),
            (Value::String(text), DataType::String),
            (Value::Bytes(bytes), DataType::Bytes),
        ];
        let fields = values.iter().enumerate().map(|(place, (_, data_type))| StructField {
            name: format!("f{place}"),
            data_type: *data_type,
        });
        let of_all = DataType::struct_of(fields.collect()).expect("a struct");
        let all = Value::Struct(values.iter().map(|(value, _)| value.clone()).collect());
        let list = Value::List(vec![all.clone(), Value::Null, all.clone()]);
        values.push((all, of_all));
        values.push((list, of_all.list_of().expect("a list")));
        values.push((Value::List(Vec::new()), of_all.list_of().expect("a list")));
        let vector = DataType::Float64.vector_of(2).expect("a vector");
        values.push((Value::List(vec![Value::Float(float), Value::Float(-0.0)]), vector));
        for (value, data_type) in values {
            let json = serde_json::from_str(&written(&value, data_type)).expect("valid JSON");
            let array = Value::array([&value, &Value::Null], data_type);
            let back = Value::from_json(&json, data_type).expect("reads what it wrote");
            prop_assert!(same(&back, &value), "{back:?} {value:?}");
            prop_assert_eq!(array.data_type(), &data_type.to_arrow());
            prop_assert!(same(&Value::from_array(&array, 0), &value));
            prop_assert_eq!(Value::from_array(&array, 1), Value::Null);
        }
    }
}
