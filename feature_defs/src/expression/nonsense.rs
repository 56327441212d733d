//! Random expressions: planned and evaluated, or refused; never a panic, never a hang.
//!
//! `FUZZ_MINUTES=10` with `--run-ignored only` goes on for that long from `FUZZ_SEED`.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::RecordBatch;
use arrow::compute::cast;

use super::{PlannedFeature, RequestInput, evaluate, input_schema, plan};
use crate::data_type::DataType;
use crate::name::{FeatureRef, Name};
use crate::parse::tests::damage::{Dice, damage};
use crate::sql::Fault;
use crate::sql::functions::names;
use crate::time::{Instant, Stopwatch};
use crate::value::Value;

/// Expressions in a run that says nothing else.
const EXPRESSIONS: u64 = 3_000;

/// Far more than the slowest plan takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(20);

const OPERATORS: [&str; 24] = [
    "+",
    "-",
    "*",
    "/",
    "%",
    "=",
    "<>",
    "<",
    ">=",
    "and",
    "or",
    "||",
    "&",
    "|",
    "<<",
    "is distinct from",
    "like",
    "not like",
    "ilike",
    "~",
    "!~*",
    "^",
    "->",
    "@>",
];

const LITERALS: [&str; 25] = [
    "0",
    "1",
    "-1",
    "2.5",
    "1e308",
    "-9223372036854775808",
    "9223372036854775807",
    "18446744073709551615",
    "99999999999999999999999999999999999999",
    "''",
    "'a'",
    "'1'",
    "'2026-01-01'",
    "'2026-01-01T00:00:00Z'",
    "null",
    "true",
    "false",
    "interval '1 day'",
    "interval '-3 months'",
    "date '2026-02-29'",
    "timestamp '2026-01-01 00:00:00'",
    "x'00ff'",
    "'名'",
    "'%'",
    "1e-400",
];

const TYPES: [&str; 14] = [
    "int",
    "bigint",
    "smallint",
    "tinyint unsigned",
    "bigint unsigned",
    "double",
    "real",
    "decimal(38, 10)",
    "decimal(3,2)",
    "varchar",
    "date",
    "timestamp",
    "boolean",
    "bytea",
];

const PLAIN_TYPES: [DataType; 19] = [
    DataType::Bool,
    DataType::Int8,
    DataType::Int16,
    DataType::Int32,
    DataType::Int64,
    DataType::UInt8,
    DataType::UInt16,
    DataType::UInt32,
    DataType::UInt64,
    DataType::Float16,
    DataType::Float32,
    DataType::Float64,
    DataType::Decimal {
        precision: 12,
        scale: 2,
    },
    DataType::Decimal {
        precision: 38,
        scale: 38,
    },
    DataType::String,
    DataType::Bytes,
    DataType::Uuid,
    DataType::Date,
    DataType::Timestamp,
];

fn name(text: &str) -> Name {
    Name::parse(text).expect("a name")
}

fn all_types() -> Vec<DataType> {
    let nested = [
        "list<int64>",
        "list<string>",
        "list<list<float32>>",
        "vector<float32, 3>",
        "struct<a: int64, b: list<string>>",
        "list<struct<at: timestamp, amount: decimal(12,2)>>",
    ];
    let nested = nested.map(|text| DataType::parse(text).expect(text));
    PLAIN_TYPES.into_iter().chain(nested).collect()
}

/// A request field and a stored feature of each type.
fn inputs() -> Vec<(RequestInput, DataType)> {
    let mut inputs = Vec::new();
    for (index, data_type) in all_types().into_iter().enumerate() {
        let stored = FeatureRef {
            view: name("v"),
            feature: name(&format!("s{index}")),
        };
        inputs.push((RequestInput::Field(name(&format!("f{index}"))), data_type));
        inputs.push((RequestInput::Feature(stored), data_type));
    }
    inputs
}

