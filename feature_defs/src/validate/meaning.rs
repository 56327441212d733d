//! Fingerprints of single features: over what decides its values and nothing else, so that a feature keeps its meaning
//! when its view gets another one beside it, and when files move.

use indexmap::IndexMap;

use crate::entity::Entity;
use crate::feature_view::{Computation, FeatureView, Latest, Windows};
use crate::fingerprint::Fingerprint;
use crate::name::Name;
use crate::request_view::{RequestFeature, RequestField};
use crate::source::Source;
use crate::validate::inputs::Inputs;

/// Of the stored feature at `index`.
pub(super) fn stored(view: &FeatureView, index: usize, inputs: &Inputs<'_>) -> Fingerprint {
    let feature = &view.features[index];
    let mut parts = keys(inputs.entity);
    parts.push(feature.data_type.to_string());
    let mut of = None;
    let columns: Option<Vec<&str>> = match &view.computation {
        Computation::Sql(_) => {
            parts.push(format!("sql {} gives {}", inputs.canonical, feature.name));
            None
        }
        Computation::Windows(windows) => {
            let aggregate = &windows.aggregates[index / windows.windows.len()];
            let window = &windows.windows[index % windows.windows.len()];
            let column = aggregate.column.as_deref();
            let function = aggregate.function;
            // Events of every source decide whether there is a row.
            for key_columns in &windows.key_columns {
                parts.push(format!(
                    "{function} of {column:?} over {window} by {key_columns:?}"
                ));
            }
            if windows.sources.len() > 1 {
                parts.push(format!("events of {:?}", aggregate.source));
            }
            of = aggregate.source.as_ref();
            let by = aggregate.by.as_deref();
            parts.extend(by.map(|by| format!("apart by {by}")));
            let filter = aggregate.filter.as_ref();
            parts.extend(filter.map(|filter| format!("where {}", filter.canonical)));
            let filtered = filter.map(|filter| filter.columns.iter().map(String::as_str));
            let columns = column
                .into_iter()
                .chain(by)
                .chain(filtered.into_iter().flatten());
            Some(columns.collect()).filter(|columns: &Vec<&str>| !columns.is_empty())
        }
        Computation::Latest(latest) => {
            let column = &latest.columns[index];
            parts.push(format!("latest {column} by {:?}", latest.key_columns));
            Some(vec![column.as_str()])
        }
    };
    parts.extend(read(inputs, of, columns.as_deref()));
    Fingerprint::of(parts)
}

/// Of what decides which rows a view has, and when they were true: whatever its features are.
pub(super) fn rows(view: &FeatureView, inputs: &Inputs<'_>) -> Fingerprint {
    let mut parts = keys(inputs.entity);
    match &view.computation {
        Computation::Sql(_) => {
            parts.push(format!("sql {}", inputs.canonical));
            parts.extend(read(inputs, None, None));
        }
        Computation::Windows(Windows { key_columns, .. }) => {
            let each = key_columns.iter();
            parts.extend(each.map(|columns| format!("events by {columns:?}")));
            parts.extend(inputs.sources.iter().map(|source| rows_of(source)));
        }
        Computation::Latest(Latest { key_columns, .. }) => {
            parts.push(format!("latest by {key_columns:?}"));
            parts.extend(inputs.sources.iter().map(|source| rows_of(source)));
        }
    }
    Fingerprint::of(parts)
}

fn keys(entity: &Entity) -> Vec<String> {
    let keys = entity.keys.iter();
    keys.map(|part| format!("{} {}", part.name, part.data_type))
        .collect()
}

/// What is read of each source and view: these columns, of one source or of all, or what the statement may read.
fn read(inputs: &Inputs<'_>, of: Option<&Name>, columns: Option<&[&str]>) -> Vec<String> {
    let is_read = |name: &str| match columns {
        Some(columns) => columns.contains(&name),
        None => may_read(inputs.canonical, name),
    };
    let mut parts = Vec::new();
    for source in inputs.sources {
        parts.push(rows_of(source));
        let mut columns: Vec<_> = source.columns.iter().collect();
        columns.sort_by_key(|(name, _)| *name);
        let is_its = of.is_none_or(|of| *of == source.name);
        let read = columns
            .into_iter()
            .filter(|(name, _)| is_its && is_read(name));
        parts.extend(read.map(|(name, column)| format!("{name} {}", column.data_type)));
    }
    for read in inputs.views {
        let (name, ttl) = (&read.view.name, read.ttl());
        parts.push(format!("{name} has {} ttl {ttl}", read.rows));
        let mut features: Vec<_> = read.view.features.iter().collect();
        features.sort_by_key(|feature| &feature.name);
        let read = features.into_iter().filter(|f| is_read(f.name.as_str()));
        parts.extend(read.map(|feature| format!("{} {}", feature.name, feature.fingerprint)));
    }
    parts
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
