//! Bulk changes of an auction, and the staged items of imports and copies.

use std::collections::HashMap;

use async_trait::async_trait;
use jiff::Timestamp;
use kit_engine::postgres::Transaction;
use platform_core::port::{BulkChange, BulkChangeStep, BulkChangeStore, Change, StoreResult};
use platform_core::sales::new_item::NewItem;
use uuid::Uuid;

use super::PostgresStore;
use super::rows::{self, SqlResult};
use crate::codec::{import_of, ms, to_json};

#[async_trait]
impl BulkChangeStore for PostgresStore {
    async fn bulk_change(&self, auction: Uuid) -> StoreResult<Option<BulkChange>> {
        let select = "SELECT state FROM bulk_changes WHERE auction = $1";
        Ok(rows::one(&self.client().await?, select, &[&auction], |row| rows::json(row, 0)).await?)
    }

    async fn bulk_changes(&self, limit: usize) -> StoreResult<Vec<BulkChange>> {
        let select = "SELECT state FROM bulk_changes ORDER BY auction LIMIT $1";
        Ok(rows::list(&self.client().await?, select, &[&rows::limit(limit)], |row| rows::json(row, 0)).await?)
    }

    async fn stage_chunk(&self, import: Uuid, number: i64, items: Vec<NewItem>, at: Timestamp) -> StoreResult<()> {
        let items = to_json(&items)?;
        let insert = "INSERT INTO staged_items (import, number, items, at_ms) VALUES ($1, $2, $3, $4)";
        let done = rows::execute(&self.client().await?, insert, &[&import, &number, &items, &ms(at)]).await;
        Ok(done.map(drop).map_err(|error| error.or_taken("piece"))?)
    }

    async fn staged_chunk(&self, import: Uuid, number: i64) -> StoreResult<Option<Vec<NewItem>>> {
        let select = "SELECT items FROM staged_items WHERE import = $1 AND number = $2";
        Ok(rows::one(&self.client().await?, select, &[&import, &number], |row| rows::json(row, 0)).await?)
    }

    async fn delete_staged_chunks(&self, import: Uuid, limit: usize) -> StoreResult<usize> {
        let delete = "DELETE FROM staged_items WHERE (import, number) IN (SELECT import, number FROM staged_items \
             WHERE import = $1 AND NOT EXISTS (SELECT 1 FROM bulk_changes WHERE import = $1) ORDER BY number LIMIT $2)";
        let deleted = rows::execute(&self.client().await?, delete, &[&import, &rows::limit(limit)]).await?;
        Ok(usize::try_from(deleted).unwrap_or(usize::MAX))
    }

    async fn delete_orphaned_chunks(&self, before: Timestamp, limit: usize) -> StoreResult<usize> {
        let delete = "DELETE FROM staged_items WHERE (import, number) IN (SELECT s.import, s.number FROM staged_items s \
             WHERE s.at_ms < $1 AND NOT EXISTS (SELECT 1 FROM bulk_changes l WHERE l.import = s.import) LIMIT $2)";
        let deleted = rows::execute(&self.client().await?, delete, &[&ms(before), &rows::limit(limit)]).await?;
        Ok(usize::try_from(deleted).unwrap_or(usize::MAX))
    }
}

/// Locks the bulk changes of which `changes` contain a step, and returns their current steps by auction. Most changes
/// contain no step.
pub(super) async fn lock(db: &Transaction<'_>, changes: &[&Change]) -> SqlResult<HashMap<Uuid, i64>> {
    let wanted: Vec<Uuid> = changes.iter().filter_map(|change| Some(change.bulk_change.as_ref()?.auction)).collect();
    if wanted.is_empty() {
        return Ok(HashMap::new());
    }
    let lock = "SELECT auction, step FROM bulk_changes WHERE auction = ANY($1) ORDER BY auction FOR UPDATE";
    let found = rows::list(db, lock, &[&wanted], |row| Ok((rows::get(row, 0)?, rows::get(row, 1)?))).await?;
    Ok(found.into_iter().collect())
}

/// Applies the steps in order. The caller has compared them with the locked bulk changes.
pub(super) async fn advance_bulk_changes(db: &Transaction<'_>, changes: &[&Change]) -> SqlResult<()> {
    for BulkChangeStep { auction, expected_step, bulk_change, entered } in
        changes.iter().filter_map(|change| change.bulk_change.as_ref())
    {
        match (expected_step, bulk_change) {
            (None, Some(bulk_change)) => {
                let insert = "INSERT INTO bulk_changes (auction, step, import, state) VALUES ($1, $2, $3, $4)";
                rows::execute(
                    db,
                    insert,
                    &[auction, &bulk_change.step, &import_of(bulk_change), &to_json(bulk_change)?],
                )
                .await?;
            }
            (Some(_), Some(bulk_change)) => {
                let update = "UPDATE bulk_changes SET step = $2, state = $3 WHERE auction = $1";
                rows::execute(db, update, &[auction, &bulk_change.step, &to_json(bulk_change)?]).await?;
            }
            (Some(_), None) => {
                rows::execute(db, "DELETE FROM bulk_changes WHERE auction = $1", &[auction]).await?;
            }
            (None, None) => {}
        }
        if let Some((import, number)) = entered {
            let delete = "DELETE FROM staged_items WHERE import = $1 AND number = $2";
            rows::execute(db, delete, &[import, number]).await?;
        }
    }
    Ok(())
}
