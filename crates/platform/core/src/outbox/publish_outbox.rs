//! The workers that publish the outbox: the heartbeat of this node, and the sweep that gives waiting outbox rows to the
//! lanes of their customers.

use std::time::Duration;

use jiff::Timestamp;
use kit_runtime::heartbeat_run::HeartbeatRun;
use kit_runtime::tasks::Tasks;
use tokio_util::sync::CancellationToken;

use crate::Platform;
use crate::config::Nodes;
use crate::node_state::worker_runs::Worker;
use crate::port::{NodeId, StoreResult};
use crate::publishing::circuit_breaker::after_rounded_up;

/// Interval of the heartbeat.
const HEARTBEAT_EVERY: Duration = Duration::from_secs(1);

impl Platform {
    pub(crate) fn spawn_publisher(&self, tasks: &Tasks) {
        let platform = self.clone();
        tasks.spawn("publisher heartbeat", move |stopping| {
            let platform = platform.clone();
            async move { platform.keep_alive(stopping).await }
        });
        let platform = self.clone();
        tasks.spawn("publisher sweep", move |stopping| {
            let platform = platform.clone();
            async move { platform.keep_sweeping(stopping).await }
        });
    }

    async fn keep_alive(&self, stopping: CancellationToken) {
        let mut renewed_at = Timestamp::MIN;
        let mut run = HeartbeatRun::new(self.config().node_dead_after);
        while !stopping.is_cancelled() {
            let now = self.now();
            let sent = self.heartbeat(now, &mut renewed_at, run.may_judge(self.clock().monotonic())).await;
            self.record_run(Worker::Heartbeat, &sent);
            match sent {
                Ok(()) => run.succeeded(self.clock().monotonic()),
                Err(error) => {
                    run.failed();
                    tracing::error!(%error, "the node could not renew its heartbeat");
                }
            }
            tokio::select! {
                () = stopping.cancelled() => {}
                () = self.clock().sleep_until(after_rounded_up(now, HEARTBEAT_EVERY)) => {}
            }
        }
    }

    /// Records this node's heartbeat. If the node may own rows that it does not know, it takes a new node id first, at most
    /// once in the time after which a node is dead. Nodes without a heartbeat count as dead if `may_judge` is set.
    async fn heartbeat(&self, now: Timestamp, renewed_at: &mut Timestamp, may_judge: bool) -> StoreResult<()> {
        let publisher = self.publisher();
        let is_first = !publisher.is_running();
        let sent_at = self.store().database_time().await?.unwrap_or(now);
        let alive_since = sent_at - self.config().node_dead_after;
        let dead_before = match self.config().nodes {
            // Every other node in the table belongs to an earlier process.
            Nodes::Sole if is_first => sent_at,
            _ if may_judge => alive_since,
            _ => Timestamp::UNIX_EPOCH,
        };
        let lost = publisher.is_fence_requested() && *renewed_at <= alive_since;
        let node = if lost { NodeId(self.ids().uuid_v7()) } else { publisher.node() };
        // Both calls run concurrently, so that an engine with group commit writes them in one transaction.
        let (alive, noted) =
            tokio::join!(self.store().heartbeat(node, sent_at, dead_before), self.detect_downtime(now));
        if let Err(error) = noted {
            tracing::error!(error = error.full_message(), "the node could not write its first heartbeat");
        }
        alive?;
        if lost {
            tracing::warn!(%node, "the node's heartbeat may have expired: it claims rows of the outbox under a new name");
            publisher.rename(node);
            *renewed_at = sent_at;
        }
        // Read once: the number changes only while no node runs.
        if is_first && publisher.start(self.store().restores().await?) {
            self.sweep(now).await;
        }
        Ok(())
    }

    async fn keep_sweeping(&self, stopping: CancellationToken) {
        let elsewhere = self.store().remote_changes();
        while !stopping.is_cancelled() {
            let now = self.now();
            self.sweep(now).await;
            tokio::select! {
                () = stopping.cancelled() => {}
                () = self.clock().sleep_until(after_rounded_up(now, self.config().publisher.sweep_every)) => {}
                () = elsewhere.wait() => {
                    self.publisher().remote_changes();
                    // The timer waits for the same signal, and a signal wakes one waiter: pass it on.
                    self.ends_changed().notify();
                }
            }
        }
        self.publisher().end().await;
    }

    /// Wakes the lanes of customers whose rows wait in the table.
    async fn sweep(&self, now: Timestamp) {
        if !self.publisher().is_running() {
            return;
        }
        let waiting = self.store().customers_with_outbox(now).await;
        self.record_run(Worker::Publisher, &waiting);
        match waiting {
            Ok(customers) => customers.into_iter().for_each(|customer| self.publisher().wake_lane(customer)),
            Err(error) => tracing::error!(%error, "the outbox could not be read"),
        }
    }
}
