//! A listening server: accepts connections until it is told to stop, then lets requests in flight end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::config::ServerSettings;
use crate::predict::Predictor;

/// Pause after a failed `accept`, which mostly means that the process is out of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A running server. Dropping it stops it at once; [`Server::shut_down`] lets requests in flight end.
#[derive(Debug)]
pub struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) predictor: Arc<Predictor>,
    pub(crate) stop: watch::Sender<bool>,
    pub(crate) tasks: JoinSet<()>,
}

impl Server {
    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What answers its requests.
    #[must_use]
    pub const fn predictor(&self) -> &Arc<Predictor> {
        &self.predictor
    }

    /// Accepts no more, waits for requests in flight (at most [`ServerSettings::drain`]), and ends.
    pub async fn shut_down(mut self) {
        self.stop.send_replace(true);
        while let Some(ended) = self.tasks.join_next().await {
            if let Err(error) = ended {
                tracing::error!(%error, "a task of the server failed");
            }
        }
    }
}

/// Serves `router` on `listener` until `stop` says so.
pub(crate) async fn accept(
    listener: TcpListener,
    router: Router,
    settings: ServerSettings,
    mut stop: watch::Receiver<bool>,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(settings.header_timeout)
        .pipeline_flush(true);
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            // Ended connections are let go as they end, not all at once.
            Some(_) = connections.join_next() => continue,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        match accepted {
            Ok((stream, _)) => {
                let served = serve(http.clone(), stream, router.clone(), graceful.watcher());
                connections.spawn(served);
            }
            Err(error) => {
                tracing::warn!(%error, "a connection was not accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    if tokio::time::timeout(settings.drain, graceful.shutdown())
        .await
        .is_err()
    {
        tracing::warn!("requests in flight did not end in time and were cut off");
    }
    connections.shutdown().await;
}

async fn serve(http: http1::Builder, stream: TcpStream, router: Router, watcher: Watcher) {
    // An answer is one small write, which must not wait for the caller's acknowledgement of the one before.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection keeps its delay");
    }
    let service = TowerToHyperService::new(router);
    let connection = http.serve_connection(TokioIo::new(stream), service);
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!(%error, "a connection ended early");
    }
}

#[cfg(test)]
mod tests;