/// A row of nulls, and rows of small values: what is planned is also evaluated.
fn batch(inputs: &[(RequestInput, DataType)]) -> RecordBatch {
    let columns = inputs.iter().map(|(_, data_type)| {
        let rows = [Value::Null, value(*data_type, 0), value(*data_type, 3)];
        cast(
            &Value::array(&rows, *data_type),
            &data_type.in_sql().to_arrow(),
        )
        .expect("a cast")
    });
    RecordBatch::try_new(Arc::new(input_schema(inputs)), columns.collect()).expect("a batch")
}

fn value(data_type: DataType, number: i8) -> Value {
    match data_type {
        DataType::Bool => Value::Bool(number > 0),
        DataType::Float16 | DataType::Float32 | DataType::Float64 => Value::Float(number.into()),
        DataType::Decimal { scale, .. } => Value::Decimal {
            unscaled: number.into(),
            scale,
        },
        DataType::String => Value::String("a".repeat(number.unsigned_abs().into())),
        DataType::Bytes => Value::Bytes(vec![0; number.unsigned_abs().into()]),
        DataType::Uuid => Value::Uuid([number.unsigned_abs(); 16]),
        DataType::Date => Value::Date(number.into()),
        DataType::Timestamp => Value::Timestamp(Instant::from_micros(number.into())),
        DataType::List(element) => Value::List(match number {
            0 => Vec::new(),
            _ => vec![value(*element, number), Value::Null, value(*element, 0)],
        }),
        DataType::Vector { element, length } => {
            Value::List((0..length).map(|_| value(*element, number)).collect())
        }
        DataType::Struct(of) => {
            let fields = of.fields.iter().map(|field| value(field.data_type, number));
            Value::Struct(fields.collect())
        }
        unsigned
            if unsigned
                .integer_range()
                .is_some_and(|(least, _)| least == 0) =>
        {
            Value::UInt(number.unsigned_abs().into())
        }
        _ => Value::Int(number.into()),
    }
}

struct Writer<'a> {
    dice: Dice,
    inputs: &'a [(RequestInput, DataType)],
    functions: &'a [&'a str],
}

impl Writer<'_> {
    fn expression(&mut self, depth: usize) -> String {
        if depth == 0 || self.dice.roll(5) == 0 {
            return self.leaf();
        }
        let below = depth - 1;
        match self.dice.roll(9) {
            0 | 1 => {
                let operator = *self.dice.pick(&OPERATORS);
                format!(
                    "({} {operator} {})",
                    self.expression(below),
                    self.expression(below)
                )
            }
            2..=4 => self.call(below),
            5 => {
                let data_type = *self.dice.pick(&TYPES);
                let cast = ["cast", "try_cast"][self.dice.roll(2)];
                format!("{cast}({} as {data_type})", self.expression(below))
            }
            6 => {
                let (condition, then, other) = (
                    self.expression(below),
                    self.expression(below),
                    self.expression(below),
                );
                format!("case when {condition} then {then} else {other} end")
            }
            7 => self.special(below),
            _ => {
                let sign = ["-", "not ", "+", "~"][self.dice.roll(4)];
                format!("{sign}({})", self.expression(below))
            }
        }
    }

    fn call(&mut self, depth: usize) -> String {
        let function = *self.dice.pick(self.functions);
        let arguments: Vec<String> = (0..self.dice.roll(4))
            .map(|_| self.expression(depth))
            .collect();
        format!("{function}({})", arguments.join(", "))
    }

    fn special(&mut self, depth: usize) -> String {
        let (one, two, three) = (
            self.expression(depth),
            self.expression(depth),
            self.expression(depth),
        );
        match self.dice.roll(11) {
            9 => format!("{one}[{two}]"),
            10 => format!("{one}['a']"),
            0 => format!("{one} between {two} and {three}"),
            1 => format!("{one} in ({two}, {three})"),
            2 => format!("{one} is null"),
            3 => format!("extract(year from {one})"),
            4 => format!("substring({one} from {two} for {three})"),
            5 => format!("trim(both {one} from {two})"),
            6 => format!("position({one} in {two})"),
            7 => format!("{one} at time zone {two}"),
            _ => format!("[{one}, {two}][{three}]"),
        }
    }

    fn leaf(&mut self) -> String {
        match self.dice.roll(2) {
            0 => (*self.dice.pick(&LITERALS)).to_owned(),
            _ => self.dice.pick(self.inputs).0.to_string(),
        }
    }
}

