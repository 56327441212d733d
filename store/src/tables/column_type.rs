//! Types of PostgreSQL that are read, as Arrow types that hold all their values.

use arrow::datatypes::{DataType as ArrowType, Field, TimeUnit};
use feature_defs::data_type::DataType;

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundColumn {
    /// Its name.
    pub name: String,
    /// Its type as PostgreSQL writes it, for messages.
    pub shown: String,
    /// Its type, if it is one that is read.
    pub column_type: Option<ColumnType>,
}

/// A type of PostgreSQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnType {
    /// `bool`
    Bool,
    /// `int2`
    Int16,
    /// `int4`
    Int32,
    /// `int8`
    Int64,
    /// `float4`
    Float32,
    /// `float8`
    Float64,
    /// `text`, `varchar`, `name`, `json`, and the labels of an enumeration.
    Text,
    /// `char(n)`, whose filling blanks are no part of the value, and `jsonb`: read as the text that they cast to.
    AsText,
    /// `bytea`
    Bytes,
    /// `uuid`
    Uuid,
    /// `date`
    Date,
    /// `timestamp`, a local time.
    Timestamp,
    /// `timestamptz`, an instant.
    Timestamptz,
    /// `numeric(p,s)` as precision and scale, or `numeric` of any digits.
    Numeric(Option<(u8, i8)>),
    /// An array of any dimensions; those of one are read.
    Array(Box<Self>),
}

impl ColumnType {
    /// The type by its name in `pg_type` and its modifier. `None` where it is not read.
    pub(super) fn of(name: &str, modifier: i32) -> Option<Self> {
        if let Some(element) = name.strip_prefix('_') {
            let element = Self::of(element, modifier)?;
            return Some(Self::Array(Box::new(element)));
        }
        Some(match name {
            "bool" => Self::Bool,
            "int2" => Self::Int16,
            "int4" => Self::Int32,
            "int8" => Self::Int64,
            "float4" => Self::Float32,
            "float8" => Self::Float64,
            "text" | "varchar" | "name" | "json" => Self::Text,
            "bpchar" | "jsonb" => Self::AsText,
            "bytea" => Self::Bytes,
            "uuid" => Self::Uuid,
            "date" => Self::Date,
            "timestamp" => Self::Timestamp,
            "timestamptz" => Self::Timestamptz,
            "numeric" if modifier < 4 => Self::Numeric(None),
            "numeric" => Self::Numeric(Some(precision_and_scale(modifier)?)),
            _ => return None,
        })
    }

    /// The Arrow type in which values are read where a column of this type is declared as `declared`: numerics of any
    /// digits are read with the declared ones.
    #[must_use]
    pub fn to_arrow(&self, declared: DataType) -> ArrowType {
        match self {
            Self::Bool => ArrowType::Boolean,
            Self::Int16 => ArrowType::Int16,
            Self::Int32 => ArrowType::Int32,
            Self::Int64 => ArrowType::Int64,
            Self::Float32 => ArrowType::Float32,
            Self::Float64 => ArrowType::Float64,
            Self::Text | Self::AsText => ArrowType::Utf8,
            Self::Bytes => ArrowType::Binary,
            Self::Uuid => ArrowType::FixedSizeBinary(16),
            Self::Date => ArrowType::Date32,
            Self::Timestamp => ArrowType::Timestamp(TimeUnit::Microsecond, None),
            Self::Timestamptz => ArrowType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            Self::Numeric(Some((precision, scale))) => ArrowType::Decimal128(*precision, *scale),
            Self::Numeric(None) => match declared {
                DataType::Decimal { .. } => declared.to_arrow(),
                _ => ArrowType::Decimal128(38, 0),
            },
            Self::Array(element) => {
                let declared = match declared {
                    DataType::List(element) => *element,
                    other => other,
                };
                ArrowType::List(Field::new_list_field(element.to_arrow(declared), true).into())
            }
        }
    }
}

/// What a modifier of `numeric` says. `None` where Arrow's decimals have fewer digits.
fn precision_and_scale(modifier: i32) -> Option<(u8, i8)> {
    let packed = modifier - 4;
    let precision = (packed >> 16) & 0xffff;
    // Eleven bits with a sign.
    let scale = ((packed & 0x7ff) ^ 1024) - 1024;
    let (precision, scale) = match scale {
        0.. => (precision.max(scale), scale),
        _ => (precision - scale, 0),
    };
    let precision = u8::try_from(precision).ok().filter(|p| *p <= 38)?;
    Some((precision, i8::try_from(scale).ok()?))
}
