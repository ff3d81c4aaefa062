//! What an auction's next statuses depend on beside itself: its items, which are looked at without being counted.

use contract::AuctionStatus;
use platform_rules::Auction;
use uuid::Uuid;

use crate::Platform;
use crate::error::PlatformResult;
use crate::port::{BulkChange, ItemCounts};

/// An auction after a change of its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuctionAfterChange {
    /// The auction.
    pub auction: Auction,
    /// Its items then, counted.
    pub items: ItemCounts,
    /// What they follow, while they do.
    pub bulk_change: Option<BulkChange>,
}

impl Platform {
    /// Which statuses the items of each auction have, in the order of the auctions. Only the next statuses of a LIVE auction
    /// depend on them, so the server looks up no others.
    pub async fn item_presence(&self, auctions: &[Auction]) -> PlatformResult<Vec<ItemCounts>> {
        let is_live = |auction: &&Auction| auction.status == AuctionStatus::Live;
        let live: Vec<Uuid> = auctions.iter().filter(is_live).map(|auction| auction.uuid).collect();
        let mut found = if live.is_empty() { Vec::new() } else { self.store().item_presence(&live).await? }.into_iter();
        let of = |auction: &Auction| if is_live(&auction) { found.next() } else { None };
        Ok(auctions.iter().map(of).map(Option::unwrap_or_default).collect())
    }
}
