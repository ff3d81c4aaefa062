//! The books as a whole.

use async_trait::async_trait;
use platform_core::port::{AuditStore, Cursor, OrphanRow, Page, PositionNumbering, PositionedEntry, StoreResult};
use platform_rules::LogHash;

use super::SqliteStore;
use super::rows;
use crate::orphans;

#[async_trait]
impl AuditStore for SqliteStore {
    fn position_numbering(&self) -> PositionNumbering {
        PositionNumbering::Gapless
    }

    /// One writer writes: whatever is below is there.
    async fn last_log_position(&self) -> StoreResult<i64> {
        self.read(|db| {
            Ok(rows::one(db, "SELECT max(no) FROM audit_log", [], |row| Ok(row.get(0)?))?.flatten().unwrap_or(0))
        })
        .await
    }

    async fn entries_by_position(&self, page: Page<i64>) -> StoreResult<Vec<PositionedEntry>> {
        let select = "SELECT no, subject, number, content, hash FROM audit_log WHERE no > ?1 ORDER BY no LIMIT ?2";
        self.read(move |db| {
            rows::list(db, select, (page.after.unwrap_or(0), rows::limit(page.limit)), |row| {
                Ok(PositionedEntry {
                    position: row.get(0)?,
                    subject: rows::uuid(row, 1)?,
                    number: row.get(2)?,
                    content: row.get(3)?,
                    hash: LogHash(row.get(4)?),
                })
            })
        })
        .await
    }

    async fn cursors(&self, page: Page<Cursor>) -> StoreResult<Vec<Cursor>> {
        let select = "SELECT cursor FROM journal WHERE cursor > ?1 ORDER BY cursor LIMIT ?2";
        self.read(move |db| {
            rows::list(db, select, (page.after.unwrap_or(0), rows::limit(page.limit)), |row| Ok(row.get(0)?))
        })
        .await
    }

    async fn orphan_rows(&self, limit: usize) -> StoreResult<Vec<OrphanRow>> {
        self.read(move |db| {
            let mut found = Vec::new();
            for (table, select) in orphans::ORPHAN_QUERIES {
                let select = format!("{select} LIMIT {limit}");
                let of_table = |subject| OrphanRow { table, subject };
                found.extend(rows::list(db, &select, [], |row| rows::uuid(row, 0))?.into_iter().map(of_table));
            }
            Ok(found)
        })
        .await
    }
}
