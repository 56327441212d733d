//! `checks:` of a view.

use crate::check::{Demand, OnFailure, Percent};
use crate::error::Span;
use crate::language::keys::{CHECKS, FEATURE_CHECK, ROW_CHECK};
use crate::parse::objects::{DeclaredChecks, DeclaredFeatureCheck, DeclaredRowCheck};
use crate::parse::reader::{Fields, Placed, Reader};
use crate::parse::yaml::{Node, Text};

/// `{rows: {min, max, change}, features: {name: {nulls, min, max, psi}}}`
pub(crate) fn read<'a>(reader: &mut Reader<'a>, node: &'a Node) -> DeclaredChecks {
    let mut checks = DeclaredChecks::default();
    let Some(fields) = reader.fields(node, &node.span, "`checks`", &CHECKS.names()) else {
        return checks;
    };
    says_something(
        reader,
        &fields,
        &node.span,
        "`checks`",
        &["rows", "features"],
    );
    if let Some(node) = fields.get("rows") {
        checks.rows = read_rows(reader, node, &fields.key_span("rows"));
    }
    if let Some(node) = fields.get("features") {
        let map = reader.map(node, "`features` of `checks`");
        for (name, node) in map.iter().flat_map(|map| &map.entries) {
            checks.features.extend(read_feature(reader, name, node));
        }
    }
    checks
}

fn read_rows<'a>(reader: &mut Reader<'a>, node: &'a Node, span: &Span) -> Vec<DeclaredRowCheck> {
    let owner = "the check of rows";
    let Some(fields) = reader.fields(node, span, owner, &ROW_CHECK.names()) else {
        return Vec::new();
    };
    let on_failure = read_on_failure(reader, &fields);
    let min = fields.get("min").and_then(|node| read_count(reader, node));
    let max = fields.get("max").and_then(|node| read_count(reader, node));
    if let (Some(min), Some(max)) = (&min, &max)
        && min.value > max.value
    {
        let message = format!("at least {} rows and at most {}", min.value, max.value);
        reader.refuse(
            &max.span,
            message,
            "no number of rows is both: write `max` above `min`",
        );
    }
    let change = fields.get("change");
    let change = change.and_then(|node| reader.parsed(node, "`change`", Percent::parse));
    says_something(reader, &fields, span, owner, &["min", "max", "change"]);
    let demands = [
        min.map(|min| Demand::MinRows(min.value)),
        max.map(|max| Demand::MaxRows(max.value)),
        change.map(|change| Demand::Change(change.value)),
    ];
    let demands = demands.into_iter().flatten();
    demands
        .map(|demand| DeclaredRowCheck { demand, on_failure })
        .collect()
}

fn read_feature<'a>(
    reader: &mut Reader<'a>,
    name: &'a Text,
    node: &'a Node,
) -> Option<DeclaredFeatureCheck> {
    let owner = format!("the check of `{}`", name.text);
    let fields = reader.fields(node, &name.span, &owner, &FEATURE_CHECK.names())?;
    let on_failure = read_on_failure(reader, &fields);
    let nulls = fields.get("nulls");
    let nulls = nulls.and_then(|node| reader.parsed(node, "`nulls`", Percent::parse));
    let psi = fields.get("psi").and_then(|node| read_psi(reader, node));
    says_something(
        reader,
        &fields,
        &name.span,
        &owner,
        &["nulls", "min", "max", "psi"],
    );
    Some(DeclaredFeatureCheck {
        feature: name.clone(),
        nulls: nulls.map(|nulls| nulls.value),
        min: fields.get("min").cloned(),
        max: fields.get("max").cloned(),
        psi,
        on_failure,
    })
}

/// A check without any of these keys holds of everything.
fn says_something(
    reader: &mut Reader<'_>,
    fields: &Fields<'_>,
    span: &Span,
    owner: &str,
    demands: &[&str],
) {
    if fields.has_only(&["on_failure"]) {
        let message = format!("{owner} asks for nothing");
        let help = format!("write one or more of: `{}`", demands.join("`, `"));
        reader.refuse(span, message, help);
    }
}

fn read_on_failure<'a>(reader: &mut Reader<'a>, fields: &Fields<'a>) -> OnFailure {
    let node = fields.get("on_failure");
    let word = node.and_then(|node| reader.one_of(node, "`block` or `warn`", &OnFailure::NAMED));
    word.unwrap_or(OnFailure::Block)
}

fn read_count(reader: &mut Reader<'_>, node: &Node) -> Option<Placed<u64>> {
    reader.parsed(node, "a number of rows", |text| {
        let rows = text.parse::<u64>();
        rows.map_err(|_| {
            format!("`{text}` is not a number of rows: write a whole number like `20000`")
        })
    })
}

fn read_psi(reader: &mut Reader<'_>, node: &Node) -> Option<Placed<f64>> {
    reader.parsed(node, "`psi`", |text| match text.parse::<f64>() {
        Ok(most) if most.is_finite() && most > 0.0 => Ok(most),
        _ => Err(format!("`{text}` is not a bound of the population stability index: write a number above 0, like `0.2`")),
    })
}
