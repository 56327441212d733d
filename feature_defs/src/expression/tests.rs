use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::Int64Type;

use super::{Evaluation, PlannedFeature, RequestInput, RequestPlan, input_schema, plan};
use crate::data_type::DataType;
use crate::name::{FeatureRef, Name};
use crate::value::Value;

fn name(text: &str) -> Name {
    Name::parse(text).expect("a name")
}

fn inputs(data_type: DataType) -> Vec<(RequestInput, DataType)> {
    let stored = RequestInput::Feature(FeatureRef {
        view: name("stored"),
        feature: name("m"),
    });
    vec![
        (RequestInput::Field(name("s")), data_type),
        (RequestInput::Field(name("n")), data_type),
        (stored, data_type),
    ]
}

/// A plan of expressions over `s`, `n` and `stored.m`, all of one type.
fn planned(expressions: &[&str], data_type: DataType) -> RequestPlan {
    let inputs = inputs(data_type);
    let features = expressions.iter().map(|text| PlannedFeature {
        reference: FeatureRef {
            view: name("v"),
            feature: name("f"),
        },
        expression: plan(text, &inputs).expect(text).physical,
        program: None,
    });
    RequestPlan {
        features: features.collect(),
        schema: Arc::new(input_schema(&inputs)),
        inputs: inputs.into_iter().map(|(input, _)| input).collect(),
    }
}

fn batch(plan: &RequestPlan, rows: &[[Option<i64>; 3]], data_type: DataType) -> RecordBatch {
    let value = |value: Option<i64>| match (value, data_type) {
        (None, _) => Value::Null,
        (Some(value), DataType::Float64) => {
            Value::Float(f64::from(i32::try_from(value).expect("small")))
        }
        (Some(value), DataType::Decimal { scale, .. }) => Value::Decimal {
            unscaled: i128::from(value) * 10_i128.pow(u32::from(scale)),
            scale,
        },
        (Some(value), _) => Value::Int(value),
    };
    let columns = (0..3).map(|column| {
        let values: Vec<Value> = rows.iter().map(|row| value(row[column])).collect();
        Value::array(&values, data_type)
    });
    RecordBatch::try_new(plan.schema().clone(), columns.collect()).expect("a batch")
}

const ROWS: [[Option<i64>; 3]; 6] = [
    [Some(1), Some(1), Some(1)],
    [Some(4), Some(0), Some(2)],
    [Some(0), Some(0), Some(0)],
    [Some(5), Some(2), Some(0)],
    [None, Some(0), Some(1)],
    [Some(3), None, Some(1)],
];

fn numbers(column: &ArrayRef) -> Vec<f64> {
    let column =
        arrow::compute::cast(column, &arrow::datatypes::DataType::Float64).expect("numbers");
    let column = column
        .as_primitive::<arrow::datatypes::Float64Type>()
        .clone();
    assert_eq!(column.null_count(), 0);
    column.values().to_vec()
}

