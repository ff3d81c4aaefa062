//! The last runs of this node's workers. The states are in memory only, so each node knows its own workers.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

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
    /// Reads the endpoints of customers at their providers.
    EndpointReadings,
    /// Makes the notices of what happened.
    Notices,
    /// Shows notices in browsers.
    Pushes,
    /// Sends mails to bidders.
    Mails,
    /// Looks up the records of domains of houses.
    Domains,
    /// Deletes expired answers, sessions and uploads.
    Expiry,
}

impl Worker {
    /// All workers.
    pub const ALL: [Self; 11] = [
        Self::ItemEnds,
        Self::Heartbeat,
        Self::Publisher,
        Self::TestClocks,
        Self::BulkChanges,
        Self::EndpointReadings,
        Self::Notices,
        Self::Pushes,
        Self::Mails,
        Self::Domains,
        Self::Expiry,
    ];
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
    pub(crate) fn record(&self, worker: Worker, now: Timestamp, error: Option<String>) {
        let mut run = self.0[worker as usize].lock().unwrap_or_else(PoisonError::into_inner);
        run.last_run_at = Some(now);
        run.failing_since = error.as_ref().map(|_| run.failing_since.unwrap_or(now));
        run.error = error;
    }

    pub(crate) fn state(&self, worker: Worker, now: Timestamp, interval: Duration) -> WorkerState {
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
