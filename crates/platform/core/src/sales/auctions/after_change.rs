//! An auction with the counts of its items: the legal next statuses of an auction depend on both.

use contract::AuctionStatus;
use platform_rules::Auction;
use uuid::Uuid;

use crate::Platform;
use crate::error::PlatformResult;
use crate::port::{BulkChange, ItemCounts};

/// The result of changing an auction's status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuctionAfterChange {
    /// The auction.
    pub auction: Auction,
    /// The counts of its items after the change.
    pub items: ItemCounts,
    /// The bulk change that its items follow, while it runs.
    pub bulk_change: Option<BulkChange>,
}

impl Platform {
    /// Item counts of each auction in the order of the auctions, each count capped at 1. Only the next statuses of a
    /// LIVE auction depend on its items, so the counts of all others are 0.
    pub async fn capped_item_counts(&self, auctions: &[Auction]) -> PlatformResult<Vec<ItemCounts>> {
        let is_live = |auction: &&Auction| auction.status == AuctionStatus::Live;
        let live: Vec<Uuid> = auctions.iter().filter(is_live).map(|auction| auction.uuid).collect();
        let mut found =
            if live.is_empty() { Vec::new() } else { self.store().capped_item_counts(&live).await? }.into_iter();
        let of = |auction: &Auction| if is_live(&auction) { found.next() } else { None };
        Ok(auctions.iter().map(of).map(Option::unwrap_or_default).collect())
    }
}
