//! How far the journal goes.

use async_trait::async_trait;
use platform_core::port::{Cursor, JournalEnd, StoreResult};

use super::{PostgresStore, rows};

#[async_trait]
impl JournalEnd for PostgresStore {
    async fn last_cursor(&self) -> StoreResult<Cursor> {
        let select = "SELECT cursor FROM journal ORDER BY cursor DESC LIMIT 1";
        let found = rows::one(&self.client().await?, select, &[], |row| rows::get(row, 0)).await?;
        Ok(found.unwrap_or(0))
    }
}
