//! `nightfill predict`: the answer that a server would give, without a server.

use feature_defs::name::Name;
use serving::Limits;

use crate::answer;
use crate::args::{AsOf, Global};
use crate::project::Opened;
use crate::request::Asked;
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
        let served = predictor.served();
        let definitions = served
            .as_ref()
            .map_or(&opened.files, |plan| plan.definitions());
        let as_of = self.as_of.as_ref();
        let as_of = as_of.map(|as_of| as_of.instant(&opened.files.project));
        let mut body = self.asked.body(definitions, as_of.transpose()?)?;
        body.insert("explain".to_owned(), true.into());
        let mut reply = Vec::new();
        predictor
            .predict(self.model.as_str(), &serde_json::to_vec(&body)?, &mut reply)
            .await?;
        answer::tell(&reply, &body, global.format)
    }
}
