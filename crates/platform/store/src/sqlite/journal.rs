//! The journal: the event feed and the history of a subject.

use async_trait::async_trait;
use platform_core::journal::{JournalEntry, JournalRow};
use platform_core::port::{Cursor, JournalStore, Page, StoreResult};
use rusqlite::{CachedStatement, Connection, Row, params};
use uuid::Uuid;

use super::SqliteStore;
use super::rows::{self, SqlResult};
use crate::codec::{self, ms};

pub(super) const APPEND: &str = "INSERT INTO journal (customer, subject, kind, sequence, from_status, to_status, cause, \
     actor, at_ms, reason, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";

pub(super) const ROW: &str = "SELECT cursor, subject, kind, sequence, from_status, to_status, cause, actor, at_ms, reason, body, \
     (SELECT restore_number FROM announced_again a WHERE a.cursor = journal.cursor) FROM journal";

#[async_trait]
impl JournalStore for SqliteStore {
    async fn events_after(&self, customer: Uuid, page: Page<Cursor>) -> StoreResult<Vec<JournalRow>> {
        self.read(move |db| events_after(db, customer, page)).await
    }

    async fn history(&self, subject: Uuid, page: Page<i64>) -> StoreResult<Vec<JournalRow>> {
        self.read(move |db| history(db, subject, page)).await
    }

    async fn last_cursor(&self) -> StoreResult<Cursor> {
        let select = "SELECT cursor FROM journal ORDER BY cursor DESC LIMIT 1";
        let found = self.read(move |db| rows::one(db, select, [], |row| Ok(row.get(0)?))).await?;
        Ok(found.unwrap_or(0))
    }

    async fn cursors(&self, page: Page<Cursor>) -> StoreResult<Vec<Cursor>> {
        let select = "SELECT cursor FROM journal WHERE cursor > ?1 ORDER BY cursor LIMIT ?2";
        self.read(move |db| {
            rows::list(db, select, (page.after.unwrap_or(0), rows::limit(page.limit)), |row| Ok(row.get(0)?))
        })
        .await
    }
}

/// Appends an entry with a statement of [`APPEND`]; its cursor.
pub(super) fn append(
    statement: &mut CachedStatement<'_>,
    entry: &JournalEntry,
    body: Option<&str>,
) -> SqlResult<Cursor> {
    let values = params![
        entry.customer.as_bytes(),
        entry.subject.as_bytes(),
        codec::kind_code(entry.kind),
        entry.sequence,
        entry.from,
        entry.to,
        entry.cause,
        entry.actor,
        ms(entry.at),
        entry.reason,
        body
    ];
    Ok(statement.insert(values)?)
}

pub(super) fn events_after(db: &Connection, customer: Uuid, page: Page<Cursor>) -> SqlResult<Vec<JournalRow>> {
    let select = format!(
        "{ROW} INDEXED BY journal_announced WHERE customer = ?1 AND cursor > ?2 AND body IS NOT NULL \
         ORDER BY cursor LIMIT ?3"
    );
    let after = page.after.unwrap_or(0);
    rows::list(db, &select, (customer.as_bytes(), after, rows::limit(page.limit)), journal_row)
}

pub(super) fn history(db: &Connection, subject: Uuid, page: Page<i64>) -> SqlResult<Vec<JournalRow>> {
    let select = format!("{ROW} WHERE subject = ?1 AND sequence > ?2 ORDER BY sequence LIMIT ?3");
    let after = page.after.unwrap_or(0);
    rows::list(db, &select, (subject.as_bytes(), after, rows::limit(page.limit)), journal_row)
}

pub(super) fn journal_row(row: &Row<'_>) -> SqlResult<JournalRow> {
    Ok(JournalRow {
        cursor: row.get(0)?,
        subject: rows::uuid(row, 1)?,
        kind: codec::kind(row.get(2)?)?,
        sequence: row.get(3)?,
        from: row.get(4)?,
        to: row.get(5)?,
        cause: row.get(6)?,
        actor: row.get(7)?,
        at: rows::time(row, 8)?,
        reason: row.get(9)?,
        body: row.get(10)?,
        restore_number: row.get(11)?,
    })
}
