//! From the types of files to declared types: by widening only, and to UTC once.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Date32Array, Int64Array, PrimitiveArray, TimestampMicrosecondArray,
    new_null_array,
};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType as ArrowType, Date32Type, Date64Type, Float16Type, Float32Type,
    Float64Type, Int64Type, TimeUnit,
};
use chrono_tz::Tz;
use feature_defs::data_type::DataType;
use feature_defs::source::Source;
use feature_defs::time::Instant;
use feature_defs::value::{Value, uuid};

use crate::nested::{self, Failure, Mismatch};

/// How a file's column becomes a declared one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Conversion {
    /// Arrow's cast, which loses nothing for this pair of types.
    Cast(DataType),
    /// Texts of uuids.
    UuidFromText,
    /// Whole days counted in milliseconds.
    DateFromMillis,
    /// Days, at midnight of the source's zone.
    InstantFromDays,
    /// Lists, vectors and structs, whose values convert by themselves.
    Nested(DataType),
    /// Counts of a unit since the epoch; `local` ones are in the source's zone.
    Instant { unit: TimeUnit, local: bool },
}

impl Conversion {
    /// The conversion from a file's type to a declared one.
    ///
    /// # Errors
    /// Where values could be lost.
    pub(crate) fn new(file: &ArrowType, declared: DataType) -> Result<Self, Mismatch> {
        if declared.is_nested() {
            nested::check(file, declared, &|file, declared| {
                Self::new(file, declared).map(|_| ())
            })?;
            return Ok(Self::Nested(declared));
        }
        Self::plain(file, declared).ok_or_else(|| Mismatch::new(file, declared))
    }

    fn plain(file: &ArrowType, declared: DataType) -> Option<Self> {
        let file = match file {
            ArrowType::Dictionary(_, values) => values.as_ref(),
            other => other,
        };
        if file == &ArrowType::Null {
            return Some(Self::Cast(declared));
        }
        match declared {
            DataType::Timestamp => match file {
                ArrowType::Date32 => Some(Self::InstantFromDays),
                ArrowType::Timestamp(unit, zone) => Some(Self::Instant {
                    unit: *unit,
                    local: zone.is_none(),
                }),
                _ => None,
            },
            DataType::Date if file == &ArrowType::Date64 => Some(Self::DateFromMillis),
            DataType::Uuid if is_text(file) => Some(Self::UuidFromText),
            _ => widens(file, declared).then_some(Self::Cast(declared)),
        }
    }

    /// Converts a column; `zone` is that of times without one.
    pub(crate) fn apply(self, column: &ArrayRef, zone: Tz) -> Result<ArrayRef, Failure> {
        let column = unpacked(column)?;
        if column.data_type() == &ArrowType::Null {
            return Ok(new_null_array(&self.declared().to_arrow(), column.len()));
        }
        match self {
            Self::Cast(declared) => cast(&column, &declared.to_arrow()),
            Self::UuidFromText => uuids(&column),
            Self::DateFromMillis => {
                let millis = column.as_primitive::<Date64Type>();
                let days = try_map(millis, "is no whole day", |m| {
                    (m.rem_euclid(86_400_000) == 0)
                        .then(|| i32::try_from(m.div_euclid(86_400_000)).ok())?
                })?;
                Ok(Arc::new(Date32Array::from(days)))
            }
            Self::Nested(declared) => nested::convert(&column, declared, &|column, declared| {
                let conversion = Self::new(column.data_type(), declared);
                let refused = |_| Failure::new(0, format!("it does not become {declared}"));
                conversion.map_err(refused)?.apply(column, zone)
            }),
            Self::InstantFromDays => Ok(Arc::new(midnights(&column, zone)?)),
            Self::Instant { unit, local } => Ok(Arc::new(instants(&column, unit, local, zone)?)),
        }
    }

    const fn declared(self) -> DataType {
        match self {
            Self::Cast(declared) | Self::Nested(declared) => declared,
            Self::UuidFromText => DataType::Uuid,
            Self::DateFromMillis => DataType::Date,
            Self::InstantFromDays | Self::Instant { .. } => DataType::Timestamp,
        }
    }
}

