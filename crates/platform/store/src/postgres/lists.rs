//! Narrowed lists. For each combination of what is asked for an index has its keys in the list's order: the first of each are
//! put together, and what then is on the page is read.
//!
//! PostgreSQL is not told which index to use, and its statistics mislead it: while all rows are alike (one customer, every item LIVE)
//! they hold the whole list's index for as good, whose rows are then looked at one by one, so that a filter that nothing meets reads
//! them all; and an auction that came after them has no rows to speak of, for which any index that begins with it will do. So lists
//! that an index has a part of, here and in other modules, are asked for as a range of that index, from `(customer, cursor) >
//! ($1, $2)` to `customer <= $1`, in the order of both columns: no other index has that order. One row is the first of such a range.
//! Where that is not enough, the tables say how many customers to reckon with (`n_distinct`). What is on the page is looked up by a
//! LATERAL with a LIMIT, which can't become a join that reads both sides from their beginning.

use async_trait::async_trait;
use contract::ItemStatus;
use platform_core::port::{
    AuctionFilter, AuctionOwner, FilteredLists, Page, Registration, RegistrationStatus, StoreResult,
};
use platform_rules::{Auction, Item, SaleMode};
use uuid::Uuid;

use super::customers::after;
use super::{PostgresStore, bidders, rows};
use crate::codec::{auction_kind_code, registration_status_code};

const OF_CUSTOMER: &str = "customer = $6 AND";
const OF_AUCTIONEER: &str = "auctioneer = $6 AND";
const POSITIONS: &str = "SELECT i.state FROM (SELECT p.position FROM unnest($2::integer[]) AS s (status) \
     CROSS JOIN (VALUES (false), (true)) AS b (has_bids) \
     CROSS JOIN LATERAL (SELECT position FROM items WHERE auction = $1 AND status = s.status \
         AND (has_bids, position) > (b.has_bids, $3) AND has_bids <= b.has_bids ORDER BY has_bids, position LIMIT $4) AS p \
     ORDER BY p.position LIMIT $4) AS f \
     CROSS JOIN LATERAL (SELECT state FROM items WHERE (auction, position) >= ($1, f.position) \
         ORDER BY auction, position LIMIT 1) AS i \
     ORDER BY f.position";
const LOT: &str = "SELECT state FROM (SELECT auction, lot_number, state FROM items \
         WHERE (auction, lot_number) >= ($1, $2) ORDER BY auction, lot_number LIMIT 1) AS f \
     WHERE auction = $1 AND lot_number = $2";
const REGISTRATIONS: &str = "SELECT r.state, r.turn FROM (SELECT p.uuid FROM unnest($2::smallint[]) AS s (status) \
     CROSS JOIN LATERAL (SELECT uuid FROM registrations WHERE auction = $1 \
         AND (status, uuid) > (s.status, $3) AND status <= s.status ORDER BY status, uuid LIMIT $4) AS p \
     ORDER BY p.uuid LIMIT $4) AS f \
     CROSS JOIN LATERAL (SELECT state, turn FROM registrations WHERE uuid = f.uuid LIMIT 1) AS r ORDER BY f.uuid";

#[async_trait]
impl FilteredLists for PostgresStore {
    async fn filtered_auctions(&self, filter: &AuctionFilter, page: Page<Uuid>) -> StoreResult<Vec<Auction>> {
        let combinations = filter.combinations();
        let statuses: Vec<i32> = combinations.iter().map(|(status, _, _)| status.code()).collect();
        let kinds: Vec<i16> = combinations.iter().map(|(_, kind, _)| auction_kind_code(*kind)).collect();
        let sandboxes: Vec<bool> =
            combinations.iter().map(|(_, _, sale_mode)| *sale_mode == SaleMode::Sandbox).collect();
        let (after, limit) = (after(page), rows::limit(page.limit));
        let mut values: Vec<&(dyn tokio_postgres::types::ToSql + Sync)> =
            vec![&statuses, &kinds, &sandboxes, &after, &limit];
        let whose = match &filter.of {
            AuctionOwner::All => "",
            AuctionOwner::Customer(customer) => {
                values.push(customer);
                OF_CUSTOMER
            }
            AuctionOwner::Auctioneer(auctioneer) => {
                values.push(auctioneer);
                OF_AUCTIONEER
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

    async fn item_by_lot_number(&self, auction: Uuid, lot_number: &str) -> StoreResult<Option<Item>> {
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
        "SELECT a.state FROM (SELECT p.uuid \
         FROM unnest($1::integer[], $2::smallint[], $3::boolean[]) AS c (status, kind, sandbox) \
         CROSS JOIN LATERAL (SELECT uuid FROM auctions WHERE {whose} status = c.status AND kind = c.kind \
             AND (sandbox, uuid) > (c.sandbox, $4) AND sandbox <= c.sandbox ORDER BY sandbox, uuid LIMIT $5) AS p \
         ORDER BY p.uuid LIMIT $5) AS f \
         CROSS JOIN LATERAL (SELECT state FROM auctions WHERE uuid = f.uuid LIMIT 1) AS a ORDER BY f.uuid"
    )
}

#[cfg(test)]
mod tests;
