//! Problems as a compiler would show them.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use crate::error::{Problem, Problems, masked};

/// All problems with source excerpts and a closing count, coloured for a terminal if `coloured`.
#[must_use]
pub fn render(problems: &Problems, coloured: bool) -> String {
    let renderer = if coloured {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let mut text = String::new();
    for problem in &problems.problems {
        text.push_str(&render_one(&renderer, problem, problems));
        text.push('\n');
    }
    text.push_str(&count(problems));
    text
}

fn render_one(renderer: &Renderer, problem: &Problem, problems: &Problems) -> String {
    let source = problems
        .files
        .iter()
        .find(|file| file.path == problem.span.file)
        .map_or_else(String::new, |file| masked(&file.text));
    let annotation = AnnotationKind::Primary
        .span(problem.span.bytes.clone())
        .label(&problem.label);
    let snippet = Snippet::source(&source)
        .path(&problem.span.file)
        .annotation(annotation);
    let group = Level::ERROR
        .primary_title(&problem.message)
        .element(snippet);
    let group = match &problem.help {
        Some(help) => group.element(Level::HELP.message(help)),
        None => group,
    };
    renderer.render(&[group])
}

fn count(problems: &Problems) -> String {
    let mut files: Vec<&str> = problems
        .problems
        .iter()
        .map(|problem| problem.span.file.as_str())
        .collect();
    files.sort_unstable();
    files.dedup();
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    format!(
        "{} problem{} in {} file{}",
        problems.problems.len(),
        plural(problems.problems.len()),
        files.len(),
        plural(files.len())
    )
}
