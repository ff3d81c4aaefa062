//! Records the outcomes of all lanes in batches.

use std::sync::Arc;
use std::time::Duration;

use kit_runtime::backoff::backoff;
use kit_runtime::batcher::{Batcher, BatcherConfig};

use super::circuit_breaker::after_rounded_up;
use super::{Shared, lock};
use crate::port::OutboxSettlement;

/// Tries to record a batch, about five minutes, before the node takes a new node id, which claims the rows again.
const TRIES_MAX: u32 = 10;
const PAUSE_BASE: Duration = Duration::from_millis(200);
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// The result of recording an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recorded {
    /// The outcome is durable.
    Yes,
    /// It is unknown whether the outcome is durable: this node claims the row again under its next node id.
    Lost,
}

impl Shared {
    /// The batcher that all lanes share; it starts at the first call.
    pub(super) fn outcome_batcher(self: &Arc<Self>) -> Batcher<OutboxSettlement, Recorded> {
        let mut outcome_batcher = lock(&self.outcome_batcher);
        if let Some(batcher) = outcome_batcher.as_ref() {
            return batcher.clone();
        }
        let limits = BatcherConfig {
            queue_max: self.parts.config.settle_rows_max * 4,
            batch_max: self.parts.config.settle_rows_max,
            in_flight_max: 2,
            min_interval: Duration::ZERO,
        };
        // Weak, because `Shared` owns the batcher, and the batcher must not keep it alive.
        let shared = Arc::downgrade(self);
        let batcher = Batcher::start("outbox outcomes", limits, move |outcomes: Vec<OutboxSettlement>| {
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
        *outcome_batcher = Some(batcher.clone());
        batcher
    }

    async fn record(&self, outcomes: Vec<OutboxSettlement>) -> Recorded {
        for attempt in 1..=TRIES_MAX {
            let now = self.parts.clock.now();
            match self.parts.store.record_outbox_outcomes(outcomes.clone(), now).await {
                Ok(()) => return Recorded::Yes,
                Err(error) => {
                    tracing::error!(rows = outcomes.len(), attempt, %error, "outcomes of events could not be recorded");
                }
            }
            let pause = backoff(attempt, PAUSE_BASE, PAUSE_MAX, self.parts.random.unit_f64());
            tokio::select! {
                () = self.stopping.cancelled() => break,
                () = self.parts.clock.sleep_until(after_rounded_up(now, pause)) => {}
            }
        }
        self.fence();
        Recorded::Lost
    }
}
