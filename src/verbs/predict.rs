//! `nightfill predict`: the answer that a server would give, without a server.

use anyhow::anyhow;
use feature_defs::name::Name;
use pipelines::bundles::newest_bundles;
use serving::Limits;
use store::release::ReleaseNumber;

use crate::answer;
use crate::args::{AsOf, Global};
use crate::project::{Opened, no_release};
use crate::request::Asked;
use crate::verbs::model::undeclared;
use crate::verbs::serve::components;

/// Scores entities with a model of the served release, in this process.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  nightfill predict --model churn --entity customer_id=7 --request amount=59.90"
)]
pub(crate) struct Predict {
    /// The model
    #[arg(long, value_name = "NAME", value_parser = Name::parse)]
    model: Name,
    #[command(flatten)]
    asked: Asked,
    /// The instant from which the request looks: RFC 3339 with a zone, or a date, midnight in the project's zone
    /// [default: now]
    #[arg(long, value_name = "INSTANT", value_parser = AsOf::parse)]
    as_of: Option<AsOf>,
}

impl Predict {
    pub(crate) async fn run(self, global: &Global) -> anyhow::Result<()> {
        let opened = Opened::open(global).await?;
        let predictor = serving::open_predictor(&components(&opened), Limits::default()).await?;
        let served = predictor.served().ok_or_else(no_release)?;
        let release = served.release();
        if !release.models.iter().any(|held| held.model == self.model) {
            return Err(absent(&opened, release.number, &self.model).await?);
        }
        let as_of = self.as_of.as_ref();
        let as_of = as_of.map(|as_of| as_of.instant(&opened.project));
        let mut body = self.asked.body(served.definitions(), as_of.transpose()?)?;
        body.insert("explain".to_owned(), true.into());
        let mut reply = Vec::new();
        predictor
            .predict(self.model.as_str(), &serde_json::to_vec(&body)?, &mut reply)
            .await?;
        answer::tell(&reply, &body, global.format)
    }
}

/// Why the served release does not hold a model, and what to do about it.
async fn absent(
    opened: &Opened,
    release: ReleaseNumber,
    model: &Name,
) -> anyhow::Result<anyhow::Error> {
    let definitions = opened.applied().await?.definitions;
    if !definitions.models.contains_key(model) {
        return Ok(undeclared(&definitions, model));
    }
    let bundles = newest_bundles(opened.registry.as_ref(), &definitions).await?;
    let newest = bundles.iter().find(|bundle| bundle.model == *model);
    let import = format!("`nightfill model import {model} FILE`");
    let Some(newest) = newest else {
        return Ok(anyhow!(
            "model `{model}` has no bundle yet: {import} brings one"
        ));
    };
    let bundle = newest.fingerprint.short();
    Ok(match &newest.misfit {
        Some(why) => anyhow!(
            "release {release}, which is served, does not hold model `{model}`: {import} brings a bundle that fits, which {model}@{bundle} does not: {why}"
        ),
        None => anyhow!(
            "{model}@{bundle} is imported, but release {release}, which is served, does not hold it: the next `nightfill run` releases it"
        ),
    })
}
