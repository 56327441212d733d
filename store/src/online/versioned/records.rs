//! The small records, which are changed together, in one comparison before all is set.
//!
//! ```text
//! format       "1": how everything is laid out
//! served       number of the served release
//! rolled_back  JSON: numbers of the releases that were gone back behind
//! snapshots    the newest snapshot's number
//! views        how many views have a number
//! registered   how often a release was registered
//! view:NAME    JSON: ViewRecord
//! staging:NAME number of the snapshot that is being staged, as the record says, for a look before each write
//! release:N    JSON: the release
//! ```

use std::collections::BTreeMap;

use feature_defs::name::Name;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::damaged;
use crate::error::{Error, ErrorKind, Result};
use crate::release::{Release, ReleaseNumber};

pub(crate) const FORMAT: &str = "format";
pub(crate) const SERVED: &str = "served";
pub(crate) const ROLLED_BACK: &str = "rolled_back";
pub(crate) const SNAPSHOTS: &str = "snapshots";
pub(crate) const VIEWS: &str = "views";
pub(crate) const REGISTERED: &str = "registered";

const VIEW: &str = "view:";
const STAGING: &str = "staging:";
const RELEASE: &str = "release:";

/// The layout that this program reads and writes.
pub(crate) const THIS_FORMAT: &str = "1";

pub(crate) fn view_field(view: &Name) -> String {
    format!("{VIEW}{view}")
}

pub(crate) fn staging_field(view: &Name) -> String {
    format!("{STAGING}{view}")
}

pub(crate) fn release_field(number: ReleaseNumber) -> String {
    format!("{RELEASE}{number}")
}

/// Fields as they were read; one that is not there is an empty text.
#[derive(Debug, Default)]
pub(crate) struct Fields(BTreeMap<String, String>);

impl Fields {
    /// Adds a field.
    pub(crate) fn insert(&mut self, name: String, text: String) {
        self.0.insert(name, text);
    }

    pub(crate) fn text(&self, field: &str) -> &str {
        self.0.get(field).map_or("", String::as_str)
    }

    pub(crate) fn number(&self, field: &str) -> Result<Option<u64>> {
        let text = self.text(field);
        if text.is_empty() {
            return Ok(None);
        }
        text.parse().map(Some).map_err(|_| damaged("a record"))
    }

    pub(crate) fn json<T: DeserializeOwned>(&self, field: &str) -> Result<Option<T>> {
        let text = self.text(field);
        if text.is_empty() {
            return Ok(None);
        }
        serde_json::from_str(text)
            .map(Some)
            .map_err(|error| damaged("a record").with_source(error))
    }

    /// The releases among the fields, by ascending number.
    pub(crate) fn releases(&self) -> Result<Vec<Release>> {
        let mut releases: Vec<Release> = Vec::new();
        for field in self.0.keys().filter(|field| field.starts_with(RELEASE)) {
            releases.extend(self.json::<Release>(field)?);
        }
        releases.sort_by_key(|release| release.number);
        Ok(releases)
    }

    /// The names of the views among the fields.
    pub(crate) fn views(&self) -> Result<Vec<Name>> {
        let names = self.0.keys().filter_map(|field| field.strip_prefix(VIEW));
        let names = names.map(|name| Name::parse(name).map_err(|_| damaged("a record")));
        names.collect()
    }

    /// # Errors
    /// `Unsupported` for a layout of another version of this program.
    pub(crate) fn check_format(&self) -> Result<()> {
        match self.text(FORMAT) {
            "" | THIS_FORMAT => Ok(()),
            other => Err(Error::new(
                ErrorKind::Unsupported,
                format!(
                    "the online store is laid out in format `{other}`, and this program knows `{THIS_FORMAT}`: use a newer one"
                ),
            )),
        }
    }
}

/// A change that holds only if nothing that it was made from has changed.
#[derive(Debug, Default)]
pub(crate) struct Change {
    /// Fields, and the texts that they must have; an empty text where there is none.
    pub(crate) checks: Vec<(String, String)>,
    /// Fields, and the texts that they get; an empty text removes one.
    pub(crate) sets: Vec<(String, String)>,
    /// A release that may be read from now on, or not any more.
    pub(crate) marker: Option<(ReleaseNumber, bool)>,
}

impl Change {
    /// A change that depends on these fields.
    pub(crate) fn from(fields: &Fields, names: &[&str]) -> Self {
        let mut change = Self::default();
        for name in names {
            change.depends_on(fields, name);
        }
        change
    }

    pub(crate) fn depends_on(&mut self, fields: &Fields, name: &str) {
        let text = fields.text(name).to_owned();
        self.checks.push((name.to_owned(), text));
    }

    pub(crate) fn set(&mut self, name: &str, text: impl Into<String>) {
        self.sets.push((name.to_owned(), text.into()));
    }

    pub(crate) fn set_json(&mut self, name: &str, record: &impl Serialize) -> Result<()> {
        let text = serde_json::to_string(record).map_err(|error| {
            Error::new(ErrorKind::Internal, "a record does not print as JSON").with_source(error)
        })?;
        self.set(name, text);
        Ok(())
    }

    /// Removes a field.
    pub(crate) fn remove(&mut self, name: &str) {
        self.set(name, "");
    }

    /// Lets a release be read from now on, or not any more.
    pub(crate) fn mark(&mut self, release: ReleaseNumber, readable: bool) {
        self.marker = Some((release, readable));
    }
}
