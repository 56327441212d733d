//! Windows over sources that forget: a window that looks back further than its source would lose rows without a word.

use crate::aggregation::Window;
use crate::parse::members::Members;
use crate::parse::reader::Placed;
use crate::validate::Validator;
use crate::validate::view::NamedSource;

impl Validator<'_> {
    /// Refuses windows that are longer than the source's retention. A lifetime is longer than any.
    pub(super) fn are_retained(
        &mut self,
        (name, source): NamedSource<'_>,
        windows: &Members<Placed<Window>>,
    ) {
        let Some(kept) = source.retention else {
            return;
        };
        for window in &windows.items {
            let (message, help) = match window.value.span() {
                Some(span) if span <= kept => continue,
                Some(span) => (
                    format!(
                        "the window {span} is longer than source `{name}` keeps rows, which is {kept}"
                    ),
                    format!(
                        "write a window of at most {kept}, or raise the source's `retention` if it goes back further"
                    ),
                ),
                None => (
                    format!(
                        "source `{name}` keeps rows for {kept}, so that `lifetime` over it would shrink as rows go"
                    ),
                    format!(
                        "write the longest window that is kept, `{kept}`, or take the source's `retention` out if no row ever goes"
                    ),
                ),
            };
            self.refuse(&window.span, message, help);
        }
    }
}
