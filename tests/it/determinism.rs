//! Rule 10: the same definitions at the same as-of give the same bytes, whatever the number of threads.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::harness::Project;

/// Every file below `folder`, by path relative to it.
fn files(folder: &Path, below: &str, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder.join(below)).expect("a readable folder") {
        let entry = entry.expect("an entry");
        let path = format!("{below}/{}", entry.file_name().to_str().expect("UTF-8"));
        let path = path.trim_start_matches('/').to_owned();
        if entry.file_type().expect("a type").is_dir() {
            files(folder, &path, found);
        } else {
            found.insert(
                path.clone(),
                fs::read(folder.join(&path)).expect("readable"),
            );
        }
    }
}

#[test]
fn the_offline_store_holds_the_same_bytes_with_1_2_and_8_threads() {
    let mut first: Option<BTreeMap<String, Vec<u8>>> = None;
    for threads in ["1", "2", "8"] {
        let project = Project::example();
        project.run(&["apply"]);
        project.run(&["run", "--as-of", "1997-10-01", "--threads", threads]);
        let mut found = BTreeMap::new();
        files(&project.root().join(".nightfill/offline"), "", &mut found);
        let parquet = found
            .keys()
            .filter(|path| path.ends_with(".parquet"))
            .count();
        assert_eq!(parquet, 3, "{:?}", found.keys());
        match &first {
            None => first = Some(found),
            Some(first) => {
                assert_eq!(
                    first.keys().collect::<Vec<_>>(),
                    found.keys().collect::<Vec<_>>()
                );
                for (path, bytes) in &found {
                    assert!(
                        first[path] == *bytes,
                        "{path} differs with {threads} threads"
                    );
                }
            }
        }
    }
}
