//! What stands before the trees.

use feature_defs::model::Transform;

use super::ImportError;
use super::text::{Field, Fields, Lines, shorten};
use crate::trees::{LIMITS, Objective};

/// The parts of the header that predictions depend on.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) feature_names: Vec<String>,
    pub(super) average: bool,
    pub(super) objective: Option<Objective>,
    tree_count: Option<usize>,
}

impl Header {
    pub(super) fn read(lines: &mut Lines<'_>) -> Result<Self, ImportError> {
        let Some(start) = lines.next() else {
            return Err(lines.error("the file is empty"));
        };
        if start.text != "tree" {
            return Err(start.error(format!(
                "`{}` does not start a LightGBM text model: expected `tree`",
                shorten(start.text)
            )));
        }
        let fields = Fields::read(start, lines)?;
        let version = fields.require("version")?;
        if !matches!(version.text, "v3" | "v4") {
            let found = shorten(version.text);
            return Err(version.error(format!("version `{found}` is not v3 or v4")));
        }
        for key in ["num_class", "num_tree_per_iteration"] {
            let field = fields.require(key)?;
            let outputs: u32 = field.number()?;
            if outputs != 1 {
                return Err(field.error(format!(
                    "the model has `{key}={outputs}`: only models with one output are supported"
                )));
            }
        }
        let objective = fields.get("objective").map(|field| Objective {
            text: field.text.to_owned(),
            transform: transform(field.text),
        });
        Ok(Self {
            feature_names: feature_names(&fields)?,
            average: fields.get("average_output").is_some(),
            objective,
            tree_count: fields.get("tree_sizes").map(|field| field.words().count()),
        })
    }

    pub(super) fn check_tree_count(
        &self,
        found: usize,
        lines: &Lines<'_>,
    ) -> Result<(), ImportError> {
        match self.tree_count {
            _ if found == 0 => Err(lines.error("the model has no trees")),
            Some(expected) if expected != found => Err(lines.error(format!(
                "{found} trees found, but `tree_sizes` has {expected}"
            ))),
            _ if found > LIMITS.trees => Err(lines.error(format!(
                "{found} trees: at most {} are supported",
                LIMITS.trees
            ))),
            _ => Ok(()),
        }
    }
}

fn feature_names(fields: &Fields<'_>) -> Result<Vec<String>, ImportError> {
    let field: Field<'_> = fields.require("max_feature_idx")?;
    let greatest: usize = field.number()?;
    if greatest >= LIMITS.features {
        let limit = LIMITS.features;
        return Err(field.error(format!("more than {limit} features are not supported")));
    }
    let names = fields.require("feature_names")?;
    let found: Vec<String> = names.words().map(str::to_owned).collect();
    if found.len() != greatest + 1 {
        return Err(names.error(format!(
            "{} feature names, but `max_feature_idx={greatest}`",
            found.len()
        )));
    }
    let mut sorted: Vec<&String> = found.iter().collect();
    sorted.sort_unstable();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(names.error(format!("two features are named `{}`", shorten(pair[0]))));
    }
    Ok(found)
}

/// What LightGBM applies to the raw score of an objective; `None` when it is none of ours.
fn transform(objective: &str) -> Option<Transform> {
    let mut words = objective.split(' ');
    let name = words.next()?;
    let arguments: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    match (name, arguments.as_slice()) {
        ("regression", arguments) if arguments.contains(&"sqrt") => None,
        (
            "regression" | "regression_l1" | "huber" | "fair" | "quantile" | "mape" | "lambdarank"
            | "rank_xendcg",
            _,
        ) => Some(Transform::Identity),
        ("poisson" | "gamma" | "tweedie", _) => Some(Transform::Exp),
        ("cross_entropy", []) => Some(Transform::Sigmoid),
        ("binary", ["sigmoid:1"]) => Some(Transform::Sigmoid),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objectives_have_the_transform_of_their_library() {
        for (objective, expected) in [
            ("regression", Some(Transform::Identity)),
            ("regression sqrt", None),
            ("quantile alpha:0.9", Some(Transform::Identity)),
            ("poisson", Some(Transform::Exp)),
            ("tweedie tweedie_variance_power:1.5", Some(Transform::Exp)),
            ("binary sigmoid:1", Some(Transform::Sigmoid)),
            ("binary sigmoid:0.5", None),
            ("cross_entropy", Some(Transform::Sigmoid)),
            ("cross_entropy_lambda", None),
            ("", None),
        ] {
            assert_eq!(transform(objective), expected, "{objective}");
        }
    }
}
