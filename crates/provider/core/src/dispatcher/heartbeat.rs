//! The node's heartbeat. It is sent ten times in the time after which a node without a heartbeat counts as dead.
//!
//! Heartbeats are written and compared with the database's clock, because the clocks of nodes differ. A node treats
//! others as dead only after its own heartbeats have succeeded for this time: during an outage of the database, no node
//! can send a heartbeat.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kit_runtime::heartbeat_run::HeartbeatRun;
use kit_runtime::tasks::Tasks;

use super::Shared;
use crate::config::Nodes;
use crate::port::StoreResult;

/// Maximum number of pauses that are read at a time, longest first. Other receivers ask for their pause again.
const PAUSES_MAX: usize = 10_000;
/// Pauses that were stored in this time are read: the interval of heartbeats, and the difference between clocks.
const PAUSES_LOOKBACK: Duration = Duration::from_secs(10);

pub(super) fn spawn(shared: &Arc<Shared>, tasks: &Tasks) {
    let shared = Arc::clone(shared);
    tasks.spawn("provider heartbeat", move |_stopping| {
        let shared = Arc::clone(&shared);
        async move {
            // The heartbeat continues while the dispatcher drains, because this node still owns the attempts under way.
            let mut heartbeats = HeartbeatRun::new(shared.context.config.node_dead_after);
            while !shared.drained.is_cancelled() {
                let may_judge = heartbeats.may_judge(shared.context.clock.monotonic());
                match shared.send_heartbeat(may_judge).await {
                    Ok(()) => heartbeats.succeeded(shared.context.clock.monotonic()),
                    Err(error) => {
                        heartbeats.failed();
                        tracing::warn!(%error, "the node could not renew its heartbeat");
                    }
                }
                let next = shared.context.clock.now() + shared.context.config.node_dead_after / 10;
                tokio::select! {
                    () = shared.drained.cancelled() => {}
                    () = shared.context.clock.sleep_until(next) => {}
                }
            }
        }
    });
}

impl Shared {
    /// Sends a heartbeat. If `may_judge` is set, nodes without a heartbeat count as dead.
    async fn send_heartbeat(self: &Arc<Self>, may_judge: bool) -> StoreResult<()> {
        let (store, now) = (&self.context.store, self.context.clock.now());
        let sent_at = store.database_time().await?.unwrap_or(now);
        let alive_since = sent_at - self.context.config.node_dead_after;
        let dead_before = if may_judge { alive_since } else { Timestamp::UNIX_EPOCH };
        if !self.is_draining()
            && let Some(name) = self.leases.next_lease()
        {
            let first = self.leases.current().is_none();
            // A sole node owns no deliveries at its start, so every other name in the table belongs to a dead node.
            let all_are_dead = first && self.context.config.nodes == Nodes::Sole;
            let dead_before = if all_are_dead { sent_at + SignedDuration::from_hours(1) } else { dead_before };
            store.heartbeat(&name, sent_at, dead_before).await?;
            if first {
                // Pauses are read before the first attempt.
                self.load_pauses(Timestamp::UNIX_EPOCH, now).await?;
            }
            self.leases.activate(name);
            // Deliveries of dead nodes are due now, and so are deliveries that waited until this node had a name.
            self.sweeps.request_sweep();
        }
        let own = self.leases.live();
        for name in &own {
            store.heartbeat(name, sent_at, dead_before).await?;
            if let Some(address) = &self.context.config.node_url {
                // Written with each heartbeat, because another node deletes the row of a node that it treats as dead.
                store.set_node_address(name, address).await?;
            }
        }
        if self.context.config.nodes == Nodes::Many {
            self.load_pauses(now - PAUSES_LOOKBACK, now).await?;
            // A fenced node has several leases. This node subtracts its own; another node's count for a short time.
            let all = store.live_node_count(alive_since).await?;
            self.rates.set_other_nodes(all.saturating_sub(own.len()));
        }
        Ok(())
    }

    /// Applies the pauses that receivers asked for, whichever node received the request.
    async fn load_pauses(self: &Arc<Self>, since: Timestamp, now: Timestamp) -> StoreResult<()> {
        for pause in self.context.store.pauses(since, now, PAUSES_MAX).await? {
            self.lanes.apply_stored_pause(self, &pause);
        }
        Ok(())
    }
}
