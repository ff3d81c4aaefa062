//! Outcomes of many lanes, recorded in few transactions.

use std::sync::Arc;
use std::time::Duration;

use kit_runtime::backoff::backoff;
use kit_runtime::batcher::{Batcher, BatcherConfig};

use super::flow::after;
use super::{Shared, lock};
use crate::port::OutboxOutcome;

/// Tries to record a batch before its rows are left to the next name of this node: about five minutes.
const TRIES_MAX: u32 = 10;
const PAUSE_BASE: Duration = Duration::from_millis(200);
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// What became of an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recorded {
    /// It is on disk.
    Yes,
    /// It is not known to be: the row comes back under this node's next name.
    Lost,
}

impl Shared {
    /// The batcher that all lanes share; it starts with the first use.
    pub(super) fn settling(self: &Arc<Self>) -> Batcher<OutboxOutcome, Recorded> {
        let mut settling = lock(&self.settling);
        if let Some(batcher) = settling.as_ref() {
            return batcher.clone();
        }
        let limits = BatcherConfig {
            queue_max: self.parts.config.settle_rows_max * 4,
            batch_max: self.parts.config.settle_rows_max,
            in_flight_max: 2,
            apart: Duration::ZERO,
        };
        // Weak: the batcher lives in `Shared`, and must not keep it alive.
        let shared = Arc::downgrade(self);
        let batcher = Batcher::start("outbox outcomes", limits, move |outcomes: Vec<OutboxOutcome>| {
            let shared = shared.clone();
            async move {
                let count = outcomes.len();
                let recorded = match shared.upgrade() {
                    Some(shared) => shared.record(outcomes).await,
                    None => Recorded::Lost,
                };
                vec![recorded; count]
            }
        });
        *settling = Some(batcher.clone());
        batcher
    }

    async fn record(&self, outcomes: Vec<OutboxOutcome>) -> Recorded {
        for attempt in 1..=TRIES_MAX {
            let now = self.parts.clock.now();
            match self.parts.store.settle_outbox(outcomes.clone(), now).await {
                Ok(()) => return Recorded::Yes,
                Err(error) => {
                    tracing::error!(rows = outcomes.len(), attempt, %error, "outcomes of events could not be recorded");
                }
            }
            let pause = backoff(attempt, PAUSE_BASE, PAUSE_MAX, self.parts.random.unit_f64());
            tokio::select! {
                () = self.stopping.cancelled() => break,
                () = self.parts.clock.sleep_until(after(now, pause)) => {}
            }
        }
        self.lost_track();
        Recorded::Lost
    }
}
