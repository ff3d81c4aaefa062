//! Says ten times in the time after which it would count as dead that this node lives.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
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
            while !shared.drained.is_cancelled() {
                if let Err(error) = shared.send_heartbeat().await {
                    tracing::warn!(%error, "the node could not renew its heartbeat");
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
    async fn send_heartbeat(self: &Arc<Self>) -> StoreResult<()> {
        let (store, now) = (&self.context.store, self.context.clock.now());
        if !self.is_draining()
            && let Some(name) = self.leases.next_lease()
        {
            let first = self.leases.current().is_none();
            store.heartbeat(&name, now, self.dead_before(now, first.then_some(self.context.config.nodes))).await?;
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
            store.heartbeat(name, now, self.dead_before(now, None)).await?;
            if let Some(address) = &self.context.config.node_url {
                // With each heartbeat, because another node deletes the row of a node that it takes for dead.
                store.set_node_address(name, address).await?;
            }
        }
        if self.context.config.nodes == Nodes::Many {
            self.load_pauses(now - PAUSES_LOOKBACK, now).await?;
            // A fenced node has several leases. This node subtracts its own; another node's count for a short time.
            let all = store.live_node_count(self.dead_before(now, None)).await?;
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

    /// An only node knows at its start, when it holds nothing yet, that every other is dead.
    fn dead_before(&self, now: Timestamp, starting: Option<Nodes>) -> Timestamp {
        match starting {
            Some(Nodes::Sole) => now + SignedDuration::from_hours(1),
            _ => now - self.context.config.node_dead_after,
        }
    }
}
