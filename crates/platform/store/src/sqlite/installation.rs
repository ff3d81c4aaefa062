//! The installation as a whole.

use async_trait::async_trait;
use platform_core::port::{InstallationStore, StoreResult};

use super::SqliteStore;
use super::rows;

#[async_trait]
impl InstallationStore for SqliteStore {
    async fn restores(&self) -> StoreResult<u32> {
        let select = "SELECT restores FROM installation";
        let found = self.read(move |db| rows::one(db, select, [], |row| Ok(row.get(0)?))).await?;
        Ok(found.unwrap_or(0))
    }

    async fn count_restore(&self, at_least: u32) -> StoreResult<u32> {
        let count = "UPDATE installation SET restores = max(restores + 1, ?1) RETURNING restores";
        let counted = self.write(move |db| rows::one(db, count, [at_least], |row| Ok(row.get(0)?))).await?;
        Ok(counted.unwrap_or(at_least))
    }
}
