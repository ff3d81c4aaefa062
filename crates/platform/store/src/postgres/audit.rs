//! The audit log, and the consistency checks of stored rows.

use async_trait::async_trait;
use kit_engine::postgres::{Connection, Transaction};
use platform_core::audit::{LogEntry, LogKind};
use platform_core::port::{
    AuditStore, OrphanRow, Page, PositionNumbering, PositionedEntry, RemainingValues, StoreError, StoreResult,
};
use platform_rules::LogHash;
use uuid::Uuid;

use super::PostgresStore;
use super::commit::write::column;
use super::rows::{self, SqlResult, after};
use crate::codec::{self, AuctionColumns, ItemColumns, PartyColumns, RegistrationColumns};
use crate::orphans;

/// Maximum number of checks for running writers, one each 10 ms: about 10 s.
const CHECKS_MAX: usize = 1_000;

const REST: &str = "SELECT pg_sleep(0.01)";

/// Running transactions that have written to the log. Each of them holds this lock until its end.
const WRITERS: &str = "SELECT DISTINCT virtualtransaction FROM pg_locks \
     WHERE locktype = 'relation' AND relation = 'audit_log'::regclass \
     AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
     AND mode = 'RowExclusiveLock' AND granted AND pid <> pg_backend_pid()";

#[async_trait]
impl AuditStore for PostgresStore {
    async fn log_entries(&self, subject: Uuid, page: Page<i64>) -> StoreResult<Vec<LogEntry>> {
        let select = "SELECT number, content, concealed, hash FROM audit_log WHERE subject = $1 AND number > $2 \
             ORDER BY number LIMIT $3";
        let (after, limit) = (page.after.unwrap_or(i64::MIN), rows::limit(page.limit));
        let client = self.client().await?;
        let entries = rows::list(&client, select, &[&subject, &after, &limit], |row| {
            let hash: Vec<u8> = rows::get(row, 3)?;
            let hash = hash.try_into().map_err(|_| codec::corrupt("a hash of the audit log does not have 32 bytes"))?;
            let (number, content, concealed) = (rows::get(row, 0)?, rows::get(row, 1)?, rows::get(row, 2)?);
            Ok(LogEntry { subject, number, content, concealed, hash: LogHash(hash) })
        })
        .await?;
        Ok(entries)
    }

    async fn audited_subjects(&self, page: Page<Uuid>) -> StoreResult<Vec<Uuid>> {
        let select = "SELECT DISTINCT subject FROM audit_log WHERE subject > $1 ORDER BY subject LIMIT $2";
        let (after, limit) = (after(page), rows::limit(page.limit));
        Ok(rows::list(&self.client().await?, select, &[&after, &limit], |row| rows::get(row, 0)).await?)
    }

