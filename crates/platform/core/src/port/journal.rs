//! The journal: the event feed and the history of a subject.

use async_trait::async_trait;
use uuid::Uuid;

use super::{Cursor, Page, StoreResult};
use crate::journal::JournalRow;

/// The journal, as it is read. [`super::AuctionStore::commit`] appends to it.
#[async_trait]
pub trait JournalStore: Send + Sync {
    /// Announced events of a customer after a cursor, in order.
    async fn events_after(&self, customer: Uuid, page: Page<Cursor>) -> StoreResult<Vec<JournalRow>>;
    /// Journal of one subject, announced or not, by sequence.
    async fn history(&self, subject: Uuid, page: Page<i64>) -> StoreResult<Vec<JournalRow>>;
    /// The cursor of the journal's last row, announced or not, of whatever customer; 0 before the first.
    async fn last_cursor(&self) -> StoreResult<Cursor>;
    /// Cursors of the journal, whatever they are about. They have no holes.
    async fn cursors(&self, page: Page<Cursor>) -> StoreResult<Vec<Cursor>>;
}
