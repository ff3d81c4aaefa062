//! The books as a whole.

use async_trait::async_trait;
use deadpool_postgres::GenericClient;
use platform_core::port::{
    AuditStore, Cursor, OrphanRow, Page, PositionNumbering, PositionedEntry, StoreError, StoreResult,
};
use platform_rules::LogHash;

use super::PostgresStore;
use super::rows::{self, SqlResult};
use crate::codec;
use crate::orphans;

/// Looks at who still writes, a hundredth of a second apart: about ten seconds.
const LOOKS_MAX: usize = 1_000;
const REST: &str = "SELECT pg_sleep(0.01)";
/// Transactions that have written to the log and are under way: each holds this lock to its end.
const WRITERS: &str = "SELECT DISTINCT virtualtransaction FROM pg_locks \
     WHERE locktype = 'relation' AND relation = 'log'::regclass \
     AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
     AND mode = 'RowExclusiveLock' AND granted AND pid <> pg_backend_pid()";

#[async_trait]
impl AuditStore for PostgresStore {
    fn position_numbering(&self) -> PositionNumbering {
        PositionNumbering::MayHaveGaps
    }

    async fn last_log_position(&self) -> StoreResult<i64> {
        let client = self.client().await?;
        let last = "SELECT no FROM audit_log ORDER BY no DESC LIMIT 1";
        let last = rows::one(&client, last, &[], |row| rows::get(row, 0)).await?.unwrap_or(0);
        // Whoever has drawn a lower one has the lock by now. When it is given back, what was written is visible.
        let writers = writers(&client).await?;
        for _ in 0..LOOKS_MAX {
            let under_way = self::writers(&client).await?;
            if writers.iter().all(|writer| !under_way.contains(writer)) {
                return Ok(last);
            }
            rows::execute(&client, REST, &[]).await?;
        }
        Err(StoreError::Unavailable("somebody has been writing to the log in one transaction for ten seconds".into()))
    }

    async fn entries_by_position(&self, page: Page<i64>) -> StoreResult<Vec<PositionedEntry>> {
        let select = "SELECT no, subject, number, content, hash FROM audit_log WHERE no > $1 ORDER BY no LIMIT $2";
        let (after, limit) = (page.after.unwrap_or(0), rows::limit(page.limit));
        let entries = rows::list(&self.client().await?, select, &[&after, &limit], |row| {
            let hash: Vec<u8> = rows::get(row, 4)?;
            let hash = hash.try_into().map_err(|_| codec::corrupt("a hash of the log has not 32 bytes"))?;
            Ok(PositionedEntry {
                position: rows::get(row, 0)?,
                subject: rows::get(row, 1)?,
                number: rows::get(row, 2)?,
                content: rows::get(row, 3)?,
                hash: LogHash(hash),
            })
        })
        .await?;
        Ok(entries)
    }

    async fn cursors(&self, page: Page<Cursor>) -> StoreResult<Vec<Cursor>> {
        let select = "SELECT cursor FROM journal WHERE cursor > $1 ORDER BY cursor LIMIT $2";
        let (after, limit) = (page.after.unwrap_or(0), rows::limit(page.limit));
        Ok(rows::list(&self.client().await?, select, &[&after, &limit], |row| rows::get(row, 0)).await?)
    }

    async fn orphan_rows(&self, limit: usize) -> StoreResult<Vec<OrphanRow>> {
        let client = self.client().await?;
        let mut found = Vec::new();
        for (table, select) in orphans::ORPHAN_QUERIES {
            let select = format!("{select} LIMIT {limit}");
            let subjects = rows::list(&client, &select, &[], |row| rows::get(row, 0)).await?;
            found.extend(subjects.into_iter().map(|subject| OrphanRow { table, subject }));
        }
        Ok(found)
    }
}

async fn writers(db: &impl GenericClient) -> SqlResult<Vec<String>> {
    rows::list(db, WRITERS, &[], |row| rows::get(row, 0)).await
}
