//! The lease that lets one night at a time write: renewed while the night lives, checked before each write.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use feature_defs::time::{Clock, Instant, TimeSpan};
use store::error::ErrorKind;
use store::registry::{Lease, Registry};
use tokio::task::JoinHandle;

use crate::error::{Error, Result};
use crate::progress::{Event, Progress};

/// The name of the lease that a night holds.
pub const NIGHT_LEASE: &str = "night";

/// How long a waiting night sleeps between two tries.
const RETRY: Duration = Duration::from_millis(200);

/// A lease that renews itself until it is given back or lost.
#[derive(Debug)]
pub(crate) struct HeldLease {
    lease: Lease,
    registry: Arc<dyn Registry>,
    clock: Arc<dyn Clock>,
    /// Until when it is ours, in microseconds; `i64::MIN` once it was lost.
    until: Arc<AtomicI64>,
    renewal: JoinHandle<()>,
}

impl HeldLease {
    /// Takes the lease. One that a dead process left behind is waited for, which takes `length` at most.
    pub(crate) async fn acquire(
        registry: &Arc<dyn Registry>,
        clock: &Arc<dyn Clock>,
        holder: &str,
        length: TimeSpan,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let mut waiting = false;
        let give_up = clock.now().micros().saturating_add(length.micros());
        let lease = loop {
            let now = clock.now();
            match registry
                .acquire_lease(NIGHT_LEASE, holder, now, length)
                .await
            {
                Ok(lease) => break lease,
                Err(e) if e.kind() == ErrorKind::Conflict && now.micros() <= give_up => {
                    if !waiting {
                        let until = Instant::from_micros(give_up);
                        progress.event(Event::Waiting { until });
                    }
                    waiting = true;
                    tokio::time::sleep(RETRY).await;
                }
                Err(e) => return Err(e.while_doing("another night is running").into()),
            }
        };
        let until = Arc::new(AtomicI64::new(lease.until.micros()));
        let renewal = tokio::spawn(renew(
            lease.clone(),
            Arc::clone(registry),
            Arc::clone(clock),
            length,
            Arc::clone(&until),
        ));
        Ok(Self {
            lease,
            registry: Arc::clone(registry),
            clock: Arc::clone(clock),
            until,
            renewal,
        })
    }

    /// Fails when another night may hold the lease by now.
    pub(crate) fn check(&self) -> Result<()> {
        let until = Instant::from_micros(self.until.load(Ordering::SeqCst));
        if self.clock.now() < until {
            return Ok(());
        }
        Err(Error::Refused(
            "the night's lease was lost: nothing more is written, and what was served stays served"
                .to_owned(),
        ))
    }

    /// Gives the lease back.
    pub(crate) async fn release(self) -> Result<()> {
        self.renewal.abort();
        Ok(self.registry.release_lease(&self.lease).await?)
    }
}

impl Drop for HeldLease {
    fn drop(&mut self) {
        self.renewal.abort();
    }
}

/// Renews a lease three times in its length, until another grant was made.
async fn renew(
    lease: Lease,
    registry: Arc<dyn Registry>,
    clock: Arc<dyn Clock>,
    length: TimeSpan,
    until: Arc<AtomicI64>,
) {
    let third = Duration::from_micros(length.micros().unsigned_abs() / 3);
    loop {
        tokio::time::sleep(third).await;
        let now = clock.now();
        match registry.renew_lease(&lease, now, length).await {
            Ok(()) => until.store(
                now.micros().saturating_add(length.micros()),
                Ordering::SeqCst,
            ),
            Err(e) if e.kind() == ErrorKind::Conflict => {
                until.store(i64::MIN, Ordering::SeqCst);
                return;
            }
            // Not answered: the lease stays ours until it ends, and the next try may be answered.
            Err(e) => tracing::warn!(error = %e, "the night's lease could not be renewed"),
        }
    }
}
