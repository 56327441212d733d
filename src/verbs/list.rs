//! `nightfill list`: what a project declares.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use feature_defs::definitions::Definitions;
use feature_defs::name::Name;
use feature_defs::object::{Object, ObjectKind};
use serde_json::json;

use crate::args::{Format, Global};
use crate::output::{self, table};
use crate::project;

/// Lists the objects of the definition files: what each is, who answers for it, how it is tagged; with `--checks`, what
/// the night demands of their snapshots. `nightfill lineage` shows what one is made from and who uses it.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  nightfill list\n  nightfill list --kind feature-view --tag churn\n  nightfill list --checks"
)]
pub(crate) struct List {
    /// Only objects of this kind
    #[arg(long, value_parser = kinds())]
    kind: Option<ObjectKind>,
    /// Only objects with this tag
    #[arg(long)]
    tag: Option<String>,
    /// Only objects of this owner
    #[arg(long)]
    owner: Option<String>,
    /// The checks of these objects instead of the objects
    #[arg(long)]
    checks: bool,
}

/// The kinds by the words that choose them.
const KINDS: [(&str, ObjectKind); 6] = [
    ("entity", ObjectKind::Entity),
    ("source", ObjectKind::Source),
    ("feature-view", ObjectKind::FeatureView),
    ("request-view", ObjectKind::RequestView),
    ("feature-service", ObjectKind::FeatureService),
    ("model", ObjectKind::Model),
];

/// One of [`KINDS`].
fn kinds() -> impl TypedValueParser<Value = ObjectKind> {
    PossibleValuesParser::new(KINDS.map(|(word, _)| word)).try_map(|word| {
        let mut kinds = KINDS.into_iter();
        let kind = kinds.find(|(known, _)| *known == word);
        kind.map(|(_, kind)| kind).ok_or("unknown")
    })
}

impl List {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        let definitions = project::asked_for(global)?;
        let objects: Vec<Object<'_>> = definitions
            .objects()
            .filter(|object| self.asks_for(object))
            .collect();
        if self.checks {
            return list_checks(&definitions, &objects, global.format);
        }
        if global.format == Format::Json {
            let objects = objects.iter().map(
                |object| json!({ "kind": object.kind, "name": object.name, "about": object.about }),
            );
            return output::json(&objects.collect::<Vec<_>>());
        }
        if objects.is_empty() {
            output::note("no object is like that");
            return Ok(());
        }
        let rows: Vec<Vec<String>> = objects.iter().map(row).collect();
        output::line(table(
            &["kind", "name", "owner", "tags", "about"],
            &[],
            &rows,
        ))
    }

    fn asks_for(&self, object: &Object<'_>) -> bool {
        let of_kind = self.kind.is_none_or(|kind| kind == object.kind);
        let tagged = self.tag.as_ref();
        let tagged = tagged.is_none_or(|tag| object.about.tags.contains(tag));
        let owned = self.owner.is_none() || self.owner == object.about.owner;
        of_kind && tagged && owned
    }
}

fn list_checks(
    definitions: &Definitions,
    objects: &[Object<'_>],
    format: Format,
) -> anyhow::Result<()> {
    let views = objects
        .iter()
        .filter(|object| object.kind == ObjectKind::FeatureView)
        .filter_map(|object| definitions.views.get(object.name));
    let checks = views.flat_map(|view| view.checks.iter().map(move |check| (&view.name, check)));
    if format == Format::Json {
        let checks = checks.map(|(view, check)| {
            json!({
                "view": view,
                "feature": check.feature,
                "check": check.demand.to_string(),
                "on_failure": check.on_failure,
            })
        });
        return output::json(&checks.collect::<Vec<_>>());
    }
    let rows = checks.map(|(view, check)| {
        let of = check.feature.as_ref().map_or("its rows", Name::as_str);
        let (demand, on_failure) = (check.demand.to_string(), check.on_failure.name());
        vec![
            view.to_string(),
            of.to_owned(),
            demand,
            on_failure.to_owned(),
        ]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    if rows.is_empty() {
        output::note("no check is declared");
        return Ok(());
    }
    output::line(table(&["view", "of", "check", "on failure"], &[], &rows))
}

fn row(object: &Object<'_>) -> Vec<String> {
    let about = object.about;
    let shown = |text: Option<&String>| text.map_or("-", |text| text.trim()).to_owned();
    let tags = match about.tags.is_empty() {
        true => "-".to_owned(),
        false => about.tags.join(", "),
    };
    let said = match &about.deprecated {
        Some(why) => format!("deprecated: {}", why.trim()),
        None => shown(about.description.as_ref()),
    };
    let first = said.lines().next().unwrap_or_default().to_owned();
    vec![
        object.kind.as_str().to_owned(),
        object.name.to_string(),
        shown(about.owner.as_ref()),
        tags,
        first,
    ]
}
