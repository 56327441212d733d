//! A view's answers to the questions of a frame.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, new_null_array};
use arrow::compute::interleave;
use datafusion::execution::memory_pool::MemoryReservation;
use feature_defs::data_type::DataType;
use feature_defs::feature_view::FeatureView;
use feature_defs::value::Value;

use super::workers::engine;
use crate::column::Builder;
use crate::error::{Error, Result};

/// For each question the row that answers it, and the columns of rows.
#[derive(Debug)]
pub(crate) struct Answers {
    /// By the feature's place in the view; `None` for one that nobody asked for.
    features: Vec<Option<Feature>>,
    /// For each question a chunk and the row in it, unless the row is missing or expired.
    rows: Vec<Option<(u32, u32)>>,
    /// Holds the memory of the columns.
    _memory: Option<MemoryReservation>,
}

#[derive(Debug)]
struct Feature {
    data_type: DataType,
    chunks: Vec<ArrayRef>,
}

impl Answers {
    /// Answers of which `columns` are those of the `wanted` features, in chunks.
    ///
    /// # Errors
    /// A null in a feature that may not be null.
    pub(super) fn new(
        view: &FeatureView,
        wanted: &[usize],
        columns: Vec<Vec<ArrayRef>>,
        rows: Vec<Option<(u32, u32)>>,
        memory: impl Into<Option<MemoryReservation>>,
    ) -> Result<Self> {
        let mut features: Vec<Option<Feature>> = view.features.iter().map(|_| None).collect();
        for (feature, chunks) in wanted.iter().zip(columns) {
            let declared = &view.features[*feature];
            if !declared.nullable && chunks.iter().any(|chunk| chunk.null_count() > 0) {
                let message = format!("a row has no `{}`, which may not be null", declared.name);
                return Err(Error::view(&view.name, message));
            }
            let data_type = declared.data_type;
            features[*feature] = Some(Feature { data_type, chunks });
        }
        Ok(Self {
            features,
            rows,
            _memory: memory.into(),
        })
    }

    /// Answers without any row.
    pub(super) fn none(view: &FeatureView, questions: usize) -> Result<Self> {
        let wanted: Vec<usize> = (0..view.features.len()).collect();
        let columns = vec![Vec::new(); wanted.len()];
        Self::new(view, &wanted, columns, vec![None; questions], None)
    }

    /// A feature's values, one a question; `default` where the row is missing or expired.
    pub(crate) fn column(&self, feature: usize, default: Option<&Value>) -> Result<ArrayRef> {
        let Some(Feature { data_type, chunks }) = &self.features[feature] else {
            return Err(Error::Refused(format!(
                "feature {feature} was not asked for"
            )));
        };
        let otherwise = match default {
            None => new_null_array(&data_type.to_arrow(), 1),
            Some(default) => one(default, *data_type)?,
        };
        let mut arrays: Vec<&dyn Array> = chunks.iter().map(AsRef::as_ref).collect();
        let last = arrays.len();
        arrays.push(otherwise.as_ref());
        let places: Vec<(usize, usize)> = self
            .rows
            .iter()
            .map(|row| row.map_or((last, 0), |(chunk, row)| (chunk as usize, row as usize)))
            .collect();
        if places.is_empty() {
            return Ok(otherwise.slice(0, 0));
        }
        interleave(&arrays, &places).map_err(engine)
    }
}

fn one(value: &Value, data_type: DataType) -> Result<ArrayRef> {
    let mut column = Builder::new(data_type);
    column
        .append(value)
        .map_err(|_| Error::Refused(format!("the default {value:?} does not fit `{data_type}`")))?;
    Ok(Arc::clone(&column.finish()))
}
