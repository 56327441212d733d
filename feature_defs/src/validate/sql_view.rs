//! SQL views: the text plans, and its output is the keys and the declared features.

use crate::data_type::DataType;
use crate::error::Problem;
use crate::feature_view::{Computation, SqlSnapshot};
use crate::name::Name;
use crate::parse::Embedded;
use crate::parse::members::{Found, Members};
use crate::parse::objects::DeclaredFeature;
use crate::sql::Fault;
use crate::sql::check::Checked;
use crate::sql::types::described;
use crate::suggestion::nearest;
use crate::validate::Validator;
use crate::validate::features::DraftFeature;
use crate::validate::view::{Computed, NamedEntity};

/// A SQL text whose output is compared with what its view declares.
struct Output<'a> {
    view: &'a Name,
    text: &'a Embedded,
    checked: &'a Checked,
}

impl Validator<'_> {
    /// Checks the SQL of a view, and its output against the keys and the declared features.
    pub(super) fn sql_view(
        &mut self,
        name: &Name,
        entity: Option<NamedEntity<'_>>,
        text: Option<&Embedded>,
        declared: Members<DeclaredFeature>,
    ) -> Computed {
        let checked = text.and_then(|text| self.checked(name, text));
        if let (Some(text), Some(checked)) = (text, &checked) {
            let output = Output {
                view: name,
                text,
                checked,
            };
            self.key_outputs(&output, entity);
            for feature in &declared.items {
                self.feature_output(&output, feature);
            }
            self.other_outputs(&output, entity, &declared);
        }
        let mut features = Members::none().whole_if(declared.whole);
        for feature in declared.items {
            let draft = DraftFeature {
                name: feature.name.value,
                data_type: feature.data_type.map(|data_type| data_type.value),
                nullable: true,
                description: feature.description,
            };
            self.add_feature(&mut features, entity, &feature.name.span, draft);
        }
        let computation = text.zip(checked.as_ref()).map(|(text, checked)| {
            Computation::Sql(SqlSnapshot {
                text: text.text.clone(),
                file: text.span.file.clone(),
                sources: read(checked, self.sources.keys()),
                views: read(checked, self.view_names.iter()),
            })
        });
        Computed {
            features,
            computation,
            canonical: checked.map_or_else(String::new, |checked| checked.canonical),
        }
    }

    /// Every key is among the output, of a type that widens to the key's.
    fn key_outputs(&mut self, output: &Output<'_>, entity: Option<NamedEntity<'_>>) {
        let Some((entity_name, entity)) = entity else {
            return;
        };
        for part in &entity.keys.items {
            let column = part.name.as_str();
            match output.column(column) {
                None => {
                    let message = format!(
                        "the SQL of `{}` gives no column `{column}`, a key of `{entity_name}`",
                        output.view
                    );
                    let help = format!("select it; the SQL gives: {}", output.names().join(", "));
                    if output.is_named() {
                        self.found.push(output.problem(None, message, help));
                    }
                }
                Some((index, given)) => {
                    let Some(wanted) = part.data_type.filter(|wanted| !widens(given, *wanted))
                    else {
                        continue;
                    };
                    let message = format!(
                        "the key `{column}` is {wanted}, and the SQL gives {}",
                        described(given).0
                    );
                    let help = "cast it in the SQL, or declare the source's column so";
                    self.found
                        .push(output.problem(Some(index), message, help.to_owned()));
                }
            }
        }
    }

    /// A declared feature is among the output, of a type that widens to the declared one.
    fn feature_output(&mut self, output: &Output<'_>, feature: &DeclaredFeature) {
        let name = feature.name.value.as_str();
        let Some((_, given)) = output.column(name) else {
            if !output.is_named() {
                return;
            }
            let names = output.names();
            let message = format!("the SQL of `{}` gives no column `{name}`", output.view);
            let near = nearest(name, names.iter().copied());
            let near = near.map(|near| format!("did you mean `{near}`? "));
            let near = near.unwrap_or_default();
            let help = format!("{near}the SQL gives: {}", names.join(", "));
            self.refuse(&feature.name.span, message, help);
            return;
        };
        let Some(declared) = &feature.data_type else {
            return;
        };
        if !widens(given, declared.value) && !is_instant(given, declared.value) {
            let (given, help) = described(given);
            let message = format!(
                "`{name}` is declared {}, and the SQL gives {given}",
                declared.value
            );
            let help = match help {
                "" => "change the declared type, or cast in the SQL",
                help => help,
            };
            self.refuse(&declared.span, message, help);
        }
    }

    /// Every output is a key or a declared feature, once, and has a name.
    fn other_outputs(
        &mut self,
        output: &Output<'_>,
        entity: Option<NamedEntity<'_>>,
        declared: &Members<DeclaredFeature>,
    ) {
        let mut names = Vec::new();
        let mut unwanted = Vec::new();
        for (index, (column, _)) in output.checked.columns.iter().enumerate() {
            let name = column.as_str();
            let is_feature = |feature: &DeclaredFeature| feature.name.value.as_str() == name;
            let is_key = entity.is_none_or(|(_, e)| e.keys.find(name) != Found::Nowhere);
            let wanted = !declared.whole || is_key || declared.items.iter().any(is_feature);
            if !output.has_name(index) {
                let message = "this column has no name".to_owned();
                let help = "give it the name of a feature with `AS`".to_owned();
                self.found.push(output.problem(Some(index), message, help));
            } else if names.contains(&name) {
                let message = format!("the SQL gives two columns `{name}`");
                let help = "name one with `AS`".to_owned();
                self.found.push(output.problem(Some(index), message, help));
            } else if !wanted && !output.is_meant(name, declared) {
                unwanted.push((index, name));
            }
            names.push(name);
        }
        self.unwanted_outputs(output, &unwanted);
    }

    fn unwanted_outputs(&mut self, output: &Output<'_>, unwanted: &[(usize, &str)]) {
        let help =
            "declare it under `features`, do not select it, or give it the name of one with `AS`";
        let quoted: Vec<String> = unwanted
            .iter()
            .map(|(_, name)| format!("`{name}`"))
            .collect();
        if quoted.len() > 1 && output.checked.items.is_empty() {
            let message = format!(
                "the SQL of `{}` gives columns that are neither keys nor declared features: {}",
                output.view,
                quoted.join(", ")
            );
            let help = "select the keys and the declared features by name";
            self.found
                .push(output.problem(None, message, help.to_owned()));
            return;
        }
        for (index, name) in unwanted {
            let message = format!(
                "the SQL of `{}` gives a column `{name}` that is neither a key nor a declared feature",
                output.view
            );
            self.found
                .push(output.problem(Some(*index), message, help.to_owned()));
        }
    }
}

