//! The activity log of accounts.

use async_trait::async_trait;
use provider_core::model::ActivityEntry;
use provider_core::port::{ActivityStore, Scan, ScanResult, StoreResult};
use rusqlite::{Connection, Row, params};

use super::SqliteStore;
use super::rows::{self, SqlResult, ms, sql_limit};
use crate::codec;
use crate::scan::{self as scans, ScanFlow, ScanProgress};

const ENTRY: &str = "SELECT id, account, created_at, actor_kind, actor, actor_name, action, subject, subject_name, value_before, \
     value_after FROM activity";

#[async_trait]
impl ActivityStore for SqliteStore {
    async fn record_activity(&self, entry: ActivityEntry) -> StoreResult<()> {
        self.write(move |db| insert(db, &entry)).await
    }

    async fn activity(&self, account: &str, text: &str, scan: &Scan) -> StoreResult<ScanResult<ActivityEntry>> {
        let account = account.to_owned();
        let text = text.to_ascii_lowercase();
        let scan = scan.clone();
        self.read(move |db| search(db, &account, &text, &scan)).await
    }

    async fn delete_old_activity(&self, before: &str, limit: usize) -> StoreResult<usize> {
        let delete = "DELETE FROM activity WHERE id IN (SELECT id FROM activity WHERE id < ?1 ORDER BY id LIMIT ?2)";
        let before = before.to_owned();
        self.write(move |db| Ok(db.execute(delete, (before, sql_limit(limit)))?)).await
    }
}

pub(super) fn insert(db: &Connection, entry: &ActivityEntry) -> SqlResult<()> {
    let insert = "INSERT INTO activity (id, account, created_at, actor_kind, actor, actor_name, action, subject, subject_name, \
         value_before, value_after) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    db.prepare_cached(insert)?.execute(params![
        &*entry.id,
        &*entry.account,
        ms(entry.at),
        entry.actor_kind.name(),
        &*entry.actor,
        entry.actor_name,
        entry.action,
        entry.subject,
        entry.subject_name,
        entry.before,
        entry.after
    ])?;
    Ok(())
}

fn search(db: &Connection, account: &str, text: &str, scan: &Scan) -> SqlResult<ScanResult<ActivityEntry>> {
    let rows_max = if text.is_empty() { scans::wanted_max(scan) } else { scan.scanned_rows_max };
    let mut statement = db.prepare_cached(&format!("{ENTRY} WHERE account = $1{}", scans::sql(scan, "id")))?;
    let mut rows = statement.query((account, &scan.above, &scan.below, sql_limit(rows_max)))?;
    let mut progress = ScanProgress::new(scan);
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let entry = entry(row)?;
        let id = entry.id.clone();
        let is_match = codec::activity_contains(&entry, text);
        if is_match {
            found.push(entry);
        }
        if progress.record(&id, is_match.then_some(0)) == ScanFlow::Stop {
            break;
        }
    }
    Ok(progress.found(found))
}

fn entry(row: &Row<'_>) -> SqlResult<ActivityEntry> {
    Ok(ActivityEntry {
        id: rows::id(row, 0)?,
        account: rows::id(row, 1)?,
        at: rows::time(row, 2)?,
        actor_kind: codec::actor_kind(rows::text(row, 3)?)?,
        actor: rows::id(row, 4)?,
        actor_name: row.get(5)?,
        action: row.get(6)?,
        subject: row.get(7)?,
        subject_name: row.get(8)?,
        before: row.get(9)?,
        after: row.get(10)?,
    })
}
