//! Background tasks: kept with how far they are, so that any node goes on with what another left.

use async_trait::async_trait;
use jiff::Timestamp;

use super::{IdempotentAnswer, Page, StoreResult};
use crate::model::{AttemptStatus, BackgroundTask, Id, TaskKind, TaskStatus};

/// Which tasks a list has. What is none selects all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TaskFilter {
    /// Of this status.
    pub status: Option<TaskStatus>,
    /// Of this kind.
    pub kind: Option<TaskKind>,
}

/// A step of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskStep {
    /// The task.
    pub task: Id,
    /// The position that the step was decided on.
    pub from: Id,
    /// The position after it.
    pub to: Id,
    /// Messages selected in between.
    pub found: u64,
    /// Of these, the messages to send to the task's endpoint.
    pub messages: Vec<Id>,
    /// Whether it goes on.
    pub status: TaskStatus,
    /// Why it failed.
    pub error: Option<String>,
    /// The worker that has the task until then.
    pub worker: Id,
    /// When other workers may take it.
    pub leased_until: Timestamp,
    /// Now.
    pub now: Timestamp,
}

impl TaskStep {
    /// Whether the task is further after it, or ends. Otherwise it only keeps the task for its worker.
    pub fn is_progress(&self) -> bool {
        self.from != self.to || self.status != TaskStatus::Running
    }
}

/// A failed attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedAttempt {
    /// The attempt.
    pub attempt: Id,
    /// The message, if it is to be recovered: this was its last failure of the span, it was never delivered to the
    /// endpoint, and its payload is there.
    pub recoverable: Option<Id>,
}

/// A message, seen from an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayCandidate {
    /// The message.
    pub message: Id,
    /// Event type name.
    pub event_type: String,
    /// Channels it was sent to.
    pub channels: Option<Vec<String>>,
    /// Tags.
    pub tags: Option<Vec<String>>,
    /// Its payload is there.
    pub payload_kept: bool,
    /// What its latest attempt at the endpoint came to, and the status code of the answer (0 for none).
    pub latest: Option<(AttemptStatus, u16)>,
    /// A delivery row of it waits for the endpoint.
    pub waits: bool,
}

/// The part of [`super::Store`] about background tasks. Nothing of it is asked on the way of a message.
#[async_trait]
pub trait TaskStore: Send + Sync {
    /// Adds a task that nobody works on yet. `Replayed`.
    async fn create_task(&self, task: BackgroundTask, answer: Option<IdempotentAnswer>) -> StoreResult<()>;
    /// A task of the account.
    async fn task(&self, account: &str, id: &str) -> StoreResult<Option<BackgroundTask>>;
    /// An account's tasks by id.
    async fn tasks(&self, account: &str, filter: TaskFilter, page: Page) -> StoreResult<Vec<BackgroundTask>>;
    /// Gives `worker` at most `limit` running tasks that nobody has at `now`, until `leased_until`; the longest waiting
    /// first. Writes nothing when there are none. Whoever had them may still go on: [`TaskStore::advance_task`] lets
    /// one step happen once.
    async fn lease_tasks(
        &self,
        worker: &str,
        now: Timestamp,
        leased_until: Timestamp,
        limit: usize,
    ) -> StoreResult<Vec<BackgroundTask>>;
    /// Makes a step, in one transaction: new delivery rows that are nobody's and due, and the task's progress. The number
    /// of rows made, or made due: a message that waits for the endpoint already gets none, but its row is due at once if it
    /// waits for its next attempt and the task [hastens](TaskKind::makes_retries_due); nor does one that a [`TaskKind::Recover`] finds
    /// delivered or a [`TaskKind::ReplayMissing`] finds tried since it was chosen, by another task or by hand. `Stale` when the task is not at the step's
    /// position or not running any more; `NotFound` when there are messages and the endpoint is gone or disabled.
    async fn advance_task(&self, step: TaskStep) -> StoreResult<usize>;
    /// How many of these messages have a delivery row for the endpoint that is due at `now`, claimed or not.
    async fn due_count(&self, endpoint: &str, messages: &[Id], now: Timestamp) -> StoreResult<usize>;
    /// Attempts at an endpoint with ids after `after` and before `before`, oldest first, at most `limit`; those that
    /// did not fail, too, so that the caller gets further.
    async fn failed_attempts(
        &self,
        application: &str,
        endpoint: &str,
        after: &str,
        before: &str,
        limit: usize,
    ) -> StoreResult<Vec<FailedAttempt>>;
    /// Messages of an application with ids after `after` and before `before`, oldest first, at most `limit`.
    async fn replay_candidates(
        &self,
        application: &str,
        endpoint: &str,
        after: &str,
        before: &str,
        limit: usize,
    ) -> StoreResult<Vec<ReplayCandidate>>;
    /// Forgets at most `limit` tasks that were last changed before `before` and are not running; the number forgotten.
    async fn delete_old_tasks(&self, before: Timestamp, limit: usize) -> StoreResult<usize>;
}
