//! The language of definition files, as a table: which keys each object has, what they hold, what they mean.
//!
//! The parser takes the keys it accepts from here, and so do the reference for people ([`reference()`]) and the schema for
//! editors ([`schema()`]), so that none of them knows a key that another does not.
//!
//! ```text
//!            +--> parse       the keys that are accepted
//!   keys ----+--> reference   docs/definitions.md
//!            +--> schema      JSON Schema
//! ```

pub(crate) mod keys;
mod reference;
mod schema;
#[cfg(test)]
mod tests;

pub use reference::reference;
pub use schema::schema;

/// An object of the language, or a part of one that has keys of its own.
#[derive(Debug)]
pub(crate) struct Object {
    /// What it is called, as a heading.
    pub(crate) title: &'static str,
    /// What it is, in a sentence or two.
    pub(crate) meaning: &'static str,
    /// Its keys, in the order in which people write them.
    pub(crate) keys: &'static [Key],
    /// Whether it may also have the keys of every object ([`keys::ABOUT`]).
    pub(crate) about: bool,
    /// A whole one.
    pub(crate) example: &'static str,
}

/// A key of an object.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) form: Form,
    pub(crate) presence: Presence,
    pub(crate) meaning: &'static str,
    pub(crate) example: &'static str,
}

/// Whether a key has to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    Required,
    /// Required unless this other key is there.
    OrElse(&'static str),
    /// What holds when it is left out.
    Default(&'static str),
}

/// What a key holds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Form {
    Text,
    /// A name of our own: lower-case letters, digits and `_`.
    Name,
    Path,
    Timezone,
    /// A time span: `90m`, `36h`, `3d`, `2w`.
    Span,
    Cron,
    DataType,
    /// A value of the declared type.
    Value,
    Bool,
    OneOf(&'static [&'static str]),
    /// A name that is declared elsewhere, or a column.
    Reference(&'static str),
    List(&'static Form),
    /// Names of the file's own choosing, each with such a value.
    Map(&'static Form),
    Part(&'static Object),
    /// The first in short, the second in full.
    Either(&'static Form, &'static Form),
    /// A text of a syntax of its own, by what it is called.
    Syntax(&'static str),
}

impl Object {
    /// Its own keys, and those of every object if it is one.
    pub(crate) fn all_keys(&self) -> impl Iterator<Item = &'static Key> {
        let common = if self.about { keys::ABOUT.keys } else { &[] };
        self.keys.iter().chain(common)
    }

    /// The names of its keys.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.all_keys().map(|key| key.name).collect()
    }
}
