//! The small records, in one hash, changed by one script that compares before it sets.
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
use redis::cmd;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::connection::Connection;
use super::error::damaged;
use super::keys::Keys;
use crate::error::{Error, ErrorKind, Result};
use crate::release::{Release, ReleaseNumber};

pub(super) const FORMAT: &str = "format";
pub(super) const SERVED: &str = "served";
pub(super) const ROLLED_BACK: &str = "rolled_back";
pub(super) const SNAPSHOTS: &str = "snapshots";
pub(super) const VIEWS: &str = "views";
pub(super) const REGISTERED: &str = "registered";

const VIEW: &str = "view:";
const STAGING: &str = "staging:";
const RELEASE: &str = "release:";

/// The layout that this program reads and writes.
pub(super) const THIS_FORMAT: &str = "1";

/// Sets fields if others are still as they were read. A field that is not there reads as an empty text, and is
/// removed by one.
const COMPARE_AND_SET: &str = r"
local checks = tonumber(ARGV[1])
for at = 3, 1 + 2 * checks, 2 do
  if (redis.call('HGET', KEYS[1], ARGV[at]) or '') ~= ARGV[at + 1] then
    return 0
  end
end
for at = 3 + 2 * checks, #ARGV, 2 do
  if ARGV[at + 1] == '' then
    redis.call('HDEL', KEYS[1], ARGV[at])
  else
    redis.call('HSET', KEYS[1], ARGV[at], ARGV[at + 1])
  end
end
if KEYS[2] and ARGV[2] == '' then
  redis.call('DEL', KEYS[2])
elseif KEYS[2] then
  redis.call('SET', KEYS[2], ARGV[2])
end
return 1
";

pub(super) fn view_field(view: &Name) -> String {
    format!("{VIEW}{view}")
}

pub(super) fn staging_field(view: &Name) -> String {
    format!("{STAGING}{view}")
}

pub(super) fn release_field(number: ReleaseNumber) -> String {
    format!("{RELEASE}{number}")
}

/// Fields as they were read; one that is not there is an empty text.
#[derive(Debug, Default)]
pub(super) struct Fields(BTreeMap<String, String>);

impl Fields {
    pub(super) fn text(&self, field: &str) -> &str {
        self.0.get(field).map_or("", String::as_str)
    }

    pub(super) fn number(&self, field: &str) -> Result<Option<u64>> {
        let text = self.text(field);
        if text.is_empty() {
            return Ok(None);
        }
        text.parse().map(Some).map_err(|_| damaged("a record"))
    }

    pub(super) fn json<T: DeserializeOwned>(&self, field: &str) -> Result<Option<T>> {
        let text = self.text(field);
        if text.is_empty() {
            return Ok(None);
        }
        serde_json::from_str(text)
            .map(Some)
            .map_err(|error| damaged("a record").with_source(error))
    }

    /// The releases among the fields, by ascending number.
    pub(super) fn releases(&self) -> Result<Vec<Release>> {
        let mut releases: Vec<Release> = Vec::new();
        for field in self.0.keys().filter(|field| field.starts_with(RELEASE)) {
            releases.extend(self.json::<Release>(field)?);
        }
        releases.sort_by_key(|release| release.number);
        Ok(releases)
    }

    /// The names of the views among the fields.
    pub(super) fn views(&self) -> Result<Vec<Name>> {
        let names = self.0.keys().filter_map(|field| field.strip_prefix(VIEW));
        let names = names.map(|name| Name::parse(name).map_err(|_| damaged("a record")));
        names.collect()
    }

    /// # Errors
    /// `Unsupported` for a layout of another version of this program.
    pub(super) fn check_format(&self) -> Result<()> {
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
pub(super) struct Change {
    checks: Vec<(String, String)>,
    sets: Vec<(String, String)>,
    marker: Option<(ReleaseNumber, bool)>,
}

impl Change {
    /// A change that depends on these fields.
    pub(super) fn from(fields: &Fields, names: &[&str]) -> Self {
        let mut change = Self::default();
        for name in names {
            change.depends_on(fields, name);
        }
        change
    }

    pub(super) fn depends_on(&mut self, fields: &Fields, name: &str) {
        let text = fields.text(name).to_owned();
        self.checks.push((name.to_owned(), text));
    }

    pub(super) fn set(&mut self, name: &str, text: impl Into<String>) {
        self.sets.push((name.to_owned(), text.into()));
    }

    pub(super) fn set_json(&mut self, name: &str, record: &impl Serialize) -> Result<()> {
        let text = serde_json::to_string(record).map_err(|error| {
            Error::new(ErrorKind::Internal, "a record does not print as JSON").with_source(error)
        })?;
        self.set(name, text);
        Ok(())
    }

    /// Removes a field.
    pub(super) fn remove(&mut self, name: &str) {
        self.set(name, "");
    }

    /// Lets a release be read from now on, or not any more.
    pub(super) fn mark(&mut self, release: ReleaseNumber, readable: bool) {
        self.marker = Some((release, readable));
    }
}

/// The records of one namespace.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) connection: Connection,
    pub(super) keys: Keys,
}

impl State {
    /// Reads some fields at one moment.
    pub(super) async fn fields(&self, names: &[&str]) -> Result<Fields> {
        let mut command = cmd("HMGET");
        command.arg(self.keys.state()).arg(names);
        let texts: Vec<Option<String>> = self.connection.read_as(&command).await?;
        let pairs = names.iter().map(|name| (*name).to_owned()).zip(texts);
        let found = pairs.filter_map(|(name, text)| Some((name, text?)));
        Ok(Fields(found.collect()))
    }

    /// Reads all fields at one moment.
    pub(super) async fn all(&self) -> Result<Fields> {
        let mut command = cmd("HGETALL");
        command.arg(self.keys.state());
        let fields: BTreeMap<String, String> = self.connection.read_as(&command).await?;
        Ok(Fields(fields))
    }

    /// Whether the change was made: not if something that it depends on is another now.
    pub(super) async fn apply(&self, change: &Change) -> Result<bool> {
        let mut command = cmd("EVAL");
        command.arg(COMPARE_AND_SET);
        command.arg(1 + usize::from(change.marker.is_some()));
        command.arg(self.keys.state());
        if let Some((release, _)) = change.marker {
            command.arg(self.keys.release(release));
        }
        command.arg(change.checks.len());
        let readable = change.marker.is_some_and(|(_, readable)| readable);
        command.arg(if readable { "1" } else { "" });
        for (name, text) in change.checks.iter().chain(&change.sets) {
            command.arg(name).arg(text);
        }
        let changed: u64 = self.connection.ask(&command).await?;
        Ok(changed == 1)
    }
}
