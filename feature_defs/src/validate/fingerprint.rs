//! Fingerprints of objects: over what decides their values, in one canonical order, so that files, comments and the
//! order of maps that have none do not matter.

use crate::about::About;
use crate::definitions::Definitions;
use crate::entity::Entity;
use crate::feature_service::FeatureService;
use crate::feature_view::{Computation, FeatureView};
use crate::fingerprint::Fingerprint;
use crate::model::Model;
use crate::name::Name;
use crate::request_view::RequestView;
use crate::source::{Source, SourceFormat, SourcePlace};
use crate::validate::inputs::Inputs;

/// Everything but what it says of itself and how long it keeps rows. Of a database or a root its name counts, and not
/// where it is: an environment has its own.
pub(crate) fn source(source: &Source) -> Fingerprint {
    let (place, how) = match &source.place {
        SourcePlace::Files(files) => (files.to_string(), format_text(files.format)),
        SourcePlace::Table(table) => (
            format!("{:?} of {:?}", table.table, table.schema),
            format!("database {}", table.database),
        ),
    };
    let mut parts = vec![
        "source".to_owned(),
        source.name.to_string(),
        place,
        how,
        source.event_time.clone(),
        source
            .created_time
            .clone()
            .map_or_else(String::new, |column| format!("created {column}")),
        source.timezone.name().to_owned(),
    ];
    let mut columns: Vec<_> = source.columns.iter().collect();
    columns.sort_by_key(|(name, _)| *name);
    for (name, column) in columns {
        parts.push(name.clone());
        parts.push(column.data_type.to_string());
    }
    if !source.partitions().is_empty() {
        parts.push(format!("partitions {:?}", source.partitions()));
    }
    Fingerprint::of(parts)
}

fn format_text(format: SourceFormat) -> String {
    match format {
        SourceFormat::Parquet => "parquet".to_owned(),
        SourceFormat::Csv { delimiter } => format!("csv {delimiter}"),
        SourceFormat::JsonLines => "jsonl".to_owned(),
        SourceFormat::Delta => "delta".to_owned(),
    }
}

/// Entity, sources and views that it reads (by name), computation and features.
pub(crate) fn view(view: &FeatureView, inputs: &Inputs<'_>) -> Fingerprint {
    let mut parts = vec![
        "view".to_owned(),
        view.name.to_string(),
        entity_text(inputs.entity),
    ];
    match &view.computation {
        Computation::Sql(_) => parts.push(format!("sql {}", inputs.canonical)),
        Computation::Windows(windows) => {
            let several = windows.sources.len() > 1;
            for key_columns in &windows.key_columns {
                parts.push(format!("windows {key_columns:?}"));
            }
            for aggregate in &windows.aggregates {
                let column = aggregate.column.as_deref();
                let (name, function) = (&aggregate.name, aggregate.function);
                parts.push(match several {
                    true => format!("{name} {function} {column:?} of {:?}", aggregate.source),
                    false => format!("{name} {function} {column:?}"),
                });
                let by = aggregate.by.iter();
                parts.extend(by.map(|by| format!("apart by {by}")));
                let filter = aggregate.filter.iter();
                parts.extend(filter.map(|filter| format!("where {}", filter.canonical)));
            }
            parts.extend(windows.windows.iter().map(ToString::to_string));
        }
        Computation::Latest(latest) => {
            parts.push(format!(
                "latest {:?} {:?}",
                latest.key_columns, latest.columns
            ));
        }
    }
    let sources = inputs.sources.iter();
    parts.extend(sources.map(|source| source.fingerprint.to_string()));
    for read in inputs.views {
        parts.push(format!(
            "reads {} ttl {}",
            read.view.fingerprint,
            read.ttl()
        ));
    }
    for feature in &view.features {
        parts.push(format!("feature {} {}", feature.name, feature.data_type));
    }
    Fingerprint::of(parts)
}

/// Fields, and the names and fingerprints of its features.
pub(crate) fn request_view(view: &RequestView) -> Fingerprint {
    let mut parts = vec!["request view".to_owned(), view.name.to_string()];
    let mut inputs: Vec<_> = view.inputs.iter().collect();
    inputs.sort_by_key(|field| &field.name);
    for field in inputs {
        let text = format!(
            "{} {} {:?} {}",
            field.name, field.data_type, field.default, field.nullable
        );
        parts.push(text);
    }
    let features = view.features.iter();
    parts.extend(features.map(|feature| format!("{} {}", feature.name, feature.fingerprint)));
    Fingerprint::of(parts)
}

