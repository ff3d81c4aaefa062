//! The journal as it is read.

use deadpool_postgres::GenericClient;
use platform_core::journal::JournalRow;
use platform_core::port::{Cursor, Page};
use tokio_postgres::Row;
use uuid::Uuid;

use super::rows::{self, SqlResult};
use crate::codec;

const ROW: &str = "SELECT cursor, subject, kind, sequence, from_status, to_status, cause, actor, at_ms, reason, body \
     FROM journal";

/// Announced rows of a customer after a cursor, in order.
pub(super) const ANNOUNCED: &str = "WHERE (customer, cursor) > ($1, $2) AND customer <= $1 AND body IS NOT NULL \
     ORDER BY customer, cursor";

pub(super) async fn events_after(
    db: &impl GenericClient,
    customer: Uuid,
    page: Page<Cursor>,
) -> SqlResult<Vec<JournalRow>> {
    let select = format!("{ROW} {ANNOUNCED} LIMIT $3");
    let after = page.after.unwrap_or(0);
    rows::list(db, &select, &[&customer, &after, &rows::limit(page.limit)], journal_row).await
}

pub(super) async fn history(db: &impl GenericClient, subject: Uuid, page: Page<i64>) -> SqlResult<Vec<JournalRow>> {
    let select = format!("{ROW} WHERE subject = $1 AND sequence > $2 ORDER BY sequence LIMIT $3");
    let after = page.after.unwrap_or(0);
    rows::list(db, &select, &[&subject, &after, &rows::limit(page.limit)], journal_row).await
}

fn journal_row(row: &Row) -> SqlResult<JournalRow> {
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
    })
}
