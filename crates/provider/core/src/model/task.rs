//! Work that is done in the background, for longer than a request lasts, and says how far it is.

use jiff::Timestamp;

use super::{AttemptStatus, Id};

/// A task that sends messages to an endpoint again, or removes their payloads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackgroundTask {
    /// `qtask_…`
    pub id: Id,
    /// The account that asked for it.
    pub account: Id,
    /// What it does.
    pub kind: TaskKind,
    /// The application whose messages are sent.
    pub application: Id,
    /// The endpoint that they are sent to; empty for [`TaskKind::PurgeContent`].
    pub endpoint: Id,
    /// Which messages.
    pub selection: Selection,
    /// Whether it goes on.
    pub status: TaskStatus,
    /// How far it is.
    pub progress: Progress,
    /// Why it failed, for people.
    pub error: Option<String>,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it last got further.
    pub updated_at: Timestamp,
}

/// What a task does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskKind {
    /// Sends messages again whose attempts in the time span failed, and that were not delivered since.
    Recover,
    /// Sends messages of the time span of which the endpoint never had an attempt.
    ReplayMissing,
    /// Sends messages of the time span again that the endpoint had an attempt of, delivered or not.
    BulkReplay,
    /// Removes the payloads of the time span. It has no endpoint.
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

    /// Whether deliveries that wait for a retry become due immediately: a caller who starts such a task has usually repaired
    /// the receiver.
    pub fn makes_retries_due(self) -> bool {
        match self {
            Self::Recover | Self::BulkReplay => true,
            Self::ReplayMissing | Self::PurgeContent => false,
        }
    }
}

/// Whether a task goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskStatus {
    /// It does, here or elsewhere.
    Running,
    /// It has done all of it.
    Finished,
    /// It can't.
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

/// Which messages a task sends. What is none selects all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// From this time, to 4 ms.
    pub since: Timestamp,
    /// Before this time, to 4 ms.
    pub until: Timestamp,
    /// Of one of these event types.
    pub event_types: Option<Vec<String>>,
    /// Sent to this channel.
    pub channel: Option<String>,
    /// With this tag.
    pub tag: Option<String>,
    /// Whose latest attempt at the endpoint came to this.
    pub status: Option<AttemptStatus>,
    /// Whose latest attempt at the endpoint was answered with a status code of this class: 100, 200 … 500, or 0 for no
    /// answer.
    pub status_code_class: Option<u16>,
}

/// How far a task is. It begins again here after a crash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// The id of the attempt (recover) or message (else) that was looked at last.
    pub position: Id,
    /// Messages selected so far.
    pub found: u64,
    /// Of these, messages sent again, before the time of their next attempt if they waited for one. The others are due or under
    /// way anyway.
    pub enqueued: u64,
}
