//! Events of a view of windows: of one source, or of several, of which each aggregate names one.

use crate::error::Span;
use crate::feature_view::Windows;
use crate::name::Name;
use crate::parse::members::Members;
use crate::parse::objects::{DeclaredCall, DeclaredEvents};
use crate::parse::reader::Placed;
use crate::parse::yaml::Text;
use crate::suggestion::accepted;
use crate::validate::Validator;
use crate::validate::view::{NamedEntity, NamedSource};

/// The sources of a view's events, as far as they are known.
pub(super) struct Events<'a> {
    /// Whether columns are written with the name of their source.
    several: bool,
    /// Whether `sources` are all.
    whole: bool,
    /// As written.
    sources: Vec<EventSource<'a>>,
}

struct EventSource<'a> {
    text: Option<Text>,
    source: Option<NamedSource<'a>>,
    key_columns: Option<Vec<String>>,
}

/// What an aggregate is computed from, as far as it is known.
pub(super) struct Argument<'a> {
    /// `None` for the events of all sources, or where it is not known.
    pub(super) source: Option<NamedSource<'a>>,
    /// `None` where rows are counted.
    pub(super) column: Option<Text>,
    /// Whether all of it is known.
    pub(super) sure: bool,
}

impl<'a> Validator<'a> {
    pub(super) fn events(
        &mut self,
        span: &Span,
        entity: Option<NamedEntity<'_>>,
        declared: DeclaredEvents,
    ) -> Events<'a> {
        let mut events = Events {
            several: declared.several,
            whole: declared.sources.whole,
            sources: Vec::new(),
        };
        for one in declared.sources.items {
            let sources = self.sources;
            let source = one.source.as_ref();
            let source = source.and_then(|text| self.find(sources, "source", text));
            let place = match &one.source {
                Some(text) if declared.several => &text.span,
                _ => span,
            };
            events.sources.push(EventSource {
                key_columns: self.key_columns(place, entity, source, &one.join),
                source,
                text: one.source,
            });
        }
        events
    }

    /// What a call names. A column of no source, or of another one, is a problem.
    pub(super) fn argument(&mut self, events: &Events<'a>, call: &DeclaredCall) -> Argument<'a> {
        let mut argument = Argument {
            source: None,
            column: call.column.clone(),
            sure: true,
        };
        if !events.several {
            argument.source = events.sources.first().and_then(|one| one.source);
            argument.sure = argument.source.is_some();
            return argument;
        }
        let Some(written) = argument.column.take() else {
            return argument;
        };
        argument.sure = false;
        let names = events.names();
        let Some((source, column)) = written.text.split_once('.') else {
            let message = format!("`{}` does not say of which source it is", written.text);
            let each = names
                .iter()
                .map(|name| format!("`{name}.{}`", written.text));
            let help = format!("write {}", each.collect::<Vec<_>>().join(" or "));
            self.refuse(&written.span, message, help);
            return argument;
        };
        let Some(one) = events.find(source) else {
            if events.whole {
                let message = format!("`{source}` is no source of this view");
                let help = accepted(source, &names);
                self.refuse(&written.span, message, help);
            }
            return argument;
        };
        argument.source = one.source;
        argument.sure = one.source.is_some();
        if column != "*" {
            argument.column = Some(Text {
                text: column.to_owned(),
                span: behind(&written, source.len() + 1),
            });
        }
        argument
    }
}

impl<'a> Events<'a> {
    pub(super) fn names(&self) -> Vec<&str> {
        let texts = self.sources.iter().filter_map(|one| one.text.as_ref());
        texts.map(|text| text.text.as_str()).collect()
    }

    fn find(&self, name: &str) -> Option<&EventSource<'a>> {
        let is_it = |one: &&EventSource<'a>| one.text.as_ref().is_some_and(|t| t.text == name);
        self.sources.iter().find(is_it)
    }

    /// Those that are known, as written.
    pub(super) fn named(&self) -> impl Iterator<Item = NamedSource<'a>> {
        self.sources.iter().filter_map(|one| one.source)
    }

    /// The view's computation, if all of its events are known; its aggregates are not yet part of it.
    pub(super) fn windows(
        self,
        windows: &Members<Placed<crate::aggregation::Window>>,
    ) -> Option<Windows> {
        let sources = self.sources.into_iter();
        let sources = sources.map(|one| Some((one.source?.0.clone(), one.key_columns?)));
        let mut sources: Vec<(Name, Vec<String>)> = sources.collect::<Option<_>>()?;
        // Their order has no meaning.
        sources.sort();
        let (sources, key_columns) = sources.into_iter().unzip();
        Some(Windows {
            sources,
            key_columns,
            aggregates: Vec::new(),
            windows: windows.items.iter().map(|window| window.value).collect(),
        })
    }
}

/// The place of a text behind its first bytes, where the file has it as it is.
fn behind(text: &Text, bytes: usize) -> Span {
    let mut span = text.span.clone();
    if span.bytes.len() == text.text.len() {
        span.bytes.start += bytes;
    }
    span
}
