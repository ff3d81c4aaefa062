//! Lists for the administration pages.

use async_trait::async_trait;
use platform_core::journal::JournalRow;
use platform_core::port::{JournalWindow, StaffReadStore, StoreResult};
use platform_rules::Auction;
use uuid::Uuid;

use super::PostgresStore;
use super::journal::{ROW, journal_row};
use super::rows;

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
}
