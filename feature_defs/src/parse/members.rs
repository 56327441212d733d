//! Lists that may have lost members on the way in, so that nothing is said of what they may have held.

use crate::data_type::DataType;
use crate::parse::yaml::{Map, Node, Text};

/// What could be read of a list.
#[derive(Debug, Clone)]
pub(crate) struct Members<T> {
    /// Those that could be read.
    pub(crate) items: Vec<T>,
    /// Whether these are all: if not, that something is not among them proves nothing.
    pub(crate) whole: bool,
}

/// Something with a name, and a type unless that could not be read.
pub(crate) trait Typed {
    fn name(&self) -> &str;
    fn data_type(&self) -> Option<DataType>;
}

/// What a list knows of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// It is there, of this type.
    As(DataType),
    /// It may be there, or is and its type is not known.
    Unsure,
    /// It is not there.
    Nowhere,
}

/// What is known of a name that a text refers to and that is not among what it may read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Elsewhere {
    /// It is declared nowhere.
    Nowhere,
    /// It may be declared where a problem stands.
    Unsure,
    /// It names something else; what to write instead.
    Other(&'static str),
}

impl<T> Members<T> {
    /// Nothing is known.
    pub(crate) const fn unknown() -> Self {
        Self {
            items: Vec::new(),
            whole: false,
        }
    }

    /// Nothing is there.
    pub(crate) const fn none() -> Self {
        Self {
            items: Vec::new(),
            whole: true,
        }
    }

    /// The same list, not whole unless `so`.
    pub(crate) const fn whole_if(mut self, so: bool) -> Self {
        self.whole &= so;
        self
    }
}

impl<T> Members<T> {
    /// Reads the entries of a map. Of one whose key stands there more than once, `doubt` takes back what is not sure.
    pub(crate) fn of_map<'a>(
        map: &'a Map,
        mut read: impl FnMut(&'a Text, &'a Node) -> Option<T>,
        doubt: impl Fn(&mut T),
    ) -> Self {
        let read = |(key, node): &'a (Text, Node)| {
            let mut member = read(key, node)?;
            if map.repeats(&key.text) {
                doubt(&mut member);
            }
            Some(member)
        };
        let members: Self = map.entries.iter().map(read).collect();
        members.whole_if(map.whole)
    }
}

impl<T: Typed> Members<T> {
    /// Looks a name up.
    pub(crate) fn find(&self, name: &str) -> Found {
        match self.items.iter().find(|item| item.name() == name) {
            Some(item) => item.data_type().map_or(Found::Unsure, Found::As),
            None if self.whole => Found::Nowhere,
            None => Found::Unsure,
        }
    }

    /// The names, for messages.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.items.iter().map(Typed::name).collect()
    }
}

/// A `None` is a member that could not be read.
impl<T> FromIterator<Option<T>> for Members<T> {
    fn from_iter<I: IntoIterator<Item = Option<T>>>(members: I) -> Self {
        let mut list = Self::none();
        for member in members {
            list.whole &= member.is_some();
            list.items.extend(member);
        }
        list
    }
}