    async fn inconsistent_columns(&self, kind: LogKind, subject: Uuid) -> StoreResult<Vec<&'static str>> {
        Ok(inconsistent_columns(&self.client().await?, kind, subject).await?)
    }

    fn position_numbering(&self) -> PositionNumbering {
        PositionNumbering::MayHaveGaps
    }

    async fn last_log_position(&self) -> StoreResult<i64> {
        let client = self.client().await?;
        let last = "SELECT no FROM audit_log ORDER BY no DESC LIMIT 1";
        let last = rows::one(&client, last, &[], |row| rows::get(row, 0)).await?.unwrap_or(0);
        // A running transaction that drew a lower number already holds the lock. Its entries are visible when it
        // releases the lock.
        let writers = writers(&client).await?;
        for _ in 0..CHECKS_MAX {
            let running = self::writers(&client).await?;
            if writers.iter().all(|writer| !running.contains(writer)) {
                return Ok(last);
            }
            rows::execute(&client, REST, &[]).await?;
        }
        Err(StoreError::Unavailable(
            "a transaction has been writing to the audit log for ten seconds; try again later".into(),
        ))
    }

    async fn entries_by_position(&self, page: Page<i64>) -> StoreResult<Vec<PositionedEntry>> {
        let select = "SELECT no, subject, number, content, hash FROM audit_log WHERE no > $1 ORDER BY no LIMIT $2";
        let (after, limit) = (page.after.unwrap_or(0), rows::limit(page.limit));
        let entries = rows::list(&self.client().await?, select, &[&after, &limit], |row| {
            let hash: Vec<u8> = rows::get(row, 4)?;
            let hash = hash.try_into().map_err(|_| codec::corrupt("a hash of the audit log does not have 32 bytes"))?;
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

async fn writers(db: &impl Connection) -> SqlResult<Vec<String>> {
    rows::list(db, WRITERS, &[], |row| rows::get(row, 0)).await
}

pub(super) async fn append(db: &Transaction<'_>, entries: &[&LogEntry]) -> SqlResult<()> {
    if entries.is_empty() {
        return Ok(());
    }
    let insert = "INSERT INTO audit_log (subject, number, content, concealed, hash) \
         SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::bytea[])";
    let values: rows::Values<'_> = &[
        &column(entries, |entry| entry.subject),
        &column(entries, |entry| entry.number),
        &column(entries, |entry| entry.content.as_str()),
        &column(entries, |entry| entry.concealed.as_deref()),
        &column(entries, |entry| entry.hash.0.as_slice()),
    ];
    rows::execute(db, insert, values).await.map(drop)
}

/// Replaces the concealed values of entries after an erasure.
pub(super) async fn replace_concealed(db: &Transaction<'_>, remaining: &[RemainingValues]) -> SqlResult<()> {
    let entries: Vec<&RemainingValues> = remaining.iter().collect();
    let update = "UPDATE audit_log l SET concealed = n.concealed \
         FROM unnest($1::uuid[], $2::bigint[], $3::text[]) AS n (subject, number, concealed) \
         WHERE l.subject = n.subject AND l.number = n.number";
    let values: rows::Values<'_> = &[
        &column(&entries, |entry| entry.subject),
        &column(&entries, |entry| entry.number),
        &column(&entries, |entry| entry.concealed.as_deref()),
    ];
    rows::execute(db, update, values).await.map(drop)
}

async fn inconsistent_columns(db: &impl Connection, kind: LogKind, subject: Uuid) -> SqlResult<Vec<&'static str>> {
    let columns = match kind {
        LogKind::Auction => {
            let select = "SELECT customer, auctioneer, kind, status, version, sandbox, clock_target_ms, state \
                 FROM auctions WHERE uuid = $1";
            rows::one(db, select, &[&subject], |row| {
                let columns = AuctionColumns {
                    uuid: subject,
                    customer: rows::get(row, 0)?,
                    auctioneer: rows::get(row, 1)?,
                    kind: rows::get(row, 2)?,
                    status: rows::get(row, 3)?,
                    version: rows::get(row, 4)?,
                    sandbox: rows::get(row, 5)?,
                    clock_target_ms: rows::get(row, 6)?,
                };
                Ok(columns.inconsistent(&rows::json(row, 7)?))
            })
            .await?
        }
        LogKind::Item => {
            let select = "SELECT auction, position, lot_number, status, has_bids, effective_end_ms, sandbox_end_ms, \
                 version, vendor, category, state \
                 FROM items WHERE uuid = $1";
            rows::one(db, select, &[&subject], |row| {
                let columns = ItemColumns {
                    uuid: subject,
                    auction: rows::get(row, 0)?,
                    position: rows::get(row, 1)?,
                    lot_number: rows::get(row, 2)?,
                    status: rows::get(row, 3)?,
                    has_bids: rows::get(row, 4)?,
                    effective_end_ms: rows::get(row, 5)?,
                    sandbox_end_ms: rows::get(row, 6)?,
                    version: rows::get(row, 7)?,
                    vendor: rows::get(row, 8)?,
                    category: rows::get(row, 9)?,
                };
                Ok(columns.inconsistent(&rows::json(row, 10)?))
            })
            .await?
        }
        LogKind::Registration => {
            let select = "SELECT auction, paddle, number, party, status, version, state FROM registrations \
                 WHERE uuid = $1";
            rows::one(db, select, &[&subject], |row| {
                let columns = RegistrationColumns {
                    uuid: subject,
                    auction: rows::get(row, 0)?,
                    paddle: rows::get(row, 1)?,
                    number: rows::get(row, 2)?,
                    party: rows::get(row, 3)?,
                    status: rows::get(row, 4)?,
                    version: rows::get(row, 5)?,
                };
                Ok(columns.inconsistent(&rows::json(row, 6)?))
            })
            .await?
        }
        LogKind::Party => {
            let select = "SELECT customer, name, search, reference, is_bidder, is_consignor, is_blocked, \
                 erased_at_ms, kept_until_ms, version, merged_into, keys_version, state FROM parties WHERE uuid = $1";
            let keys = "SELECT key FROM party_keys WHERE party = $1";
            let keys: Vec<String> = rows::list(db, keys, &[&subject], |row| rows::get(row, 0)).await?;
            rows::one(db, select, &[&subject], |row| {
                let columns = PartyColumns {
                    uuid: subject,
                    customer: rows::get(row, 0)?,
                    name: rows::get(row, 1)?,
                    search: rows::get(row, 2)?,
                    reference: rows::get(row, 3)?,
                    is_bidder: rows::get(row, 4)?,
                    is_consignor: rows::get(row, 5)?,
                    is_blocked: rows::get(row, 6)?,
                    erased_at_ms: rows::get(row, 7)?,
                    kept_until_ms: rows::get(row, 8)?,
                    version: rows::get(row, 9)?,
                    merged_into: rows::get(row, 10)?,
                    keys_version: rows::get(row, 11)?,
                    keys: keys.iter().cloned().collect(),
                };
                Ok(columns.inconsistent(&rows::json(row, 12)?))
            })
            .await?
        }
    };
    let Some((customer, mut inconsistent)) = columns else { return Ok(Vec::new()) };
    let select = "SELECT 1 FROM journal WHERE subject = $1 AND customer <> $2 LIMIT 1";
    let of_another = rows::one(db, select, &[&subject, &customer], |_| Ok(())).await?;
    inconsistent.extend(of_another.map(|()| codec::JOURNAL_CUSTOMER));
    Ok(inconsistent)
}
