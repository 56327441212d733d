//! The verbs, one a file.

pub(crate) mod apply;
pub(crate) mod check;
pub(crate) mod demo;
pub(crate) mod diff;
pub(crate) mod drop;
pub(crate) mod features;
pub(crate) mod init;
pub(crate) mod lineage;
pub(crate) mod list;
pub(crate) mod log;
pub(crate) mod migrate;
pub(crate) mod model;
pub(crate) mod plan;
pub(crate) mod predict;
pub(crate) mod release;
pub(crate) mod run;
pub(crate) mod schedule;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod status;
pub(crate) mod training_set;

use crate::args::{Arguments, Verb};

/// Runs the verb that was asked for.
///
/// # Errors
/// What the verb fails with.
pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let global = &arguments.global;
    match arguments.verb {
        Verb::Demo(verb) => verb.run(global).await,
        Verb::Init(verb) => verb.run(global),
        Verb::Check(verb) => verb.run(global).await,
        Verb::List(verb) => verb.run(global),
        Verb::Plan(verb) => verb.run(global).await,
        Verb::Apply(verb) => verb.run(global).await,
        Verb::Log(verb) => verb.run(global).await,
        Verb::Diff(verb) => verb.run(global).await,
        Verb::Lineage(verb) => verb.run(global).await,
        Verb::Run(verb) => verb.run(global).await,
        Verb::Schedule(verb) => verb.run(global).await,
        Verb::Serve(verb) => verb.run(global).await,
        Verb::Features(verb) => verb.run(global).await,
        Verb::Predict(verb) => verb.run(global).await,
        Verb::TrainingSet(verb) => verb.run(global).await,
        Verb::Release(verb) => verb.run(global).await,
        Verb::Drop(verb) => verb.run(global).await,
        Verb::Model(verb) => verb.run(global).await,
        Verb::Schema(verb) => verb.run(),
        Verb::Migrate(verb) => verb.run(global).await,
        Verb::Status(verb) => verb.run(global).await,
    }
}
