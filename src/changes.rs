//! What differs between two versions of the definitions, as it is told.

use std::fmt::Write;

use feature_defs::difference::{Change, Difference, ObjectChange};
use feature_defs::name::Name;

/// One line an object, and below it what is different about it.
pub(crate) fn objects(difference: &Difference) -> String {
    let mut text = String::new();
    for object in &difference.objects {
        let _ = writeln!(text, "  {}", line(object));
        for detail in &object.details {
            let _ = writeln!(text, "      {detail}");
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// `~ feature view spend (compatible)`
fn line(object: &ObjectChange) -> String {
    let (sign, meaning) = match object.change {
        Change::Added => ("+", ""),
        Change::Compatible => ("~", " (compatible)"),
        Change::Incompatible => ("~", " (incompatible)"),
        Change::Renamed => ("~", " (renamed)"),
        Change::Removed => ("-", ""),
    };
    let name = match &object.renamed_from {
        Some(old) => format!("{old} -> {}", object.name),
        None => object.name.to_string(),
    };
    format!("{sign} {} {name}{meaning}", object.kind.as_str())
}

/// What follows from a difference, a line each; nothing where nothing does.
pub(crate) fn consequences(difference: &Difference) -> Vec<String> {
    let consequences = [
        ("computed by the next night", &difference.recomputed),
        ("not served from the next release on", &difference.unserved),
        (
            "models that read something else now",
            &difference.affected_models,
        ),
    ];
    let told = consequences.iter().filter(|(_, names)| !names.is_empty());
    told.map(|(what, names)| format!("{what}: {}", list(names)))
        .collect()
}

fn list(names: &[Name]) -> String {
    let names: Vec<&str> = names.iter().map(Name::as_str).collect();
    names.join(", ")
}
