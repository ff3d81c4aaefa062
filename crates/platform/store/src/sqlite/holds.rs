//! The hold after a restore.

use async_trait::async_trait;
use kit_runtime::hold::Hold;
use platform_core::port::{HoldStore, StoreResult};

use super::SqliteStore;
use super::rows;
use crate::codec;

#[async_trait]
impl HoldStore for SqliteStore {
    async fn hold(&self) -> StoreResult<Option<Hold>> {
        self.read(|db| {
            rows::one(db, "SELECT backup_at, held_since FROM holds", [], |row| {
                Ok(Hold { backup_at: rows::optional_time(row, 0)?, since: rows::time(row, 1)? })
            })
        })
        .await
    }

    async fn put_hold(&self, hold: Option<Hold>) -> StoreResult<()> {
        self.write(move |db| {
            rows::execute(db, "DELETE FROM holds", [])?;
            if let Some(hold) = hold {
                let values = (hold.backup_at.map(codec::ms), codec::ms(hold.since));
                rows::execute(db, "INSERT INTO holds (no, backup_at, held_since) VALUES (1, ?1, ?2)", values)?;
            }
            Ok(())
        })
        .await
    }
}
