//! LightGBM's text format, versions 3 and 4: `Booster.save_model`.
//!
//! ```text
//!   tree                          header: one key a line; feature_names, objective, average_output, tree_sizes, ...
//!   version=v4
//!   ...
//!
//!   Tree=0                        then each tree: num_leaves, split_feature, threshold, decision_type, left_child, ...
//!   num_leaves=31
//!   ...
//!
//!   end of trees                  after it: importances, training parameters, categories of pandas
//! ```
//!
//! Read are models with one output and constant leaves. What the file would have LightGBM do and we do not is refused:
//! several outputs, linear leaves, categories that pandas numbered. Every text is either read to the end or an error
//! with its line; memory stays in proportion to the text.

mod header;
mod text;
mod tree;

#[cfg(test)]
mod tests;

use super::ImportError;
use crate::trees::Ensemble;
use header::Header;
use text::Lines;

/// Reads a model.
///
/// # Errors
/// [`ImportError`] at the first line that is malformed or asks for something that is not supported.
pub fn read(text: &str) -> Result<Ensemble, ImportError> {
    let mut lines = Lines::new(text);
    let header = Header::read(&mut lines)?;
    let mut trees = Vec::new();
    loop {
        let Some(line) = lines.next_filled() else {
            return Err(lines.error("the file ends before `end of trees`"));
        };
        if line.text == "end of trees" {
            break;
        }
        trees.push(tree::read(line, trees.len(), &header, &mut lines)?);
    }
    header.check_tree_count(trees.len(), &lines)?;
    refuse_pandas_categories(&mut lines)?;
    Ok(Ensemble {
        feature_names: header.feature_names,
        trees,
        average: header.average,
        objective: header.objective,
    })
}

/// Columns of pandas' category type are numbered by the Python package, and the numbers are in none of the trees.
fn refuse_pandas_categories(lines: &mut Lines<'_>) -> Result<(), ImportError> {
    while let Some(line) = lines.next_filled() {
        let Some(categories) = line.text.strip_prefix("pandas_categorical:") else {
            continue;
        };
        if !matches!(categories.trim(), "" | "null" | "[]") {
            return Err(line.error(
                "the model was trained on pandas columns of type `category`, whose codes only pandas knows: \
                 train on integer codes instead",
            ));
        }
    }
    Ok(())
}
