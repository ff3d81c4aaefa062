//! An item of a timed auction ends at its date.
//!
//! One worker sleeps until the next end, or until a command sets an earlier one, and ends all due items, many in one
//! commit. Items that became due while the process was down are ended as soon as it runs. The worker decides by the
//! server's clock, never before the effective end time; the expected version makes each item end exactly once.
//!
//! A house may choose a grace period, and an operator may configure one for the others: items that became due while no node
//! was running then end that long after the first node runs again, so that bidders can return and bid. The store keeps the
//! downtime, so that all nodes agree and a killed node loses nothing.
//!
//! While more items are due than one commit takes, publishing is slowed down: ending the others has priority, and the
//! last webhook is sent no later than without.
//!
//! Several nodes on one database don't compete: a node that finds that another one ends items leaves the work to it and
//! takes only items that are overdue. If it finds any, the other node is gone, and it takes over.

mod batch;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use kit_runtime::tasks::Tasks;
use platform_rules::{Auction, Item};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use self::batch::{DowntimeExtension, ExtendedEnds, end_batch};
use crate::Platform;
use crate::error::PlatformResult;
use crate::node_state::worker_runs::Worker;
use crate::port::{Downtime, OutageEnds, StoreError};
use crate::steps::downtime::HEARTBEAT_GAP_MS_MAX;

/// The actor in the journal.
const ACTOR: &str = "timer";
/// Rounds in one run; the next run follows at once.
const ROUNDS_MAX: usize = 1_000;
/// Concurrent commits of a round when more items are due than one commit takes.
const CONCURRENT_COMMITS: usize = 4;
/// Pause after a round that ended no item although items were due.
const ERROR_PAUSE: Duration = Duration::from_secs(1);

/// Ends items that are due.
pub struct ItemEndWorker {
    platform: Platform,
    role: NodeRole,
    /// The known downtime, in which ends may be extended.
    downtime_state: KnownDowntime,
}

/// What this node knows of downtimes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KnownDowntime {
    /// The node has not checked yet.
    Unknown,
    /// No end has to be extended.
    None,
    /// Ends in this downtime are extended by the grace period of their house.
    Known(Downtime),
}

/// The role of this node among the nodes that end items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NodeRole {
    /// Ends items at their time.
    Primary,
    /// Ends items that are overdue by this.
    Standby { behind: Duration },
}

/// The result of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EndReport {
    /// Items ended.
    pub items: usize,
    /// Items that another transaction changed first.
    pub conflicts: usize,
    /// Due items that the rules rejected; each was logged.
    pub refused: usize,
}

impl ItemEndWorker {
    /// The worker of a platform.
    pub fn new(platform: Platform) -> Self {
        Self { platform, role: NodeRole::Primary, downtime_state: KnownDowntime::Unknown }
    }

    /// Ends everything that is due at `now`. If that fails for ten seconds, [`Platform::ping`] fails, too.
    pub async fn run_once(&mut self, now: Timestamp) -> PlatformResult<EndReport> {
        let ended = self.end_due_items(now).await;
        self.platform.end_health().record(&ended, self.platform.clock().monotonic());
        self.platform.record_run(Worker::ItemEnds, &ended);
        ended
    }

    async fn end_due_items(&mut self, now: Timestamp) -> PlatformResult<EndReport> {
        if self.downtime_state == KnownDowntime::Unknown {
            self.detect_downtime(now).await?;
        }
        let mut ended = EndReport::default();
        let mut limit = self.batch_max();
        let mut reduced = None;
        for _ in 0..ROUNDS_MAX {
            let round = self.round(now, limit).await?;
            ended.items += round.items;
            ended.conflicts += round.conflicts;
            ended.refused = round.refused;
            let full = round.items + round.conflicts + round.refused >= limit;
            let more = full && round.items > 0;
            // After a conflict the item may still be due: a bid was committed before its end.
            if !more && round.conflicts == 0 {
                if round.refused == 0 {
                    self.clear_downtime().await?;
                }
                break;
            }
            if more {
                reduced.get_or_insert_with(|| self.platform.publisher().reduce_sending());
            }
            // The first round reads one batch only, so that the earliest items do not wait for a long read.
            limit = self.batch_max() * CONCURRENT_COMMITS;
        }
        Ok(ended)
    }

