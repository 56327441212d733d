//! The closed set of types, and the one mapping to Arrow.

use std::fmt;

use arrow::datatypes::{DataType as ArrowType, TimeUnit};

/// Most digits a [`DataType::Decimal`] holds.
pub const MAX_DECIMAL_PRECISION: u8 = 38;

/// The type of a key part, source column, request field or feature. Every value may also be null unless its
/// declaration says otherwise; nullability is not part of the type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DataType {
    /// `bool`
    Bool,
    /// `int8`
    Int8,
    /// `int16`
    Int16,
    /// `int32`
    Int32,
    /// `int64`
    Int64,
    /// `uint8`
    UInt8,
    /// `uint16`
    UInt16,
    /// `uint32`
    UInt32,
    /// `uint64`
    UInt64,
    /// `float32`
    Float32,
    /// `float64`
    Float64,
    /// `decimal(p,s)`: at most `precision` digits (1 to 38), `scale` of them (0 to `precision`) after the point.
    Decimal {
        /// Digits in all.
        precision: u8,
        /// Digits after the point.
        scale: u8,
    },
    /// `string`: UTF-8 text.
    String,
    /// `bytes`
    Bytes,
    /// `date`: a day, without zone.
    Date,
    /// `timestamp`: an instant, UTC, microseconds.
    Timestamp,
}

/// The types written without arguments, by name.
const PLAIN: [(&str, DataType); 15] = [
    ("bool", DataType::Bool),
    ("int8", DataType::Int8),
    ("int16", DataType::Int16),
    ("int32", DataType::Int32),
    ("int64", DataType::Int64),
    ("uint8", DataType::UInt8),
    ("uint16", DataType::UInt16),
    ("uint32", DataType::UInt32),
    ("uint64", DataType::UInt64),
    ("float32", DataType::Float32),
    ("float64", DataType::Float64),
    ("string", DataType::String),
    ("bytes", DataType::Bytes),
    ("date", DataType::Date),
    ("timestamp", DataType::Timestamp),
];

/// Why a text is not a [`DataType`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a type")]
pub struct DataTypeError {
    /// The text that was refused.
    pub text: String,
}

