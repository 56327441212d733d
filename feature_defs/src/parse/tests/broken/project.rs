//! The project file.

use super::Case;
use super::Edit::{File, Settings};

pub(super) const CASES: &[Case] = &[
    ("empty", &[File("nightfill.yaml", "")]),
    ("only_a_comment", &[File("nightfill.yaml", "# to do\n")]),
    ("no_version", &[Settings("version: 1\n", "")]),
    ("no_name", &[Settings("project: shop\n", "")]),
    ("list", &[File("nightfill.yaml", "- version: 1\n")]),
    ("misspelt", &[Settings("project:", "projct:")]),
];
