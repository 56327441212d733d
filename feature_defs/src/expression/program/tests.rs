//! Programs beside the engine: on random expressions and rows, the same value to the bit or none.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};

use super::compile;
use crate::data_type::DataType;
use crate::expression::{RequestInput, Scalar, input_schema, plan};
use crate::name::Name;
use crate::parse::tests::damage::Dice;
use crate::value::Value;

const EXPRESSIONS: u64 = 1_500;
const ROWS: usize = 12;

const COLUMNS: [(&str, DataType); 9] = [
    ("x", DataType::Float64),
    ("y", DataType::Float64),
    ("i", DataType::Int64),
    ("j", DataType::Int64),
    ("b", DataType::Bool),
    ("c", DataType::Bool),
    ("narrow", DataType::Int32),
    ("small", DataType::UInt8),
    ("single", DataType::Float32),
];

const FLOATS: [f64; 12] = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    2.0,
    1e308,
    -1e308,
    5e-324,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    9_007_199_254_740_993.0,
];

const INTEGERS: [i64; 8] = [0, 1, -1, 2, 7, i64::MAX, i64::MIN, 9_007_199_254_740_993];

fn value(dice: &mut Dice, data_type: DataType) -> Value {
    if dice.roll(5) == 0 {
        return Value::Null;
    }
    match data_type {
        DataType::Bool => Value::Bool(dice.roll(2) == 0),
        DataType::Float64 => Value::Float(*dice.pick(&FLOATS)),
        DataType::Float32 => Value::Float(f64::from([0.1_f32, -0.0, 3e38][dice.roll(3)])),
        DataType::Int64 => Value::Int(*dice.pick(&INTEGERS)),
        DataType::Int32 => Value::Int(i64::from([0, 3, i32::MIN, i32::MAX][dice.roll(4)])),
        _ => Value::UInt([0, 9, 255][dice.roll(3)]),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Float,
    Int,
    Bool,
}

const KINDS: [Kind; 3] = [Kind::Float, Kind::Int, Kind::Bool];

fn expression(dice: &mut Dice, kind: Kind, depth: usize) -> String {
    if depth == 0 {
        let leaves: &[&str] = match kind {
            Kind::Float => &[
                "x",
                "y",
                "2.5",
                "0.0",
                "cast(narrow as double)",
                "cast(single as double)",
                "cast('NaN' as double)",
            ],
            Kind::Int => &[
                "i",
                "j",
                "3",
                "0",
                "cast(narrow as bigint)",
                "cast(small as bigint)",
            ],
            Kind::Bool => &["b", "c", "true", "cast(null as boolean)"],
        };
        return (*dice.pick(leaves)).to_owned();
    }
    let any = *dice.pick(&KINDS);
    let mut below = |kind| expression(dice, kind, depth - 1);
    let (same, other) = (below(kind), below(kind));
    let condition = below(Kind::Bool);
    let (left, right) = (below(any), below(any));
    if dice.roll(3) == 0 {
        return match dice.roll(4) {
            0 => format!("case when {condition} then {same} else {other} end"),
            1 => format!("case {left} when {right} then {same} when {left} then {other} end"),
            2 => format!("nullif({same}, {other})"),
            _ => format!("coalesce({same}, {other})"),
        };
    }
    match kind {
        Kind::Bool => match dice.roll(6) {
            0 => format!("({same} and {other})"),
            1 => format!("({same} or {other})"),
            2 => format!("(not {same})"),
            3 => format!("({left} is {}null)", ["", "not "][dice.roll(2)]),
            4 => {
                let not = ["", "not "][dice.roll(2)];
                format!("({left} is {not}distinct from {right})")
            }
            _ => {
                let operator = *dice.pick(&["=", "<>", "<", "<=", ">", ">="]);
                format!("({left} {operator} {right})")
            }
        },
        Kind::Float if dice.roll(4) == 0 => {
            let function = *dice.pick(&["abs", "ceil", "floor", "sqrt", "exp", "ln", "-"]);
            format!("{function}({same})")
        }
        Kind::Float if dice.roll(6) == 0 => {
            format!("cast({} as double)", expression(dice, Kind::Int, depth - 1))
        }
        Kind::Int if dice.roll(6) == 0 => format!("(-{same})"),
        Kind::Float | Kind::Int => {
            let operator = *dice.pick(&["+", "-", "*", "/", "%"]);
            format!("({same} {operator} {other})")
        }
    }
}

/// Bits, so that NaN equals itself and the zeros differ.
fn bits(scalar: Scalar) -> (u8, u64) {
    match scalar {
        Scalar::Null => (0, 0),
        Scalar::Bool(value) => (1, value.into()),
        Scalar::Int(value) => (2, value.cast_unsigned()),
        Scalar::Float(value) => (3, value.to_bits()),
    }
}

#[test]
fn programs_agree_with_the_engine_to_the_bit() {
    let inputs: Vec<(RequestInput, DataType)> = COLUMNS
        .iter()
        .map(|(name, data_type)| {
            let name = Name::parse(name).expect("a name");
            (RequestInput::Field(name), *data_type)
        })
        .collect();
    let schema = Arc::new(input_schema(&inputs));
    let (mut compiled, mut planned, mut compared, mut unsure) = (0, 0, 0, 0);
    for seed in 0..EXPRESSIONS {
        let mut dice = Dice::new(seed);
        let kind = *dice.pick(&KINDS);
        let depth = 1 + dice.roll(4);
        let text = expression(&mut dice, kind, depth);
        let Ok(expression) = plan(&text, &inputs) else {
            continue;
        };
        planned += 1;
        let Some(program) = compile(&expression.physical, &schema) else {
            continue;
        };
        compiled += 1;
        for _ in 0..ROWS {
            let row: Vec<Value> = COLUMNS.iter().map(|(_, t)| value(&mut dice, *t)).collect();
            let scalars: Vec<Scalar> = row.iter().map(Scalar::of).collect();
            let Ok(found) = program.evaluate(&scalars) else {
                unsure += 1;
                continue;
            };
            let columns = row.iter().zip(COLUMNS);
            let columns = columns.map(|(value, (_, data_type))| Value::array([value], data_type));
            let batch = RecordBatch::try_new(schema.clone(), columns.collect::<Vec<ArrayRef>>());
            let batch = batch.expect("a batch");
            let engine = expression.physical.evaluate(&batch);
            let engine = engine.and_then(|value| value.into_array(1));
            let engine = engine.unwrap_or_else(|e| panic!("seed {seed}: {text} on {row:?}: {e}"));
            let engine = Scalar::of(&Value::from_array(&engine, 0));
            assert_eq!(
                bits(found),
                bits(engine),
                "seed {seed}: {text} on {row:?}: {found:?}, the engine says {engine:?}"
            );
            compared += 1;
        }
    }
    assert!(
        compiled * 4 > planned * 3,
        "{compiled} of {planned} expressions were compiled"
    );
    assert!(
        compared > unsure * 2,
        "{compared} values were compared, {unsure} were left to the engine"
    );
}

#[test]
fn other_types_and_functions_are_left_to_the_engine() {
    let inputs = vec![
        (
            RequestInput::Field(Name::parse("s").expect("a name")),
            DataType::String,
        ),
        (
            RequestInput::Field(Name::parse("n").expect("a name")),
            DataType::Int32,
        ),
        (
            RequestInput::Field(Name::parse("u").expect("a name")),
            DataType::UInt64,
        ),
    ];
    let schema = input_schema(&inputs);
    for text in [
        "length(s)",
        "n",
        "n + n",
        "cast(u as double)",
        "cast(cast(n as double) as bigint)",
        "power(cast(n as double), 2.0)",
    ] {
        let planned = plan(text, &inputs).expect(text);
        assert!(compile(&planned.physical, &schema).is_none(), "{text}");
    }
}
