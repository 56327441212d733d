//! Types made of others. Each is made once and kept for as long as the process lives, so that a [`DataType`] stays a
//! small value that is copied.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::{LazyLock, Mutex, PoisonError};

use super::DataType;

/// How deep types stand in each other: `list<int64>` is two deep.
pub const MAX_DEPTH: usize = 8;

/// Most elements of a [`DataType::Vector`].
pub const MAX_VECTOR_LENGTH: u32 = 16_384;

/// The fields of a [`DataType::Struct`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StructType {
    /// In order, each of another name; at least one.
    pub fields: Vec<StructField>,
}

/// One field of a struct.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StructField {
    /// Letters, digits and `_`, not a digit first.
    pub name: String,
    /// Its type; any value may be null.
    pub data_type: DataType,
}

impl StructType {
    /// The field's place by its name.
    #[must_use]
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }

    /// As [`DataType::widens_to`].
    pub(super) fn widens_to(&self, wider: &Self) -> bool {
        self.fields.iter().all(|field| {
            let there = wider
                .index_of(&field.name)
                .map(|place| &wider.fields[place]);
            there.is_some_and(|wider| field.data_type.widens_to(wider.data_type))
        })
    }

    /// As [`DataType::in_sql`].
    pub(super) fn fields_in_sql(&self) -> Vec<StructField> {
        let field = |field: &StructField| StructField {
            name: field.name.clone(),
            data_type: field.data_type.in_sql(),
        };
        self.fields.iter().map(field).collect()
    }
}

impl DataType {
    /// The list of elements of this type; `None` when it would be deeper than [`MAX_DEPTH`].
    #[must_use]
    pub fn list_of(self) -> Option<Self> {
        (self.depth() < MAX_DEPTH).then(|| Self::List(kept(self)))
    }

    /// The vector of so many elements; `None` for elements that are not floats, and for lengths outside 1 to
    /// [`MAX_VECTOR_LENGTH`].
    #[must_use]
    pub fn vector_of(self, length: u32) -> Option<Self> {
        let element: &'static Self = match self {
            Self::Float16 => &Self::Float16,
            Self::Float32 => &Self::Float32,
            Self::Float64 => &Self::Float64,
            _ => return None,
        };
        let is_length = (1..=MAX_VECTOR_LENGTH).contains(&length);
        is_length.then_some(Self::Vector { element, length })
    }

    /// The struct of these fields; `None` for no fields, names that are none or that repeat, and when it would be
    /// deeper than [`MAX_DEPTH`].
    #[must_use]
    pub fn struct_of(fields: Vec<StructField>) -> Option<Self> {
        let of_field = |field: &StructField| field.data_type.depth();
        let depth = fields.iter().map(of_field).max()?;
        let names: HashSet<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        let named = names.len() == fields.len() && names.iter().all(|name| is_field_name(name));
        (named && depth < MAX_DEPTH).then(|| Self::Struct(kept(StructType { fields })))
    }

    /// How deep types stand in this one; 1 for one that holds no others.
    #[must_use]
    pub fn depth(self) -> usize {
        match self {
            Self::List(element) => 1 + element.depth(),
            Self::Struct(of) => {
                let fields = of.fields.iter().map(|field| field.data_type.depth());
                1 + fields.max().unwrap_or(0)
            }
            _ => 1,
        }
    }
}

/// Whether a text names a field of a struct.
pub(super) fn is_field_name(text: &str) -> bool {
    let mut characters = text.chars();
    let first = characters.next();
    first.is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The one copy of a type that lives as long as the process.
fn kept<T: Kept>(value: T) -> &'static T {
    let mut known = T::known().lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = known.get(&value) {
        return found;
    }
    let new: &'static T = Box::leak(Box::new(value));
    known.insert(new);
    new
}

/// What is kept, and where.
trait Kept: Eq + Hash + 'static {
    fn known() -> &'static Mutex<HashSet<&'static Self>>;
}

impl Kept for DataType {
    fn known() -> &'static Mutex<HashSet<&'static Self>> {
        static KNOWN: LazyLock<Mutex<HashSet<&'static DataType>>> = LazyLock::new(Mutex::default);
        &KNOWN
    }
}

impl Kept for StructType {
    fn known() -> &'static Mutex<HashSet<&'static Self>> {
        static KNOWN: LazyLock<Mutex<HashSet<&'static StructType>>> = LazyLock::new(Mutex::default);
        &KNOWN
    }
}
