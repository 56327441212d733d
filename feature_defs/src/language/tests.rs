use std::fs;
use std::path::Path;

use super::keys::{PROJECT, SECTIONS};
use super::{Key, Presence, reference, schema, sql, sql_reference};
use crate::definitions::DefinitionFile;
use crate::parse;

fn file(path: &str, text: String) -> DefinitionFile {
    DefinitionFile {
        path: path.to_owned(),
        text,
    }
}

#[test]
fn the_references_are_what_the_tables_say() {
    for (page, text) in [("definitions.md", reference()), ("sql.md", sql_reference())] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
        let path = path.join(page);
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            fs::write(&path, &text).expect("written");
        }
        let written = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            written == text,
            "docs/{page} differs from the table: UPDATE_EXPECTED=1 writes it anew"
        );
    }
}

/// What the page on SQL says that expressions give is what a view may declare of them.
#[test]
fn times_in_sql_have_the_types_that_are_told() {
    for (expression, gives, _) in sql::TIMES {
        let declared = match gives.contains(' ') {
            true => "bool",
            false => gives,
        };
        let view = format!(
            "sources:\n  visits:\n    path: v.csv\n    event_time: at\n    columns: {{ id: int64, at: timestamp, day: date }}\nentities:\n  one: {{ keys: {{ id: int64 }} }}\nviews:\n  v:\n    entity: one\n    features: {{ f: {declared} }}\n    sql: |\n      SELECT id, {expression} AS f FROM visits\n"
        );
        let files = vec![
            file("nightfill.yaml", "version: 1\nproject: shop\n".to_owned()),
            file("v.yaml", view),
        ];
        let told = match parse::parse(Path::new("/"), files) {
            Ok(_) => gives.to_owned(),
            Err(problems) => problems.to_string(),
        };
        let is_told = told == gives || told.contains(&format!("the SQL gives {gives}"));
        assert!(is_told, "{expression}: {told}");
    }
}

#[test]
fn the_examples_together_are_a_project() {
    let mut files = vec![file("nightfill.yaml", PROJECT.example.to_owned())];
    let objects = SECTIONS.iter().flat_map(|(_, objects)| objects.iter());
    for (nth, object) in objects
        .filter(|object| !object.example.is_empty())
        .enumerate()
    {
        files.push(file(&format!("{nth}.yaml"), object.example.to_owned()));
    }
    let definitions = parse::parse(Path::new("/"), files);
    let definitions = definitions.unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!((definitions.views.len(), definitions.models.len()), (4, 1));
}

/// The defaults that the table tells, beside those that the parser takes.
#[test]
fn defaults_are_as_told() {
    let told = |keys: &[Key], name: &str| {
        let key = keys.iter().find(|key| key.name == name).expect("a key");
        match key.presence {
            Presence::Default(default) => default.trim_matches('`').to_owned(),
            _ => panic!("`{name}` has no default"),
        }
    };
    let files = vec![file(
        "nightfill.yaml",
        "version: 1\nproject: shop\n".to_owned(),
    )];
    let project = parse::parse(Path::new("/"), files)
        .expect("a project")
        .project;
    let is = |name: &str, value: String| assert_eq!(told(PROJECT.keys, name), value);
    is("timezone", project.timezone.to_string());
    is("registry", project.places.registry.to_string());
    is("offline", project.places.offline.to_string());
    is("online", project.places.online.to_string());
}

#[test]
fn the_schema_knows_every_section_and_key() {
    let schema = schema();
    for key in PROJECT.names() {
        assert!(schema["properties"][key].is_object(), "{key}");
    }
    for (section, objects) in &SECTIONS {
        let shown = schema["properties"][section].to_string();
        for object in *objects {
            for key in object.names() {
                assert!(shown.contains(&format!("\"{key}\":")), "{section}.{key}");
            }
        }
    }
}
