//! Any text as a definition file.

#![no_main]

use feature_defs::definitions::DefinitionFile;
use feature_defs::parse::parse;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let file = |path: &str, text: &str| DefinitionFile {
        path: path.to_owned(),
        text: text.to_owned(),
    };
    let project = file("nightfill.yaml", "version: 1\nproject: shop\n");
    let Err(problems) = parse("/".as_ref(), vec![project, file("shop.yaml", text)]) else {
        return;
    };
    assert!(!problems.problems.is_empty());
    for problem in &problems.problems {
        let mut files = problems.files.iter();
        let file = files.find(|file| file.path == problem.span.file);
        let place = file.and_then(|file| file.text.get(problem.span.bytes.clone()));
        assert!(place.is_some(), "{problem:?}");
    }
    assert!(!problems.to_string().is_empty());
});