/// The event or created times of rows: a declared `timestamp` as it is, a declared `date` at midnight in `zone`.
pub(crate) fn to_instants(
    column: &ArrayRef,
    zone: Tz,
) -> Result<TimestampMicrosecondArray, Failure> {
    if column.data_type() == &ArrowType::Date32 {
        return midnights(column, zone);
    }
    Ok(column.as_primitive().clone())
}

fn widens(file: &ArrowType, declared: DataType) -> bool {
    let bits = |t: &ArrowType| t.primitive_width().map_or(0, |bytes| bytes * 8);
    let arrow = declared.to_arrow();
    match &arrow {
        ArrowType::Decimal128(precision, scale) => {
            let whole = i32::from(*precision) - i32::from(*scale);
            match file {
                ArrowType::Decimal32(p, s)
                | ArrowType::Decimal64(p, s)
                | ArrowType::Decimal128(p, s)
                | ArrowType::Decimal256(p, s) => {
                    s <= scale && i32::from(*p) - i32::from(*s) <= whole
                }
                other if other.is_integer() => integer_digits(other) <= whole,
                _ => false,
            }
        }
        to if to.is_signed_integer() => {
            (file.is_signed_integer() && bits(file) <= bits(to))
                || (file.is_unsigned_integer() && bits(file) < bits(to))
        }
        to if to.is_unsigned_integer() => file.is_unsigned_integer() && bits(file) <= bits(to),
        ArrowType::Float16 => file == &ArrowType::Float16 || (file.is_integer() && bits(file) <= 8),
        ArrowType::Float32 => {
            matches!(file, ArrowType::Float16 | ArrowType::Float32)
                || (file.is_integer() && bits(file) <= 16)
        }
        ArrowType::Float64 => file.is_floating() || (file.is_integer() && bits(file) <= 32),
        ArrowType::Utf8 => is_text(file),
        ArrowType::Binary => matches!(
            file,
            ArrowType::Binary
                | ArrowType::LargeBinary
                | ArrowType::BinaryView
                | ArrowType::FixedSizeBinary(_)
        ),
        to => to == file,
    }
}

const fn is_text(file: &ArrowType) -> bool {
    matches!(
        file,
        ArrowType::Utf8 | ArrowType::LargeUtf8 | ArrowType::Utf8View
    )
}

const fn integer_digits(integer: &ArrowType) -> i32 {
    match integer {
        ArrowType::Int8 | ArrowType::UInt8 => 3,
        ArrowType::Int16 | ArrowType::UInt16 => 5,
        ArrowType::Int32 | ArrowType::UInt32 => 10,
        ArrowType::Int64 => 19,
        _ => 20,
    }
}

/// The column without a dictionary around its values.
fn unpacked(column: &ArrayRef) -> Result<ArrayRef, Failure> {
    match column.data_type() {
        ArrowType::Dictionary(_, values) => cast(column, values),
        _ => Ok(Arc::clone(column)),
    }
}

fn cast(column: &ArrayRef, to: &ArrowType) -> Result<ArrayRef, Failure> {
    if column.data_type() == to {
        return Ok(Arc::clone(column));
    }
    let options = CastOptions {
        safe: false,
        ..CastOptions::default()
    };
    cast_with_options(column, to, &options).map_err(|e| Failure::new(0, e.to_string()))
}

fn uuids(column: &ArrayRef) -> Result<ArrayRef, Failure> {
    let texts = cast(column, &ArrowType::Utf8)?;
    let mut values = Vec::with_capacity(texts.len());
    for (row, text) in texts.as_string::<i32>().iter().enumerate() {
        let Some(text) = text else {
            values.push(Value::Null);
            continue;
        };
        let no_uuid =
            || format!("`{text}` is no uuid, like `f81d4fae-7dec-11d0-a765-00a0c91e6bf6`");
        let bytes = uuid::parse(text).ok_or_else(|| Failure::new(row, no_uuid()))?;
        values.push(Value::Uuid(bytes));
    }
    Ok(Value::array(&values, DataType::Uuid))
}

