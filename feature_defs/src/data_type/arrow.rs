//! The one mapping of types to Arrow.

use std::sync::Arc;

use arrow::datatypes::{DataType as ArrowType, Field, Fields, TimeUnit};

use super::{DataType, PLAIN, StructField, UUID_BYTES};

impl DataType {
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
            Self::Float16 => ArrowType::Float16,
            Self::Float32 => ArrowType::Float32,
            Self::Float64 => ArrowType::Float64,
            Self::Decimal { precision, scale } => {
                ArrowType::Decimal128(precision, i8::try_from(scale).unwrap_or(i8::MAX))
            }
            Self::String => ArrowType::Utf8,
            Self::Bytes => ArrowType::Binary,
            Self::Uuid => ArrowType::FixedSizeBinary(UUID_BYTES),
            Self::Date => ArrowType::Date32,
            Self::Timestamp => ArrowType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            Self::List(element) => ArrowType::List(element.to_item()),
            Self::Vector { element, length } => {
                ArrowType::FixedSizeList(element.to_item(), length.cast_signed())
            }
            Self::Struct(of) => {
                ArrowType::Struct(of.fields.iter().map(StructField::to_arrow).collect())
            }
        }
    }

    /// The type whose [`DataType::to_arrow`] is `arrow`, or that holds the same values in another Arrow layout
    /// (`LargeUtf8`, `Utf8View`, other time units are not: those need a conversion).
    #[must_use]
    pub fn from_arrow(arrow: &ArrowType) -> Option<Self> {
        match arrow {
            ArrowType::Utf8 | ArrowType::LargeUtf8 | ArrowType::Utf8View => Some(Self::String),
            ArrowType::Binary | ArrowType::LargeBinary | ArrowType::BinaryView => Some(Self::Bytes),
            ArrowType::Decimal128(precision, scale) => Some(Self::Decimal {
                precision: *precision,
                scale: u8::try_from(*scale).ok()?,
            }),
            ArrowType::Timestamp(TimeUnit::Microsecond, Some(_)) => Some(Self::Timestamp),
            ArrowType::List(item) | ArrowType::LargeList(item) => {
                Self::from_arrow(item.data_type())?.list_of()
            }
            ArrowType::FixedSizeList(item, length) => {
                let element = Self::from_arrow(item.data_type())?;
                let vector = element.vector_of(u32::try_from(*length).ok()?);
                vector.or_else(|| element.list_of())
            }
            ArrowType::Struct(fields) => Self::struct_of(from_fields(fields)?),
            other => {
                let (_, plain) = PLAIN.iter().find(|(_, t)| t.to_arrow() == *other)?;
                Some(*plain)
            }
        }
    }

    /// The type as that of the elements of a list.
    fn to_item(self) -> Arc<Field> {
        Arc::new(Field::new_list_field(self.to_arrow(), true))
    }
}

impl StructField {
    /// The Arrow field that holds its values.
    #[must_use]
    pub fn to_arrow(&self) -> Arc<Field> {
        Arc::new(Field::new(&self.name, self.data_type.to_arrow(), true))
    }
}

fn from_fields(fields: &Fields) -> Option<Vec<StructField>> {
    let field = |field: &Arc<Field>| {
        Some(StructField {
            name: field.name().clone(),
            data_type: DataType::from_arrow(field.data_type())?,
        })
    };
    fields.iter().map(field).collect()
}
