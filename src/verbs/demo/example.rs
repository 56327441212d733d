//! The example project, carried in the binary so that the demo works anywhere.

macro_rules! carried {
    ($path:literal) => {
        (
            $path,
            include_bytes!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/feature_defs/examples/cdnow/",
                $path
            )),
        )
    };
}

/// The project's name.
pub(crate) const PROJECT: &str = "cdnow";

/// Its files by path: definitions, SQL and data; the model's file stands apart.
pub(crate) const FILES: &[(&str, &[u8])] = &[
    carried!("nightfill.yaml"),
    carried!("features/customer.yaml"),
    carried!("features/customer_rfm.sql"),
    carried!("features/customer_ltv.sql"),
    carried!("data/purchases.parquet"),
    carried!("model/buys_again_90d.txt"),
];

/// The trained models among the files, by the name of the model.
pub(crate) const MODELS: &[(&str, &str)] = &[("buys_again_90d", "model/buys_again_90d.txt")];

/// The body of the demo's request: a customer of seven purchases and one that nobody knows, each with a basket of $25.97;
/// as of the morning after the night, since to the clock on the wall the purchases have long expired.
pub(crate) fn request(explain: bool) -> String {
    let explain = if explain { r#", "explain": true"# } else { "" };
    format!(
        r#"{{"entities": {{"customer_id": [1642, 99999999]}}, "request": {{"amount_cents": [2597, 2597], "cds": [2, 2]}}, "as_of": "1997-10-01T09:00:00Z"{explain}}}"#
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    /// What the example's folder holds beside the project.
    const APART: [&str; 3] = ["README.md", "train.py", "expected"];

    fn files(folder: &Path, below: &str, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder.join(below)).expect("a readable folder") {
            let entry = entry.expect("an entry");
            let name = entry.file_name().into_string().expect("a UTF-8 name");
            if name.starts_with('.') || APART.contains(&name.as_str()) {
                continue;
            }
            let path = if below.is_empty() {
                name
            } else {
                format!("{below}/{name}")
            };
            if entry.file_type().expect("a type").is_dir() {
                files(folder, &path, found);
            } else {
                found.insert(path);
            }
        }
    }

    #[test]
    fn every_file_of_the_example_is_carried() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("feature_defs/examples/cdnow");
        let mut found = BTreeSet::new();
        files(&folder, "", &mut found);
        let carried: BTreeSet<String> = FILES.iter().map(|(path, _)| (*path).to_owned()).collect();
        assert_eq!(found, carried);
    }
}