/// Maps every value, or fails with the row of the first that has no image.
fn try_map<T, N>(
    values: &PrimitiveArray<T>,
    what: &str,
    map: impl Fn(T::Native) -> Option<N>,
) -> Result<Vec<Option<N>>, Failure>
where
    T: ArrowPrimitiveType,
    T::Native: std::fmt::Display,
{
    let mut mapped = Vec::with_capacity(values.len());
    for (row, value) in values.iter().enumerate() {
        let Some(value) = value else {
            mapped.push(None);
            continue;
        };
        let image = map(value).ok_or_else(|| Failure::new(row, format!("{value} {what}")))?;
        mapped.push(Some(image));
    }
    Ok(mapped)
}

fn midnights(column: &ArrayRef, zone: Tz) -> Result<TimestampMicrosecondArray, Failure> {
    let days = column.as_primitive::<Date32Type>();
    let times = try_map(days, "days from 1970 do not fit an instant", |days| {
        let midnight = Instant::from_days(days)?.as_local_in(zone);
        midnight.map(Instant::micros)
    })?;
    Ok(TimestampMicrosecondArray::from(times).with_timezone("UTC"))
}

fn instants(
    column: &ArrayRef,
    unit: TimeUnit,
    local: bool,
    zone: Tz,
) -> Result<TimestampMicrosecondArray, Failure> {
    let counts = cast(column, &ArrowType::Int64)?;
    let counts: &Int64Array = counts.as_primitive::<Int64Type>();
    let (name, to_micros): (_, fn(i64) -> Option<i64>) = match unit {
        TimeUnit::Second => ("seconds", |n| n.checked_mul(1_000_000)),
        TimeUnit::Millisecond => ("milliseconds", |n| n.checked_mul(1_000)),
        TimeUnit::Microsecond => ("microseconds", Some),
        TimeUnit::Nanosecond => ("nanoseconds", |n| {
            (n.rem_euclid(1_000) == 0).then(|| n.div_euclid(1_000))
        }),
    };
    let what = format!("{name} from 1970 are no instant in whole 64-bit microseconds");
    let times = try_map(counts, &what, |count| {
        let micros = to_micros(count)?;
        if local {
            let instant = Instant::from_micros(micros).as_local_in(zone);
            instant.map(Instant::micros)
        } else {
            Some(micros)
        }
    })?;
    Ok(TimestampMicrosecondArray::from(times).with_timezone("UTC"))
}

/// A column as SQL sees it ([`DataType::in_sql`]): floats with 0 for -0 and one NaN for all, halves as `float32`; all
/// else as it is.
pub(crate) fn for_sql(column: &ArrayRef, declared: DataType) -> Result<ArrayRef, Failure> {
    nested::convert(column, declared.in_sql(), &|column, _| {
        Ok(plain_floats(column))
    })
}

fn plain_floats(column: &ArrayRef) -> ArrayRef {
    // Zero and minus zero have the sum zero.
    match column.data_type() {
        ArrowType::Float64 => {
            let floats = column.as_primitive::<Float64Type>();
            let plain = |value: f64| {
                if value.is_nan() {
                    f64::NAN
                } else {
                    value + 0.0
                }
            };
            Arc::new(floats.unary::<_, Float64Type>(plain))
        }
        ArrowType::Float16 => {
            let halves = column.as_primitive::<Float16Type>();
            let wide: ArrayRef = Arc::new(halves.unary::<_, Float32Type>(f32::from));
            plain_floats(&wide)
        }
        ArrowType::Float32 => {
            let floats = column.as_primitive::<Float32Type>();
            let plain = |value: f32| {
                if value.is_nan() {
                    f32::NAN
                } else {
                    value + 0.0
                }
            };
            Arc::new(floats.unary::<_, Float32Type>(plain))
        }
        _ => Arc::clone(column),
    }
}

/// What is wrong with files or a table that lack a declared column.
pub(super) fn no_column(name: &str, source: &Source, held: &[&str]) -> String {
    format!(
        "has no column `{name}`, which source `{}` declares (it has: {})",
        source.name,
        held.join(", ")
    )
}

