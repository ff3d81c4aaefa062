//! What an auction's next statuses depend on beside itself: its items, which are looked at without being counted.

use contract::AuctionStatus;
use platform_rules::Auction;
use uuid::Uuid;

use crate::Platform;
use crate::error::PlatformResult;
use crate::port::{ItemCounts, Lead};

/// An auction after a change of its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedAuction {
    /// The auction.
    pub auction: Auction,
    /// Its items then, counted.
    pub items: ItemCounts,
    /// What they follow, while they do.
    pub lead: Option<Lead>,
}

impl Platform {
    /// What there is among the items of auctions that the caller has been given, in their order, as
    /// [`Presence::present`](crate::port::Presence::present) tells it; only a LIVE auction's next statuses depend on it, so
    /// nothing is told of others.
    pub async fn items_present(&self, auctions: &[Auction]) -> PlatformResult<Vec<ItemCounts>> {
        let is_live = |auction: &&Auction| auction.status == AuctionStatus::Live;
        let live: Vec<Uuid> = auctions.iter().filter(is_live).map(|auction| auction.uuid).collect();
        let mut found = if live.is_empty() { Vec::new() } else { self.store().present(&live).await? }.into_iter();
        let of = |auction: &Auction| if is_live(&auction) { found.next() } else { None };
        Ok(auctions.iter().map(of).map(Option::unwrap_or_default).collect())
    }
}
