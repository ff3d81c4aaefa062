//! How far the journal goes.

use async_trait::async_trait;

use super::{Cursor, StoreResult};

/// Part of the platform's store port.
#[async_trait]
pub trait JournalEnd {
    /// The cursor of the journal's last row, announced or not, of whatever customer; 0 before the first.
    async fn last_cursor(&self) -> StoreResult<Cursor>;
}