/// What is wrong with a column of a type that does not widen to the declared one.
pub(super) fn not_widening(name: &str, mismatch: &Mismatch) -> String {
    format!(
        "column `{name}{}` is {}, which does not widen to the declared `{}` without loss",
        mismatch.path,
        shown_type(&mismatch.found),
        mismatch.declared
    )
}

/// A file's type by the name that definitions give it, where they have one.
pub(crate) fn shown_type(data_type: &ArrowType) -> String {
    match DataType::from_arrow(data_type) {
        Some(declared) => format!("`{declared}`"),
        None => match data_type {
            ArrowType::Map(..) => "a map".to_owned(),
            ArrowType::List(_) | ArrowType::LargeList(_) | ArrowType::FixedSizeList(..) => {
                "a list".to_owned()
            }
            ArrowType::Struct(_) => "a struct".to_owned(),
            other => other.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{
        Date64Array, Decimal128Array, DictionaryArray, Int32Array, StringArray,
        TimestampNanosecondArray, TimestampSecondArray,
    };
    use arrow::datatypes::Int8Type;

    use super::*;

    fn convert(
        column: impl Array + 'static,
        declared: DataType,
        zone: Tz,
    ) -> Result<ArrayRef, Failure> {
        let column: ArrayRef = Arc::new(column);
        Conversion::new(column.data_type(), declared)
            .expect("widens")
            .apply(&column, zone)
    }

    #[test]
    fn types_widen_and_never_narrow() {
        let decimal = |precision, scale| DataType::Decimal { precision, scale };
        for (file, declared, accepted) in [
            (ArrowType::Int32, DataType::Int64, true),
            (ArrowType::Int64, DataType::Int32, false),
            (ArrowType::UInt32, DataType::Int64, true),
            (ArrowType::UInt64, DataType::Int64, false),
            (ArrowType::Int8, DataType::UInt8, false),
            (ArrowType::Int32, DataType::Float64, true),
            (ArrowType::Int64, DataType::Float64, false),
            (ArrowType::Float64, DataType::Float32, false),
            (ArrowType::Float32, DataType::Float64, true),
            (ArrowType::Int32, decimal(12, 2), true),
            (ArrowType::Int32, decimal(10, 2), false),
            (ArrowType::Decimal128(10, 2), decimal(12, 2), true),
            (ArrowType::Decimal128(12, 1), decimal(12, 2), false),
            (ArrowType::Decimal128(10, 2), DataType::Float64, false),
            (ArrowType::LargeUtf8, DataType::String, true),
            (ArrowType::Int64, DataType::String, false),
            (ArrowType::Utf8, DataType::Timestamp, false),
            (ArrowType::Int64, DataType::Timestamp, false),
            (ArrowType::Null, DataType::Date, true),
            (ArrowType::Float16, DataType::Float32, true),
            (ArrowType::Float16, DataType::Float64, true),
            (ArrowType::Float32, DataType::Float16, false),
            (ArrowType::Int8, DataType::Float16, true),
            (ArrowType::Int16, DataType::Float16, false),
            (ArrowType::FixedSizeBinary(16), DataType::Uuid, true),
            (ArrowType::FixedSizeBinary(16), DataType::Bytes, true),
            (ArrowType::FixedSizeBinary(15), DataType::Uuid, false),
            (ArrowType::Utf8View, DataType::Uuid, true),
            (ArrowType::Binary, DataType::Uuid, false),
            (ArrowType::FixedSizeBinary(16), DataType::String, false),
        ] {
            assert_eq!(
                Conversion::new(&file, declared).is_ok(),
                accepted,
                "{file} as {declared}"
            );
        }
    }

    #[test]
    fn values_survive_widening() {
        let wide = convert(
            Int32Array::from(vec![Some(-7), None]),
            DataType::Int64,
            Tz::UTC,
        );
        assert_eq!(
            wide.expect("int64").as_primitive::<Int64Type>(),
            &Int64Array::from(vec![Some(-7), None])
        );
        let cents = Decimal128Array::from(vec![1_234]);
        let cents = cents.with_precision_and_scale(10, 2).expect("decimal");
        let wide = convert(
            cents,
            DataType::Decimal {
                precision: 20,
                scale: 4,
            },
            Tz::UTC,
        );
        assert_eq!(
            wide.expect("decimal")
                .as_primitive::<arrow::datatypes::Decimal128Type>()
                .value(0),
            123_400
        );
        let packed: DictionaryArray<Int8Type> = ["a", "b", "a"].into_iter().collect();
        let plain = convert(packed, DataType::String, Tz::UTC).expect("strings");
        assert_eq!(plain.as_string::<i32>().value(2), "a");
    }

    #[test]
    fn uuids_are_read_from_text_and_other_text_fails_with_its_row() {
        let text = "F81D4FAE-7dec-11d0-a765-00a0c91e6bf6";
        let column = StringArray::from(vec![Some(text), None]);
        let uuids = convert(column, DataType::Uuid, Tz::UTC).expect("uuids");
        let bytes = uuid::parse(text).expect("a uuid");
        assert_eq!(Value::from_array(&uuids, 0), Value::Uuid(bytes));
        assert_eq!(Value::from_array(&uuids, 1), Value::Null);
        let column = StringArray::from(vec![text, "f81d4fae"]);
        let failure = convert(column, DataType::Uuid, Tz::UTC).expect_err("no uuid");
        assert_eq!(failure.row, 1);
        assert!(
            failure.message.starts_with("`f81d4fae` is no uuid"),
            "{}",
            failure.message
        );
    }

    #[test]
    fn times_without_zone_are_local_and_dates_are_midnights() {
        let berlin = chrono_tz::Europe::Berlin;
        let second = |text| Instant::parse(text).expect(text).micros() / 1_000_000;
        // Local noon in summer and winter, the hour that clocks repeat, and the hour that they skip.
        let local = [
            ("2024-07-01T12:00:00Z", "2024-07-01T10:00:00Z"),
            ("2024-12-01T12:00:00Z", "2024-12-01T11:00:00Z"),
            ("2024-10-27T02:30:00Z", "2024-10-27T00:30:00Z"),
            ("2024-03-31T02:30:00Z", "2024-03-31T01:30:00Z"),
        ];
        for (wall, utc) in local {
            let column = TimestampSecondArray::from(vec![second(wall)]);
            let converted = convert(column, DataType::Timestamp, berlin).expect("instants");
            let micros = to_instants(&converted, berlin).expect("instants").value(0);
            assert_eq!(Instant::from_micros(micros).to_string(), utc);
        }
        let zoned = TimestampSecondArray::from(vec![second("2024-07-01T12:00:00Z")]);
        let zoned = convert(zoned.with_timezone("+02:00"), DataType::Timestamp, berlin);
        let micros = to_instants(&zoned.expect("instants"), berlin)
            .expect("instants")
            .value(0);
        assert_eq!(
            Instant::from_micros(micros).to_string(),
            "2024-07-01T12:00:00Z"
        );
        let day: ArrayRef = Arc::new(Date32Array::from(vec![19_905]));
        let micros = to_instants(&day, berlin).expect("instants").value(0);
        assert_eq!(
            Instant::from_micros(micros).to_string(),
            "2024-06-30T22:00:00Z"
        );
    }

    #[test]
    fn instants_that_do_not_fit_fail_with_their_row() {
        let seconds = TimestampSecondArray::from(vec![0, i64::MAX]);
        let failure = convert(seconds, DataType::Timestamp, Tz::UTC).expect_err("too far");
        assert_eq!(failure.row, 1);
        assert!(failure.message.contains("9223372036854775807 seconds"));
        let nanos = TimestampNanosecondArray::from(vec![1_000, 1_001]);
        let failure = convert(nanos, DataType::Timestamp, Tz::UTC).expect_err("not whole");
        assert_eq!(failure.row, 1);
        let millis = Date64Array::from(vec![86_400_000, 1]);
        assert_eq!(
            convert(millis, DataType::Date, Tz::UTC)
                .expect_err("no day")
                .row,
            1
        );
    }
}
