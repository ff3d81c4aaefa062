//! Says ten times in the time after which it would count as dead that this node lives.
//!
//! Heartbeats are written and compared by the database's clock, because the clocks of nodes differ. A node takes others for
//! dead only after its own heartbeats have succeeded for as long: after an outage of the database, none has sent one.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kit_runtime::heartbeat_run::HeartbeatRun;
use kit_runtime::tasks::Tasks;

use super::Shared;
use crate::config::Nodes;
use crate::port::StoreResult;

/// Pauses that are learnt at a time at most, the longest; other receivers say it again.
const PAUSES_MAX: usize = 10_000;
/// Pauses that were kept longer ago than this are known: the time between two beats, and what clocks may differ.
const PAUSES_LOOKBACK: Duration = Duration::from_secs(10);

pub(super) fn spawn(shared: &Arc<Shared>, tasks: &Tasks) {
    let shared = Arc::clone(shared);
    tasks.spawn("provider heartbeat", move |_stopping| {
        let shared = Arc::clone(&shared);
        async move {
            // Goes on while the dispatcher drains: what is under way is still this node's.
            let mut run = HeartbeatRun::new(shared.context.config.node_dead_after);
            while !shared.drained.is_cancelled() {
                let may_judge = run.may_judge(shared.context.clock.monotonic());
                match shared.send_heartbeat(may_judge).await {
                    Ok(()) => run.succeeded(shared.context.clock.monotonic()),
                    Err(error) => {
                        run.failed();
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
    /// Nodes without a heartbeat count as dead if `may_judge` is set.
    async fn send_heartbeat(self: &Arc<Self>, may_judge: bool) -> StoreResult<()> {
        let (store, now) = (&self.context.store, self.context.clock.now());
        let sent_at = store.database_time().await?.unwrap_or(now);
        let alive_since = sent_at - self.context.config.node_dead_after;
        let dead_before = if may_judge { alive_since } else { Timestamp::UNIX_EPOCH };
        if !self.is_draining()
            && let Some(name) = self.leases.next_lease()
        {
            let first = self.leases.current().is_none();
            // An only node knows at its start, when it holds nothing yet, that every other is dead.
            let all_are_dead = first && self.context.config.nodes == Nodes::Sole;
            let dead_before = if all_are_dead { sent_at + SignedDuration::from_hours(1) } else { dead_before };
            store.heartbeat(&name, sent_at, dead_before).await?;
            if first {
                // Before anything is sent.
                self.load_pauses(Timestamp::UNIX_EPOCH, now).await?;
            }
            self.leases.activate(name);
            // What others left is due now, and what waited for this node to have a name.
            self.sweeps.request_sweep();
        }
        let own = self.leases.live();
        for name in &own {
            store.heartbeat(name, sent_at, dead_before).await?;
            if let Some(address) = &self.context.config.node_url {
                // With each heartbeat, because another node deletes the row of a node that it takes for dead.
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

    /// Leaves alone what receivers asked this installation to leave alone, whichever process they said it to.
    async fn load_pauses(self: &Arc<Self>, since: Timestamp, now: Timestamp) -> StoreResult<()> {
        for pause in self.context.store.pauses(since, now, PAUSES_MAX).await? {
            self.lanes.apply_stored_pause(self, &pause);
        }
        Ok(())
    }
}
