//! Statistics of a snapshot's columns, gathered while it is written, in row order.

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, RecordBatch};
use arrow::compute::{max_binary, max_boolean, max_string, min_binary, min_boolean, min_string};
use arrow::datatypes::{
    Date32Type, Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, Schema, TimestampMicrosecondType, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use feature_defs::data_type::DataType;
use feature_defs::time::Instant;
use feature_defs::value::Value;

use super::ColumnStatistics;
use crate::error::{Error, ErrorKind, Result};
use crate::online::row::decimal_to_f64;

/// Statistics of all columns so far.
#[derive(Debug)]
pub(super) struct Statistics {
    columns: Vec<Column>,
}

#[derive(Debug)]
struct Column {
    name: String,
    data_type: DataType,
    nulls: u64,
    /// NaN seen.
    nans: u64,
    range: Option<(Value, Value)>,
    /// Numbers seen, NaN left out, and their sum.
    numbers: u64,
    sum: CompensatedSum,
}

impl Statistics {
    /// Of the columns of `schema`, which must have the types of [`DataType::to_arrow`].
    pub(super) fn new(schema: &Schema) -> Result<Self> {
        let mut columns = Vec::with_capacity(schema.fields().len());
        for field in schema.fields() {
            let data_type = DataType::from_arrow(field.data_type())
                .filter(|data_type| data_type.to_arrow() == *field.data_type())
                .ok_or_else(|| {
                    Error::new(
                        ErrorKind::Invalid,
                        format!(
                            "column `{}` has type {}, which no snapshot holds",
                            field.name(),
                            field.data_type()
                        ),
                    )
                })?;
            columns.push(Column {
                name: field.name().clone(),
                data_type,
                nulls: 0,
                nans: 0,
                range: None,
                numbers: 0,
                sum: CompensatedSum::default(),
            });
        }
        Ok(Self { columns })
    }

    pub(super) fn observe(&mut self, batch: &RecordBatch) {
        for (column, array) in self.columns.iter_mut().zip(batch.columns()) {
            column.observe(array);
        }
    }

    pub(super) fn finish(self) -> Result<Vec<ColumnStatistics>> {
        self.columns.into_iter().map(Column::finish).collect()
    }
}

impl Column {
    fn observe(&mut self, array: &ArrayRef) {
        self.nulls += array.null_count() as u64;
        match self.data_type {
            DataType::Bool => {
                let bits = array.as_boolean();
                self.widen(min_boolean(bits), max_boolean(bits), Value::Bool);
            }
            DataType::Int8 => self.numbers::<Int8Type>(array, f64::from, int),
            DataType::Int16 => self.numbers::<Int16Type>(array, f64::from, int),
            DataType::Int32 => self.numbers::<Int32Type>(array, f64::from, int),
            #[allow(clippy::cast_precision_loss)] // a mean is a float64
            DataType::Int64 => self.numbers::<Int64Type>(array, |value| value as f64, int),
            DataType::UInt8 => self.numbers::<UInt8Type>(array, f64::from, uint),
            DataType::UInt16 => self.numbers::<UInt16Type>(array, f64::from, uint),
            DataType::UInt32 => self.numbers::<UInt32Type>(array, f64::from, uint),
            #[allow(clippy::cast_precision_loss)] // a mean is a float64
            DataType::UInt64 => self.numbers::<UInt64Type>(array, |value| value as f64, uint),
            DataType::Float16 => {
                self.numbers::<Float16Type>(array, f64::from, |value| float(value.into()));
            }
            DataType::Float32 => {
                self.numbers::<Float32Type>(array, f64::from, |value| float(value.into()));
            }
            DataType::Float64 => {
                self.numbers::<Float64Type>(array, |value| value, float);
            }
            DataType::Decimal { scale, .. } => self.numbers::<Decimal128Type>(
                array,
                |unscaled| decimal_to_f64(unscaled, scale),
                |unscaled| Value::Decimal { unscaled, scale },
            ),
            DataType::String => {
                let texts = array.as_string::<i32>();
                let value = |text: &str| Value::String(text.to_owned());
                self.widen(min_string(texts), max_string(texts), value);
            }
            DataType::Bytes => {
                let bytes = array.as_binary::<i32>();
                let value = |bytes: &[u8]| Value::Bytes(bytes.to_vec());
                self.widen(min_binary(bytes), max_binary(bytes), value);
            }
            DataType::Uuid => {
                let uuids = array.as_fixed_size_binary();
                let value = |bytes: &[u8]| Value::Uuid(bytes.try_into().unwrap_or_default());
                let (min, max) = (uuids.iter().flatten().min(), uuids.iter().flatten().max());
                self.widen(min, max, value);
            }
            DataType::Date => {
                let days = array.as_primitive::<Date32Type>();
                let (min, max) = (arrow::compute::min(days), arrow::compute::max(days));
                self.widen(min, max, Value::Date);
            }
            // They have no order.
            DataType::List(_) | DataType::Vector { .. } | DataType::Struct(_) => {}
            DataType::Timestamp => {
                let micros = array.as_primitive::<TimestampMicrosecondType>();
                let (min, max) = (arrow::compute::min(micros), arrow::compute::max(micros));
                self.widen(min, max, |micros| {
                    Value::Timestamp(Instant::from_micros(micros))
                });
            }
        }
    }

    fn numbers<T: ArrowPrimitiveType>(
        &mut self,
        array: &ArrayRef,
        to_float: impl Fn(T::Native) -> f64,
        to_value: impl Fn(T::Native) -> Value,
    ) {
        let mut range: Option<(T::Native, T::Native)> = None;
        for number in array.as_primitive::<T>().iter().flatten() {
            let float = to_float(number);
            if float.is_nan() {
                self.nans += 1;
                continue;
            }
            self.numbers += 1;
            self.sum.add(float);
            let (min, max) = range.get_or_insert((number, number));
            if number < *min {
                *min = number;
            }
            if number > *max {
                *max = number;
            }
        }
        self.widen(
            range.map(|(min, _)| min),
            range.map(|(_, max)| max),
            to_value,
        );
    }

    /// Takes a batch's least and greatest value in.
    fn widen<T>(&mut self, min: Option<T>, max: Option<T>, to_value: impl Fn(T) -> Value) {
        let (Some(min), Some(max)) = (min, max) else {
            return;
        };
        let (min, max) = (to_value(min), to_value(max));
        match &mut self.range {
            Some((least, greatest)) => {
                if min.order(least).is_lt() {
                    *least = min;
                }
                if max.order(greatest).is_gt() {
                    *greatest = max;
                }
            }
            None => self.range = Some((min, max)),
        }
    }

    fn finish(self) -> Result<ColumnStatistics> {
        let (min, max) = self.range.unzip();
        let json = |value: Option<Value>| {
            value
                .map(|value| {
                    let mut text = Vec::new();
                    value.write_json(self.data_type, &mut text);
                    serde_json::from_slice(&text)
                })
                .transpose()
                .map_err(|error| {
                    let message = format!("a value of column `{}` is no JSON", self.name);
                    Error::new(ErrorKind::Internal, message).with_source(error)
                })
        };
        #[allow(clippy::cast_precision_loss)] // row counts are far below 2^53
        let mean = self.sum.total() / self.numbers as f64;
        Ok(ColumnStatistics {
            min: json(min)?,
            max: json(max)?,
            mean: mean.is_finite().then_some(mean),
            nulls: self.nulls,
            nans: self.nans,
            name: self.name,
        })
    }
}

fn int(value: impl Into<i64>) -> Value {
    Value::Int(value.into())
}

/// Zero has one form, so that a least or greatest value does not depend on which zero came first.
fn float(value: f64) -> Value {
    Value::Float(value + 0.0)
}

fn uint(value: impl Into<u64>) -> Value {
    Value::UInt(value.into())
}

/// A sum that keeps what rounding drops (A. Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher
/// Summen", 1974).
#[derive(Debug, Default, Clone, Copy)]
struct CompensatedSum {
    sum: f64,
    dropped: f64,
}

impl CompensatedSum {
    fn add(&mut self, value: f64) {
        let next = self.sum + value;
        self.dropped += if self.sum.abs() >= value.abs() {
            (self.sum - next) + value
        } else {
            (value - next) + self.sum
        };
        self.sum = next;
    }

    fn total(self) -> f64 {
        self.sum + self.dropped
    }
}
