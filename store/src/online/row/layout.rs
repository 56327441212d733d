//! Where each feature of a view stands in its packed rows.

use feature_defs::data_type::DataType;
use feature_defs::feature_view::Feature;
use feature_defs::fingerprint::Fingerprint;
use feature_defs::name::Name;

use super::{FORMAT, HEADER_LENGTH};

/// Bytes of the header that name the layout.
const LAYOUT_ID_LENGTH: usize = 6;

/// The places of a view's features in its packed rows, made once from the features in view order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowLayout {
    /// The first eight bytes of every row.
    pub(super) prefix: [u8; 8],
    pub(super) slots: Vec<Slot>,
    /// Length of header, nulls and fixed part: where the variable part starts.
    pub(super) fixed_end: usize,
    /// Index of the last slot whose bytes are in the variable part.
    pub(super) last_variable: Option<usize>,
}

/// One feature's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) name: Name,
    pub(super) data_type: DataType,
    /// Where its fixed part starts in the row.
    pub(super) offset: usize,
    /// Its null bit, when it is nullable.
    pub(super) null_bit: Option<NullBit>,
    /// For what is in the variable part: the offset of the slot that says where this one's bytes start; `None` at the front.
    pub(super) variable_before: Option<usize>,
}

/// Place of a null bit in the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NullBit {
    pub(super) byte: usize,
    pub(super) mask: u8,
}

impl RowLayout {
    /// The layout of rows that hold `features` in this order.
    #[must_use]
    pub fn new(features: &[Feature]) -> Self {
        let nullable = features.iter().filter(|feature| feature.nullable).count();
        let mut offset = HEADER_LENGTH + nullable.div_ceil(8);
        let mut nulls_before = 0;
        let mut variable_before = None;
        let mut last_variable = None;
        let mut slots = Vec::with_capacity(features.len());
        for (index, feature) in features.iter().enumerate() {
            let null_bit = feature.nullable.then(|| NullBit {
                byte: HEADER_LENGTH + nulls_before / 8,
                mask: 1 << (nulls_before % 8),
            });
            nulls_before += usize::from(feature.nullable);
            slots.push(Slot {
                name: feature.name.clone(),
                data_type: feature.data_type,
                offset,
                null_bit,
                variable_before,
            });
            if is_variable(feature.data_type) {
                variable_before = Some(offset);
                last_variable = Some(index);
            }
            offset += slot_width(feature.data_type);
        }
        Self {
            prefix: prefix(features),
            slots,
            fixed_end: offset,
            last_variable,
        }
    }

    /// Number of features.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is no feature.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The feature's index by its name.
    #[must_use]
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.slots
            .iter()
            .position(|slot| slot.name.as_str() == name)
    }

    /// The type of the feature at `index`.
    ///
    /// # Panics
    /// When `index` is not below [`RowLayout::len`].
    #[must_use]
    pub fn data_type(&self, index: usize) -> DataType {
        self.slots[index].data_type
    }
}

/// Whether values of a type stand in the variable part.
pub(super) const fn is_variable(data_type: DataType) -> bool {
    matches!(
        data_type,
        DataType::String | DataType::Bytes | DataType::List(_) | DataType::Struct(_)
    )
}

/// Bytes of a type's slot in the fixed part.
pub(super) const fn slot_width(data_type: DataType) -> usize {
    match data_type {
        DataType::Bool | DataType::Int8 | DataType::UInt8 => 1,
        DataType::Int16 | DataType::UInt16 | DataType::Float16 => 2,
        DataType::Int32
        | DataType::UInt32
        | DataType::Float32
        | DataType::Date
        | DataType::String
        | DataType::Bytes
        | DataType::List(_)
        | DataType::Struct(_) => 4,
        DataType::Int64 | DataType::UInt64 | DataType::Float64 | DataType::Timestamp => 8,
        DataType::Decimal { .. } | DataType::Uuid => 16,
        DataType::Vector { element, length } => slot_width(*element) * length as usize,
    }
}

fn prefix(features: &[Feature]) -> [u8; 8] {
    let described = features.iter().flat_map(|feature| {
        let nullable = if feature.nullable { "null" } else { "value" };
        [
            feature.name.to_string(),
            feature.data_type.to_string(),
            nullable.to_owned(),
        ]
    });
    let hash = Fingerprint::of(described);
    let mut prefix = [FORMAT, 0, 0, 0, 0, 0, 0, 0];
    prefix[2..].copy_from_slice(&hash.as_bytes()[..LAYOUT_ID_LENGTH]);
    prefix
}
