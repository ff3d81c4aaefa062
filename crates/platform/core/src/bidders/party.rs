//! The party behind a paddle. The rules reject a bid of a vendor on their own item. When a party is entered for a
//! paddle, this module finds such bids that were accepted before.

use contract::ItemStatus;
use platform_rules::{Auction, Item, Rejection};
use uuid::Uuid;

use crate::Platform;
use crate::error::PlatformResult;
use crate::port::{ITEMS_READ_MAX, Page, Registration};

/// Bids read from the store at once.
const BIDS_READ_MAX: usize = 5_000;

impl Platform {
    /// Rejects a party when this paddle has bid on an item of the party, the bid counts, and the item was or can be
    /// sold. The check can miss a bid that is committed at the same moment.
    ///
    /// Errors: `vendor_has_bid`.
    pub(super) async fn check_party(
        &self,
        auction: &Auction,
        before: Option<Uuid>,
        now: &Registration,
    ) -> PlatformResult<()> {
        let Some(party) = now.party.filter(|party| Some(*party) != before) else { return Ok(()) };
        if !self.store().has_bid(auction.uuid, &now.paddle).await? {
            return Ok(());
        }
        let records = self.store().records_of_person(party).await?;
        let is_own = |item: &&Item| {
            item.vendor.is_some_and(|vendor| records.contains(&vendor)) || records.contains(&auction.auctioneer)
        };
        let mut after = None;
        loop {
            let items = self.store().items(auction.uuid, Page { after, limit: ITEMS_READ_MAX }).await?;
            let Some(last) = items.last() else { return Ok(()) };
            after = Some(last.position);
            for item in items.iter().filter(is_own).filter(|item| is_on_sale_or_sold(item)) {
                if self.counts_on(item, &now.paddle).await? {
                    let (paddle, lot_number) = (now.paddle.clone(), item.lot_number.clone());
                    return Err(Rejection::VendorHasBid { paddle, lot_number }.into());
                }
            }
        }
    }

    /// True when a bid of this paddle counts on the item. An outbid bidder may lead again when another bid is
    /// cancelled.
    pub(super) async fn counts_on(&self, item: &Item, paddle: &str) -> PlatformResult<bool> {
        let mut after = None;
        loop {
            let bids = self.store().bids(item.uuid, Page { after, limit: BIDS_READ_MAX }).await?;
            let Some(last) = bids.last() else { return Ok(false) };
            after = Some(last.number);
            let counts = |bid: &crate::port::Bid| bid.struck.is_none() && !item.is_over(bid.number, bid.source);
            if bids.iter().any(|bid| bid.bidder == paddle && counts(bid)) {
                return Ok(true);
            }
        }
    }
}

pub(super) fn is_on_sale_or_sold(item: &Item) -> bool {
    item.has_bids() && !matches!(item.status, ItemStatus::Unsold | ItemStatus::Withdrawn)
}
