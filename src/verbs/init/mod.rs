//! `nightfill init`: a small, commented project that runs as it is.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use feature_defs::name::Name;
use feature_defs::time::{Clock, Instant, SystemClock, TimeSpan};
use serde_json::json;

use crate::args::{Format, Global};
use crate::output;

/// Lays out a small, commented project with a few purchases, which checks, applies and runs as it is.
/// Never overwrites a file.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  nightfill init shop")]
pub(crate) struct Init {
    /// The folder to make the project in; made if it is not there
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// The files of the project but its data, by path; `PROJECT` stands for the project's name.
const FILES: [(&str, &str); 4] = [
    ("nightfill.yaml", include_str!("template/nightfill.yaml")),
    (
        "features/customer.yaml",
        include_str!("template/customer.yaml"),
    ),
    (
        "features/customer_value.sql",
        include_str!("template/customer_value.sql"),
    ),
    (".gitignore", include_str!("template/gitignore")),
];

/// Where the purchases are.
const DATA: &str = "data/purchases.csv";

/// The purchases: customer, days before today, amount, items.
const PURCHASES: [(u32, i64, &str, u32); 12] = [
    (1, 200, "24.90", 2),
    (1, 64, "12.50", 1),
    (1, 20, "59.00", 4),
    (1, 3, "31.20", 2),
    (2, 90, "8.00", 1),
    (2, 2, "17.75", 1),
    (3, 300, "120.00", 6),
    (3, 45, "99.95", 5),
    (4, 1, "5.50", 1),
    (5, 28, "42.00", 3),
    (5, 6, "40.00", 3),
    (5, 5, "38.50", 2),
];

impl Init {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        let name = project_name(&self.folder);
        let data = purchases(SystemClock.now());
        let mut files: Vec<(&str, String)> = FILES
            .iter()
            .map(|(path, text)| (*path, text.replace("PROJECT", &name)))
            .collect();
        files.push((DATA, data));
        write_new(&self.folder, &files)?;

        let folder = self.folder.display();
        if global.format == Format::Json {
            let paths: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
            return output::json(&json!({ "folder": self.folder, "files": paths }));
        }
        for (path, _) in &files {
            output::line(format_args!("wrote {folder}/{path}"))?;
        }
        output::line(format_args!(
            "\nnext:\n  cd {folder}\n  nightfill check\n  nightfill apply\n  nightfill run\n  nightfill features --service customer_v1 --entity customer_id=1 --request amount=50.00\n  nightfill serve"
        ))
    }
}

/// The folder's name as far as it is a name, else `shop`.
fn project_name(folder: &Path) -> String {
    let text = folder
        .file_name()
        .map(|name| name.to_string_lossy().to_lowercase());
    let text = text.unwrap_or_default().replace(['-', ' ', '.'], "_");
    match Name::parse(&text) {
        Ok(name) => name.to_string(),
        Err(_) => "shop".to_owned(),
    }
}

/// The purchases as CSV, the newest of them yesterday, so that the windows hold something.
fn purchases(now: Instant) -> String {
    let mut text = "customer_id,purchased_at,amount,items\n".to_owned();
    let day = TimeSpan::parse("1d").map_or(0, TimeSpan::micros);
    let midnight = now.micros() - now.micros().rem_euclid(day);
    for (customer, days_ago, amount, items) in PURCHASES {
        let hour = i64::from(9 + customer) * day / 24;
        let at = Instant::from_micros(midnight - days_ago * day + hour);
        text.push_str(&format!("{customer},{at},{amount},{items}\n"));
    }
    text
}

/// Writes files that are not there yet: all of them, or none.
fn write_new(folder: &Path, files: &[(&str, String)]) -> anyhow::Result<()> {
    if let Some((path, _)) = files.iter().find(|(path, _)| folder.join(path).exists()) {
        bail!(
            "`{}` is there already: `init` overwrites nothing, name another folder",
            folder.join(path).display()
        );
    }
    for (path, text) in files {
        let path = folder.join(path);
        let write = || {
            fs::create_dir_all(path.parent().unwrap_or(folder))?;
            fs::File::create_new(&path)?;
            fs::write(&path, text)
        };
        write().with_context(|| format!("`{}` cannot be written", path.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn purchases_end_yesterday() {
        let now = Instant::parse("2026-03-02T15:00:00Z").expect("instant");
        let text = purchases(now);
        assert_eq!(text.lines().count(), 1 + PURCHASES.len());
        assert!(text.contains("4,2026-03-01T13:00:00Z,5.50,1"), "{text}");
        assert!(!text.contains("2026-03-02"), "{text}");
    }

    #[test]
    fn folders_become_project_names() {
        for (folder, name) in [("shop", "shop"), ("/a/My-Shop", "my_shop"), ("/", "shop")] {
            assert_eq!(project_name(Path::new(folder)), name);
        }
    }

    #[test]
    fn nothing_is_written_over_a_file_that_is_there() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("b"), "mine").expect("a file");
        let files = [("a", "new".to_owned()), ("b", "new".to_owned())];
        let error = write_new(folder.path(), &files).expect_err("refused");
        assert!(error.to_string().contains("is there already"), "{error}");
        assert!(!folder.path().join("a").exists());
        let kept = fs::read_to_string(folder.path().join("b")).expect("readable");
        assert_eq!(kept, "mine");
    }
}
