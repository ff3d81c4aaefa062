//! Lists for the administration pages.

use async_trait::async_trait;
use platform_core::journal::JournalRow;
use platform_core::port::{JournalWindow, LogEntry, StaffReadStore, StoreResult};
use platform_rules::{Auction, LogHash};
use tokio_postgres::Row;
use uuid::Uuid;

use super::PostgresStore;
use super::journal::{ROW, journal_row};
use super::rows;
use crate::codec::corrupt;

/// States the range of the index on customer and UUID: see the module `auctions`.
const LATEST_OF_CUSTOMER: &str = "SELECT state FROM auctions WHERE (customer, uuid) < ($1, $2) AND customer >= $1 \
     ORDER BY customer DESC, uuid DESC LIMIT $3";

#[async_trait]
impl StaffReadStore for PostgresStore {
    async fn latest_auctions(
        &self,
        customer: Option<Uuid>,
        before: Option<Uuid>,
        limit: usize,
    ) -> StoreResult<Vec<Auction>> {
        let (before, limit) = (before.unwrap_or(Uuid::max()), rows::limit(limit));
        let client = self.client().await?;
        let found = match customer {
            None => {
                let select = "SELECT state FROM auctions WHERE uuid < $1 ORDER BY uuid DESC LIMIT $2";
                rows::list(&client, select, &[&before, &limit], |row| rows::json(row, 0)).await
            }
            Some(customer) => {
                rows::list(&client, LATEST_OF_CUSTOMER, &[&customer, &before, &limit], |row| rows::json(row, 0)).await
            }
        };
        Ok(found?)
    }

    async fn journal_of_auction(&self, auction: Uuid, window: JournalWindow) -> StoreResult<Vec<JournalRow>> {
        let select = format!(
            "{ROW} WHERE cursor < $1 AND cursor >= $2 AND (subject = $3 OR EXISTS \
                 (SELECT 1 FROM items WHERE uuid = journal.subject AND auction = $3)) \
             ORDER BY cursor DESC LIMIT $4"
        );
        let values: rows::Values<'_> = &[&window.before, &window.from, &auction, &rows::limit(window.limit)];
        Ok(rows::list(&self.client().await?, &select, values, journal_row).await?)
    }

    async fn corrections_of_auction(&self, auction: Uuid, limit: usize) -> StoreResult<Vec<LogEntry>> {
        let select = "SELECT l.subject, l.number, l.content, l.concealed, l.hash FROM items i \
             JOIN audit_log l ON l.subject = i.uuid \
             WHERE i.auction = $1 AND (strpos(l.content, '\"cause\":\"buyer_changed\"') > 0 \
             OR strpos(l.content, '\"cause\":\"hammer_price_corrected\"') > 0) ORDER BY l.no DESC LIMIT $2";
        let entry = |row: &Row| {
            let hash: Vec<u8> = rows::get(row, 4)?;
            let hash = hash.try_into().map_err(|_| corrupt("a hash of the audit log does not have 32 bytes"))?;
            Ok(LogEntry {
                subject: rows::get(row, 0)?,
                number: rows::get(row, 1)?,
                content: rows::get(row, 2)?,
                concealed: rows::get(row, 3)?,
                hash: LogHash(hash),
            })
        };
        Ok(rows::list(&self.client().await?, select, &[&auction, &rows::limit(limit)], entry).await?)
    }
}
