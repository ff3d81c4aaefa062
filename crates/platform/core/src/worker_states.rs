//! What the background workers of this node do: when each last ran, since when it fails, and how far it is behind.
//!
//! Each worker reports its runs; the system page of the administration reads them.

use std::time::Duration;

use jiff::Timestamp;

use crate::error::PlatformResult;
pub use crate::node_state::worker_runs::{Worker, WorkerHealth, WorkerState};
use crate::{Caller, Platform, Scope};

/// Customers whose waiting events are read for one view.
const CUSTOMERS_MAX: usize = 50;
/// Bulk changes and sandbox auctions that are counted for one view.
const COUNTED_MAX: usize = 100;
/// Work that waits in the database, for whichever node takes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WaitingWork {
    /// The earliest end that is overdue.
    pub overdue_end: Option<Timestamp>,
    /// Events of customers that are due and not published yet, of 50 customers at most.
    pub events: u64,
    /// Server time of the oldest of them.
    pub oldest_event_at: Option<Timestamp>,
    /// Bulk changes that are under way, 100 at most.
    pub bulk_changes: usize,
    /// Sandbox auctions whose clock is being advanced, 100 at most.
    pub test_clocks: usize,
}

impl Platform {
    /// The interval in which a worker runs at least.
    fn interval(&self, worker: Worker) -> Duration {
        let config = self.config();
        match worker {
            Worker::ItemEnds
            | Worker::TestClocks
            | Worker::BulkChanges
            | Worker::Notices
            | Worker::Pushes
            | Worker::Mails
            | Worker::Domains => config.timers.look_every,
            Worker::Heartbeat => Duration::from_secs(1),
            Worker::Publisher => config.publisher.sweep_every,
            Worker::EndpointReadings => config.endpoint_readings.look_every,
            Worker::Expiry => Duration::from_secs(60),
        }
    }

    /// The workers of this node.
    pub fn worker_states(&self) -> Vec<WorkerState> {
        let now = self.now();
        Worker::ALL.into_iter().map(|worker| self.worker_runs().state(worker, now, self.interval(worker))).collect()
    }

    /// Work that waits in the database. For the platform's own staff.
    ///
    /// Errors: `forbidden`.
    pub async fn waiting_work(&self, caller: &Caller) -> PlatformResult<WaitingWork> {
        caller.require_staff()?;
        caller.require(Scope::AuctionsRead)?;
        let now = self.now();
        let mut work = WaitingWork {
            overdue_end: self.store().next_end().await?.filter(|end| *end < now),
            bulk_changes: self.store().bulk_changes(COUNTED_MAX).await?.len(),
            test_clocks: self.store().advancing_sandboxes(COUNTED_MAX).await?.len(),
            ..WaitingWork::default()
        };
        for customer in self.store().customers_with_outbox(now).await?.into_iter().take(CUSTOMERS_MAX) {
            let backlog = self.store().backlog(customer).await?;
            work.events += backlog.pending;
            work.oldest_event_at = work.oldest_event_at.into_iter().chain(backlog.oldest_at).min();
        }
        Ok(work)
    }
}
