use feature_defs::data_type::DataType;

use super::*;

fn of(text: &str) -> DataType {
    DataType::parse(text).expect(text)
}

/// The value as answers write it, or the refusal with its path.
fn read_as(text: &str, data_type: &str) -> Result<String, String> {
    let raw: Box<RawValue> = serde_json::from_str(text).expect("JSON");
    let value = read(&raw, of(data_type), chrono_tz::Europe::Berlin);
    match value {
        Ok(value) => {
            let mut written = Vec::new();
            value.write_json(of(data_type), &mut written);
            Ok(String::from_utf8(written).expect("UTF-8"))
        }
        Err(fault) => Err(format!("{}: {}", fault.path, fault.message)),
    }
}

#[test]
fn values_are_read_with_every_digit() {
    for (text, data_type, expected) in [
        ("9007199254740993", "int64", "9007199254740993"),
        ("\"9007199254740993\"", "int64", "9007199254740993"),
        ("18446744073709551615", "uint64", "18446744073709551615"),
        ("-9223372036854775808", "int64", "-9223372036854775808"),
        // More digits than a float64 holds.
        (
            "123456789012345678.90",
            "decimal(38,2)",
            "\"123456789012345678.90\"",
        ),
        (
            "0.1000000000000000055511151231257827",
            "decimal(38,34)",
            "\"0.1000000000000000055511151231257827\"",
        ),
        ("\"12.5\"", "decimal(12,2)", "\"12.50\""),
        ("12", "decimal(12,2)", "\"12.00\""),
        ("-1.5e3", "decimal(12,2)", "\"-1500.00\""),
        ("1.25E-1", "decimal(12,3)", "\"0.125\""),
        ("1e-05", "decimal(12,5)", "\"0.00001\""),
        ("0e9", "decimal(12,2)", "\"0.00\""),
        ("5e-324", "float64", "5e-324"),
        ("-0.0", "float64", "-0.0"),
        ("0.1", "float32", "0.1"),
        // Halfway between two float32 and a little more: by way of a float64 it would be 1.
        ("1.00000005960464477540", "float32", "1.0000001"),
        ("\"NaN\"", "float64", "\"NaN\""),
        ("\"-Infinity\"", "float32", "\"-Infinity\""),
        ("\"AP8=\"", "bytes", "\"AP8=\""),
        ("\"n\\u00e9\\n\\ud83d\\ude00\"", "string", "\"né\\n😀\""),
        (
            "\"2024-07-01 12:00\"",
            "timestamp",
            "\"2024-07-01T10:00:00Z\"",
        ),
        (
            "\"2024-07-01T12:00:00.25+00:00\"",
            "timestamp",
            "\"2024-07-01T12:00:00.250Z\"",
        ),
        ("\"2024-02-29\"", "date", "\"2024-02-29\""),
        ("true", "bool", "true"),
        ("null", "list<int64>", "null"),
        ("[1, null]", "list<int64>", "[1,null]"),
        ("[0.5, \"NaN\"]", "vector<float32, 2>", "[0.5,\"NaN\"]"),
        (
            "{\"b\": [{\"at\": \"2024-01-01\"}, null], \"more\": {\"x\": 1, \"x\": 2}, \"a\": 1}",
            "struct<a: int64, b: list<struct<at: timestamp>>, c: string>",
            "{\"a\":1,\"b\":[{\"at\":\"2023-12-31T23:00:00Z\"},null],\"c\":null}",
        ),
    ] {
        assert_eq!(
            read_as(text, data_type).as_deref(),
            Ok(expected),
            "{text} as {data_type}"
        );
    }
}

#[test]
fn values_of_other_types_are_refused_and_never_coerced() {
    for (text, data_type, said) in [
        (
            "1.0",
            "int64",
            ": `1.0` is no int64: expected an integer from -9223372036854775808 to 9223372036854775807",
        ),
        (
            "1e3",
            "int32",
            ": `1e3` is no int32: expected an integer from -2147483648 to 2147483647",
        ),
        (
            "9223372036854775808",
            "int64",
            ": `9223372036854775808` is no int64: expected an integer from -9223372036854775808 to 9223372036854775807",
        ),
        (
            "\"7\"",
            "int32",
            ": `\"7\"` is no int32: expected an integer from -2147483648 to 2147483647",
        ),
        ("1", "bool", ": `1` is no bool: expected `true` or `false`"),
        (
            "\"true\"",
            "bool",
            ": `\"true\"` is no bool: expected `true` or `false`",
        ),
        ("7", "string", ": `7` is no string: expected a string"),
        (
            "1e400",
            "float64",
            ": `1e400` is no float64: expected a number, \"NaN\", \"Infinity\" or \"-Infinity\"",
        ),
        (
            "true",
            "float64",
            ": `true` is no float64: expected a number, \"NaN\", \"Infinity\" or \"-Infinity\"",
        ),
        (
            "1.005",
            "decimal(12,2)",
            ": `1.005` is no decimal(12,2): expected a number, or a string like \"118.4\", with at most 10 digits before and 2 after the point",
        ),
        (
            "1e81",
            "decimal(38,0)",
            ": `1e81` is no decimal(38,0): expected a number, or a string like \"118.4\", with at most 38 digits before and 0 after the point",
        ),
        (
            "1719828000000",
            "timestamp",
            ": `1719828000000` is no timestamp: expected a string like \"1997-10-01T02:00:00Z\" or \"1997-10-01 02:00\"",
        ),
        (
            "\"2024-13-01\"",
            "timestamp",
            ": `2024-13-01` is not a timestamp: there is no month 13",
        ),
        (
            "\"2024-07-01T12:00:00Z\"",
            "date",
            ": `\"2024-07-01T12:00:00Z\"` is no date: expected a day like \"1997-10-01\"",
        ),
        (
            "\"AP8\"",
            "bytes",
            ": `\"AP8\"` is no bytes: expected a string in base64",
        ),
        (
            "{\"a\": 1}",
            "list<int64>",
            ": `{\"a\": 1}` is no list<int64>: expected an array of int64 values",
        ),
        (
            "[1, 2]",
            "vector<float32, 3>",
            ": `[1, 2]` is no vector<float32, 3>: expected an array of 3 float32 values, none of them null",
        ),
        (
            "[1, null]",
            "vector<float32, 2>",
            "[1]: `null` is no float32: expected a number from -3.4028235e38 to 3.4028235e38, \"NaN\", \"Infinity\" or \"-Infinity\"",
        ),
        (
            "[{\"a\": 1}, {\"a\": \"x\"}]",
            "list<struct<a: int8>>",
            "[1].a: `\"x\"` is no int8: expected an integer from -128 to 127",
        ),
        (
            "[[1], [2, {\"a\": 3}]]",
            "list<list<int64>>",
            "[1][1]: `{\"a\": 3}` is no int64: expected an integer from -9223372036854775808 to 9223372036854775807",
        ),
        (
            "[{\"a\": 1, \"a\": 1}]",
            "list<struct<a: int8>>",
            "[0]: the key `a` stands in the object twice",
        ),
        (
            "\"\\ud800\"",
            "string",
            ": `\"\\ud800\"` is no text: a `\\u` escape is half of a pair",
        ),
        (
            "[1]",
            "struct<a: int8>",
            ": `[1]` is no struct<a: int8>: expected an object with `a`",
        ),
    ] {
        assert_eq!(
            read_as(text, data_type),
            Err(said.to_owned()),
            "{text} as {data_type}"
        );
    }
}
