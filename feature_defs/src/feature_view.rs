//! Feature views: features that share entity, source, computation, TTL and schedule.

use chrono_tz::Tz;
use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};

use crate::about::About;
use crate::aggregation::{Aggregate, Window};
use crate::check::Check;
use crate::data_type::DataType;
use crate::fingerprint::Fingerprint;
use crate::name::Name;
use crate::time::Ttl;

/// Features of one entity, computed by night.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureView {
    /// The view's name.
    pub name: Name,
    /// What it says of itself.
    pub about: About,
    /// The entity that its rows describe.
    pub entity: Name,
    /// Greatest age at which its values may be used.
    pub ttl: Ttl,
    /// When the night computes it; `None` computes it only when asked.
    pub schedule: Option<Schedule>,
    /// What its snapshots have to be like before they are served.
    pub checks: Vec<Check>,
    /// How its rows come about.
    pub computation: Computation,
    /// Its features in order: the view's output schema after the key columns.
    pub features: Vec<Feature>,
    /// Hash of all that decides its values: entity, sources, computation, features. Not TTL, schedule, checks or descriptions.
    pub fingerprint: Fingerprint,
}

impl FeatureView {
    /// The feature of this name.
    #[must_use]
    pub fn feature(&self, name: &Name) -> Option<&Feature> {
        self.features.iter().find(|feature| feature.name == *name)
    }
}

/// How a view's rows come about.
#[derive(Debug, Clone, PartialEq)]
pub enum Computation {
    /// A `SELECT` over sources, each already cut at as-of, and over other views as of the same instant; its rows are
    /// stamped with as-of.
    Sql(SqlSnapshot),
    /// Aggregates over windows that end at as-of; rows are stamped with as-of. Keys with no event of
    /// any source before as-of have no row.
    Windows(Windows),
    /// The newest visible row of a source (rule 3), stamped with that row's own event time.
    Latest(Latest),
}

impl Computation {
    /// The sources that it reads, sorted.
    #[must_use]
    pub fn sources(&self) -> &[Name] {
        match self {
            Self::Sql(sql) => &sql.sources,
            Self::Windows(windows) => &windows.sources,
            Self::Latest(latest) => std::slice::from_ref(&latest.source),
        }
    }

    /// The views that it reads, sorted.
    #[must_use]
    pub fn views(&self) -> &[Name] {
        match self {
            Self::Sql(sql) => &sql.views,
            Self::Windows(_) | Self::Latest(_) => &[],
        }
    }
}

/// See [`Computation::Sql`].
#[derive(Debug, Clone, PartialEq)]
pub struct SqlSnapshot {
    /// The one `SELECT` statement; `$as_of` is the instant (timestamp, UTC).
    pub text: String,
    /// The definition file or `.sql` file that holds it, relative to the project's root, for messages.
    pub file: String,
    /// The sources that it reads, sorted.
    pub sources: Vec<Name>,
    /// The views that it reads, sorted; none that reads this one.
    pub views: Vec<Name>,
}

/// See [`Computation::Windows`].
#[derive(Debug, Clone, PartialEq)]
pub struct Windows {
    /// The sources of events, sorted.
    pub sources: Vec<Name>,
    /// For each source, its columns that hold the entity's key parts, in the order of the entity's definition.
    pub key_columns: Vec<Vec<String>>,
    /// What is computed.
    pub aggregates: Vec<Aggregate>,
    /// The windows; every aggregate is computed over each. Features are ordered by aggregate, then window.
    pub windows: Vec<Window>,
}

/// See [`Computation::Latest`].
#[derive(Debug, Clone, PartialEq)]
pub struct Latest {
    /// The source of feature rows.
    pub source: Name,
    /// The source's columns that hold the entity's key parts, in the order of the entity's definition.
    pub key_columns: Vec<String>,
    /// The source's columns that become features, in feature order, by the column's name.
    pub columns: Vec<String>,
}

/// One feature of a view.
#[derive(Debug, Clone, PartialEq)]
pub struct Feature {
    /// Its name within the view.
    pub name: Name,
    /// Its type.
    pub data_type: DataType,
    /// Whether a row may hold a null for it.
    pub nullable: bool,
    /// What it is, for people.
    pub description: Option<String>,
    /// Hash of all that decides its values: not of its name, nor of what stands beside it in the view.
    pub fingerprint: Fingerprint,
}

/// When the night computes a view.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// Five cron fields (minute, hour, day of month, month, day of week), as written.
    pub cron: String,
    /// The zone in which the fields are read.
    pub timezone: Tz,
}

impl Schedule {
    /// Reads five cron fields; `None` for any other text. That of a checked schedule always reads.
    #[must_use]
    pub fn read_cron(text: &str) -> Option<Cron> {
        let parser = CronParser::builder()
            .seconds(Seconds::Disallowed)
            .year(Year::Disallowed)
            .build();
        let five = text.split_whitespace().count() == 5;
        five.then(|| parser.parse(text).ok()).flatten()
    }

    /// The first of five fields that does not read: what it is, as it is written, and what it may be.
    pub(crate) fn unread_field(text: &str) -> Option<(&'static str, &str, &'static str)> {
        const FIELDS: [(&str, &str); 5] = [
            ("minute", "0 to 59"),
            ("hour", "0 to 23"),
            ("day of month", "1 to 31"),
            ("month", "1 to 12, or JAN to DEC"),
            ("day of week", "0 to 7, or SUN to SAT"),
        ];
        let written: Vec<&str> = text.split_whitespace().collect();
        if written.len() != FIELDS.len() {
            return None;
        }
        let reads = |nth: usize| {
            let mut alone = ["*"; FIELDS.len()];
            alone[nth] = written[nth];
            Self::read_cron(&alone.join(" ")).is_some()
        };
        let nth = (0..FIELDS.len()).find(|nth| !reads(*nth))?;
        Some((FIELDS[nth].0, written[nth], FIELDS[nth].1))
    }
}