    /// Checks whether a downtime is known, before any item ends.
    async fn detect_downtime(&mut self, now: Timestamp) -> PlatformResult<()> {
        let found = self.platform.detect_downtime(now).await?;
        self.downtime_state = found.map_or(KnownDowntime::None, KnownDowntime::Known);
        if let KnownDowntime::Known(Downtime { since, until }) = self.downtime_state {
            tracing::warn!(%since, %until, "no node was running: ends in this time are extended by the choice of each house");
        }
        Ok(())
    }

    /// Deletes the downtime once no item is due any more.
    async fn clear_downtime(&mut self) -> PlatformResult<()> {
        if let KnownDowntime::Known(downtime) = self.downtime_state {
            self.platform.store().clear_downtime(downtime).await?;
            self.downtime_state = KnownDowntime::None;
        }
        Ok(())
    }

    /// The extension of the ends of these items that passed in the known downtime.
    async fn downtime_extension(&self, due: &[(Item, Arc<Auction>)]) -> PlatformResult<Option<Arc<DowntimeExtension>>> {
        let KnownDowntime::Known(downtime) = self.downtime_state else { return Ok(None) };
        let mut to_by_customer = HashMap::new();
        for (item, _) in
            due.iter().filter(|(item, _)| item.effective_end_time.is_some_and(|end| downtime.contains(end)))
        {
            if let Entry::Vacant(entry) = to_by_customer.entry(item.customer) {
                let grace = self.grace_of(item.customer).await?;
                entry.insert(downtime.until.checked_add(grace).unwrap_or(downtime.until));
            }
        }
        Ok(Some(Arc::new(DowntimeExtension { downtime, to: ExtendedEnds::Of(to_by_customer) })))
    }

    /// The choice of the house, or the setting of the platform.
    async fn grace_of(&self, customer: Uuid) -> PlatformResult<Duration> {
        let house = self.platform.store().house(customer).await?;
        let chosen = house.and_then(|house| house.saleroom.outage_ends).map(OutageEnds::grace);
        Ok(chosen.unwrap_or(self.platform.config().timers.downtime_grace))
    }

    async fn round(&mut self, now: Timestamp, limit: usize) -> PlatformResult<EndReport> {
        let due_by = match self.role {
            NodeRole::Primary => now,
            NodeRole::Standby { behind } => now - behind,
        };
        let due = self.platform.store().due_items(due_by, limit).await?;
        let earliest = due.first().and_then(|(item, _)| item.effective_end_time);
        if self.downtime_state == KnownDowntime::None
            && earliest.is_some_and(|end| now.duration_since(end).as_millis() > HEARTBEAT_GAP_MS_MAX.into())
        {
            // The items are overdue for longer than a heartbeat gap, so this node itself may have been suspended.
            self.detect_downtime(now).await?;
        }
        let extension = self.downtime_extension(&due).await?;
        let mut ended = EndReport::default();
        let mut conflicting_item = None;
        let mut due = due.into_iter();
        let mut batches = JoinSet::new();
        while due.len() > 0 {
            let batch: Vec<_> = due.by_ref().take(self.batch_max()).collect();
            batches.spawn(end_batch(self.platform.clone(), batch, extension.clone(), now));
        }
        let mut failed = None;
        while let Some(batch) = batches.join_next().await {
            let batch = batch.map_err(|panic| StoreError::Unavailable(format!("ending items failed: {panic}")));
            match batch.and_then(|result| result) {
                Ok((of_batch, conflicting_of_batch)) => {
                    ended.items += of_batch.items;
                    ended.conflicts += of_batch.conflicts;
                    ended.refused += of_batch.refused;
                    conflicting_item = conflicting_item.or(conflicting_of_batch);
                }
                Err(error) => failed = Some(error),
            }
        }
        if let Some(error) = failed {
            return Err(error.into());
        }
        if ended.items + ended.conflicts > 0 {
            self.update_role(conflicting_item, now).await?;
        }
        Ok(ended)
    }

