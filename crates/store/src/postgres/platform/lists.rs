//! Narrowed lists. For each combination of what is asked for an index has its rows in the list's order: the first of each are
//! put together, in one statement.

use ::platform::port::{AuctionFilter, AuctionsOf, Lists, Page, Registration, RegistrationStatus, StoreResult};
use async_trait::async_trait;
use auction::{Auction, Item, Realm};
use contract::ItemStatus;
use uuid::Uuid;

use super::customers::after;
use super::{Shared, bidders, rows};
use crate::platform_codec::{auction_kind_code, registration_status_code};

const POSITIONS: &str = "SELECT i.state FROM unnest($2::integer[]) AS s (status) \
     CROSS JOIN (VALUES (false), (true)) AS b (has_bids) \
     CROSS JOIN LATERAL (SELECT position, state FROM items \
     WHERE auction = $1 AND status = s.status AND has_bids = b.has_bids AND position > $3 ORDER BY position LIMIT $4) AS i \
     ORDER BY i.position LIMIT $4";
const LOT: &str = "SELECT state FROM items WHERE auction = $1 AND lot_number = $2";
const REGISTRATIONS: &str = "SELECT r.state, r.turn FROM unnest($2::smallint[]) AS s (status) \
     CROSS JOIN LATERAL (SELECT uuid, state, turn FROM registrations \
     WHERE auction = $1 AND status = s.status AND uuid > $3 ORDER BY uuid LIMIT $4) AS r ORDER BY r.uuid LIMIT $4";

#[async_trait]
impl Lists for Shared {
    async fn auctions_where(&self, filter: &AuctionFilter, page: Page<Uuid>) -> StoreResult<Vec<Auction>> {
        let combinations = filter.combinations();
        let statuses: Vec<i32> = combinations.iter().map(|(status, _, _)| status.code()).collect();
        let kinds: Vec<i16> = combinations.iter().map(|(_, kind, _)| auction_kind_code(*kind)).collect();
        let sandboxes: Vec<bool> = combinations.iter().map(|(_, _, realm)| *realm == Realm::Sandbox).collect();
        let (after, limit) = (after(page), rows::limit(page.limit));
        let mut values: Vec<&(dyn tokio_postgres::types::ToSql + Sync)> =
            vec![&statuses, &kinds, &sandboxes, &after, &limit];
        let whose = match &filter.of {
            AuctionsOf::All => "",
            AuctionsOf::Customer(customer) => {
                values.push(customer);
                "customer = $6 AND"
            }
            AuctionsOf::Auctioneer(auctioneer) => {
                values.push(auctioneer);
                "auctioneer = $6 AND"
            }
        };
        Ok(rows::list(&self.client().await?, &auctions(whose), &values, |row| rows::json(row, 0)).await?)
    }

    async fn items_with_status(
        &self,
        auction: Uuid,
        statuses: &[ItemStatus],
        page: Page<i64>,
    ) -> StoreResult<Vec<Item>> {
        let statuses: Vec<i32> = statuses.iter().map(|status| status.code()).collect();
        let after = page.after.unwrap_or(i64::MIN);
        let values: rows::Values<'_> = &[&auction, &statuses, &after, &rows::limit(page.limit)];
        Ok(rows::list(&self.client().await?, POSITIONS, values, |row| rows::json(row, 0)).await?)
    }

    async fn item_of_lot(&self, auction: Uuid, lot_number: &str) -> StoreResult<Option<Item>> {
        if lot_number.contains('\0') {
            return Ok(None);
        }
        Ok(rows::one(&self.client().await?, LOT, &[&auction, &lot_number], |row| rows::json(row, 0)).await?)
    }

    async fn registrations_with_status(
        &self,
        auction: Uuid,
        statuses: &[RegistrationStatus],
        page: Page<Uuid>,
    ) -> StoreResult<Vec<Registration>> {
        let statuses: Vec<i16> = statuses.iter().map(|status| registration_status_code(*status)).collect();
        let values: rows::Values<'_> = &[&auction, &statuses, &after(page), &rows::limit(page.limit)];
        Ok(rows::list(&self.client().await?, REGISTRATIONS, values, bidders::registration).await?)
    }
}

/// `whose` is a condition and the word that joins it to the others, or nothing.
fn auctions(whose: &str) -> String {
    format!(
        "SELECT a.state FROM unnest($1::integer[], $2::smallint[], $3::boolean[]) AS c (status, kind, sandbox) \
         CROSS JOIN LATERAL (SELECT uuid, state FROM auctions \
         WHERE {whose} status = c.status AND kind = c.kind AND sandbox = c.sandbox AND uuid > $4 \
         ORDER BY uuid LIMIT $5) AS a ORDER BY a.uuid LIMIT $5"
    )
}
