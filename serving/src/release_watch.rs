//! Follows the release that the online store serves: loads it whole, then serves it in one swap.
//!
//! A release that cannot be loaded changes nothing: the one before keeps answering, the failure is logged and counted
//! once, shown by `/readyz`, and tried again ever more rarely.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use store::release::ReleaseNumber;
use tokio::sync::watch;

use crate::predict::Predictor;
use crate::predict::load::Loader;

/// Longest time between two tries of a release that fails to load.
const LONGEST_RETRY: Duration = Duration::from_secs(10);

/// Follows one online store for one predictor.
#[derive(Debug)]
pub struct ReleaseWatch {
    loader: Loader,
    predictor: Arc<Predictor>,
    failure: Arc<Failure>,
    poll: Duration,
    /// How long to wait before the next try, once one failed.
    retry: Duration,
}

/// Why the newest release is not served, if it is not.
#[derive(Debug, Default)]
pub struct Failure(ArcSwapOption<String>);

impl Failure {
    /// The message of the last failure, unless a later try succeeded.
    #[must_use]
    pub fn message(&self) -> Option<Arc<String>> {
        self.0.load_full()
    }
}

impl ReleaseWatch {
    /// A watch that asks the store every `poll`.
    #[must_use]
    pub fn new(loader: Loader, predictor: Arc<Predictor>, poll: Duration) -> Self {
        Self {
            loader,
            predictor,
            failure: Arc::default(),
            poll,
            retry: poll,
        }
    }

    /// Why the newest release is not served, now and later.
    #[must_use]
    pub fn failure(&self) -> Arc<Failure> {
        Arc::clone(&self.failure)
    }

    /// Follows the store until `stop` says so or its sender is gone.
    pub async fn run(mut self, mut stop: watch::Receiver<bool>) {
        loop {
            let pause = if self.failure.message().is_some() {
                self.retry
            } else {
                self.poll
            };
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                _ = stop.wait_for(|stop| *stop) => return,
            }
            tokio::select! {
                () = self.step() => {}
                _ = stop.wait_for(|stop| *stop) => return,
            }
        }
    }

    /// Asks once, and serves what is new.
    pub async fn step(&mut self) {
        match self.follow().await {
            Ok(()) => {
                self.retry = self.poll;
                if self.failure.0.swap(None).is_some() {
                    tracing::info!("the served release loads again");
                }
            }
            Err(message) => {
                self.retry = (self.retry * 2).min(LONGEST_RETRY);
                let known = self.failure.message();
                if known.is_some_and(|known| *known == message) {
                    return;
                }
                tracing::error!(%message, "the release before keeps being served");
                self.predictor.metrics().count_release_failure();
                self.failure.0.store(Some(Arc::new(message)));
            }
        }
    }

    async fn follow(&self) -> Result<(), String> {
        let Some(number) = self.loader.served().await.map_err(|e| e.to_string())? else {
            return Ok(());
        };
        if self.current() == Some(number) {
            return Ok(());
        }
        let plan = self
            .loader
            .load(number)
            .await
            .map_err(|error| format!("release {number} cannot be served: {error}"))?;
        let before = self.current();
        self.predictor.serve(Arc::new(plan));
        tracing::info!(release = number.0, before = before.map(|b| b.0), "serving");
        Ok(())
    }

    fn current(&self) -> Option<ReleaseNumber> {
        self.predictor.served().map(|plan| plan.release().number)
    }
}
