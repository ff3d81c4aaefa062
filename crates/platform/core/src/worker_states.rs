//! What the background workers of this node do: when each last ran, since when it fails, and how far it is behind.
//!
//! Each worker reports its runs; the system page of the administration reads them. The states are in memory only, so
//! each node knows its own workers.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

use crate::error::PlatformResult;
use crate::{Caller, Platform, Scope};

/// Customers whose waiting events are read for one view.
const CUSTOMERS_MAX: usize = 50;
/// Bulk changes and sandbox auctions that are counted for one view.
const COUNTED_MAX: usize = 100;
/// A worker that has not run for this many of its intervals is late.
const INTERVALS_MAX: u32 = 3;
/// Time by which a run may take longer.
const RUN_MAX: Duration = Duration::from_secs(10);

/// A background worker of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Worker {
    /// Ends items of timed auctions.
    ItemEnds,
    /// Tells other nodes that this one runs.
    Heartbeat,
    /// Publishes waiting events.
    Publisher,
    /// Advances the clocks of sandbox auctions.
    TestClocks,
    /// Applies changes of large auctions.
    BulkChanges,
    /// Deletes what has expired.
    Expiry,
}

impl Worker {
    /// All workers.
    pub const ALL: [Self; 6] =
        [Self::ItemEnds, Self::Heartbeat, Self::Publisher, Self::TestClocks, Self::BulkChanges, Self::Expiry];
}

/// What a worker does now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerHealth {
    /// It has not run on this node.
    NotStarted,
    /// Its last run succeeded.
    Running,
    /// It has not run for longer than it should.
    Late,
    /// Every run has failed since this time.
    FailingSince(Timestamp),
}

/// The state of a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerState {
    /// The worker.
    pub worker: Worker,
    /// When it last ran.
    pub last_run_at: Option<Timestamp>,
    /// What it does now.
    pub health: WorkerHealth,
    /// Why its last run failed; holds no secret.
    pub error: Option<String>,
}

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

#[derive(Default)]
struct Run {
    last_run_at: Option<Timestamp>,
    failing_since: Option<Timestamp>,
    error: Option<String>,
}

/// The last runs of each worker.
#[derive(Default)]
pub(crate) struct WorkerRuns([Mutex<Run>; Worker::ALL.len()]);

impl WorkerRuns {
    fn record(&self, worker: Worker, now: Timestamp, error: Option<String>) {
        let mut run = self.0[worker as usize].lock().unwrap_or_else(PoisonError::into_inner);
        run.last_run_at = Some(now);
        run.failing_since = error.as_ref().map(|_| run.failing_since.unwrap_or(now));
        run.error = error;
    }

    fn state(&self, worker: Worker, now: Timestamp, interval: Duration) -> WorkerState {
        let run = self.0[worker as usize].lock().unwrap_or_else(PoisonError::into_inner);
        let late_after = interval * INTERVALS_MAX + RUN_MAX;
        let health = match (run.last_run_at, run.failing_since) {
            (None, _) => WorkerHealth::NotStarted,
            (_, Some(since)) => WorkerHealth::FailingSince(since),
            (Some(at), None) if at + late_after < now => WorkerHealth::Late,
            _ => WorkerHealth::Running,
        };
        WorkerState { worker, last_run_at: run.last_run_at, health, error: run.error.clone() }
    }
}

impl Platform {
    /// Records a run of a worker that ended now.
    pub(crate) fn record_run<T, E: std::fmt::Display>(&self, worker: Worker, run: &Result<T, E>) {
        let error = run.as_ref().err().map(ToString::to_string);
        self.worker_runs().record(worker, self.now(), error);
    }

    /// The interval in which a worker runs at least.
    fn interval(&self, worker: Worker) -> Duration {
        let config = self.config();
        match worker {
            Worker::ItemEnds | Worker::TestClocks | Worker::BulkChanges => config.timers.look_every,
            Worker::Heartbeat => Duration::from_secs(1),
            Worker::Publisher => config.publisher.sweep_every,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_fails_since_its_first_failure_and_is_late_after_three_intervals() {
        let (runs, second) = (WorkerRuns::default(), Duration::from_secs(1));
        let at = |seconds| Timestamp::from_second(seconds).unwrap();
        let state = |now| runs.state(Worker::Publisher, at(now), second);
        assert_eq!(state(1).health, WorkerHealth::NotStarted);
        runs.record(Worker::Publisher, at(5), None);
        assert_eq!((state(6).health, state(6).last_run_at), (WorkerHealth::Running, Some(at(5))));
        assert_eq!(state(19).health, WorkerHealth::Late, "3 intervals and 10 s have passed");
        for now in [20, 21, 22] {
            runs.record(Worker::Publisher, at(now), Some("the database is full".into()));
        }
        assert_eq!(
            (state(99).health, state(99).error),
            (WorkerHealth::FailingSince(at(20)), Some("the database is full".into()))
        );
        runs.record(Worker::Publisher, at(100), None);
        assert_eq!((state(100).health, state(100).error), (WorkerHealth::Running, None));
        assert_eq!(runs.state(Worker::Expiry, at(100), second).health, WorkerHealth::NotStarted);
    }
}
