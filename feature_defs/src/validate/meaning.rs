//! Fingerprints of single features: over what decides its values and nothing else, so that a feature keeps its meaning
//! when its view gets another one beside it, and when files move.

use indexmap::IndexMap;

use crate::entity::Entity;
use crate::feature_view::{Computation, FeatureView};
use crate::fingerprint::Fingerprint;
use crate::name::Name;
use crate::request_view::{RequestFeature, RequestField};
use crate::source::Source;

/// Of the stored feature at `index`. `canonical` is a SQL view's statement without comments.
pub(super) fn stored(
    view: &FeatureView,
    index: usize,
    entity: &Entity,
    sources: &[&Source],
    canonical: &str,
) -> Fingerprint {
    let feature = &view.features[index];
    let keys = entity.keys.iter();
    let keys = keys.map(|part| format!("{} {}", part.name, part.data_type));
    let mut parts: Vec<String> = keys.collect();
    parts.push(feature.data_type.to_string());
    let column = match &view.computation {
        Computation::Sql(_) => {
            parts.push(format!("sql {canonical} gives {}", feature.name));
            None
        }
        Computation::Windows(windows) => {
            let aggregate = &windows.aggregates[index / windows.windows.len()];
            let window = &windows.windows[index % windows.windows.len()];
            let column = aggregate.column.as_deref();
            parts.push(format!(
                "{} of {column:?} over {window} by {:?}",
                aggregate.function.name(),
                windows.key_columns
            ));
            column
        }
        Computation::Latest(latest) => {
            let column = &latest.columns[index];
            parts.push(format!("latest {column} by {:?}", latest.key_columns));
            Some(column.as_str())
        }
    };
    for source in sources {
        parts.push(rows_of(source));
        let mut columns: Vec<_> = source.columns.iter().collect();
        columns.sort_by_key(|(name, _)| *name);
        let read = columns.into_iter().filter(|(name, _)| match column {
            Some(column) => name.as_str() == column,
            None => may_read(canonical, name),
        });
        parts.extend(read.map(|(name, column)| format!("{name} {}", column.data_type)));
    }
    Fingerprint::of(parts)
}

/// Of a request-time feature; `views` are those whose features it reads.
pub(super) fn computed(
    feature: &RequestFeature,
    canonical: &str,
    inputs: &[RequestField],
    views: &IndexMap<Name, FeatureView>,
) -> Fingerprint {
    let mut parts = vec![format!("{canonical} is {}", feature.data_type)];
    for field in inputs
        .iter()
        .filter(|field| feature.fields.contains(&field.name))
    {
        parts.push(format!(
            "{} {} {:?} {}",
            field.name, field.data_type, field.default, field.nullable
        ));
    }
    for reference in &feature.features {
        let view = views.get(&reference.view);
        let read = view.and_then(|view| view.feature(&reference.feature));
        parts.extend(read.map(|feature| format!("{reference} {}", feature.fingerprint)));
    }
    Fingerprint::of(parts)
}

/// Which rows of a source there are at an instant, wherever its files are.
fn rows_of(source: &Source) -> String {
    let created = source.created_time.as_deref().unwrap_or_default();
    format!(
        "{} at {} known {created} in {}",
        source.name,
        source.event_time,
        source.timezone.name()
    )
}

/// Whether a statement may read a column: it names it, or takes all.
fn may_read(statement: &str, column: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let takes_all = statement.replace("(*)", "").contains('*');
    let mut words = statement.split(|c| !is_part(c));
    takes_all || words.any(|word| word.eq_ignore_ascii_case(column)) || !column.chars().all(is_part)
}
