use feature_defs::data_type::DataType;
use feature_defs::name::Name;
use feature_defs::time::Instant;
use feature_defs::value::Value;

use super::*;

fn column(name: &str, data_type: DataType) -> Column {
    Column {
        name: Name::parse(name).expect("name"),
        data_type,
        nullable: false,
        default: None,
    }
}

/// Keys `customer_id`, `shop`; fields `amount` (required), `channel` (default `web`), `note` (nullable).
struct Request {
    keys: Vec<Column>,
    fields: Vec<Column>,
    body: Body,
}

impl Request {
    fn new() -> Self {
        let channel = Column {
            default: Some(Value::String("web".to_owned())),
            ..column("channel", DataType::String)
        };
        let note = Column {
            nullable: true,
            default: Some(Value::Null),
            ..column("note", DataType::Int8)
        };
        let amount = column("amount", DataType::Float64);
        Self {
            keys: vec![
                column("customer_id", DataType::Int64),
                column("shop", DataType::String),
            ],
            fields: vec![amount, channel, note],
            body: Body::default(),
        }
    }

    fn parse(&mut self, json: &str) -> Result<usize> {
        let expected = Expected {
            keys: &self.keys,
            fields: &self.fields,
            explain: true,
            entities: 3,
        };
        parse(json.as_bytes(), expected, &mut self.body)
    }

    /// The path and message of the refusal.
    fn refusal(&mut self, json: &str) -> (ErrorKind, String, String) {
        let error = self.parse(json).expect_err(json);
        (error.kind, error.path.unwrap_or_default(), error.message)
    }
}

fn text(value: &str) -> Value {
    Value::String(value.to_owned())
}

#[test]
fn whole_request_becomes_typed_columns() {
    let mut request = Request::new();
    let json = r#"{"as_of": "1997-10-01T00:00:00Z", "explain": true,
        "request": {"note": [null, 5], "amount": [1.5, "NaN"], "channel": ["app", "web"]},
        "entities": {"shop": ["a", ""], "extra": [{"x": [1]}], "customer_id": [0, "9007199254740993"]}}"#;
    assert_eq!(request.parse(json), Ok(2));
    let body = &request.body;
    assert_eq!(
        body.keys[0].values,
        [Value::Int(0), Value::Int(9_007_199_254_740_993)]
    );
    assert_eq!(body.keys[1].values, [text("a"), text("")]);
    assert_eq!(body.fields[0].values[0], Value::Float(1.5));
    assert!(matches!(body.fields[0].values[1], Value::Float(nan) if nan.is_nan()));
    assert_eq!(body.fields[1].values, [text("app"), text("web")]);
    assert_eq!(body.fields[2].values, [Value::Null, Value::Int(5)]);
    assert_eq!(
        body.as_of,
        Some(Instant::parse("1997-10-01").expect("date"))
    );
    assert!(body.explain);
}

