//! The part of the port for the log: entries are written by [`Store::commit`](super::Store::commit) and read for checks.

use async_trait::async_trait;
use uuid::Uuid;

use super::{Page, StoreResult};
use crate::audit::{LogEntry, LogKind};

/// Logs as they are read. Nothing here is on a bid's path.
#[async_trait]
pub trait Logs: Send + Sync {
    /// Entries of a subject by their number.
    async fn log_entries(&self, subject: Uuid, page: Page<i64>) -> StoreResult<Vec<LogEntry>>;
    /// Subjects that have entries, in the order of their UUIDs.
    async fn audited_subjects(&self, page: Page<Uuid>) -> StoreResult<Vec<Uuid>>;
    /// Columns of a subject that are kept beside its state, or of its journal rows beside its customer, and don't say what the
    /// state says; `table.column` each. None when all do, or there is no such subject.
    async fn inconsistent_columns(&self, kind: LogKind, subject: Uuid) -> StoreResult<Vec<&'static str>>;
}
