//! The journal: the event feed and the history of a subject.

use async_trait::async_trait;
use kit_engine::postgres::Connection;
use platform_core::journal::JournalRow;
use platform_core::port::{Cursor, JournalStore, Page, StoreResult};
use tokio_postgres::Row;
use uuid::Uuid;

use super::PostgresStore;
use super::rows::{self, SqlResult};
use crate::codec;

pub(super) const ROW: &str = "SELECT cursor, subject, kind, sequence, from_status, to_status, cause, actor, at_ms, reason, body, \
     (SELECT restore_number FROM announced_again a WHERE a.cursor = journal.cursor) FROM journal";

/// Announced rows of a customer after a cursor, in order.
pub(super) const ANNOUNCED: &str = "WHERE (customer, cursor) > ($1, $2) AND customer <= $1 AND body IS NOT NULL \
     ORDER BY customer, cursor";

#[async_trait]
impl JournalStore for PostgresStore {
    async fn events_after(&self, customer: Uuid, page: Page<Cursor>) -> StoreResult<Vec<JournalRow>> {
        Ok(events_after(&self.client().await?, customer, page).await?)
    }

    async fn history(&self, subject: Uuid, page: Page<i64>) -> StoreResult<Vec<JournalRow>> {
        Ok(history(&self.client().await?, subject, page).await?)
    }

    async fn last_cursor(&self) -> StoreResult<Cursor> {
        let select = "SELECT cursor FROM journal ORDER BY cursor DESC LIMIT 1";
        let found = rows::one(&self.client().await?, select, &[], |row| rows::get(row, 0)).await?;
        Ok(found.unwrap_or(0))
    }

    async fn cursors(&self, page: Page<Cursor>) -> StoreResult<Vec<Cursor>> {
        let select = "SELECT cursor FROM journal WHERE cursor > $1 ORDER BY cursor LIMIT $2";
        let (after, limit) = (page.after.unwrap_or(0), rows::limit(page.limit));
        Ok(rows::list(&self.client().await?, select, &[&after, &limit], |row| rows::get(row, 0)).await?)
    }
}

pub(super) async fn events_after(
    db: &impl Connection,
    customer: Uuid,
    page: Page<Cursor>,
) -> SqlResult<Vec<JournalRow>> {
    let select = format!("{ROW} {ANNOUNCED} LIMIT $3");
    let after = page.after.unwrap_or(0);
    rows::list(db, &select, &[&customer, &after, &rows::limit(page.limit)], journal_row).await
}

pub(super) async fn history(db: &impl Connection, subject: Uuid, page: Page<i64>) -> SqlResult<Vec<JournalRow>> {
    let select = format!("{ROW} WHERE subject = $1 AND sequence > $2 ORDER BY sequence LIMIT $3");
    let after = page.after.unwrap_or(0);
    rows::list(db, &select, &[&subject, &after, &rows::limit(page.limit)], journal_row).await
}

pub(super) fn journal_row(row: &Row) -> SqlResult<JournalRow> {
    Ok(JournalRow {
        cursor: rows::get(row, 0)?,
        subject: rows::get(row, 1)?,
        kind: codec::kind(rows::get(row, 2)?)?,
        sequence: rows::get(row, 3)?,
        from: rows::get(row, 4)?,
        to: rows::get(row, 5)?,
        cause: rows::get(row, 6)?,
        actor: rows::get(row, 7)?,
        at: rows::time(row, 8)?,
        reason: rows::get(row, 9)?,
        body: rows::get(row, 10)?,
        restore_number: rows::optional_u32(row, 11)?,
    })
}
