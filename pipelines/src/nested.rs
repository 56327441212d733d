//! Lists, vectors and structs from one Arrow layout to that of a declared type: what is inside is converted by the
//! caller, what is around it is rebuilt.
//!
//! Fields of structs are found by name. One that is not there is null, one that is not declared is left out.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, FixedSizeListArray, ListArray, StructArray,
    UInt64Array, new_null_array,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::{cast, nullif, take};
use arrow::datatypes::{DataType as ArrowType, Field};
use feature_defs::data_type::{DataType, StructField, StructType};

/// A value that does not convert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// Its row, from 0.
    pub(crate) row: usize,
    /// Where inside the row's value it is, like `[].amount`.
    pub(crate) path: String,
    pub(crate) message: String,
}

/// A type that does not become the declared one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mismatch {
    /// Where inside the type, like `[].amount`.
    pub(crate) path: String,
    pub(crate) found: ArrowType,
    pub(crate) declared: DataType,
}

impl Failure {
    pub(crate) fn new(row: usize, message: impl Into<String>) -> Self {
        Self {
            row,
            path: String::new(),
            message: message.into(),
        }
    }

    /// The same, of the row that holds it, at a step inside.
    fn within(mut self, row: usize, step: &str) -> Self {
        self.row = row;
        self.path.insert_str(0, step);
        self
    }
}

impl Mismatch {
    pub(crate) fn new(found: &ArrowType, declared: DataType) -> Self {
        Self {
            path: String::new(),
            found: found.clone(),
            declared,
        }
    }

    fn within(mut self, step: &str) -> Self {
        self.path.insert_str(0, step);
        self
    }
}

/// Converts a column of what is not nested.
type Convert<'a> = dyn Fn(&ArrayRef, DataType) -> Result<ArrayRef, Failure> + 'a;

/// Whether a type that is not nested converts.
type Check<'a> = dyn Fn(&ArrowType, DataType) -> Result<(), Mismatch> + 'a;

/// Whether a type becomes the declared one.
pub(crate) fn check(
    found: &ArrowType,
    declared: DataType,
    check_plain: &Check<'_>,
) -> Result<(), Mismatch> {
    let refused = || Mismatch::new(found, declared);
    if declared.is_nested() && found == &ArrowType::Null {
        return Ok(());
    }
    match declared {
        DataType::List(element) | DataType::Vector { element, .. } => {
            let item = match found {
                ArrowType::List(item) | ArrowType::LargeList(item) => item,
                ArrowType::FixedSizeList(item, size) if is_long(declared, *size) => item,
                _ => return Err(refused()),
            };
            check(item.data_type(), *element, check_plain).map_err(|error| error.within("[]"))
        }
        DataType::Struct(of) => {
            let ArrowType::Struct(fields) = found else {
                return Err(refused());
            };
            for declared in &of.fields {
                if let Some((_, field)) = fields.find(&declared.name) {
                    check(field.data_type(), declared.data_type, check_plain)
                        .map_err(|error| error.within(&format!(".{}", declared.name)))?;
                }
            }
            Ok(())
        }
        plain => check_plain(found, plain),
    }
}

fn is_long(declared: DataType, size: i32) -> bool {
    match declared {
        DataType::Vector { length, .. } => u32::try_from(size) == Ok(length),
        _ => true,
    }
}

/// Converts a column whose type passed [`check`].
pub(crate) fn convert(
    column: &ArrayRef,
    declared: DataType,
    convert_plain: &Convert<'_>,
) -> Result<ArrayRef, Failure> {
    if declared.is_nested() && column.data_type() == &ArrowType::Null {
        return Ok(new_null_array(&declared.to_arrow(), column.len()));
    }
    match declared {
        DataType::List(element) => list(column, *element, convert_plain),
        DataType::Vector { element, length } => vector(column, *element, length, convert_plain),
        DataType::Struct(of) => structs(column, of, convert_plain),
        plain => convert_plain(column, plain),
    }
}