#[test]
fn odf_07_guarded_division_never_divides_by_zero() {
    let a = "case when n > 0 then s / n else 0 end";
    let b = "case when n > 0 and stored.m > 0 then s / n else 0 end";
    let both = "case when n > 0 then s / n else 0 end + case when n > 0 and stored.m > 0 then s / n else 0 end";
    for (data_type, half) in [
        (DataType::Int64, 2.0),
        (DataType::Float64, 2.5),
        (
            DataType::Decimal {
                precision: 12,
                scale: 2,
            },
            2.5,
        ),
    ] {
        let plan = planned(&[a, b, both], data_type);
        let whole = batch(&plan, &ROWS, data_type);
        let Evaluation { columns, failures } = plan.evaluate(&whole);
        assert_eq!(failures, []);
        assert_eq!(numbers(&columns[0]), [1.0, 0.0, 0.0, half, 0.0, 0.0]);
        assert_eq!(numbers(&columns[1]), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(numbers(&columns[2]), [2.0, 0.0, 0.0, half, 0.0, 0.0]);
        for row in 0..ROWS.len() {
            let alone = plan.evaluate(&whole.slice(row, 1));
            for (column, alone) in columns.iter().zip(&alone.columns) {
                assert_eq!(&column.slice(row, 1), alone, "row {row}");
            }
        }
    }
}

#[test]
fn unguarded_integer_division_by_zero_fails_its_row_alone() {
    let plan = planned(&["s / n", "s + n"], DataType::Int64);
    let whole = batch(&plan, &ROWS, DataType::Int64);
    let evaluation = plan.evaluate(&whole);
    let failed = evaluation.failures.iter();
    let failed: Vec<(usize, String)> = failed.map(|f| (f.row, f.to_string())).collect();
    let message = "`v.f` has no value: a division by zero".to_owned();
    assert_eq!(failed, [(1, message.clone()), (2, message)]);
    let quotients: Vec<Option<i64>> = evaluation.columns[0]
        .as_primitive::<Int64Type>()
        .iter()
        .collect();
    assert_eq!(quotients, [Some(1), None, None, Some(2), None, None]);
    assert_eq!(evaluation.columns[1].null_count(), 2);
}

#[test]
fn a_function_that_panics_fails_its_row_alone() {
    let plan = planned(&["rpad(cast(s as varchar), n, 'x')"], DataType::Int64);
    let rows = [[Some(1), Some(3), None], [Some(1), Some(i64::MIN), None]];
    let evaluation = plan.evaluate(&batch(&plan, &rows, DataType::Int64));
    let failures = evaluation.failures.iter();
    let failures: Vec<(usize, String)> = failures.map(|f| (f.row, f.to_string())).collect();
    let message = "`v.f` has no value: a function cannot take these values".to_owned();
    assert_eq!(failures, [(1, message)]);
    let texts = evaluation.columns[0].as_string::<i32>();
    assert_eq!(texts.iter().collect::<Vec<_>>(), [Some("1xx"), None]);
}

/// A field is written alone and a feature after its view, so one name may be both.
#[test]
fn a_request_field_may_be_named_as_a_feature() {
    let inputs = vec![
        (RequestInput::Field(name("m")), DataType::Int64),
        (
            RequestInput::Feature(FeatureRef {
                view: name("stored"),
                feature: name("m"),
            }),
            DataType::Int64,
        ),
    ];
    let planned = plan("m - stored.m", &inputs).expect("a plan");
    let columns = [7, 3].map(|value| Value::array(&[Value::Int(value)], DataType::Int64));
    let batch = RecordBatch::try_new(Arc::new(input_schema(&inputs)), columns.to_vec());
    let difference = planned.physical.evaluate(&batch.expect("a batch"));
    let difference = difference.and_then(|value| value.into_array(1));
    let difference = Value::from_array(&difference.expect("a value"), 0);
    assert_eq!(difference, Value::Int(4));
}

#[test]
fn integers_never_wrap() {
    let plan = planned(&["s + n"], DataType::Int64);
    let rows = [
        [Some(i64::MAX), Some(0), None],
        [Some(i64::MAX), Some(1), None],
    ];
    let evaluation = plan.evaluate(&batch(&plan, &rows, DataType::Int64));
    assert_eq!(evaluation.failures.len(), 1);
    assert_eq!(evaluation.failures[0].row, 1);
    for text in ["s - n", "s * n"] {
        let plan = planned(&[text], DataType::Int64);
        let rows = [[Some(i64::MIN), Some(2), None]];
        let evaluation = plan.evaluate(&batch(&plan, &rows, DataType::Int64));
        assert_eq!(evaluation.failures.len(), 1, "{text}");
    }
}

#[test]
fn results_have_the_type_that_was_told() {
    for (text, data_type) in [
        ("s", "int64"),
        ("s / 2", "int64"),
        ("s / 2.0", "float64"),
        ("s > n", "bool"),
        ("cast(s as string)", "string"),
        ("cast(s as varchar)", "string"),
        ("concat(cast(s as string), 'x')", "string"),
        ("nullif(s, 0)", "int64"),
        ("coalesce(stored.m, 0)", "int64"),
        ("cast(s as decimal(12,2))", "decimal(12,2)"),
        ("date '1997-10-01'", "date"),
        ("upper('a') = 'A'", "bool"),
        ("round(s / 3.0, 2)", "float64"),
        ("s in (1, 2, 3)", "bool"),
    ] {
        let planned = plan(text, &inputs(DataType::Int64)).expect(text);
        assert_eq!(planned.data_type.to_string(), data_type, "{text}");
        let schema = input_schema(&inputs(DataType::Int64));
        assert_eq!(
            planned.physical.data_type(&schema).expect("a type"),
            planned.data_type.to_arrow(),
            "{text}"
        );
    }
}

#[test]
fn refusals_say_what_and_where() {
    for (text, message, place) in [
        (
            "s +",
            "this is not SQL: expected: an expression, found the end of the text",
            "+",
        ),
        (
            "s n",
            "this is not one expression: `n` is not expected here",
            "n",
        ),
        ("s / x", "unknown request field `x`", "x"),
        ("m + 1", "unknown request field `m`", "m"),
        ("stored.n", "unknown feature `stored.n`", "stored.n"),
        ("other.m", "unknown view `other`", "other.m"),
        (
            "s + sum(n)",
            "`sum` is not accepted: a request has one row, and nothing to aggregate",
            "sum",
        ),
        (
            "row_number() over ()",
            "`row_number` is not accepted: a request has one row, and nothing to aggregate",
            "row_number",
        ),
        (
            "s + (select 1)",
            "sub-queries are not accepted in request-time features",
            "",
        ),
        ("absolute(s)", "unknown function `absolute`", "absolute"),
        (
            "$as_of",
            "`$as_of` is not known in request-time features",
            "$as_of",
        ),
        ("null", "the expression is always null", ""),
        (
            "generate_series(1, s)",
            "`generate_series` is not accepted: its length is a value, and one row could take all memory",
            "generate_series",
        ),
    ] {
        let faults = plan(text, &inputs(DataType::Int64)).expect_err(text);
        let found = faults[0].range.clone().map_or("", |range| &text[range]);
        assert_eq!(faults[0].message, message, "{text}");
        if !place.is_empty() {
            assert_eq!(found, place, "{text}");
        }
    }
    let clock = plan("now()", &[]).expect_err("the clock");
    assert!(
        clock[0]
            .message
            .starts_with("`now` is not accepted: it reads the clock"),
        "{}",
        clock[0].message
    );
    let types = plan("s + true", &inputs(DataType::Int64)).expect_err("no sum");
    assert!(
        !types[0].message.contains("Int64") && !types[0].message.contains("DataFusion"),
        "{}",
        types[0].message
    );
}

#[test]
fn refusals_of_lists_and_structs_say_what_they_are() {
    let data_type = DataType::parse("list<struct<a: int64>>").expect("a type");
    let mut given = inputs(DataType::Int64);
    given.push((RequestInput::Field(name("l")), data_type));
    for (text, message, help) in [
        (
            "s['a']",
            "only a struct has fields to read by name, and this is int64",
            "leave the field out",
        ),
        (
            "l['a']",
            "only a struct has fields to read by name, and this is list",
            "take an element first, like `recent[1]['amount']`",
        ),
        (
            "l[1].nope",
            "the struct has no field `nope`",
            "write one of its fields, in the letters of the declaration",
        ),
        (
            "l.a",
            "`l` is a request field, and `l.a` none",
            "write `l['a']` for a field of a struct",
        ),
        (
            "stored.m.a",
            "`stored.m.a` is not a feature",
            "write `stored.m['a']` for a field of a struct",
        ),
        (
            "s[1]",
            "only a list has elements to read by place, and this is int64",
            "give it a list",
        ),
        (
            "array_length(s)",
            "`array_length` does not take (int64)",
            "cast the arguments to types that it takes",
        ),
        (
            "l + 1",
            "there is no `list + int64`",
            "cast one side to the type of the other",
        ),
        (
            "cast(l as varchar)",
            "there is no cast from list to string",
            "leave the cast out, or select the column as it is",
        ),
        (
            "map(['a'], [1])",
            "`map` is not accepted: there are no maps among the types",
            "",
        ),
        (
            "array_agg(s)",
            "`array_agg` is not accepted: a request has one row, and nothing to aggregate",
            "aggregate in a feature view, and use its feature here",
        ),
    ] {
        let faults = plan(text, &given).expect_err(text);
        assert_eq!(faults[0].message, message, "{text}");
        assert_eq!(
            faults[0].help.as_deref().unwrap_or_default(),
            help,
            "{text}"
        );
    }
}

/// A plan of one expression over request fields of these types, `f0`, `f1`, ..., and what it gives for a row.
fn over(text: &str, given: &[(&str, serde_json::Value)]) -> (DataType, Value) {
    let of = |text: &str| DataType::parse(text).expect(text);
    let inputs: Vec<(RequestInput, DataType)> = given
        .iter()
        .enumerate()
        .map(|(place, (data_type, _))| {
            (
                RequestInput::Field(name(&format!("f{place}"))),
                of(data_type),
            )
        })
        .collect();
    let planned = plan(text, &inputs).expect(text);
    let plan = RequestPlan {
        features: vec![PlannedFeature {
            reference: FeatureRef {
                view: name("v"),
                feature: name("f"),
            },
            expression: planned.physical,
            program: None,
        }],
        schema: Arc::new(input_schema(&inputs)),
        inputs: inputs.iter().map(|(input, _)| input.clone()).collect(),
    };
    let columns = inputs.iter().zip(given).map(|((_, data_type), (_, json))| {
        let value = Value::from_json(json, *data_type).expect("a value");
        Value::array([&value], *data_type)
    });
    let batch = plan
        .batch(&columns.collect::<Vec<_>>(), 1)
        .expect("a batch");
    let Evaluation { columns, failures } = plan.evaluate(&batch);
    assert_eq!(failures, [], "{text}");
    assert_eq!(
        columns[0].data_type(),
        &planned.data_type.to_arrow(),
        "{text}"
    );
    (planned.data_type, Value::from_array(&columns[0], 0))
}

#[test]
fn lists_structs_and_vectors_are_read_by_place_and_by_name() {
    use serde_json::json;
    let recent = (
        "list<struct<at: timestamp, amount: decimal(12,2)>>",
        json!([
            {"at": "1997-10-01T00:00:00Z", "amount": "12.50"},
            {"at": null, "amount": "3.00"},
            null,
        ]),
    );
    let basket = (
        "struct<items: list<int64>, Note: string>",
        json!({"items": [3, null, 5]}),
    );
    let embedding = ("vector<float32, 3>", json!([0.5, 1.5, -2.0]));
    let halves = ("list<float16>", json!([0.5, 1000]));
    let given = [recent, basket, embedding, halves];
    for (text, data_type, json) in [
        ("array_length(f0)", "uint64", json!(3)),
        ("f0[1]['amount']", "decimal(12,2)", json!("12.50")),
        ("f0[1].amount + 1", "decimal(23,2)", json!("13.50")),
        ("f0[3].amount", "decimal(12,2)", json!(null)),
        ("f0[7].at", "timestamp", json!(null)),
        ("f0[-2]['amount']", "decimal(12,2)", json!("3.00")),
        ("f1['items'][1]", "int64", json!(3)),
        ("array_element(f1['items'], 3) - 1", "int64", json!(4)),
        ("array_sum(f1['items'])", "float64", json!(8.0)),
        ("array_max(f1['items'])", "int64", json!(5)),
        ("f1['Note'] is null", "bool", json!(true)),
        ("array_has(f1['items'], 5)", "bool", json!(true)),
        ("f2[2]", "float32", json!(1.5)),
        ("array_sum(f2)", "float64", json!(0.0)),
        ("inner_product(f2, f2)", "float64", json!(6.5)),
        ("f2", "vector<float32, 3>", json!([0.5, 1.5, -2.0])),
        ("f3[2] * 1000", "float32", json!(1e6)),
        ("f3", "list<float32>", json!([0.5, 1000.0])),
        (
            "f0[1]",
            "struct<at: timestamp, amount: decimal(12,2)>",
            json!({"at": "1997-10-01T00:00:00Z", "amount": "12.50"}),
        ),
        ("[f2[1], f2[3]]", "list<float32>", json!([0.5, -2.0])),
        (
            "named_struct('a', f2[1], 'b', 'x')",
            "struct<a: float32, b: string>",
            json!({"a": 0.5, "b": "x"}),
        ),
    ] {
        let (found, value) = over(text, &given);
        assert_eq!(found.to_string(), data_type, "{text}");
        let expected = Value::from_json(&json, found).expect(text);
        assert_eq!(value, expected, "{text}");
    }
}
