//! Narrowed lists.

use ::platform::port::{AuctionFilter, AuctionsOf, Lists, Page, Registration, RegistrationStatus, StoreResult};
use async_trait::async_trait;
use auction::{Auction, Item};
use contract::ItemStatus;
use uuid::Uuid;

use super::{Memory, slice};

#[async_trait]
impl Lists for Memory {
    async fn auctions_where(&self, filter: &AuctionFilter, page: Page<Uuid>) -> StoreResult<Vec<Auction>> {
        let tables = self.tables();
        let rows = tables.sales.auctions.iter().filter(|(_, auction)| is_wanted(filter, auction));
        Ok(slice(rows.map(|(uuid, auction)| (*uuid, auction)), page))
    }

    async fn items_with_status(
        &self,
        auction: Uuid,
        statuses: &[ItemStatus],
        page: Page<i64>,
    ) -> StoreResult<Vec<Item>> {
        let sales = &self.tables().sales;
        let places = sales.places.range((auction, i64::MIN)..=(auction, i64::MAX));
        let items = places.filter_map(|((_, position), uuid)| Some((*position, sales.items.get(uuid)?)));
        Ok(slice(items.filter(|(_, item)| statuses.contains(&item.status)), page))
    }

    async fn item_of_lot(&self, auction: Uuid, lot_number: &str) -> StoreResult<Option<Item>> {
        let sales = &self.tables().sales;
        let uuid = sales.lots.get(&(auction, lot_number.to_owned()));
        Ok(uuid.and_then(|uuid| sales.items.get(uuid)).cloned())
    }

    async fn registrations_with_status(
        &self,
        auction: Uuid,
        statuses: &[RegistrationStatus],
        page: Page<Uuid>,
    ) -> StoreResult<Vec<Registration>> {
        let bidders = &self.tables().bidders;
        let is_wanted = |row: &Registration| row.auction == auction && statuses.contains(&row.status);
        let rows = bidders.kept.iter().filter(|(_, row)| is_wanted(row));
        Ok(slice(rows.map(|(uuid, row)| (*uuid, row)), page))
    }
}

fn is_wanted(filter: &AuctionFilter, auction: &Auction) -> bool {
    let AuctionFilter { of, statuses, kind, realm } = filter;
    let is_theirs = match of {
        AuctionsOf::All => true,
        AuctionsOf::Customer(customer) => auction.customer == *customer,
        AuctionsOf::Auctioneer(auctioneer) => auction.auctioneer == *auctioneer,
    };
    is_theirs
        && (statuses.is_empty() || statuses.contains(&auction.status))
        && kind.is_none_or(|kind| auction.kind == kind)
        && realm.is_none_or(|realm| auction.realm() == realm)
}
