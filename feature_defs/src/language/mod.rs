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
mod sql;
#[cfg(test)]
mod tests;

pub use reference::reference;
pub use schema::schema;
pub use sql::sql_reference;

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
    Number,
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

/// What to write for the key that a message calls `what`, if it is one (`` `ttl` ``) and may hold a value of the shape:
/// `` a time span, or `none`, like `ttl: 3d` ``.
pub(crate) fn written(what: &str, shape: Shape) -> Option<String> {
    let name = what.strip_prefix('`')?.strip_suffix('`')?;
    let about = std::iter::once(&keys::PROJECT).chain([&keys::ABOUT]);
    let objects = keys::SECTIONS.iter().flat_map(|(_, objects)| *objects);
    let mut keys = about.chain(objects.copied()).flat_map(|object| object.keys);
    let key = keys.find(|key| key.name == name && key.form.has(shape))?;
    Some(format!(
        "{}, like `{name}: {}`",
        reference::holds(&key.form),
        key.example
    ))
}

/// The shape of a value in YAML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A single value.
    Scalar,
    List,
    Map,
}

impl Form {
    fn has(&self, shape: Shape) -> bool {
        match self {
            Self::Either(short, full) => short.has(shape) || full.has(shape),
            Self::List(_) => shape == Shape::List,
            Self::Map(_) | Self::Part(_) => shape == Shape::Map,
            _ => shape == Shape::Scalar,
        }
    }
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
