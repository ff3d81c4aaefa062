//! How far the journal goes.

use async_trait::async_trait;
use platform_core::port::{Cursor, JournalEnd, StoreResult};

use super::{SqliteStore, rows};

#[async_trait]
impl JournalEnd for SqliteStore {
    async fn last_cursor(&self) -> StoreResult<Cursor> {
        let select = "SELECT cursor FROM journal ORDER BY cursor DESC LIMIT 1";
        let found = self.read(move |db| rows::one(db, select, [], |row| Ok(row.get(0)?))).await?;
        Ok(found.unwrap_or(0))
    }
}
