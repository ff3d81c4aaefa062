//! Bulk changes of an auction, and the staged items of imports and copies.

use async_trait::async_trait;
use jiff::Timestamp;
use platform_core::port::{BulkChange, BulkChangeStep, BulkChangeStore, StoreError, StoreResult};
use platform_core::sales::new_item::NewItem;
use rusqlite::{Connection, params};
use uuid::Uuid;

use super::SqliteStore;
use super::rows::{self, SqlResult, is_constraint};
use crate::codec::{import_of, ms, to_json};

#[async_trait]
impl BulkChangeStore for SqliteStore {
    async fn bulk_change(&self, auction: Uuid) -> StoreResult<Option<BulkChange>> {
        let select = "SELECT state FROM bulk_changes WHERE auction = ?1";
        self.read(move |db| rows::one(db, select, [auction.as_bytes()], |row| rows::json(row, 0))).await
    }

    async fn bulk_changes(&self, limit: usize) -> StoreResult<Vec<BulkChange>> {
        let select = "SELECT state FROM bulk_changes ORDER BY auction LIMIT ?1";
        self.read(move |db| rows::list(db, select, [rows::limit(limit)], |row| rows::json(row, 0))).await
    }

    async fn stage_chunk(&self, import: Uuid, number: i64, items: Vec<NewItem>, at: Timestamp) -> StoreResult<()> {
        // Encoded here, because all callers share the writer thread.
        let items = to_json(&items)?;
        let insert = "INSERT INTO staged_items (import, number, items, at_ms) VALUES (?1, ?2, ?3, ?4)";
        self.write(move |db| {
            rows::execute(db, insert, params![import.as_bytes(), number, items, ms(at)])
                .map(drop)
                .map_err(|error| error.or_taken("piece"))
        })
        .await
    }

    async fn staged_chunk(&self, import: Uuid, number: i64) -> StoreResult<Option<Vec<NewItem>>> {
        let select = "SELECT items FROM staged_items WHERE import = ?1 AND number = ?2";
        self.read(move |db| rows::one(db, select, (import.as_bytes(), number), |row| rows::json(row, 0))).await
    }

    async fn delete_staged_chunks(&self, import: Uuid, limit: usize) -> StoreResult<usize> {
        let delete = "DELETE FROM staged_items WHERE no IN (SELECT no FROM staged_items WHERE import = ?1 \
             AND NOT EXISTS (SELECT 1 FROM bulk_changes WHERE import = ?1) ORDER BY number LIMIT ?2)";
        self.write(move |db| rows::execute(db, delete, (import.as_bytes(), rows::limit(limit)))).await
    }

    async fn delete_orphaned_chunks(&self, before: Timestamp, limit: usize) -> StoreResult<usize> {
        let select = "SELECT 1 FROM staged_items LIMIT 1";
        if self.read(move |db| rows::one(db, select, [], |_| Ok(()))).await?.is_none() {
            return Ok(0);
        }
        let delete = "DELETE FROM staged_items WHERE no IN (SELECT s.no FROM staged_items s WHERE s.at_ms < ?1 \
             AND NOT EXISTS (SELECT 1 FROM bulk_changes l WHERE l.import = s.import) LIMIT ?2)";
        self.write(move |db| rows::execute(db, delete, (ms(before), rows::limit(limit)))).await
    }
}

/// Applies a step. `Conflict` when it is not the next step.
pub(super) fn advance_bulk_change(db: &Connection, step: &BulkChangeStep) -> SqlResult<()> {
    let BulkChangeStep { auction, expected_step: seen, bulk_change, entered } = step;
    let auction = auction.as_bytes();
    let done = match (seen, bulk_change) {
        (None, Some(bulk_change)) => {
            let insert = "INSERT INTO bulk_changes (auction, step, import, state) VALUES (?1, ?2, ?3, ?4)";
            let import = import_of(bulk_change);
            let values = params![auction, bulk_change.step, import.as_ref().map(Uuid::as_bytes), to_json(bulk_change)?];
            match db.prepare_cached(insert)?.execute(values) {
                Err(error) if is_constraint(&error) => return Err(StoreError::Conflict.into()),
                done => done?,
            }
        }
        (Some(seen), Some(bulk_change)) => {
            let update = "UPDATE bulk_changes SET step = ?3, state = ?4 WHERE auction = ?1 AND step = ?2";
            rows::execute(db, update, params![auction, seen, bulk_change.step, to_json(bulk_change)?])?
        }
        (Some(seen), None) => {
            rows::execute(db, "DELETE FROM bulk_changes WHERE auction = ?1 AND step = ?2", params![auction, seen])?
        }
        (None, None) => 1,
    };
    if done != 1 {
        return Err(StoreError::Conflict.into());
    }
    if let Some((import, number)) = entered {
        let delete = "DELETE FROM staged_items WHERE import = ?1 AND number = ?2";
        rows::execute(db, delete, (import.as_bytes(), number))?;
    }
    Ok(())
}
