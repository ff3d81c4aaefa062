//! Background tasks. Each task is stored with its progress, so that any node can continue it.

use async_trait::async_trait;
use jiff::Timestamp;

use super::{IdempotentAnswer, Page, StoreResult};
use crate::model::{AttemptStatus, BackgroundTask, Id, TaskKind, TaskStatus};

/// Filter of a list of tasks. A missing value matches all tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TaskFilter {
    /// Tasks with this status.
    pub status: Option<TaskStatus>,
    /// Tasks of this kind.
    pub kind: Option<TaskKind>,
}

/// One step of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskStep {
    /// The task.
    pub task: Id,
    /// The position that the worker computed the step from.
    pub from: Id,
    /// The position after the step.
    pub to: Id,
    /// Messages that the task selected between the two positions.
    pub found: u64,
    /// Of these, the messages to send to the task's endpoint.
    pub messages: Vec<Id>,
    /// The task's status after the step.
    pub status: TaskStatus,
    /// Why the task failed.
    pub error: Option<String>,
    /// The worker that holds the lease.
    pub worker: Id,
    /// When the lease ends and another worker may take the task.
    pub leased_until: Timestamp,
    /// The time of the step.
    pub now: Timestamp,
}

impl TaskStep {
    /// Whether the step changes the task's position or ends the task. Any other step only renews the lease.
    pub fn is_progress(&self) -> bool {
        self.from != self.to || self.status != TaskStatus::Running
    }
}

/// An attempt that a recover task reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedAttempt {
    /// The attempt.
    pub attempt: Id,
    /// The message, if the task recovers it: this attempt was its last failure of the time range, the message was never
    /// delivered to the endpoint, and its payload exists.
    pub recoverable: Option<Id>,
    /// Whether a delivery of this message is due or under way already, so that the task need not make it due.
    pub is_under_way: bool,
}

/// A message that a replay task reads, with its state at the task's endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayCandidate {
    /// The message.
    pub message: Id,
    /// Event type name.
    pub event_type: String,
    /// Channels that the message was sent to.
    pub channels: Option<Vec<String>>,
    /// Tags.
    pub tags: Option<Vec<String>>,
    /// Whether the payload exists.
    pub payload_kept: bool,
    /// Status of the latest attempt at the endpoint, and the status code of its response (0 for none).
    pub latest: Option<(AttemptStatus, u16)>,
    /// Whether a delivery row of the message waits for the endpoint.
    pub waits: bool,
}

/// The number of background tasks of one kind and status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskCount {
    /// Kind of the tasks.
    pub kind: TaskKind,
    /// Status of the tasks.
    pub status: TaskStatus,
    /// Number of tasks.
    pub count: u64,
}

/// Background tasks. The delivery path calls none of these methods.
#[async_trait]
pub trait TaskStore: Send + Sync {
    /// Adds a task without a lease, unless `running_max` tasks of its account are running. Counting and inserting are
    /// one transaction, so the limit holds for concurrent calls on any number of nodes. Errors: `Replayed` (before
    /// anything is counted), `LimitReached`.
    async fn create_task(
        &self,
        task: BackgroundTask,
        running_max: usize,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()>;
    /// A task of the account.
    async fn task(&self, account: &str, id: &str) -> StoreResult<Option<BackgroundTask>>;
    /// An account's tasks by id.
    async fn tasks(&self, account: &str, filter: TaskFilter, page: Page) -> StoreResult<Vec<BackgroundTask>>;
    /// An endpoint's tasks by id.
    async fn endpoint_tasks(&self, endpoint: &str, page: Page) -> StoreResult<Vec<BackgroundTask>>;
    /// The number of tasks of all accounts by kind and status, in no order; combinations without a task are omitted.
    async fn task_counts(&self) -> StoreResult<Vec<TaskCount>>;
    /// Leases at most `limit` running tasks without a lease at `now` to `worker`, until `leased_until`; the longest
    /// waiting first. Writes nothing when there is no such task. A worker whose lease has ended may still run:
    /// [`TaskStore::advance_task`] applies each step once.
    async fn lease_tasks(
        &self,
        worker: &str,
        now: Timestamp,
        leased_until: Timestamp,
        limit: usize,
    ) -> StoreResult<Vec<BackgroundTask>>;
    /// Applies a step in one transaction: inserts due delivery rows and stores the task's progress. Returns the number
    /// of rows inserted or made due.
    ///
    /// - A message that already has a row for the endpoint gets no second one. If the row waits for its next attempt
    ///   and the task [makes retries due](TaskKind::makes_retries_due), the row becomes due, and its next attempt is a
    ///   replay. From then on the row is this task's; an earlier task counts it as taken over.
    /// - The end of a row counts for its task ([`crate::model::Progress::ended`]), whichever attempt or call ends it: a
    ///   resend of a message that waits for its next attempt is an attempt of this row. A resend that is requested during
    ///   the last attempt of the row is not.
    /// - A message that was delivered ([`TaskKind::Recover`]) or attempted ([`TaskKind::ReplayMissing`]) since the
    ///   worker selected it, because of another task or a resend, gets no row.
    ///
    /// Errors: `Conflict` when the task is not at the step's `from` or is not running; `NotFound` when the step has
    /// messages and the endpoint is deleted or disabled.
    async fn advance_task(&self, step: TaskStep) -> StoreResult<usize>;
    /// Ends a running task of the endpoint as failed with this error, and returns whether the task was running. Later
    /// steps of the task fail with `Conflict`.
    async fn stop_task(&self, endpoint: &str, id: &str, error: &str, now: Timestamp) -> StoreResult<bool>;
    /// The number of these messages with a delivery row for the endpoint that is due at `now`, claimed or not.
    async fn due_count(&self, endpoint: &str, messages: &[Id], now: Timestamp) -> StoreResult<usize>;
    /// Attempts at an endpoint with ids after `after` and before `before`, oldest first, at most `limit`. Attempts that
    /// did not fail are included, so that the caller's position moves past them.
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
    /// Deletes at most `limit` tasks that are not running and were last changed before `before`; returns the number.
    async fn delete_old_tasks(&self, before: Timestamp, limit: usize) -> StoreResult<usize>;
}