    /// Updates the role: after a conflict with another node that ends items, this node stands by.
    async fn update_role(&mut self, conflicting: Option<Uuid>, now: Timestamp) -> PlatformResult<()> {
        let Some(uuid) = conflicting else {
            // No other node ended these items: if this node stood by, the primary node is gone.
            self.role = NodeRole::Primary;
            return Ok(());
        };
        let item = self.platform.store().item(uuid).await?;
        let ended_elsewhere = item.is_some_and(|item| item.status != contract::ItemStatus::Live);
        if ended_elsewhere {
            let delay = self.platform.config().timers.standby_delay;
            // A random delay, so that two nodes that stand by do not take over at the same time.
            let behind = delay + delay.mul_f64(self.platform.random().unit_f64());
            if self.role == NodeRole::Primary {
                tracing::info!(%now, "another node ends items; this node stands by");
            }
            self.role = NodeRole::Standby { behind };
        }
        Ok(())
    }

    /// The time of the next run, unless a signal fires before.
    async fn wake_at(&self, now: Timestamp, last: &PlatformResult<EndReport>) -> Timestamp {
        let latest = now + self.platform.config().timers.look_every;
        let stuck = match last {
            Ok(ended) => ended.refused > 0 && ended.items == 0,
            Err(_) => true,
        };
        let next = match self.platform.store().next_end().await {
            Ok(Some(next)) => match self.role {
                NodeRole::Primary => next,
                NodeRole::Standby { behind } => next + behind,
            },
            Ok(None) => latest,
            Err(error) => {
                tracing::error!(%error, "the next end could not be read");
                now + ERROR_PAUSE
            }
        };
        let earliest = if stuck { now + ERROR_PAUSE } else { now };
        next.clamp(earliest, latest.max(earliest))
    }

    async fn keep_running(mut self, stopping: CancellationToken) {
        while !stopping.is_cancelled() {
            let now = self.platform.now();
            let ended = self.run_once(now).await;
            match &ended {
                Ok(EndReport { items: 0, .. }) => {}
                Ok(ended) => tracing::debug!(ended.items, ended.conflicts, "items ended"),
                Err(error) => {
                    tracing::error!(error = error.full_message(), "ending items failed; the worker tries again")
                }
            }
            let wake_at = self.wake_at(now, &ended).await;
            tokio::select! {
                () = stopping.cancelled() => {}
                () = self.platform.clock().sleep_until(wake_at) => {}
                () = self.platform.ends_changed().wait() => {}
            }
        }
    }

    fn batch_max(&self) -> usize {
        self.platform.config().timers.batch_items_max.max(1)
    }
}

impl Platform {
    /// Extends the ends of all items that are due at `now` until `grace` later.
    pub(crate) async fn extend_due_ends(&self, now: Timestamp, grace: Duration) -> PlatformResult<EndReport> {
        let downtime = Downtime { since: Timestamp::MIN, until: now };
        let extension = Arc::new(DowntimeExtension { downtime, to: ExtendedEnds::All(now + grace) });
        let (mut report, batch_max) = (EndReport::default(), self.config().timers.batch_items_max.max(1));
        loop {
            let due = self.store().due_items(now, batch_max).await?;
            if due.is_empty() {
                return Ok(report);
            }
            let (batch, _) = end_batch(self.clone(), due, Some(extension.clone()), now).await?;
            report.items += batch.items;
            report.conflicts += batch.conflicts;
            report.refused += batch.refused;
            if batch.items == 0 {
                return Ok(report);
            }
        }
    }

    pub(crate) fn spawn_timers(&self, tasks: &Tasks) {
        let platform = self.clone();
        tasks.spawn("ending items", move |stopping| ItemEndWorker::new(platform.clone()).keep_running(stopping));
    }
}
