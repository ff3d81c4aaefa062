//! The books as a whole.

use async_trait::async_trait;
use platform_core::port::{Books, Cursor, Page, PlacedEntry, Positions, StoreResult, Stray};
use platform_rules::LogHash;

use super::Sqlite;
use super::rows;
use crate::strays;

#[async_trait]
impl Books for Sqlite {
    fn positions(&self) -> Positions {
        Positions::WithoutHoles
    }

    /// One writer writes: whatever is below is there.
    async fn log_end(&self) -> StoreResult<i64> {
        self.read(|db| Ok(rows::one(db, "SELECT max(no) FROM log", [], |row| Ok(row.get(0)?))?.flatten().unwrap_or(0)))
            .await
    }

    async fn placed_entries(&self, page: Page<i64>) -> StoreResult<Vec<PlacedEntry>> {
        let select = "SELECT no, subject, number, content, hash FROM log WHERE no > ?1 ORDER BY no LIMIT ?2";
        self.read(move |db| {
            rows::list(db, select, (page.after.unwrap_or(0), rows::limit(page.limit)), |row| {
                Ok(PlacedEntry {
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

    async fn strays(&self, limit: usize) -> StoreResult<Vec<Stray>> {
        self.read(move |db| {
            let mut found = Vec::new();
            for (table, select) in strays::SELECTS {
                let select = format!("{select} LIMIT {limit}");
                let of_table = |subject| Stray { table, subject };
                found.extend(rows::list(db, &select, [], |row| rows::uuid(row, 0))?.into_iter().map(of_table));
            }
            Ok(found)
        })
        .await
    }
}
