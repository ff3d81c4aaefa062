//! The log.

use async_trait::async_trait;
use deadpool_postgres::{GenericClient, Transaction};
use platform_core::audit::{LogEntry, LogKind};
use platform_core::port::{Logs, Page, StoreResult};
use platform_rules::LogHash;
use uuid::Uuid;

use super::PostgresStore;
use super::commit::write::column;
use super::customers::after;
use super::rows::{self, SqlResult};
use crate::codec::{self as codec, AuctionColumns, ItemColumns, RegistrationColumns};

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

#[async_trait]
impl Logs for PostgresStore {
    async fn log_entries(&self, subject: Uuid, page: Page<i64>) -> StoreResult<Vec<LogEntry>> {
        let select = "SELECT number, content, concealed, hash FROM audit_log WHERE subject = $1 AND number > $2 \
             ORDER BY number LIMIT $3";
        let (after, limit) = (page.after.unwrap_or(i64::MIN), rows::limit(page.limit));
        let client = self.client().await?;
        let entries = rows::list(&client, select, &[&subject, &after, &limit], |row| {
            let hash: Vec<u8> = rows::get(row, 3)?;
            let hash = hash.try_into().map_err(|_| codec::corrupt("a hash of the log has not 32 bytes"))?;
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
}

async fn inconsistent_columns(db: &impl GenericClient, kind: LogKind, subject: Uuid) -> SqlResult<Vec<&'static str>> {
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
                 version, state \
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
                };
                Ok(columns.inconsistent(&rows::json(row, 8)?))
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
    };
    let Some((customer, mut inconsistent)) = columns else { return Ok(Vec::new()) };
    let select = "SELECT 1 FROM journal WHERE subject = $1 AND customer <> $2 LIMIT 1";
    let of_another = rows::one(db, select, &[&subject, &customer], |_| Ok(())).await?;
    inconsistent.extend(of_another.map(|()| codec::JOURNAL_CUSTOMER));
    Ok(inconsistent)
}
