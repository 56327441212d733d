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
    let message = "`v.f` has no value: divide by zero error".to_owned();
    assert_eq!(failed, [(1, message.clone()), (2, message)]);
    let quotients: Vec<Option<i64>> = evaluation.columns[0]
        .as_primitive::<Int64Type>()
        .iter()
        .collect();
    assert_eq!(quotients, [Some(1), None, None, Some(2), None, None]);
    assert_eq!(evaluation.columns[1].null_count(), 2);
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
            "make_array(s)",
            "unknown function `make_array`",
            "make_array",
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
