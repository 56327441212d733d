//! What can be written after `nightfill`.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use feature_defs::project::Project;
use feature_defs::time::{Instant, TimeError};

use crate::hints;
use crate::verbs::{
    apply, check, demo, diff, drop, features, init, lineage, list, log, migrate, model, plan,
    predict, release, run, schedule, schema, serve, status, training_set,
};

/// What a script can tell from the end of a verb.
const EXIT_CODES: &str = "\
Exit codes:
  0  all is fine
  1  the command line was read, and the work failed: problems in files, unknown names, refused requests
  2  the command line cannot be read: an unknown verb or option, a missing one, a value of the wrong form";

/// A feature store with batch precompute: features by night, answers by day.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Arguments {
    /// What holds for every verb.
    #[command(flatten)]
    pub(crate) global: Global,
    /// The verb and its own arguments.
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

impl Arguments {
    /// What was written. A command line that cannot be read ends the process with exit code 2.
    pub(crate) fn read() -> Self {
        let arguments = Self::try_parse().unwrap_or_else(|error| {
            let words = std::env::args_os().skip(1);
            let words: Vec<String> = words
                .map(|word| word.to_string_lossy().into_owned())
                .collect();
            hints::hinted(error, Self::command(), &words).exit()
        });
        let refuse = |message: String| {
            Self::command()
                .error(ErrorKind::ArgumentConflict, message)
                .exit()
        };
        let makes_its_own = match arguments.verb {
            Verb::Demo(_) => Some("`demo` makes its own project: name its folder with `--dir DIR`"),
            Verb::Init(_) => Some("`init` makes a new project: name its folder after the verb"),
            _ => None,
        };
        match (makes_its_own, &arguments.global) {
            (
                Some(why),
                Global {
                    project: Some(_), ..
                },
            ) => refuse(format!("`--project` names a project that is there; {why}")),
            (
                Some(_),
                Global {
                    env: Some(name), ..
                },
            ) => refuse(format!(
                "a new project has no environment `{name}`: leave `--env` and `NIGHTFILL_ENV` out"
            )),
            _ => arguments,
        }
    }
}

/// Arguments that stand before or after any verb.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Global {
    /// The project's folder [default: the nearest one upwards that holds `nightfill.yaml`]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// The environment, one that `nightfill.yaml` declares [default: the project by itself]
    #[arg(long, global = true, value_name = "NAME", env = "NIGHTFILL_ENV")]
    pub(crate) env: Option<String>,
    /// How the answer is written
    #[arg(long, global = true, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

/// How an answer is written to standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// One JSON document, for scripts.
    Json,
}

/// An instant as it is written on the command line; a plain date is midnight in the project's time zone.
#[derive(Debug, Clone)]
pub(crate) struct AsOf(String);

impl AsOf {
    /// Takes a date, or RFC 3339 with a zone.
    ///
    /// # Errors
    /// For any other text.
    pub(crate) fn parse(text: &str) -> Result<Self, TimeError> {
        Instant::parse(text).map(|_| Self(text.to_owned()))
    }

    /// The instant, in a project.
    ///
    /// # Errors
    /// For a date that the zone does not know.
    pub(crate) fn instant(&self, project: &Project) -> Result<Instant, TimeError> {
        Instant::parse_in(&self.0, project.timezone)
    }
}

/// The verbs, in the order of a project's life.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Show everything at work on real purchases, in one command
    Demo(demo::Demo),
    /// Lay out a small, commented project
    Init(init::Init),
    /// Check the definition files
    Check(check::Check),
    /// List what the definition files declare
    List(list::List),
    /// Show what `apply` would change, and what follows from it
    Plan(plan::Plan),
    /// Make the definition files the ones that runs and servers use
    Apply(apply::Apply),
    /// List the applied versions of the definitions
    Log(log::Log),
    /// Show what is different between two applied versions
    Diff(diff::Diff),
    /// Show what is made from what: sources, columns, features, services, models
    Lineage(lineage::Lineage),
    /// Run a night: compute, publish, flip
    Run(run::Run),
    /// Run nights by the cron expressions of the definitions, until stopped
    Schedule(schedule::Schedule),
    /// Answer requests over HTTP, until stopped
    Serve(serve::Serve),
    /// Show the features of entities, from the served release or as of an instant
    Features(features::Features),
    /// Score entities with a model of the served release
    Predict(predict::Predict),
    /// Enrich a frame of entities and instants with what was known then
    TrainingSet(training_set::TrainingSet),
    /// List, show and roll back releases
    #[command(subcommand)]
    Release(release::Release),
    /// List and take away snapshots of views that are gone
    Drop(drop::Drop),
    /// Import and list models
    #[command(subcommand)]
    Model(model::Model),
    /// Print a JSON Schema of definition files, for editors
    Schema(schema::Schema),
    /// Bring the registry's schema up to date, after a newer binary was installed
    Migrate(migrate::Migrate),
    /// Show what is applied, what ran and what is served
    Status(status::Status),
}

impl Verb {
    /// Whether the verb runs until it is stopped, so that its log is its output.
    pub(crate) const fn stays_up(&self) -> bool {
        matches!(self, Self::Serve(_) | Self::Schedule(_))
    }
}
