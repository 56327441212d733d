use proptest::prelude::*;
use serde_json::json;

use super::Value;
use crate::data_type::DataType;
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
fn refusals_name_what_was_found_and_the_range() {
    let refused = Value::from_json(&json!("12"), DataType::Int32).expect_err("a string");
    assert_eq!(
        refused.to_string(),
        "`\"12\"` is no int32: expected an integer from -2147483648 to 2147483647"
    );
    let long = Value::from_json(&json!("é".repeat(100)), DataType::Bool).expect_err("a string");
    assert!(long.found.len() < 100, "{}", long.found);
}

proptest! {
    #[test]
    fn json_is_exact_both_ways(
        int in any::<i64>(),
        uint in any::<u64>(),
        float in any::<f64>(),
        narrow in any::<f32>(),
        unscaled in -(10_i128.pow(38) - 1)..10_i128.pow(38),
        scale in 0_u8..=38,
        days in -700_000_i32..2_900_000,
        micros in Instant::RANGE.0.micros()..Instant::RANGE.1.micros(),
        text in any::<String>(),
        bytes in any::<Vec<u8>>(),
    ) {
        let wide = DataType::Decimal { precision: 38, scale };
        for (value, data_type) in [
            (Value::Int(int), DataType::Int64),
            (Value::UInt(uint), DataType::UInt64),
            (Value::Float(float), DataType::Float64),
            (Value::Float(f64::from(narrow)), DataType::Float32),
            (Value::Decimal { unscaled, scale }, wide),
            (Value::Date(days), DataType::Date),
            (Value::Timestamp(Instant::from_micros(micros)), DataType::Timestamp),
            (Value::String(text), DataType::String),
            (Value::Bytes(bytes), DataType::Bytes),
        ] {
            let json = serde_json::from_str(&written(&value, data_type)).expect("valid JSON");
            let array = Value::array([&value, &Value::Null], data_type);
            let back = Value::from_json(&json, data_type).expect("reads what it wrote");
            if matches!(value, Value::Float(value) if value.is_nan()) {
                prop_assert!(matches!(back, Value::Float(value) if value.is_nan()));
                continue;
            }
            prop_assert_eq!(&back, &value);
            prop_assert_eq!(array.data_type(), &data_type.to_arrow());
            prop_assert_eq!(Value::from_array(&array, 0), value);
            prop_assert_eq!(Value::from_array(&array, 1), Value::Null);
        }
    }
}
