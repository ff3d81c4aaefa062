//! The audit log, and the consistency checks of stored rows.

use async_trait::async_trait;
use platform_core::audit::{LogEntry, LogKind};
use platform_core::port::{
    AuditStore, OrphanRow, Page, PositionNumbering, PositionedEntry, RemainingValues, StoreResult,
};
use platform_rules::LogHash;
use rusqlite::{Connection, params};
use uuid::Uuid;

use super::SqliteStore;
use super::rows::{self, SqlResult, after};
use crate::codec::{self, AuctionColumns, ItemColumns, PartyColumns, RegistrationColumns};
use crate::orphans;

#[async_trait]
impl AuditStore for SqliteStore {
    async fn log_entries(&self, subject: Uuid, page: Page<i64>) -> StoreResult<Vec<LogEntry>> {
        self.read(move |db| entries(db, subject, page)).await
    }

    async fn audited_subjects(&self, page: Page<Uuid>) -> StoreResult<Vec<Uuid>> {
        let select = "SELECT DISTINCT subject FROM audit_log WHERE subject > ?1 ORDER BY subject LIMIT ?2";
        self.read(move |db| {
            rows::list(db, select, (after(page).as_bytes(), rows::limit(page.limit)), |row| rows::uuid(row, 0))
        })
        .await
    }

    async fn inconsistent_columns(&self, kind: LogKind, subject: Uuid) -> StoreResult<Vec<&'static str>> {
        self.read(move |db| inconsistent_columns(db, kind, subject)).await
    }

    fn position_numbering(&self) -> PositionNumbering {
        PositionNumbering::Gapless
    }

    /// SQLite has one writer, so all entries with lower positions are already visible.
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

pub(super) fn append(db: &Connection, entries: &[LogEntry]) -> SqlResult<()> {
    if entries.is_empty() {
        return Ok(());
    }
    let insert = "INSERT INTO audit_log (subject, number, content, concealed, hash) VALUES (?1, ?2, ?3, ?4, ?5)";
    let mut insert = db.prepare_cached(insert)?;
    for entry in entries {
        let values = params![entry.subject.as_bytes(), entry.number, entry.content, entry.concealed, entry.hash.0];
        insert.execute(values)?;
    }
    Ok(())
}

/// Replaces the concealed values of entries after an erasure.
pub(super) fn replace_concealed(db: &Connection, remaining: &[RemainingValues]) -> SqlResult<()> {
    let update = "UPDATE audit_log SET concealed = ?3 WHERE subject = ?1 AND number = ?2";
    for RemainingValues { subject, number, concealed } in remaining {
        rows::execute(db, update, params![subject.as_bytes(), number, concealed])?;
    }
    Ok(())
}

fn entries(db: &Connection, subject: Uuid, page: Page<i64>) -> SqlResult<Vec<LogEntry>> {
    let select = "SELECT number, content, concealed, hash FROM audit_log WHERE subject = ?1 AND number > ?2 \
         ORDER BY number LIMIT ?3";
    let after = page.after.unwrap_or(i64::MIN);
    rows::list(db, select, (subject.as_bytes(), after, rows::limit(page.limit)), |row| {
        let hash = LogHash(row.get(3)?);
        Ok(LogEntry { subject, number: row.get(0)?, content: row.get(1)?, concealed: row.get(2)?, hash })
    })
}

fn inconsistent_columns(db: &Connection, kind: LogKind, subject: Uuid) -> SqlResult<Vec<&'static str>> {
    let columns = match kind {
        LogKind::Auction => {
            let select = "SELECT customer, auctioneer, kind, status, version, sandbox, clock_target_ms, state \
                 FROM auctions WHERE uuid = ?1";
            rows::one(db, select, [subject.as_bytes()], |row| {
                let columns = AuctionColumns {
                    uuid: subject,
                    customer: rows::uuid(row, 0)?,
                    auctioneer: rows::uuid(row, 1)?,
                    kind: row.get(2)?,
                    status: row.get(3)?,
                    version: row.get(4)?,
                    sandbox: row.get(5)?,
                    clock_target_ms: row.get(6)?,
                };
                Ok(columns.inconsistent(&rows::json(row, 7)?))
            })
        }
        LogKind::Item => {
            let select = "SELECT auction, position, lot_number, status, has_bids, effective_end_ms, sandbox_end_ms, \
                 version, vendor, category, state \
                 FROM items WHERE uuid = ?1";
            rows::one(db, select, [subject.as_bytes()], |row| {
                let columns = ItemColumns {
                    uuid: subject,
                    auction: rows::uuid(row, 0)?,
                    position: row.get(1)?,
                    lot_number: row.get(2)?,
                    status: row.get(3)?,
                    has_bids: row.get(4)?,
                    effective_end_ms: row.get(5)?,
                    sandbox_end_ms: row.get(6)?,
                    version: row.get(7)?,
                    vendor: row.get::<_, Option<[u8; 16]>>(8)?.map(Uuid::from_bytes),
                    category: row.get(9)?,
                };
                Ok(columns.inconsistent(&rows::json(row, 10)?))
            })
        }
        LogKind::Registration => {
            let select = "SELECT auction, paddle, number, party, status, version, state FROM registrations \
                 WHERE uuid = ?1";
            rows::one(db, select, [subject.as_bytes()], |row| {
                let columns = RegistrationColumns {
                    uuid: subject,
                    auction: rows::uuid(row, 0)?,
                    paddle: row.get(1)?,
                    number: row.get(2)?,
                    party: row.get::<_, Option<[u8; 16]>>(3)?.map(Uuid::from_bytes),
                    status: row.get(4)?,
                    version: row.get(5)?,
                };
                Ok(columns.inconsistent(&rows::json(row, 6)?))
            })
        }
        LogKind::Party => {
            let select = "SELECT customer, name, search, reference, is_bidder, is_consignor, is_blocked, \
                 erased_at_ms, kept_until_ms, version, merged_into, keys_version, state FROM parties WHERE uuid = ?1";
            let keys = "SELECT key FROM party_keys WHERE party = ?1";
            let keys: Vec<String> = rows::list(db, keys, [subject.as_bytes()], |row| Ok(row.get(0)?))?;
            rows::one(db, select, [subject.as_bytes()], |row| {
                let columns = PartyColumns {
                    uuid: subject,
                    customer: rows::uuid(row, 0)?,
                    name: row.get(1)?,
                    search: row.get(2)?,
                    reference: row.get(3)?,
                    is_bidder: row.get(4)?,
                    is_consignor: row.get(5)?,
                    is_blocked: row.get(6)?,
                    erased_at_ms: row.get(7)?,
                    kept_until_ms: row.get(8)?,
                    version: row.get(9)?,
                    merged_into: row.get::<_, Option<[u8; 16]>>(10)?.map(Uuid::from_bytes),
                    keys_version: row.get(11)?,
                    keys: keys.iter().cloned().collect(),
                };
                Ok(columns.inconsistent(&rows::json(row, 12)?))
            })
        }
    };
    let Some((customer, mut inconsistent)) = columns? else { return Ok(Vec::new()) };
    let select = "SELECT 1 FROM journal WHERE subject = ?1 AND customer <> ?2";
    let of_another = rows::one(db, select, (subject.as_bytes(), customer.as_bytes()), |_| Ok(()))?;
    inconsistent.extend(of_another.map(|()| codec::JOURNAL_CUSTOMER));
    Ok(inconsistent)
}
