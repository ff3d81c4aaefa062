//! Background tasks: work that continues after the response, and reports its progress.

use jiff::Timestamp;

use super::counts::EndedDeliveries;
use super::{AttemptStatus, Id};

/// A task that sends messages to an endpoint again, or removes their payloads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackgroundTask {
    /// `qtask_…`
    pub id: Id,
    /// The account of the task.
    pub account: Id,
    /// Kind of the task.
    pub kind: TaskKind,
    /// The application of the messages.
    pub application: Id,
    /// The endpoint that receives the messages; empty for [`TaskKind::PurgeContent`].
    pub endpoint: Id,
    /// The selected messages.
    pub selection: Selection,
    /// Status of the task.
    pub status: TaskStatus,
    /// Progress of the task.
    pub progress: Progress,
    /// Why it failed, for people.
    pub error: Option<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last made progress.
    pub updated_at: Timestamp,
}

/// Kind of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskKind {
    /// Sends messages again that had a failed attempt in the time span and were not delivered since.
    Recover,
    /// Sends messages of the time span that had no attempt at the endpoint.
    ReplayMissing,
    /// Sends messages of the time span again that had an attempt at the endpoint, delivered or not.
    BulkReplay,
    /// Removes the payloads of the time span. The task has no endpoint.
    PurgeContent,
}

impl TaskKind {
    /// Stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Recover => "recover",
            Self::ReplayMissing => "replay_missing",
            Self::BulkReplay => "bulk_replay",
            Self::PurgeContent => "purge_content",
        }
    }

    /// Whether deliveries that wait for a retry become due immediately: a caller who starts such a task has usually
    /// repaired the receiver.
    pub fn makes_retries_due(self) -> bool {
        match self {
            Self::Recover | Self::BulkReplay => true,
            Self::ReplayMissing | Self::PurgeContent => false,
        }
    }
}

/// Status of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskStatus {
    /// The task runs on a node, or waits for one.
    Running,
    /// The task is complete.
    Finished,
    /// The task ended before it was complete.
    Failed,
}

impl TaskStatus {
    /// Stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Finished => "finished",
            Self::Failed => "failed",
        }
    }
}

/// Selects the messages of a task. A filter that is none selects all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// Messages from this time, to 4 ms.
    pub since: Timestamp,
    /// Messages before this time, to 4 ms.
    pub until: Timestamp,
    /// Messages of these event types.
    pub event_types: Option<Vec<String>>,
    /// Messages in this channel.
    pub channel: Option<String>,
    /// Messages with this tag.
    pub tag: Option<String>,
    /// Messages whose latest attempt at the endpoint has this status.
    pub status: Option<AttemptStatus>,
    /// Messages whose latest attempt at the endpoint has a status code of this class: 100, 200 … 500, or 0 without a
    /// response.
    pub status_code_class: Option<u16>,
}

/// Progress of a task. After a crash, the task continues from here.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Progress {
    /// The id of the last attempt (recover) or message (other kinds) that the task read.
    pub position: Id,
    /// Messages selected so far.
    pub found: u64,
    /// Selected messages that the task enqueued or made due. The other selected messages were due or under way already.
    pub enqueued: u64,
    /// Enqueued messages whose delivery has ended, by its end. The store adds them in the transaction that ends the
    /// delivery. A message counts once, whether it was delivered before the task or is sent again later.
    pub ended: EndedDeliveries,
    /// Enqueued messages that a later task made due again before their delivery ended. They count for that task.
    pub taken_over: u64,
}

impl Progress {
    /// The progress of a new task that begins at this position.
    pub fn at(position: Id) -> Self {
        Self { position, ..Self::default() }
    }

    /// Enqueued messages that are not delivered yet and will be attempted again.
    pub fn waiting(&self) -> u64 {
        self.enqueued.saturating_sub(self.ended.total() + self.taken_over)
    }
}
