//! `nightfill init`.

use crate::harness::{finish, nightfill, shop, stderr, stdout};

#[test]
fn init_overwrites_nothing() {
    let project = shop();
    let folder = project.root().to_str().expect("UTF-8");
    let output = finish(nightfill(&["init", folder]));
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("is there already"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn init_here_names_the_project_after_the_folder_and_goes_nowhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let here = folder.path().join("corner_shop");
    std::fs::create_dir(&here).expect("a folder");
    let mut command = nightfill(&["init", "."]);
    command.current_dir(&here);
    let output = finish(command);
    let said = stdout(&output);
    assert!(!said.contains("  cd "), "{said}");
    assert_eq!(stderr(&output), "");
    let settings = std::fs::read_to_string(here.join("nightfill.yaml")).expect("settings");
    assert!(settings.contains("project: corner_shop\n"), "{settings}");
}

#[test]
fn init_quotes_a_path_for_the_shell_and_says_which_name_it_made() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = nightfill(&["init", "My Shop (2)"]);
    command.current_dir(folder.path());
    let output = finish(command);
    let said = stdout(&output);
    assert!(said.contains("\n  cd 'My Shop (2)'\n"), "{said}");
    let said = stderr(&output);
    assert!(said.contains("named `my_shop_2`"), "{said}");
}
