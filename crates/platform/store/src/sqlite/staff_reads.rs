//! Lists for the administration pages.

use async_trait::async_trait;
use platform_core::journal::JournalRow;
use platform_core::port::{JournalWindow, LogEntry, StaffReadStore, StoreResult};
use platform_rules::{Auction, LogHash};
use rusqlite::{Row, params};
use uuid::Uuid;

use super::SqliteStore;
use super::journal::{ROW, journal_row};
use super::rows;

#[async_trait]
impl StaffReadStore for SqliteStore {
    async fn latest_auctions(
        &self,
        customer: Option<Uuid>,
        before: Option<Uuid>,
        limit: usize,
    ) -> StoreResult<Vec<Auction>> {
        let (before, limit) = (before.unwrap_or(Uuid::max()), rows::limit(limit));
        let all = "SELECT state FROM auctions WHERE uuid < ?1 ORDER BY uuid DESC LIMIT ?2";
        let of_customer = "SELECT state FROM auctions WHERE customer = ?1 AND uuid < ?2 ORDER BY uuid DESC LIMIT ?3";
        self.read(move |db| match customer {
            None => rows::list(db, all, (before.as_bytes(), limit), |row| rows::json(row, 0)),
            Some(customer) => {
                rows::list(db, of_customer, (customer.as_bytes(), before.as_bytes(), limit), |row| rows::json(row, 0))
            }
        })
        .await
    }

    async fn journal_of_auction(&self, auction: Uuid, window: JournalWindow) -> StoreResult<Vec<JournalRow>> {
        let select = format!(
            "{ROW} WHERE cursor < ?1 AND cursor >= ?2 AND (subject = ?3 OR EXISTS \
                 (SELECT 1 FROM items WHERE uuid = journal.subject AND auction = ?3)) \
             ORDER BY cursor DESC LIMIT ?4"
        );
        let JournalWindow { before, from, limit } = window;
        self.read(move |db| {
            rows::list(db, &select, params![before, from, auction.as_bytes(), rows::limit(limit)], journal_row)
        })
        .await
    }

    async fn corrections_of_auction(&self, auction: Uuid, limit: usize) -> StoreResult<Vec<LogEntry>> {
        // The partial index has few entries of each item; without its name, SQLite reads whole logs.
        let select = "SELECT l.subject, l.number, l.content, l.concealed, l.hash FROM items i \
             JOIN audit_log l INDEXED BY audit_log_corrections ON l.subject = i.uuid \
             WHERE i.auction = ?1 AND (instr(l.content, '\"cause\":\"buyer_changed\"') > 0 \
             OR instr(l.content, '\"cause\":\"hammer_price_corrected\"') > 0) ORDER BY l.no DESC LIMIT ?2";
        let entry = |row: &Row<'_>| {
            let (subject, hash) = (rows::uuid(row, 0)?, LogHash(row.get(4)?));
            Ok(LogEntry { subject, number: row.get(1)?, content: row.get(2)?, concealed: row.get(3)?, hash })
        };
        self.read(move |db| rows::list(db, select, (auction.as_bytes(), rows::limit(limit)), entry)).await
    }
}
