//! Key columns: which columns of a source hold an entity's key.

use crate::error::Span;
use crate::parse::members::{Found, Members};
use crate::parse::objects::DeclaredKey;
use crate::parse::yaml::Text;
use crate::suggestion::accepted;
use crate::validate::Validator;
use crate::validate::view::{NamedEntity, NamedSource};

impl Validator<'_> {
    /// The source's columns that hold the entity's key parts, in the order of the entity's definition. `None` when they
    /// are not known, or have a problem.
    pub(super) fn key_columns(
        &mut self,
        span: &Span,
        entity: Option<NamedEntity<'_>>,
        source: Option<NamedSource<'_>>,
        join: &Members<(Text, Text)>,
    ) -> Option<Vec<String>> {
        let joined_well = entity.is_none_or(|entity| self.join_keys(entity, join));
        let source = source?;
        for (_, column) in &join.items {
            self.column(source, column);
        }
        let (_, entity) = entity?;
        let mut columns = Vec::new();
        for part in &entity.keys.items {
            let joined = join
                .items
                .iter()
                .find(|(key, _)| key.text == part.name.as_str());
            if joined.is_none() && !(join.whole && joined_well) {
                continue;
            }
            let (column, place) = match joined {
                Some((_, column)) => (column.text.as_str(), &column.span),
                None => (part.name.as_str(), span),
            };
            self.key_column(source, part, column, place, joined.is_some());
            columns.push(column.to_owned());
        }
        Some(columns)
    }

    /// Whether the left side of a join names keys.
    fn join_keys(&mut self, (name, entity): NamedEntity<'_>, join: &Members<(Text, Text)>) -> bool {
        let mut well = true;
        for (key, _) in &join.items {
            if entity.keys.find(&key.text) == Found::Nowhere {
                let message = format!("`{}` is not a key of `{name}`", key.text);
                let help = accepted(&key.text, &entity.keys.names());
                self.refuse(&key.span, message, help);
                well = false;
            }
        }
        well
    }

    /// A key's column is there and has the key's type.
    fn key_column(
        &mut self,
        (source_name, source): NamedSource<'_>,
        part: &DeclaredKey,
        column: &str,
        place: &Span,
        joined: bool,
    ) {
        match (source.columns.find(column), part.data_type) {
            (Found::As(found), Some(wanted)) if found != wanted => {
                let message = format!(
                    "the key `{}` is {wanted}, and the column `{column}` of `{source_name}` is {found}",
                    part.name
                );
                let narrower = match wanted.integer_range() {
                    Some(_) => " or narrower",
                    None => "",
                };
                let help = format!(
                    "where the files hold {found}, declare the key as {found}; where they hold {wanted}{narrower}, the column as {wanted}"
                );
                self.refuse(place, message, help);
            }
            (Found::Nowhere, _) if !joined => {
                let message = format!(
                    "`{source_name}` has no column `{column}` for the key `{}`",
                    part.name
                );
                let columns = accepted(column, &source.columns.names());
                let help = format!("write `join: {{{}: column}}`; {columns}", part.name);
                self.refuse(place, message, help);
            }
            _ => {}
        }
    }
}
