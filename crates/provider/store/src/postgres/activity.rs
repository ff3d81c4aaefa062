//! The activity log of accounts.

use async_trait::async_trait;
use provider_core::model::ActivityEntry;
use provider_core::port::{ActivityStore, Scan, ScanResult, StoreResult};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::PostgresStore;
use super::rows::{self, Client, SqlResult, sql_limit};
use crate::codec;
use crate::scan::{self as scans, ScanFlow, ScanProgress};

const ENTRY: &str = "SELECT id, account, created_at, actor_kind, actor, actor_name, action, subject, subject_name, value_before, \
     value_after FROM activity";

#[async_trait]
impl ActivityStore for PostgresStore {
    async fn record_activity(&self, entry: ActivityEntry) -> StoreResult<()> {
        let client = self.client().await?;
        Ok(insert(&client, &entry).await?)
    }

    async fn activity(&self, account: &str, text: &str, scan: &Scan) -> StoreResult<ScanResult<ActivityEntry>> {
        let client = self.client().await?;
        let text = text.to_ascii_lowercase();
        let rows_max = if text.is_empty() { scans::wanted_max(scan) } else { scan.scanned_rows_max };
        let select = format!("{ENTRY} WHERE account = $1{}", scans::sql(scan, "id"));
        let params: &[&(dyn ToSql + Sync)] = &[&account, &scan.above, &scan.below, &sql_limit(rows_max)];
        let mut progress = ScanProgress::new(scan);
        let mut found = Vec::new();
        for entry in rows::all(&client, &select, params, entry).await? {
            let id = entry.id.clone();
            let is_match = codec::activity_contains(&entry, &text);
            if is_match {
                found.push(entry);
            }
            if progress.record(&id, is_match.then_some(0)) == ScanFlow::Stop {
                break;
            }
        }
        Ok(progress.found(found))
    }

    async fn delete_old_activity(&self, before: &str, limit: usize) -> StoreResult<usize> {
        let client = self.client().await?;
        let delete = "DELETE FROM activity WHERE id IN \
             (SELECT id FROM activity WHERE id < $1 ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED)";
        let deleted = rows::write(&client, delete, &[&before, &sql_limit(limit)]).await?;
        Ok(usize::try_from(deleted).unwrap_or(usize::MAX))
    }
}

pub(super) async fn insert(db: &impl Client, entry: &ActivityEntry) -> SqlResult<()> {
    let insert = "INSERT INTO activity (id, account, created_at, actor_kind, actor, actor_name, action, subject, subject_name, \
         value_before, value_after) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    let values: [&(dyn ToSql + Sync); 11] = [
        &&*entry.id,
        &&*entry.account,
        &entry.at,
        &entry.actor_kind.name(),
        &&*entry.actor,
        &entry.actor_name,
        &entry.action,
        &entry.subject,
        &entry.subject_name,
        &entry.before,
        &entry.after,
    ];
    rows::write(db, insert, &values).await.map(drop)
}

fn entry(row: &Row) -> StoreResult<ActivityEntry> {
    Ok(ActivityEntry {
        id: rows::id(row, 0)?,
        account: rows::id(row, 1)?,
        at: rows::get(row, 2)?,
        actor_kind: codec::actor_kind(rows::get(row, 3)?)?,
        actor: rows::id(row, 4)?,
        actor_name: rows::get(row, 5)?,
        action: rows::get(row, 6)?,
        subject: rows::get(row, 7)?,
        subject_name: rows::get(row, 8)?,
        before: rows::get(row, 9)?,
        after: rows::get(row, 10)?,
    })
}