impl DataType {
    /// Names of all types as they are written, for messages and suggestions.
    pub fn names() -> impl Iterator<Item = &'static str> {
        PLAIN.iter().map(|(name, _)| *name).chain(["decimal(p,s)"])
    }

    /// Parses a type as it is written in definition files.
    ///
    /// # Errors
    /// [`DataTypeError`] for unknown names and for decimals outside 1 to 38 digits.
    pub fn parse(text: &str) -> Result<Self, DataTypeError> {
        let refused = || DataTypeError {
            text: text.to_owned(),
        };
        if let Some((_, plain)) = PLAIN.iter().find(|(name, _)| *name == text) {
            return Ok(*plain);
        }
        let arguments = text
            .strip_prefix("decimal(")
            .and_then(|rest| rest.strip_suffix(')'))
            .ok_or_else(refused)?;
        let (precision, scale) = arguments.split_once(',').ok_or_else(refused)?;
        let precision: u8 = precision.trim().parse().map_err(|_| refused())?;
        let scale: u8 = scale.trim().parse().map_err(|_| refused())?;
        if (1..=MAX_DECIMAL_PRECISION).contains(&precision) && scale <= precision {
            Ok(Self::Decimal { precision, scale })
        } else {
            Err(refused())
        }
    }

    /// The Arrow type that holds values of this type.
    #[must_use]
    pub fn to_arrow(self) -> ArrowType {
        match self {
            Self::Bool => ArrowType::Boolean,
            Self::Int8 => ArrowType::Int8,
            Self::Int16 => ArrowType::Int16,
            Self::Int32 => ArrowType::Int32,
            Self::Int64 => ArrowType::Int64,
            Self::UInt8 => ArrowType::UInt8,
            Self::UInt16 => ArrowType::UInt16,
            Self::UInt32 => ArrowType::UInt32,
            Self::UInt64 => ArrowType::UInt64,
            Self::Float32 => ArrowType::Float32,
            Self::Float64 => ArrowType::Float64,
            Self::Decimal { precision, scale } => {
                ArrowType::Decimal128(precision, i8::try_from(scale).unwrap_or(i8::MAX))
            }
            Self::String => ArrowType::Utf8,
            Self::Bytes => ArrowType::Binary,
            Self::Date => ArrowType::Date32,
            Self::Timestamp => ArrowType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        }
    }

    /// The type whose [`DataType::to_arrow`] is `arrow`, or that holds the same values in another Arrow layout
    /// (`LargeUtf8`, `Utf8View`, other time units are not: those need a conversion).
    #[must_use]
    pub fn from_arrow(arrow: &ArrowType) -> Option<Self> {
        Some(match arrow {
            ArrowType::Utf8 | ArrowType::LargeUtf8 | ArrowType::Utf8View => Self::String,
            ArrowType::Binary | ArrowType::LargeBinary | ArrowType::BinaryView => Self::Bytes,
            ArrowType::Decimal128(precision, scale) => Self::Decimal {
                precision: *precision,
                scale: u8::try_from(*scale).ok()?,
            },
            ArrowType::Timestamp(TimeUnit::Microsecond, Some(_)) => Self::Timestamp,
            other => {
                let (_, plain) = PLAIN.iter().find(|(_, t)| t.to_arrow() == *other)?;
                *plain
            }
        })
    }

    /// Whether values are integers of any width.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(
            self,
            Self::Int8
                | Self::Int16
                | Self::Int32
                | Self::Int64
                | Self::UInt8
                | Self::UInt16
                | Self::UInt32
                | Self::UInt64
        )
    }

    /// The least and the greatest value of an integer type; `None` for other types.
    #[must_use]
    pub const fn integer_range(self) -> Option<(i128, i128)> {
        Some(match self {
            Self::Int8 => (i8::MIN as i128, i8::MAX as i128),
            Self::Int16 => (i16::MIN as i128, i16::MAX as i128),
            Self::Int32 => (i32::MIN as i128, i32::MAX as i128),
            Self::Int64 => (i64::MIN as i128, i64::MAX as i128),
            Self::UInt8 => (0, u8::MAX as i128),
            Self::UInt16 => (0, u16::MAX as i128),
            Self::UInt32 => (0, u32::MAX as i128),
            Self::UInt64 => (0, u64::MAX as i128),
            _ => return None,
        })
    }

    /// Whether every value of this type is exactly a value of `wider`: integers of less range, integers in floats and
    /// decimals that hold all their digits, `float32` in `float64`, decimals with as many digits on both sides.
    #[must_use]
    pub fn widens_to(self, wider: Self) -> bool {
        if self == wider {
            return true;
        }
        match (self.integer_range(), wider) {
            (Some((least, greatest)), Self::Float32 | Self::Float64) => {
                let exact = if wider == Self::Float32 {
                    1 << 24
                } else {
                    1 << 53
                };
                -exact <= least && greatest <= exact
            }
            (Some((_, greatest)), Self::Decimal { precision, scale }) => {
                greatest.ilog10() < u32::from(precision - scale)
            }
            (Some((least, greatest)), _) => wider
                .integer_range()
                .is_some_and(|(low, high)| low <= least && greatest <= high),
            (None, Self::Float64) => self == Self::Float32,
            (None, Self::Decimal { precision, scale }) => match self {
                Self::Decimal {
                    precision: own_precision,
                    scale: own_scale,
                } => own_scale <= scale && own_precision - own_scale <= precision - scale,
                _ => false,
            },
            (None, _) => false,
        }
    }

    /// Whether a value is a number to a model: all but strings and bytes.
    #[must_use]
    pub const fn is_model_input(self) -> bool {
        !matches!(self, Self::String | Self::Bytes)
    }

    /// Whether values are `float32` or `float64`.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self, Self::Float32 | Self::Float64)
    }

    /// Whether arithmetic is defined on values: integers, floats and decimals.
    #[must_use]
    pub const fn is_numeric(self) -> bool {
        self.is_integer() || self.is_float() || matches!(self, Self::Decimal { .. })
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Decimal { precision, scale } = self {
            return write!(f, "decimal({precision},{scale})");
        }
        let plain = PLAIN.iter().find(|(_, t)| t == self);
        f.write_str(plain.map_or("", |(name, _)| name))
    }
}

impl serde::Serialize for DataType {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for DataType {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_prints_parses_and_maps_both_ways() {
        let decimal = DataType::Decimal {
            precision: 12,
            scale: 2,
        };
        for data_type in PLAIN.iter().map(|(_, t)| *t).chain([decimal]) {
            assert_eq!(DataType::parse(&data_type.to_string()), Ok(data_type));
            assert_eq!(DataType::from_arrow(&data_type.to_arrow()), Some(data_type));
        }
        for text in [
            "int",
            "decimal",
            "decimal(39,2)",
            "decimal(2,3)",
            "decimal(0,0)",
            "Int64",
        ] {
            assert!(DataType::parse(text).is_err(), "{text}");
        }
    }
}
