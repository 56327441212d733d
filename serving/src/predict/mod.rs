//! The day on one screen: from a request's bytes to an answer's bytes, from exactly one release.
//!
//! ```text
//! body bytes -> parse -> fetch (one read) -> request-time features -> assemble by name -> score -> respond
//!                 ^         ^                   ^                        ^                ^
//!                 +---------+---- plan: names resolved once, when the release was loaded --+
//! ```

pub(crate) mod assemble;
pub(crate) mod body;
pub(crate) mod fetch;
pub(crate) mod json;
pub mod load;
pub(crate) mod parse;
pub mod plan;
pub(crate) mod request_features;
pub(crate) mod respond;
pub(crate) mod score;
pub(crate) mod scratch;
pub(crate) mod service_plan;
pub mod timings;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use feature_defs::time::{Clock, Instant};
use store::online::OnlineStore;
use store::release::{Release, ReleaseNumber};

use crate::config::Limits;
use crate::error::{Error, ErrorKind, Result};
use crate::metrics::Metrics;
use crate::predict::body::Expected;
use crate::predict::plan::ReleasePlan;
use crate::predict::respond::Answer;
use crate::predict::scratch::{Inputs, Scratch};
use crate::predict::service_plan::ServicePlan;
use crate::predict::timings::{Step, Steps, Timings};

/// Answers requests, in process. Each answer comes from exactly one release.
#[derive(Debug)]
pub struct Predictor {
    served: ArcSwapOption<ReleasePlan>,
    online: Arc<dyn OnlineStore>,
    clock: Arc<dyn Clock>,
    limits: Limits,
    metrics: Arc<Metrics>,
}

/// What is known of an answer beside its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answered {
    /// The release it came from.
    pub release: ReleaseNumber,
    /// How long each step took.
    pub timings: Timings,
}

impl Predictor {
    /// A predictor that serves no release yet; see [`Predictor::serve`].
    #[must_use]
    pub fn new(
        online: Arc<dyn OnlineStore>,
        clock: Arc<dyn Clock>,
        limits: Limits,
        metrics: Arc<Metrics>,
    ) -> Self {
        Self {
            served: ArcSwapOption::empty(),
            online,
            clock,
            limits,
            metrics,
        }
    }

    /// Serves `release` from now on; requests in flight end with the one they began with.
    pub fn serve(&self, release: Arc<ReleasePlan>) {
        let described = release.release();
        self.metrics
            .serve_release(described.number.0, described.as_of);
        self.served.store(Some(release));
    }

    /// The release that is served.
    #[must_use]
    pub fn served(&self) -> Option<Arc<ReleasePlan>> {
        self.served.load_full()
    }

    /// Scores a request of `model` and appends the answer's JSON to `out`.
    ///
    /// # Errors
    /// See [`ErrorKind`]; `out` is as it was.
    pub async fn predict(&self, model: &str, bytes: &[u8], out: &mut Vec<u8>) -> Result<Answered> {
        let mut steps = Steps::start();
        let mut scratch = scratch::take();
        let Scratch {
            inputs,
            matrix,
            scores,
        } = &mut *scratch;
        let release = self.resolve()?;
        let model = release.model(model)?;

        let look_up = self.look_up(
            &release.release,
            &model.service,
            true,
            bytes,
            inputs,
            &mut steps,
        );
        let answer = look_up.await?;
        let entities = answer.stored.entities();
        assemble::assemble(model, &answer.stored, answer.computed, matrix);
        steps.end(Step::Assemble);
        score::score(model, matrix, entities, scores);
        steps.end(Step::Score);

        let counts = answer.write_predictions(model, scores, &mut steps, out);
        self.metrics.observe(&steps.timings(), &counts);
        scratch::give_back(scratch, entities);
        Ok(Answered {
            release: release.release.number,
            timings: steps.timings(),
        })
    }

    /// Answers a request of `service` without scoring, and appends the answer's JSON to `out`.
    ///
    /// # Errors
    /// See [`ErrorKind`]; `out` is as it was.
    pub async fn features(
        &self,
        service: &str,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Answered> {
        let mut steps = Steps::start();
        let mut scratch = scratch::take();
        let release = self.resolve()?;
        let service = release.service(service)?;

        let inputs = &mut scratch.inputs;
        let look_up = self.look_up(&release.release, service, false, bytes, inputs, &mut steps);
        let answer = look_up.await?;
        let entities = answer.stored.entities();

        let counts = answer.write_service(&mut steps, out);
        self.metrics.observe(&steps.timings(), &counts);
        scratch::give_back(scratch, entities);
        Ok(Answered {
            release: release.release.number,
            timings: steps.timings(),
        })
    }

    /// What a request asks, and all that is known for its answer: `parse -> fetch -> request-time features`.
    async fn look_up<'a>(
        &self,
        release: &'a Release,
        service: &'a ServicePlan,
        may_explain: bool,
        bytes: &[u8],
        inputs: &'a mut Inputs,
        steps: &mut Steps,
    ) -> Result<Answer<'a>> {
        let Inputs {
            body,
            fetched,
            computed,
        } = inputs;
        let expected = Expected {
            keys: &service.keys,
            fields: &service.fields,
            explain: may_explain,
            entities: self.limits.entities,
        };
        let entities = parse::parse(bytes, expected, body)?;
        let as_of = self.instant(body.as_of, release)?;
        steps.end(Step::Parse);

        let store = &*self.online;
        let fetch = fetched.fetch(store, release, service, body, entities, as_of);
        let stored = fetch.await?;
        steps.end(Step::Fetch);
        computed.compute(service, body, &stored)?;
        steps.end(Step::Request);

        Ok(Answer {
            release,
            service,
            stored,
            computed,
            as_of,
            explain: body.explain,
        })
    }

    fn resolve(&self) -> Result<Arc<ReleasePlan>> {
        self.served().ok_or_else(|| {
            let message = "no release is served yet: publish one with `nightfill run`";
            Error::new(ErrorKind::NoRelease, message)
        })
    }

    /// The instant from which a request looks: what it says, or now. Never before the release: what was known then is
    /// in another release.
    fn instant(&self, asked: Option<Instant>, release: &Release) -> Result<Instant> {
        match asked {
            None => Ok(self.clock.now().max(release.as_of)),
            Some(asked) if asked >= release.as_of => Ok(asked),
            Some(asked) => {
                let message = format!(
                    "{asked} is before release {}, which is as of {}: it may hold what was not known then",
                    release.number, release.as_of
                );
                Err(Error::new(ErrorKind::AsOfBeforeRelease, message).at("$.as_of"))
            }
        }
    }

    pub(crate) const fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    pub(crate) const fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    pub(crate) const fn limits(&self) -> Limits {
        self.limits
    }
}