/// Those of the names that a query reads, sorted.
fn read<'n>(checked: &Checked, names: impl Iterator<Item = &'n Name>) -> Vec<Name> {
    let read = |name: &&Name| checked.read.iter().any(|read| read == name.as_str());
    let mut read: Vec<Name> = names.filter(read).cloned().collect();
    read.sort();
    read
}

impl Output<'_> {
    fn column(&self, name: &str) -> Option<(usize, &arrow::datatypes::DataType)> {
        let mut columns = self.checked.columns.iter().enumerate();
        let (index, (_, data_type)) = columns.find(|(_, (column, _))| column == name)?;
        Some((index, data_type))
    }

    /// The names that somebody wrote.
    fn names(&self) -> Vec<&str> {
        let columns = self.checked.columns.iter().enumerate();
        let named = columns.filter(|(index, _)| self.has_name(*index));
        named.map(|(_, (column, _))| column.as_str()).collect()
    }

    fn has_name(&self, index: usize) -> bool {
        let item = self.checked.items.get(index);
        item.is_none_or(|item| item.name.is_some())
    }

    /// Whether every column has a name: if not, one that is missing may be there without it.
    fn is_named(&self) -> bool {
        (0..self.checked.columns.len()).all(|index| self.has_name(index))
    }

    /// Whether a column is near to a declared feature that the SQL does not give, which is told of that feature.
    fn is_meant(&self, column: &str, declared: &Members<DeclaredFeature>) -> bool {
        let names = self.names();
        declared.items.iter().any(|feature| {
            let name = feature.name.value.as_str();
            !names.contains(&name) && nearest(name, names.iter().copied()) == Some(column)
        })
    }

    /// A problem at an output column, or at the start of the text.
    fn problem(&self, index: Option<usize>, message: String, help: String) -> Problem {
        let item = index.and_then(|index| self.checked.items.get(index));
        let place = item.and_then(|item| item.range.clone());
        self.text.problem(Fault::new(message, place, help))
    }
}

/// Whether the SQL's type becomes the declared one. What is a `float16` outside of SQL is a `float32` in it, and comes
/// back rounded.
fn widens(arrow: &arrow::datatypes::DataType, declared: DataType) -> bool {
    let Some(given) = DataType::from_arrow(arrow) else {
        return false;
    };
    match (given, declared.in_sql()) {
        // Whether it is long enough is seen by night.
        (DataType::List(given), DataType::Vector { element, .. }) => given.widens_to(*element),
        (given, declared) => given.widens_to(declared),
    }
}

/// Whether a query's times become instants of ours: the night refuses those that are no whole microseconds.
fn is_instant(arrow: &arrow::datatypes::DataType, declared: DataType) -> bool {
    let zoned = matches!(arrow, arrow::datatypes::DataType::Timestamp(_, Some(_)));
    zoned && declared == DataType::Timestamp
}
