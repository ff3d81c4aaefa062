//! The journal.

use platform_core::journal::{JournalEntry, JournalRow};
use platform_core::port::{Cursor, Page};
use rusqlite::{CachedStatement, Connection, Row, params};
use uuid::Uuid;

use super::rows::{self, SqlResult};
use crate::codec::{self as codec, ms};

pub(super) const APPEND: &str = "INSERT INTO journal (customer, subject, kind, sequence, from_status, to_status, cause, \
     actor, at_ms, reason, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";

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

const ROW: &str = "SELECT cursor, subject, kind, sequence, from_status, to_status, cause, actor, at_ms, reason, body \
     FROM journal";

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

fn journal_row(row: &Row<'_>) -> SqlResult<JournalRow> {
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
    })
}