/// Plans the expression of a seed, and evaluates it on `rows`. Whether it is accepted.
fn is_planned(
    inputs: &[(RequestInput, DataType)],
    rows: &RecordBatch,
    functions: &[&str],
    seed: u64,
) -> bool {
    let mut writer = Writer {
        dice: Dice::new(seed),
        inputs,
        functions,
    };
    let depth = 1 + writer.dice.roll(4);
    let mut text = writer.expression(depth);
    if writer.dice.roll(4) == 0 {
        let bytes = damage(&mut writer.dice, &text);
        text = String::from_utf8_lossy(&bytes).into_owned();
    }
    let watch = Stopwatch::start();
    let planned = std::panic::catch_unwind(AssertUnwindSafe(|| {
        let planned = plan(&text, inputs)?;
        let feature = PlannedFeature {
            reference: FeatureRef {
                view: name("v"),
                feature: name("f"),
            },
            expression: planned.physical,
            program: None,
        };
        // What has no value is an error of its row.
        let (mut pieces, mut failures) = (Vec::new(), Vec::new());
        evaluate(&feature, rows, 0, &mut pieces, &mut failures);
        let found: usize = pieces.iter().map(|piece| piece.len()).sum();
        assert_eq!(found, rows.num_rows());
        Ok(())
    }));
    let planned = planned.unwrap_or_else(|_| panic!("seed {seed} panics: {text}"));
    assert!(
        watch.elapsed() < LIMIT,
        "seed {seed} takes {:?}: {text}",
        watch.elapsed()
    );
    let Err::<(), Vec<Fault>>(faults) = planned else {
        return true;
    };
    assert!(!faults.is_empty(), "seed {seed}: {text}");
    for fault in faults {
        let place = fault.range.is_none_or(|range| text.get(range).is_some());
        assert!(
            place && !fault.message.is_empty(),
            "seed {seed}: {text}: {}",
            fault.message
        );
        let foreign = ["DataFusion", "Internal", "LogicalPlan", "Utf8", "Some("];
        let foreign = foreign.iter().find(|word| fault.message.contains(**word));
        assert!(foreign.is_none(), "seed {seed}: {text}: {}", fault.message);
    }
    false
}

fn number(variable: &str, otherwise: u64) -> u64 {
    let text = std::env::var(variable).ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn random_expressions_never_panic() {
    let inputs = inputs();
    let functions: Vec<&str> = names().scalar.keys().map(String::as_str).collect();
    let rows = batch(&inputs);
    let planned = (0..EXPRESSIONS).filter(|seed| is_planned(&inputs, &rows, &functions, *seed));
    let planned = u64::try_from(planned.count()).expect("a number");
    assert!(
        planned > EXPRESSIONS / 20,
        "only {planned} of {EXPRESSIONS} were planned"
    );
}

#[test]
#[ignore = "goes on for FUZZ_MINUTES"]
fn random_expressions_never_panic_for_minutes() {
    let limit = Duration::from_secs(60 * number("FUZZ_MINUTES", 1));
    let inputs = inputs();
    let functions: Vec<&str> = names().scalar.keys().map(String::as_str).collect();
    let rows = batch(&inputs);
    let watch = Stopwatch::start();
    let mut seed = number("FUZZ_SEED", 1_000_000);
    let first = seed;
    while watch.elapsed() < limit {
        is_planned(&inputs, &rows, &functions, seed);
        seed += 1;
    }
    #[allow(clippy::print_stderr)] // the seeds that a run tried, to go on after them
    {
        eprintln!("seeds {first} to {seed}");
    }
}
