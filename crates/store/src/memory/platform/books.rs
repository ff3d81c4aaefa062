//! The books as a whole.

use ::platform::port::{Books, Cursor, Page, PlacedEntry, Positions, StoreResult, Stray};
use async_trait::async_trait;

use super::Memory;

#[async_trait]
impl Books for Memory {
    fn positions(&self) -> Positions {
        Positions::WithoutHoles
    }

    async fn log_end(&self) -> StoreResult<i64> {
        Ok(self.tables().log.end())
    }

    async fn placed_entries(&self, page: Page<i64>) -> StoreResult<Vec<PlacedEntry>> {
        Ok(self.tables().log.placed(page))
    }

    async fn cursors(&self, page: Page<Cursor>) -> StoreResult<Vec<Cursor>> {
        let after = page.after.unwrap_or(0) + 1..=self.tables().sales.last_cursor();
        Ok(after.take(page.limit).collect())
    }

    /// Nobody gets at the tables past the port.
    async fn strays(&self, _: usize) -> StoreResult<Vec<Stray>> {
        Ok(Vec::new())
    }
}
