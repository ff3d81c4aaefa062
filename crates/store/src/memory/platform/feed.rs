//! How far the journal goes.

use ::platform::port::{Cursor, Feed, StoreResult};
use async_trait::async_trait;

use super::Memory;

#[async_trait]
impl Feed for Memory {
    async fn last_cursor(&self) -> StoreResult<Cursor> {
        Ok(self.tables().sales.last_cursor())
    }
}
