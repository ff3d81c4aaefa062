//! Narrowed lists. For each combination of what is asked for an index has its keys in the list's order: the first of each are
//! put together, and what then is on the page is read.

use async_trait::async_trait;
use contract::ItemStatus;
use platform_core::port::{
    AuctionFilter, AuctionOwner, FilteredLists, Page, Registration, RegistrationStatus, StoreResult,
};
use platform_rules::{Auction, Item, SaleMode};
use rusqlite::{Connection, ToSql, params};
use uuid::Uuid;

use super::customers::after;
use super::rows::{self, SqlResult};
use super::{SqliteStore, bidders, sales};
use crate::codec::{auction_kind_code, registration_status_code};

const AUCTIONS: &str = "SELECT uuid FROM auctions INDEXED BY auctions_by_filter \
     WHERE status = ?1 AND kind = ?2 AND sandbox = ?3 AND uuid > ?4 ORDER BY uuid LIMIT ?5";
const AUCTIONS_OF_CUSTOMER: &str = "SELECT uuid FROM auctions INDEXED BY auctions_of_customer_by_filter \
     WHERE status = ?1 AND kind = ?2 AND sandbox = ?3 AND uuid > ?4 AND customer = ?6 ORDER BY uuid LIMIT ?5";
const AUCTIONS_OF_AUCTIONEER: &str = "SELECT uuid FROM auctions INDEXED BY auctions_of_auctioneer_by_filter \
     WHERE status = ?1 AND kind = ?2 AND sandbox = ?3 AND uuid > ?4 AND auctioneer = ?6 ORDER BY uuid LIMIT ?5";
const POSITIONS: &str = "SELECT position FROM items INDEXED BY items_by_status \
     WHERE auction = ?1 AND status = ?2 AND has_bids = ?3 AND position > ?4 ORDER BY position LIMIT ?5";
const REGISTRATIONS: &str = "SELECT uuid FROM registrations INDEXED BY registrations_by_status \
     WHERE auction = ?1 AND status = ?2 AND uuid > ?3 ORDER BY uuid LIMIT ?4";

#[async_trait]
impl FilteredLists for SqliteStore {
    async fn filtered_auctions(&self, filter: &AuctionFilter, page: Page<Uuid>) -> StoreResult<Vec<Auction>> {
        let filter = filter.clone();
        self.read(move |db| auctions(db, &filter, page)).await
    }

    async fn items_with_status(
        &self,
        auction: Uuid,
        statuses: &[ItemStatus],
        page: Page<i64>,
    ) -> StoreResult<Vec<Item>> {
        let statuses = statuses.to_vec();
        self.read(move |db| items(db, auction, &statuses, page)).await
    }

    async fn item_by_lot_number(&self, auction: Uuid, lot_number: &str) -> StoreResult<Option<Item>> {
        let lot_number = lot_number.to_owned();
        let select = "SELECT state FROM items INDEXED BY items_by_lot_number WHERE auction = ?1 AND lot_number = ?2";
        self.read(move |db| rows::one(db, select, (auction.as_bytes(), lot_number), |row| rows::json(row, 0))).await
    }

    async fn registrations_with_status(
        &self,
        auction: Uuid,
        statuses: &[RegistrationStatus],
        page: Page<Uuid>,
    ) -> StoreResult<Vec<Registration>> {
        let statuses = statuses.to_vec();
        self.read(move |db| registrations(db, auction, &statuses, page)).await
    }
}

fn auctions(db: &Connection, filter: &AuctionFilter, page: Page<Uuid>) -> SqlResult<Vec<Auction>> {
    let (after, limit) = (after(page), rows::limit(page.limit));
    let (select, of) = match &filter.of {
        AuctionOwner::All => (AUCTIONS, None),
        AuctionOwner::Customer(customer) => (AUCTIONS_OF_CUSTOMER, Some(customer.as_bytes())),
        AuctionOwner::Auctioneer(auctioneer) => (AUCTIONS_OF_AUCTIONEER, Some(auctioneer.as_bytes())),
    };
    let mut found = Vec::new();
    for (status, kind, sale_mode) in filter.combinations() {
        let (status, kind, sandbox) = (status.code(), auction_kind_code(kind), sale_mode == SaleMode::Sandbox);
        let mut values: Vec<&dyn ToSql> = vec![&status, &kind, &sandbox, after.as_bytes(), &limit];
        values.extend(of.iter().map(|of| of as &dyn ToSql));
        found.extend(rows::list(db, select, values.as_slice(), |row| rows::uuid(row, 0))?);
    }
    let first = first_page(found, page).into_iter();
    first.filter_map(|uuid| sales::auction(db, uuid).transpose()).collect()
}

fn items(db: &Connection, auction: Uuid, statuses: &[ItemStatus], page: Page<i64>) -> SqlResult<Vec<Item>> {
    let (after, limit) = (page.after.unwrap_or(i64::MIN), rows::limit(page.limit));
    let mut found = Vec::new();
    for status in statuses {
        for has_bids in [false, true] {
            let values = params![auction.as_bytes(), status.code(), has_bids, after, limit];
            found.extend(rows::list(db, POSITIONS, values, |row| Ok(row.get::<_, i64>(0)?))?);
        }
    }
    let select = "SELECT state FROM items WHERE auction = ?1 AND position = ?2";
    let item = |position: i64| rows::one(db, select, (auction.as_bytes(), position), |row| rows::json(row, 0));
    first_page(found, page).into_iter().filter_map(|position| item(position).transpose()).collect()
}

fn registrations(
    db: &Connection,
    auction: Uuid,
    statuses: &[RegistrationStatus],
    page: Page<Uuid>,
) -> SqlResult<Vec<Registration>> {
    let (after, limit) = (after(page), rows::limit(page.limit));
    let mut found = Vec::new();
    for status in statuses {
        let values = params![auction.as_bytes(), registration_status_code(*status), after.as_bytes(), limit];
        found.extend(rows::list(db, REGISTRATIONS, values, |row| rows::uuid(row, 0))?);
    }
    let select = "SELECT state, turn FROM registrations WHERE uuid = ?1";
    let registration = |uuid: Uuid| rows::one(db, select, [uuid.as_bytes()], bidders::registration);
    first_page(found, page).into_iter().filter_map(|uuid| registration(uuid).transpose()).collect()
}

/// The keys of the page, of all that were found.
fn first_page<K: Ord>(mut found: Vec<K>, page: Page<K>) -> Vec<K> {
    found.sort_unstable();
    found.truncate(page.limit);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn filtered_lists_only_seek_in_their_indexes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("platform.db");
        drop(super::super::open(&path).await.unwrap());
        let db = Connection::open(&path).unwrap();
        let lot = "SELECT state FROM items INDEXED BY items_by_lot_number WHERE auction = ?1 AND lot_number = ?2";
        let selects = [AUCTIONS, AUCTIONS_OF_CUSTOMER, AUCTIONS_OF_AUCTIONEER, POSITIONS, REGISTRATIONS, lot];
        for select in selects {
            let mut plan = db.prepare(&format!("EXPLAIN QUERY PLAN {select}")).unwrap();
            let mut steps = plan.raw_query();
            while let Some(step) = steps.next().unwrap() {
                let step: String = step.get("detail").unwrap();
                assert!(step.starts_with("SEARCH") && !step.contains("B-TREE"), "{select}: {step}");
            }
        }
    }
}
