//! From settings and components to a running server.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use feature_defs::time::Clock;
use store::online::OnlineStore;
use store::registry::Registry;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::app::App;
use crate::config::{Limits, ServerSettings};
use crate::metrics::Metrics;
use crate::predict::Predictor;
use crate::predict::load::{LoadError, Loader};
use crate::release_watch::ReleaseWatch;
use crate::server::{Server, accept};

/// What a server is made of.
#[derive(Debug, Clone)]
pub struct Components {
    /// Definitions and bundles.
    pub registry: Arc<dyn Registry>,
    /// Releases and their rows.
    pub online: Arc<dyn OnlineStore>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// The project's root.
    pub root: PathBuf,
}

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address cannot be listened on.
    #[error("cannot listen on `{address}`")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why not.
        source: std::io::Error,
    },
    /// The metrics clash with each other.
    #[error("metrics cannot be registered")]
    Metrics(#[from] prometheus::Error),
}

impl Components {
    fn loader(&self) -> Loader {
        Loader {
            registry: Arc::clone(&self.registry),
            online: Arc::clone(&self.online),
            root: self.root.clone(),
        }
    }

    fn predictor(&self, limits: Limits) -> Result<Predictor, prometheus::Error> {
        let metrics = Arc::new(Metrics::new()?);
        let online = Arc::clone(&self.online);
        Ok(Predictor::new(
            online,
            Arc::clone(&self.clock),
            limits,
            metrics,
        ))
    }
}

/// A predictor in this process, without HTTP, that serves the release served now and stays with it.
///
/// # Errors
/// [`LoadError`] when that release cannot be loaded. Without a release every request is refused, saying so.
pub async fn open_predictor(
    components: &Components,
    limits: Limits,
) -> Result<Predictor, LoadError> {
    let predictor = components
        .predictor(limits)
        .map_err(|error| LoadError::Mismatch {
            message: error.to_string(),
        })?;
    if let Some(plan) = components.loader().load_served().await? {
        predictor.serve(Arc::new(plan));
    }
    Ok(predictor)
}

/// Starts a server: listens, loads the served release if there is one, and follows the online store from then on.
/// Without a release, or with one that cannot be loaded, it starts all the same and `/readyz` says why it is not ready.
///
/// # Errors
/// [`StartError`]
pub async fn start(settings: ServerSettings, components: Components) -> Result<Server, StartError> {
    let listen = |source| StartError::Listen {
        address: settings.listen,
        source,
    };
    let listener = TcpListener::bind(settings.listen).await.map_err(listen)?;
    let address = listener.local_addr().map_err(listen)?;
    let predictor = Arc::new(components.predictor(settings.limits)?);
    let mut watching = ReleaseWatch::new(
        components.loader(),
        Arc::clone(&predictor),
        settings.release_poll,
    );
    watching.step().await;
    let app = App::new(
        Arc::clone(&predictor),
        watching.failure(),
        settings.concurrent_requests,
        settings.request_deadline,
    );
    let (stop, stopped) = watch::channel(false);
    let mut tasks = JoinSet::new();
    tasks.spawn(watching.run(stopped.clone()));
    tasks.spawn(accept(listener, app.router(), settings, stopped));
    tracing::info!(%address, "listening");
    Ok(Server {
        address,
        predictor,
        stop,
        tasks,
    })
}