fn list(
    column: &ArrayRef,
    element: DataType,
    convert_plain: &Convert<'_>,
) -> Result<ArrayRef, Failure> {
    let lists = as_lists(column)?;
    let offsets = lists.offsets();
    let (first, last) = (offsets[0], offsets[offsets.len() - 1]);
    let elements = lists.values().slice(index(first), index(last - first));
    let elements = convert(&elements, element, convert_plain).map_err(|failure| {
        let place = failure.row + index(first);
        let row = (0..lists.len()).find(|row| index(offsets[row + 1]) > place);
        failure.within(row.unwrap_or(0), "[]")
    })?;
    let offsets = OffsetBuffer::new(offsets.iter().map(|end| end - first).collect());
    let item = Arc::new(Field::new_list_field(element.to_arrow(), true));
    Ok(Arc::new(ListArray::new(
        item,
        offsets,
        elements,
        lists.nulls().cloned(),
    )))
}

fn vector(
    column: &ArrayRef,
    element: DataType,
    length: u32,
    convert_plain: &Convert<'_>,
) -> Result<ArrayRef, Failure> {
    let lists = as_lists(column)?;
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let mut places: Vec<Option<u64>> = Vec::with_capacity(lists.len() * length);
    for row in 0..lists.len() {
        if lists.is_null(row) {
            places.extend(std::iter::repeat_n(None, length));
            continue;
        }
        let (start, end) = (index(lists.offsets()[row]), index(lists.offsets()[row + 1]));
        if end - start != length {
            let message = format!("{} elements are not the declared {length}", end - start);
            return Err(Failure::new(row, message));
        }
        if (start..end).any(|place| lists.values().is_null(place)) {
            return Err(Failure::new(row, "a vector has no null elements").within(row, "[]"));
        }
        places.extend((start..end).map(|place| Some(place as u64)));
    }
    let elements = take(lists.values(), &UInt64Array::from(places), None).map_err(of_engine)?;
    let elements = convert(&elements, element, convert_plain).map_err(|failure| {
        let row = failure.row / length.max(1);
        failure.within(row, "[]")
    })?;
    let item = Arc::new(Field::new_list_field(element.to_arrow(), true));
    let size = i32::try_from(length).unwrap_or(i32::MAX);
    let nulls = lists.nulls().cloned();
    Ok(Arc::new(FixedSizeListArray::new(
        item, size, elements, nulls,
    )))
}

fn structs(
    column: &ArrayRef,
    of: &StructType,
    convert_plain: &Convert<'_>,
) -> Result<ArrayRef, Failure> {
    let structs = column.as_struct();
    let mut columns = Vec::with_capacity(of.fields.len());
    for StructField { name, data_type } in &of.fields {
        columns.push(match structs.column_by_name(name) {
            Some(field) => {
                let field = there(field, structs.nulls())?;
                convert(&field, *data_type, convert_plain).map_err(|failure| {
                    let row = failure.row;
                    failure.within(row, &format!(".{name}"))
                })?
            }
            None => new_null_array(&data_type.to_arrow(), structs.len()),
        });
    }
    let fields = of.fields.iter().map(StructField::to_arrow).collect();
    let nulls = structs.nulls().cloned();
    Ok(Arc::new(StructArray::new(fields, columns, nulls)))
}

/// A field's values, null where its struct is: what stands behind a null is no value.
fn there(field: &ArrayRef, of_struct: Option<&NullBuffer>) -> Result<ArrayRef, Failure> {
    match of_struct {
        Some(nulls) if nulls.null_count() > 0 => {
            let is_null = BooleanArray::new(!nulls.inner(), None);
            nullif(field, &is_null).map_err(of_engine)
        }
        _ => Ok(Arc::clone(field)),
    }
}

fn as_lists(column: &ArrayRef) -> Result<ListArray, Failure> {
    let item = match column.data_type() {
        ArrowType::LargeList(item) | ArrowType::FixedSizeList(item, _) => item,
        _ => return Ok(column.as_list::<i32>().clone()),
    };
    let lists = cast(column, &ArrowType::List(Arc::clone(item))).map_err(of_engine)?;
    Ok(lists.as_list::<i32>().clone())
}

fn of_engine(error: arrow::error::ArrowError) -> Failure {
    Failure::new(0, error.to_string())
}

/// Arrow's offsets are never negative.
fn index(offset: i32) -> usize {
    usize::try_from(offset).unwrap_or(0)
}
