//! Where a source's files are, and which format that says.

use crate::name::Name;
use crate::parse::reader::Reader;
use crate::parse::yaml::{Node, Text};
use crate::project::Root;
use crate::source::{DELTA_LOG, SourceFormat, WILDCARDS, folder_above};
use crate::suggestion::accepted;

const BELOW: &str =
    "write a path or glob below the project's root, like `data/purchases/*.parquet`";

/// Endings of files that are read once they are unpacked.
const PACKED: [&str; 6] = ["gz", "zst", "bz2", "xz", "zip", "tar"];

/// A path or glob that stays below the root.
pub(crate) fn read_path(reader: &mut Reader<'_>, node: &Node) -> Option<Text> {
    let text = reader.text(node, "`path`")?;
    let path = text.text.as_str();
    let drive = path.as_bytes().get(1) == Some(&b':');
    let (message, help) = if path.starts_with('/') || path.starts_with('~') || drive {
        let message =
            format!("`{path}` is an absolute path: paths are relative to the project's root");
        let help = match path.starts_with('~') {
            true => BELOW.to_owned(),
            false => format!("{BELOW}, or declare a root: {}", declared(path)),
        };
        (message, help)
    } else if path.contains("://") {
        let message = format!("`{path}` is not a file of the project");
        let help = match Root::is_of_objects(path) {
            true => format!("declare a root: {}", declared(path)),
            false => BELOW.to_owned(),
        };
        (message, help)
    } else if path.contains('\\') {
        let message = format!("`{path}` has `\\` between its parts");
        (message, "write `/` between the parts of a path".to_owned())
    } else if path.split('/').any(|part| part == "..") {
        let message = format!("the path `{path}` leaves the project");
        (message, BELOW.to_owned())
    } else if path.is_empty() {
        ("`path` is empty".to_owned(), BELOW.to_owned())
    } else {
        return Some(text);
    };
    reader.refuse(&text.span, message, help);
    None
}

/// How to declare a root for files that are elsewhere.
fn declared(path: &str) -> String {
    let folders = path.rsplit_once('/').map_or(path, |(folders, _)| folders);
    let wildcard = folders.find(WILDCARDS).unwrap_or(folders.len());
    let root = match folders[..wildcard].rsplit_once('/') {
        Some((above, _)) if wildcard < folders.len() => above,
        _ => folders,
    };
    let rest = path[root.len()..].trim_start_matches('/');
    let rest = match rest.starts_with('*') {
        true => format!("'{rest}'"),
        false => rest.to_owned(),
    };
    format!(
        "`roots: {{ raw: {root} }}` in `nightfill.yaml`, and `root: raw` and `path: {rest}` here"
    )
}

/// A root of the project's settings, by name.
pub(crate) fn read_root(reader: &mut Reader<'_>, node: &Node) -> Option<Name> {
    let text = reader.text(node, "`root`")?;
    let roots = reader.roots?;
    if let Some((name, _)) = roots.get_key_value(text.text.as_str()) {
        return Some(name.clone());
    }
    let known: Vec<&str> = roots.keys().map(Name::as_str).collect();
    let is_place = text.text.contains('/');
    let (message, help) = if is_place {
        let message = "`root` is a name of the settings, and no place".to_owned();
        let help = format!(
            "write `roots: {{ name: {} }}` in `nightfill.yaml`, and the name here",
            text.text
        );
        (message, help)
    } else {
        let message = format!("the project has no root `{}`", text.text);
        let help = match known.is_empty() {
            true => format!(
                "write `roots: {{ {}: s3://bucket/prefix }}` in `nightfill.yaml`",
                text.text
            ),
            false => accepted(&text.text, &known),
        };
        (message, help)
    };
    reader.refuse(&text.span, message, help);
    None
}

/// Whether the path can be the folder of a Delta table.
pub(crate) fn is_table(reader: &mut Reader<'_>, path: &Text) -> bool {
    let before_log = path.text.split_once(DELTA_LOG).map(|(folder, _)| folder);
    let is_log = before_log.is_some();
    let folder = before_log.unwrap_or(&path.text);
    if !folder.contains(WILDCARDS) && !is_log {
        return true;
    }
    let like = match folder_above(folder) {
        "" => "data/purchases",
        above => above,
    };
    let help = format!("write the folder that `{DELTA_LOG}` is in, like `{like}`");
    let message = match is_log {
        true => format!("`{}` is the log of a Delta table", path.text),
        false => format!("`{}` is a glob, and a Delta table is one folder", path.text),
    };
    reader.refuse(&path.span, message, help);
    false
}

/// The format of files of this path, by how their names end.
pub(crate) fn format_of(reader: &mut Reader<'_>, path: &Text) -> Option<SourceFormat> {
    let name = path.text.rsplit('/').next().unwrap_or_default();
    let ending = name
        .rsplit_once('.')
        .map(|(_, ending)| ending.to_lowercase());
    let help = match ending.as_deref() {
        Some("csv") => return Some(SourceFormat::Csv { delimiter: b',' }),
        Some("parquet") => return Some(SourceFormat::Parquet),
        Some("jsonl" | "ndjson") => return Some(SourceFormat::JsonLines),
        Some("json") => {
            "say `format: jsonl` if each line of the files is an object; a file that is one JSON value is not read".to_owned()
        }
        None if !name.contains(['*', '?']) => {
            let folder = path.text.trim_end_matches('/');
            format!("name the files of a folder with a glob, like `{folder}/*.parquet` or `{folder}/*.csv`, or say `format: delta` if it is a Delta table")
        }
        _ => "files that end in `.parquet`, `.csv`, `.jsonl` or `.ndjson` are read; of other names, say `format: parquet`, `format: csv` or `format: jsonl`, and of a folder that is a Delta table `format: delta`".to_owned(),
    };
    let message = format!(
        "the format of `{}` cannot be told from its ending",
        path.text
    );
    reader.refuse(&path.span, message, help);
    None
}

/// Refuses files that no format reads, whatever `format` says.
pub(crate) fn refuse_unread(reader: &mut Reader<'_>, path: &Text) -> Option<()> {
    let (_, ending) = path.text.rsplit_once('.')?;
    let ending = ending.to_lowercase();
    let help = if PACKED.contains(&ending.as_str()) {
        "unpack it, or write it as Parquet, which is compressed inside"
    } else if matches!(
        ending.as_str(),
        "xlsx" | "xls" | "ods" | "avro" | "orc" | "feather" | "arrow"
    ) {
        "write it as Parquet or CSV"
    } else {
        return None;
    };
    let message = format!("files that end in `.{ending}` are not read");
    let help = format!(
        "{help}; Parquet (`.parquet`), CSV (`.csv`) and JSON lines (`.jsonl`, `.ndjson`) are read"
    );
    reader.refuse(&path.span, message, help);
    Some(())
}
