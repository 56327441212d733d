//! What is different about a source.

use super::compared::{Compared, quoted, text};
use crate::source::{Source, SourcePlace};
use crate::time::TimeSpan;

pub(super) fn source(before: &Source, after: &Source) -> Compared {
    let mut compared = Compared::fingerprints(before.fingerprint, after.fingerprint);
    match (&before.place, &after.place) {
        (SourcePlace::Files(before), SourcePlace::Files(after)) => {
            compared.setting("root", &before.root, &after.root, |root| {
                root.as_ref()
                    .map_or_else(|| "the project's folder".to_owned(), quoted)
            });
            compared.setting("path", &before.path, &after.path, quoted);
            compared.setting("format", &before.format, &after.format, ToString::to_string);
            compared.setting(
                "partitions",
                &before.partitions,
                &after.partitions,
                |columns| format!("[{}]", columns.join(", ")),
            );
        }
        (SourcePlace::Table(before), SourcePlace::Table(after)) => {
            let (old, new) = (&before.database, &after.database);
            compared.setting("database", old, new, ToString::to_string);
            compared.setting("table", &before.to_string(), &after.to_string(), quoted);
        }
        (old, new) => compared.setting("rows", old, new, place),
    }
    let columns = |source: &'_ Source| -> Vec<(String, String)> {
        let columns = source.columns.iter();
        columns
            .map(|(name, column)| (name.clone(), column.data_type.to_string()))
            .collect()
    };
    let (old, new) = (columns(before), columns(after));
    compared.parts("column", old, new, |old, new| format!("{old} -> {new}"));
    compared.setting("event_time", &before.event_time, &after.event_time, quoted);
    compared.setting(
        "created_time",
        &before.created_time,
        &after.created_time,
        text,
    );
    compared.setting(
        "timezone",
        &before.timezone,
        &after.timezone,
        ToString::to_string,
    );
    let kept = |retention: &Option<TimeSpan>| {
        retention.map_or_else(|| "none".to_owned(), |span| span.to_string())
    };
    compared.setting("retention", &before.retention, &after.retention, kept);
    compared.about(&before.about, &after.about);
    compared
}

fn place(place: &SourcePlace) -> String {
    match place {
        SourcePlace::Files(files) => format!("files `{files}`"),
        SourcePlace::Table(table) => format!("table `{table}` of database `{}`", table.database),
    }
}
