//! The worker that reads the endpoints of customers whose reading is due.

use std::collections::HashMap;

use futures_util::future::join_all;
use jiff::Timestamp;
use kit_runtime::tasks::Tasks;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::Platform;
use crate::error::PlatformResult;
use crate::node_state::worker_runs::Worker;
use crate::port::ReadingClaim;

/// Reads the endpoints of customers at their providers.
pub struct EndpointReadingWorker {
    platform: Platform,
    /// When the reading of a customer was last brought forward because of a published event.
    brought_forward: HashMap<Uuid, Timestamp>,
}

impl EndpointReadingWorker {
    /// The worker of a platform.
    pub fn new(platform: Platform) -> Self {
        Self { platform, brought_forward: HashMap::new() }
    }

    /// Reads the endpoints of all customers that are due now, as many as a node reads at the same time; returns their
    /// number.
    pub async fn run_once(&mut self) -> PlatformResult<usize> {
        let claims = self.claim(self.platform.config().endpoint_readings.customers_max).await?;
        let count = claims.len();
        let ended = join_all(claims.into_iter().map(|claim| self.platform.read_endpoints(claim))).await;
        ended.into_iter().collect::<PlatformResult<()>>().map(|()| count)
    }

    /// Brings readings forward for events that were published since the last call, and claims at most `limit` customers.
    async fn claim(&mut self, limit: usize) -> PlatformResult<Vec<ReadingClaim>> {
        let (config, now) = (&self.platform.config().endpoint_readings, self.platform.now());
        self.brought_forward.retain(|_, at| *at + config.busy_every > now);
        let mut published = self.platform.publisher().take_published();
        // A reading in the next seconds would be brought forward to the same time.
        published.retain(|customer| !self.brought_forward.contains_key(customer));
        if !published.is_empty() {
            let pause_ms = i64::try_from(config.busy_every.as_millis()).unwrap_or(i64::MAX);
            let store = self.platform.store();
            store.bring_endpoint_readings_forward(published.clone(), now, pause_ms, Some(now)).await?;
            self.brought_forward.extend(published.into_iter().map(|customer| (customer, now)));
        }
        if limit == 0 {
            return Ok(Vec::new());
        }
        Ok(self.platform.store().claim_endpoint_readings(now, now + config.reading_max, limit).await?)
    }

    async fn run(&mut self, stopping: CancellationToken) {
        let config = self.platform.config().endpoint_readings.clone();
        // Dropped at the end: a reading that does not end frees its customer when its claim expires.
        let mut readings = JoinSet::new();
        while !stopping.is_cancelled() {
            let claimed = self.claim(config.customers_max.saturating_sub(readings.len())).await;
            self.platform.record_run(Worker::EndpointReadings, &claimed);
            match claimed {
                Ok(claims) => {
                    for claim in claims {
                        let platform = self.platform.clone();
                        readings.spawn(async move {
                            if let Err(error) = platform.read_endpoints(claim).await {
                                let (customer_id, error) = (claim.customer, error.full_message());
                                tracing::error!(%customer_id, error, "a reading of endpoints could not be recorded");
                            }
                        });
                    }
                }
                Err(error) => {
                    tracing::error!(
                        error = error.full_message(),
                        "customers whose endpoints are due could not be read"
                    );
                }
            }
            let next = self.platform.now() + config.look_every;
            tokio::select! {
                () = stopping.cancelled() => {}
                () = self.platform.clock().sleep_until(next) => {}
            }
            while readings.try_join_next().is_some() {}
        }
    }
}

impl Platform {
    pub(crate) fn spawn_endpoint_readings(&self, tasks: &Tasks) {
        if self.config().endpoint_readings.customers_max == 0 {
            return;
        }
        let platform = self.clone();
        tasks.spawn("readings of endpoints", move |stopping| {
            let mut worker = EndpointReadingWorker::new(platform.clone());
            async move { worker.run(stopping).await }
        });
    }
}
