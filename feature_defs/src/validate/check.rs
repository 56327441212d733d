//! Checks: features that are there, bounds of their types.

use crate::check::{Check, Demand};
use crate::data_type::DataType;
use crate::name::Name;
use crate::parse::members::{Found, Members};
use crate::parse::objects::{DeclaredChecks, DeclaredFeatureCheck};
use crate::parse::reader::is_null;
use crate::parse::yaml::Node;
use crate::suggestion::accepted;
use crate::validate::Validator;
use crate::validate::features::DraftFeature;
use crate::value::Value;

impl Validator<'_> {
    /// The checks of a view, in the order in which they are written.
    pub(super) fn checks(
        &mut self,
        view: &Name,
        declared: DeclaredChecks,
        features: &Members<DraftFeature>,
    ) -> Vec<Check> {
        let rows = declared.rows.into_iter().map(|check| Check {
            feature: None,
            demand: check.demand,
            on_failure: check.on_failure,
        });
        let mut checks: Vec<Check> = rows.collect();
        for check in &declared.features {
            checks.extend(self.feature_checks(view, check, features));
        }
        checks
    }

    fn feature_checks(
        &mut self,
        view: &Name,
        declared: &DeclaredFeatureCheck,
        features: &Members<DraftFeature>,
    ) -> Vec<Check> {
        let written = &declared.feature;
        let data_type = match features.find(&written.text) {
            Found::As(data_type) => Some(data_type),
            Found::Unsure => None,
            Found::Nowhere => {
                let message = format!("`{view}` has no feature `{}`", written.text);
                let help = accepted(&written.text, &features.names());
                self.refuse(&written.span, message, help);
                None
            }
        };
        let (Some(data_type), Ok(feature)) = (data_type, Name::parse(&written.text)) else {
            return Vec::new();
        };
        let min = self.bound(declared, declared.min.as_ref(), data_type);
        let max = self.bound(declared, declared.max.as_ref(), data_type);
        if let (Some(min), Some(max), Some(node)) = (&min, &max, &declared.max)
            && min.order(max).is_gt()
        {
            let message = format!("no value of `{}` is within these bounds", written.text);
            self.refuse(&node.span, message, "write `max` above `min`");
        }
        if let Some(psi) = declared
            .psi
            .as_ref()
            .filter(|_| !data_type.has_distribution())
        {
            let message = format!("`psi` of `{}`, which is {data_type}", written.text);
            let help = "it compares numbers, texts and booleans";
            self.refuse(&psi.span, message, help);
        }
        let demands = [
            declared.nulls.map(Demand::Nulls),
            min.map(|min| Demand::Min(min, data_type)),
            max.map(|max| Demand::Max(max, data_type)),
            declared.psi.as_ref().map(|psi| Demand::Psi(psi.value)),
        ];
        let check = |demand| Check {
            feature: Some(feature.clone()),
            demand,
            on_failure: declared.on_failure,
        };
        demands.into_iter().flatten().map(check).collect()
    }

    /// A bound of the feature's type.
    fn bound(
        &mut self,
        check: &DeclaredFeatureCheck,
        node: Option<&Node>,
        data_type: DataType,
    ) -> Option<Value> {
        let node = node?;
        if !data_type.has_bounds() {
            let message = format!("a bound of `{}`, which is {data_type}", check.feature.text);
            let help = "numbers, dates, timestamps and texts have bounds";
            self.refuse(&node.span, message, help);
            return None;
        }
        if is_null(node) {
            self.refuse(
                &node.span,
                "a bound of null",
                "leave it out where there is none",
            );
            return None;
        }
        let value = self.literal(&check.feature.span.file, node, data_type)?;
        if matches!(value, Value::Float(float) if float.is_nan()) {
            self.refuse(
                &node.span,
                "a bound of NaN",
                "write a number: NaN is never within bounds",
            );
            return None;
        }
        Some(value)
    }
}
