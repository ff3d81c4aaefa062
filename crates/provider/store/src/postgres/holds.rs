//! The hold after a restore.

use async_trait::async_trait;
use kit_runtime::hold::Hold;
use provider_core::port::{HoldStore, StoreResult};
use tokio_postgres::Row;

use super::PostgresStore;
use super::rows;

#[async_trait]
impl HoldStore for PostgresStore {
    async fn hold(&self) -> StoreResult<Option<Hold>> {
        let client = self.client().await?;
        let hold = |row: &Row| Ok(Hold { backup_at: rows::get(row, 0)?, since: rows::get(row, 1)? });
        Ok(rows::one(&client, "SELECT backup_at, held_since FROM holds", &[], hold).await?)
    }

    async fn put_hold(&self, hold: Option<Hold>) -> StoreResult<()> {
        let client = self.client().await?;
        let Some(hold) = hold else {
            rows::write(&client, "DELETE FROM holds", &[]).await?;
            return Ok(());
        };
        let insert = "INSERT INTO holds (no, backup_at, held_since) VALUES (1, $1, $2) \
             ON CONFLICT (no) DO UPDATE SET backup_at = excluded.backup_at, held_since = excluded.held_since";
        rows::write(&client, insert, &[&hold.backup_at, &hold.since]).await?;
        Ok(())
    }
}
