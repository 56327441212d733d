//! `nightfill features`: what is known of entities, from the served release or as of an instant.

use anyhow::bail;
use feature_defs::definitions::Definitions;
use feature_defs::name::Name;
use feature_defs::suggestion::named;
use serde_json::{Map, Value};
use serving::{Limits, Predictor};

use crate::answer::{self, of_no_release};
use crate::args::{AsOf, Global};
use crate::project::{Opened, no_release};
use crate::request::Asked;
use crate::scratch::Scratch;
use crate::verbs::serve::components;

/// Shows the features of entities as a server would answer them. With `--as-of` they are computed from the sources, as
/// they were known at that instant; else they are read from the served release.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  nightfill features --service churn_v1 --entity customer_id=7\n  nightfill features --service churn_v1 --entities '{\"customer_id\": [7, 8]}' --as-of 1997-10-01"
)]
pub(crate) struct Features {
    /// The feature service
    #[arg(long, value_name = "NAME", value_parser = Name::parse)]
    service: Name,
    #[command(flatten)]
    asked: Asked,
    /// Compute as of this instant: RFC 3339 with a zone, or a date, midnight in the project's zone
    #[arg(long, value_name = "INSTANT", value_parser = AsOf::parse)]
    as_of: Option<AsOf>,
}

impl Features {
    pub(crate) async fn run(self, global: &Global) -> anyhow::Result<()> {
        let opened = Opened::open(global).await?;
        let (body, reply) = match &self.as_of {
            None => {
                let components = components(&opened);
                let predictor = serving::open_predictor(&components, Limits::default()).await?;
                let served = predictor.served().ok_or_else(no_release)?;
                let body = self.asked.body(served.definitions(), None)?;
                let reply = self.answer(&predictor, &body).await?;
                (body, reply)
            }
            Some(as_of) => {
                let as_of = as_of.instant(&opened.project)?;
                let applied = opened.applied().await?;
                self.refuse_unknown(&applied.definitions)?;
                let body = self.asked.body(&applied.definitions, Some(as_of))?;
                let scratch = Scratch::night(&applied.definitions, as_of).await?;
                let reply = self.answer(&scratch.predictor().await?, &body).await?;
                (body, of_no_release(&reply)?)
            }
        };
        answer::tell(&reply, &body, global.format)
    }

    /// Before a whole night is computed for nothing.
    fn refuse_unknown(&self, definitions: &Definitions) -> anyhow::Result<()> {
        if definitions.service(self.service.as_str()).is_some() {
            return Ok(());
        }
        let known: Vec<&str> = definitions.service_names().map(Name::as_str).collect();
        bail!("unknown service {}", named(self.service.as_str(), known))
    }

    async fn answer(
        &self,
        predictor: &Predictor,
        body: &Map<String, Value>,
    ) -> anyhow::Result<Vec<u8>> {
        let mut reply = Vec::new();
        let bytes = serde_json::to_vec(body)?;
        predictor
            .features(self.service.as_str(), &bytes, &mut reply)
            .await?;
        Ok(reply)
    }
}
