//! SQL views: the text plans, and its output is the keys and the declared features.

use crate::data_type::DataType;
use crate::entity::Entity;
use crate::feature_view::{Computation, Feature, SqlSnapshot};
use crate::name::Name;
use crate::parse::Embedded;
use crate::parse::objects::DeclaredFeature;
use crate::source::Source;
use crate::sql::check::{Checked, check};
use crate::suggestion::nearest;
use crate::validate::Validator;

impl Validator<'_> {
    /// The computation, the features and the statement's canonical form.
    pub(super) fn sql_view(
        &mut self,
        name: &Name,
        entity: &Entity,
        text: &Embedded,
        declared: Vec<DeclaredFeature>,
    ) -> Option<(Computation, Vec<Feature>, String)> {
        let mut features: Vec<Feature> = Vec::new();
        let mut whole = true;
        for feature in &declared {
            whole &= self.new_feature(entity, &feature.name.value, &features, &feature.name.span);
            features.push(Feature {
                name: feature.name.value.clone(),
                data_type: feature.data_type.value,
                nullable: true,
                description: feature.description.clone(),
            });
        }
        if self.sources.values().any(|source| source.object.is_none()) {
            return None;
        }
        let sources: Vec<&Source> = self
            .sources
            .values()
            .filter_map(|source| source.object.as_ref())
            .collect();
        let checked = match check(&text.text, &sources) {
            Ok(checked) => checked,
            Err(faults) => {
                self.found
                    .extend(faults.into_iter().map(|fault| text.problem(fault)));
                return None;
            }
        };
        whole &= self.sql_columns(name, entity, text, &declared, &checked);
        whole.then(|| {
            let sources = sources.iter().map(|source| &source.name);
            let sql = SqlSnapshot {
                text: text.text.clone(),
                file: text.span.file.clone(),
                sources: sources
                    .filter(|name| checked.sources.iter().any(|s| s == name.as_str()))
                    .cloned()
                    .collect(),
            };
            (Computation::Sql(sorted(sql)), features, checked.canonical)
        })
    }

    /// The output must be the keys and the declared features, of types that widen to the declared ones.
    fn sql_columns(
        &mut self,
        name: &Name,
        entity: &Entity,
        text: &Embedded,
        declared: &[DeclaredFeature],
        checked: &Checked,
    ) -> bool {
        let before = self.found.len();
        let given: Vec<&str> = checked
            .columns
            .iter()
            .map(|(column, _)| column.as_str())
            .collect();
        for part in &entity.keys {
            match checked
                .columns
                .iter()
                .find(|(column, _)| *column == part.name.as_str())
            {
                None => {
                    let message = format!(
                        "the SQL of `{name}` gives no column `{}`, a key of `{}`",
                        part.name, entity.name
                    );
                    let help = format!("select it; the SQL gives: {}", given.join(", "));
                    self.refuse(&text.place(None), message, help);
                }
                Some((_, arrow)) if !widens(arrow, part.data_type) => {
                    let message = format!(
                        "the key `{}` is {}, and the SQL gives {}",
                        part.name,
                        part.data_type,
                        type_name(arrow)
                    );
                    self.refuse(
                        &text.place(None),
                        message,
                        "cast it in the SQL, or declare the source's column so",
                    );
                }
                Some(_) => {}
            }
        }
        for feature in declared {
            let feature_name = &feature.name.value;
            match checked
                .columns
                .iter()
                .find(|(column, _)| *column == feature_name.as_str())
            {
                None => {
                    let message = format!("the SQL of `{name}` gives no column `{feature_name}`");
                    let help = match nearest(feature_name.as_str(), given.iter().copied()) {
                        Some(near) => {
                            format!("did you mean `{near}`? the SQL gives: {}", given.join(", "))
                        }
                        None => format!("the SQL gives: {}", given.join(", ")),
                    };
                    self.refuse(&feature.name.span, message, help);
                }
                Some((_, arrow)) if !widens(arrow, feature.data_type.value) => {
                    let message = format!(
                        "`{feature_name}` is declared {}, and the SQL gives {}",
                        feature.data_type.value,
                        type_name(arrow)
                    );
                    self.refuse(
                        &feature.data_type.span,
                        message,
                        "change the declared type, or cast in the SQL",
                    );
                }
                Some(_) => {}
            }
        }
        for (index, column) in given.iter().enumerate() {
            let wanted = declared
                .iter()
                .any(|feature| feature.name.value.as_str() == *column)
                || entity.keys.iter().any(|part| part.name.as_str() == *column);
            if given[..index].contains(column) {
                self.refuse(
                    &text.place(None),
                    format!("the SQL gives two columns `{column}`"),
                    "name one with `AS`",
                );
            } else if !wanted {
                let message = format!(
                    "the SQL of `{name}` gives a column `{column}` that is neither a key nor a declared feature"
                );
                let help = format!(
                    "declare it under `features`, or do not select it (names are given with `AS {column}`)"
                );
                self.refuse(&text.place(None), message, help);
            }
        }
        self.found.len() == before
    }
}

fn sorted(mut sql: SqlSnapshot) -> SqlSnapshot {
    sql.sources.sort();
    sql
}

fn widens(arrow: &arrow::datatypes::DataType, declared: DataType) -> bool {
    DataType::from_arrow(arrow).is_some_and(|given| given.widens_to(declared))
}

fn type_name(arrow: &arrow::datatypes::DataType) -> String {
    match DataType::from_arrow(arrow) {
        Some(data_type) => data_type.to_string(),
        None => match arrow {
            arrow::datatypes::DataType::Null => "only nulls".to_owned(),
            arrow::datatypes::DataType::Timestamp(..) => {
                "a time without zone, or finer than microseconds".to_owned()
            }
            _ => "a type that features do not have".to_owned(),
        },
    }
}