#[test]
fn left_out_fields_take_their_defaults_and_nothing_of_the_request_before() {
    let mut request = Request::new();
    let keys = r#""entities": {"customer_id": [1, 1], "shop": ["a", "a"]}"#;
    let first = format!(
        r#"{{{keys}, "request": {{"amount": [1, 2], "channel": ["app", "app"], "note": [1, 2]}}, "explain": true}}"#
    );
    assert_eq!(request.parse(&first), Ok(2));
    let second = format!(r#"{{{keys}, "request": {{"amount": [3, 4]}}}}"#);
    assert_eq!(request.parse(&second), Ok(2));
    assert_eq!(request.body.fields[1].values, [text("web"), text("web")]);
    assert_eq!(request.body.fields[2].values, [Value::Null, Value::Null]);
    assert!(!request.body.explain);
}

#[test]
fn wrong_requests_are_refused_with_path_and_reason() {
    let keys = r#""entities": {"customer_id": [1, 2], "shop": ["a", "b"]}"#;
    let with = |fields: &str| format!(r#"{{{keys}, "request": {{{fields}}}}}"#);
    let invalid = ErrorKind::InvalidRequest;
    let cases = [
        // Values: no casts, ranges named (TYP-03), null only where declared (ODF-05).
        (with(r#""amount": [1, 1e400]"#), invalid, "$.request.amount[1]", "the number is out of range: a float64 is a number from"),
        (with(r#""amount": [1, -1e400]"#), invalid, "$.request.amount[1]", "-1.7976931348623157e308"),
        (with(r#""amount": [1, NaN]"#), ErrorKind::InvalidJson, "$.request.amount[1]", "this is not JSON at line 1 column"),
        (with(r#""amount": ["12", 1]"#), invalid, "$.request.amount[0]", "`\"12\"` is no float64"),
        (with(r#""amount": [1, null]"#), invalid, "$.request.amount[1]", "null is not a value of `amount`"),
        (with(r#""amount": [1, [2]]"#), invalid, "$.request.amount[1]", "`[2]` is no float64"),
        (with(r#""amount": [1, 2], "note": [1, 128]"#), invalid, "$.request.note[1]", "from -128 to 127"),
        // Columns.
        (with(r#""amount": [1, 2], "chanel": ["app", "app"]"#), invalid, "$.request", "unknown field `chanel` (did you mean `channel`?)"),
        (with(r#""amount": [1, 2], "amount": [1, 2]"#), invalid, "$.request.amount", "stands here twice"),
        (with(r#""amount": [1]"#), invalid, "$.request.amount", "`amount` has 1 values, other columns have 2"),
        (with(r#""amount": 1"#), invalid, "$.request.amount", "an array of float64 values, one an entity"),
        (with(""), invalid, "$.request.amount", "missing field `amount` of type float64"),
        (r#"{"entities": {"customer_id": [1], "shop": ["a", "b"]}, "request": {"amount": [1]}}"#.to_owned(), invalid, "$.entities.shop", "`shop` has 2 values"),
        (r#"{"entities": {"customer": [1], "shop": ["a"]}, "request": {"amount": [1]}}"#.to_owned(), invalid, "$.entities.customer_id", "(the keys are: `customer_id`, `shop`); `customer` is none: did you mean `customer_id`?"),
        (r#"{"entities": {"customer_id": [1], "shopp": ["a"], "x": [1]}, "request": {"amount": [1]}}"#.to_owned(), invalid, "$.entities.shop", "`shopp` is none: did you mean `shop`?"),
        (r#"{"entities": {"customer_id": [1], "x": ["a"]}, "request": {"amount": [1]}}"#.to_owned(), invalid, "$.entities.shop", "(the keys are: `customer_id`, `shop`)"),
        (r#"{"entities": {"customer_id": [12345678901234567890], "shop": ["a"]}, "request": {"amount": [1]}}"#.to_owned(), invalid, "$.entities.customer_id[0]", "from -9223372036854775808 to 9223372036854775807"),
        (r#"{"entities": {"customer_id": [null], "shop": ["a"]}}"#.to_owned(), invalid, "$.entities.customer_id[0]", "null is not a value"),
        (r#"{"entities": {"customer_id": [1, 2, 3, 4], "shop": ["a"]}}"#.to_owned(), ErrorKind::TooLarge, "$.entities.customer_id", "more than 3 entities"),
        // Members.
        (r#"{"entitys": {}}"#.to_owned(), invalid, "$", "unknown member `entitys` (did you mean `entities`?)"),
        (format!("{{{keys}, {keys}}}"), invalid, "$.entities", "`entities` stands here twice"),
        (r#"{"as_of": "yesterday"}"#.to_owned(), invalid, "$.as_of", "`yesterday` is not an instant"),
        (r#"{"as_of": "2026-04-31T10:30:00Z"}"#.to_owned(), invalid, "$.as_of", "there is no day 31 in 2026-04"),
        (r#"{"as_of": "2026-02-03 10:30"}"#.to_owned(), invalid, "$.as_of", "no zone"),
        (r#"{"as_of": 5}"#.to_owned(), invalid, "$.as_of", "expected an instant"),
        (r#"{"explain": "yes"}"#.to_owned(), invalid, "$.explain", "found string \"yes\", expected `true` or `false`"),
        // Bodies.
        (String::new(), ErrorKind::InvalidJson, "$", "the body is empty: send a JSON object"),
        (" \n".to_owned(), ErrorKind::InvalidJson, "$", "the body is empty"),
        ("{\"entities\": {".to_owned(), ErrorKind::InvalidJson, "$.entities", "the JSON ends too early, at line 1"),
        ("[]".to_owned(), invalid, "$", "an object with `entities` and `request`"),
        (format!("{} x", with(r#""amount": [1, 2]"#)), ErrorKind::InvalidJson, "$", "trailing characters"),
        ("{}".to_owned(), invalid, "$.entities.customer_id", "missing key"),
    ];
    let mut request = Request::new();
    for (json, kind, path, part) in cases {
        let refused = request.refusal(&json);
        assert_eq!(
            (refused.0, refused.1.as_str()),
            (kind, path),
            "{json}: {}",
            refused.2
        );
        assert!(refused.2.contains(part), "{json}: {}", refused.2);
    }
}

#[test]
fn tiny_numbers_become_zero_and_bytes_that_are_not_utf8_are_refused() {
    let mut request = Request::new();
    let json =
        r#"{"entities": {"customer_id": [1], "shop": ["a"]}, "request": {"amount": [1e-400]}}"#;
    assert_eq!(request.parse(json), Ok(1));
    assert_eq!(request.body.fields[0].values, [Value::Float(0.0)]);
    let expected = Expected {
        keys: &[],
        fields: &[],
        explain: true,
        entities: 1,
    };
    let refused = parse(
        b"{\"entities\": {\"\xff\": [1]}}",
        expected,
        &mut Body::default(),
    );
    assert_eq!(refused.expect_err("not utf-8").kind, ErrorKind::InvalidJson);
}

#[test]
fn no_entities_are_a_request_of_nothing() {
    let mut request = Request::new();
    let json = r#"{"entities": {"customer_id": [], "shop": []}, "request": {"amount": []}}"#;
    assert_eq!(request.parse(json), Ok(0));
}