/// Names, defaults and order, and the features' fingerprints.
pub(crate) fn service(service: &FeatureService) -> Fingerprint {
    let mut parts = vec!["service".to_owned(), service.name.to_string()];
    for feature in &service.features {
        parts.push(format!(
            "{} as {} {} {:?} {}",
            feature.reference,
            feature.name,
            feature.data_type,
            feature.default,
            feature.fingerprint
        ));
    }
    Fingerprint::of(parts)
}

/// Everything but what it says of itself, and the service's fingerprint.
pub(crate) fn model(model: &Model, service: &FeatureService) -> Fingerprint {
    Fingerprint::of([
        "model".to_owned(),
        model.name.to_string(),
        service.fingerprint.to_string(),
        model.output.to_string(),
        format!("{:?}", model.transform),
    ])
}

/// Nothing where none is declared.
fn checks_text(view: &FeatureView) -> String {
    let checks = view.checks.iter().map(|check| {
        let of = check.feature.as_ref().map_or("", Name::as_str);
        format!(" check {of} {} {}", check.demand, check.on_failure.name())
    });
    checks.collect()
}

/// All objects, sorted by kind and name, with what their own fingerprints leave out: what they say of themselves, TTLs,
/// schedules.
pub(crate) fn definitions(definitions: &Definitions) -> Fingerprint {
    let mut parts = Vec::new();
    for entity in definitions.entities.values() {
        parts.push(format!(
            "1 {} {}",
            entity_text(entity),
            about_text(&entity.about)
        ));
    }
    for source in definitions.sources.values() {
        parts.push(format!(
            "2 {} {} {}",
            source.name,
            source.fingerprint,
            about_text(&source.about)
        ));
    }
    for view in definitions.views.values() {
        let schedule = view
            .schedule
            .as_ref()
            .map(|schedule| (&schedule.cron, schedule.timezone.name()));
        let about: Vec<_> = view
            .features
            .iter()
            .map(|feature| &feature.description)
            .collect();
        parts.push(format!(
            "3 {} {} {} {schedule:?} {} {about:?}{}",
            view.name,
            view.fingerprint,
            view.ttl,
            about_text(&view.about),
            checks_text(view)
        ));
    }
    for view in definitions.request_views.values() {
        let about: Vec<_> = view
            .features
            .iter()
            .map(|feature| &feature.description)
            .collect();
        parts.push(format!(
            "4 {} {} {} {about:?}",
            view.name,
            view.fingerprint,
            about_text(&view.about)
        ));
    }
    for service in definitions.services.values() {
        parts.push(format!(
            "5 {} {} {}{}",
            service.name,
            service.fingerprint,
            about_text(&service.about),
            aliases_text(&service.aliases)
        ));
    }
    for model in definitions.models.values() {
        parts.push(format!(
            "6 {} {} {}",
            model.name,
            model.fingerprint,
            about_text(&model.about)
        ));
    }
    parts.sort();
    Fingerprint::of(parts)
}

/// An object that says no more of itself than its description has the fingerprint that it had before there was more.
fn about_text(about: &About) -> String {
    let mut text = format!("{:?}", about.description);
    if let Some(owner) = &about.owner {
        text.push_str(&format!(" owner {owner:?}"));
    }
    if !about.tags.is_empty() {
        text.push_str(&format!(" tags {:?}", about.tags));
    }
    if let Some(why) = &about.deprecated {
        text.push_str(&format!(" deprecated {why:?}"));
    }
    if let Some(name) = &about.renamed_from {
        text.push_str(&format!(" renamed from {name}"));
    }
    text
}

fn aliases_text(aliases: &[Name]) -> String {
    match aliases {
        [] => String::new(),
        aliases => format!(" aliases {aliases:?}"),
    }
}

fn entity_text(entity: &Entity) -> String {
    let keys: Vec<String> = entity
        .keys
        .iter()
        .map(|part| format!("{} {}", part.name, part.data_type))
        .collect();
    format!("entity {} ({})", entity.name, keys.join(", "))
}
