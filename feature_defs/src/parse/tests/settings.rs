//! The settings alone, beside definitions that hold problems.

use super::super::{LoadError, load, settings};

const BROKEN: &str = "views:\n  spend: [half, edited\n";

#[test]
fn settings_read_whatever_the_definitions_say() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |path: &str, text: &str| std::fs::write(folder.path().join(path), text);
    let own = "version: 1\nproject: shop\nonline: embedded://rows\nsources: 7\n";
    write("nightfill.yaml", own).expect("a file");
    write("shop.yaml", BROKEN).expect("a file");
    assert!(matches!(load(folder.path()), Err(LoadError::Problems(_))));
    let project = settings(folder.path()).expect("settings");
    assert_eq!(project.name.as_str(), "shop");
    assert_eq!(project.root, folder.path());
}

#[test]
fn settings_with_problems_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(matches!(
        settings(folder.path()),
        Err(LoadError::NoProject(_))
    ));
    for (text, told) in [
        ("version: 2\nproject: shop\n", "version `2` is not known"),
        ("version: 1\nproject: [shop\n", "nightfill.yaml"),
        ("", "project"),
    ] {
        std::fs::write(folder.path().join("nightfill.yaml"), text).expect("a file");
        let Err(LoadError::Problems(problems)) = settings(folder.path()) else {
            panic!("{text} was accepted");
        };
        assert!(problems.to_string().contains(told), "{problems}");
    }
}
