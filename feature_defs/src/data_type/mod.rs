//! The closed set of types, and the one mapping to Arrow.
//!
//! ```text
//!   text     as definitions write them: `list<struct<at: timestamp, amount: decimal(12,2)>>`
//!   arrow    to Arrow and back
//!   nested   types made of others
//! ```

mod arrow;
mod nested;
mod text;

pub use nested::{MAX_DEPTH, MAX_VECTOR_LENGTH, StructField, StructType};
pub use text::{DataTypeError, DataTypeFault};

/// Most digits a [`DataType::Decimal`] holds.
pub const MAX_DECIMAL_PRECISION: u8 = 38;

/// Bytes of a [`DataType::Uuid`].
pub const UUID_BYTES: i32 = 16;

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
    /// `float16`
    Float16,
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
    /// `uuid`: 128 bits, written as RFC 9562 has it.
    Uuid,
    /// `date`: a day, without zone.
    Date,
    /// `timestamp`: an instant, UTC, microseconds.
    Timestamp,
    /// `list<T>`: any number of values of one type, in order, nulls among them. Made by [`DataType::list_of`].
    List(&'static DataType),
    /// `vector<F, n>`: so many floats, none of them null. Made by [`DataType::vector_of`].
    Vector {
        /// `float16`, `float32` or `float64`.
        element: &'static DataType,
        /// How many, 1 to [`MAX_VECTOR_LENGTH`].
        length: u32,
    },
    /// `struct<a: T, ...>`: a value of each field, any of which may be null. Made by [`DataType::struct_of`].
    Struct(&'static StructType),
}

/// The types written without arguments, by name.
const PLAIN: [(&str, DataType); 17] = [
    ("bool", DataType::Bool),
    ("int8", DataType::Int8),
    ("int16", DataType::Int16),
    ("int32", DataType::Int32),
    ("int64", DataType::Int64),
    ("uint8", DataType::UInt8),
    ("uint16", DataType::UInt16),
    ("uint32", DataType::UInt32),
    ("uint64", DataType::UInt64),
    ("float16", DataType::Float16),
    ("float32", DataType::Float32),
    ("float64", DataType::Float64),
    ("string", DataType::String),
    ("bytes", DataType::Bytes),
    ("uuid", DataType::Uuid),
    ("date", DataType::Date),
    ("timestamp", DataType::Timestamp),
];

impl DataType {
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
    /// decimals that hold all their digits, floats in wider ones, decimals with as many digits on both sides,
    /// lists, vectors and structs of such. A struct may gain fields, which are null then, and lose none.
    #[must_use]
    pub fn widens_to(self, wider: Self) -> bool {
        if self == wider {
            return true;
        }
        match (self.integer_range(), wider) {
            (Some((least, greatest)), Self::Float16 | Self::Float32 | Self::Float64) => {
                let exact = match wider {
                    Self::Float16 => 1 << 11,
                    Self::Float32 => 1 << 24,
                    _ => 1 << 53,
                };
                -exact <= least && greatest <= exact
            }
            (Some((_, greatest)), Self::Decimal { precision, scale }) => {
                greatest.ilog10() < u32::from(precision - scale)
            }
            (Some((least, greatest)), _) => wider
                .integer_range()
                .is_some_and(|(low, high)| low <= least && greatest <= high),
            (None, Self::Float32) => self == Self::Float16,
            (None, Self::Float64) => matches!(self, Self::Float16 | Self::Float32),
            (None, Self::Decimal { precision, scale }) => match self {
                Self::Decimal {
                    precision: own_precision,
                    scale: own_scale,
                } => own_scale <= scale && own_precision - own_scale <= precision - scale,
                _ => false,
            },
            (None, Self::List(wider)) => match self {
                Self::List(own) => own.widens_to(*wider),
                _ => false,
            },
            (None, Self::Vector { element, length }) => match self {
                Self::Vector {
                    element: own,
                    length: own_length,
                } => own_length == length && own.widens_to(*element),
                _ => false,
            },
            (None, Self::Struct(wider)) => match self {
                Self::Struct(own) => own.widens_to(wider),
                _ => false,
            },
            (None, _) => false,
        }
    }

    /// Whether a value is a number to a model: all but strings, bytes, uuids, and what holds other values.
    #[must_use]
    pub const fn is_model_input(self) -> bool {
        !matches!(self, Self::String | Self::Bytes | Self::Uuid) && !self.is_nested()
    }

    /// Whether a value holds values of other types: lists, vectors and structs.
    #[must_use]
    pub const fn is_nested(self) -> bool {
        matches!(self, Self::List(_) | Self::Vector { .. } | Self::Struct(_))
    }

    /// Whether values are `float16`, `float32` or `float64`.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self, Self::Float16 | Self::Float32 | Self::Float64)
    }

    /// The type in which SQL sees values of this one: a `float16` is a `float32` there, because the engine would round
    /// whatever it computes with a `float16`, and numbers beside it, to three digits.
    #[must_use]
    pub fn in_sql(self) -> Self {
        let in_sql = match self {
            Self::Float16 => Some(Self::Float32),
            Self::List(element) => element.in_sql().list_of(),
            Self::Vector { element, length } => element.in_sql().vector_of(length),
            Self::Struct(of) => Self::struct_of(of.fields_in_sql()),
            plain => Some(plain),
        };
        in_sql.unwrap_or(self)
    }

    /// Whether arithmetic is defined on values: integers, floats and decimals.
    #[must_use]
    pub const fn is_numeric(self) -> bool {
        self.is_integer() || self.is_float() || matches!(self, Self::Decimal { .. })
    }
}
