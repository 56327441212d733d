//! `nightfill init`: a small, commented project that runs as it is.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use feature_defs::name::{MAX_NAME_LENGTH, Name};
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
        let folder = resolved(&self.folder);
        let (name, said) = project_name(&folder);
        let data = purchases(SystemClock.now());
        let mut files: Vec<(&str, String)> = FILES
            .iter()
            .map(|(path, text)| (*path, text.replace("PROJECT", &name)))
            .collect();
        files.push((DATA, data));
        write_new(&self.folder, &files)?;

        if let Some(said) = said {
            output::note(format_args!("note: the project is named `{name}`: {said}"));
        }
        if global.format == Format::Json {
            let paths: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
            return output::json(
                &json!({ "folder": self.folder, "project": name, "files": paths }),
            );
        }
        for (path, _) in &files {
            output::line(format_args!("wrote {}", self.folder.join(path).display()))?;
        }
        let is_here =
            std::env::current_dir().is_ok_and(|here| resolved(&here) == resolved(&folder));
        let enter = match is_here {
            true => String::new(),
            false => format!("  cd {}\n", output::quoted(&self.folder)),
        };
        output::line(format_args!(
            "\nnext:\n{enter}  nightfill check\n  nightfill apply\n  nightfill run\n  nightfill features --service customer_v1 --entity customer_id=1 --request amount=50.00\n  nightfill serve"
        ))
    }
}

/// The folder by its own name, as far as it is there: `.` has none.
fn resolved(folder: &Path) -> PathBuf {
    let there = folder.canonicalize();
    let absolute = there.or_else(|_| std::path::absolute(folder));
    absolute.unwrap_or_else(|_| folder.to_owned())
}

/// The project's name after its folder, and what is to be said where the two differ.
fn project_name(folder: &Path) -> (String, Option<String>) {
    let text = folder.file_name().unwrap_or_default().to_string_lossy();
    if Name::parse(&text).is_ok() {
        return (text.into_owned(), None);
    }
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let mut name = words.join("_");
    if name.is_empty() {
        "shop".clone_into(&mut name);
    }
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert_str(0, "project_");
    }
    name.truncate(MAX_NAME_LENGTH);
    let said = format!("`{text}` is no name, which has lower-case letters, digits and `_`");
    (name, Some(said))
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
        let long = "x".repeat(70);
        for (folder, name) in [
            ("shop", "shop"),
            ("/a/My-Shop", "my_shop"),
            ("My Shop (2)", "my_shop_2"),
            ("2024-shop", "project_2024_shop"),
            ("Caf\u{e9}", "caf"),
            ("/", "shop"),
            (&long, &long[..64]),
        ] {
            let (found, said) = project_name(Path::new(folder));
            assert_eq!(found, name);
            assert_eq!(said.is_some(), folder != "shop", "{folder}");
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
