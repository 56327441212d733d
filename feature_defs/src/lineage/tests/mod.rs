//! Lineage by tables that a person checks by eye.

mod graph;
mod queries;
mod view_reads;

use std::path::Path;

use crate::definitions::{DefinitionFile, Definitions};
use crate::parse::parse;

fn definitions(text: &str) -> Definitions {
    let file = |path: &str, text: &str| DefinitionFile {
        path: path.to_owned(),
        text: text.to_owned(),
    };
    let settings = file("nightfill.yaml", "version: 1\nproject: shop\n");
    let parsed = parse(Path::new("/"), vec![settings, file("shop.yaml", text)]);
    parsed.unwrap_or_else(|problems| panic!("{problems}"))
}
