//! Reads the records that commands begin with: those that the caller may see, the bids of an item, an auction's time.

use jiff::Timestamp;
use platform_rules::{Auction, BidLog, BidRecord, Item};
use uuid::Uuid;

use crate::caller::visible;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{Bid, Customer, Page};
use crate::{Caller, Platform};

/// Bids read at once.
const BIDS_READ_MAX: usize = 5_000;

impl Platform {
    pub(crate) async fn visible_customer(&self, caller: &Caller, uuid: Uuid) -> PlatformResult<Customer> {
        visible(caller, self.store().customer(uuid).await?, "customer", |customer| customer.uuid)
    }

    pub(crate) async fn visible_auction(&self, caller: &Caller, uuid: Uuid) -> PlatformResult<Auction> {
        visible(caller, self.store().auction(uuid).await?, "auction", |auction| auction.customer)
    }

    /// The item with its auction: see [`crate::port::AuctionStore::item_with_auction`].
    pub(crate) async fn visible_item(&self, caller: &Caller, uuid: Uuid) -> PlatformResult<(Item, Auction)> {
        visible(caller, self.store().item_with_auction(uuid).await?, "item", |(item, _)| item.customer)
    }

    pub(crate) async fn auction_of(&self, item: &Item) -> PlatformResult<Auction> {
        let auction = self.store().auction(item.auction).await?;
        auction.ok_or_else(|| PlatformError::Internal(format!("item {} has no auction", item.uuid)))
    }

    /// All bids of an item.
    pub(crate) async fn bid_log(&self, item: &Item) -> PlatformResult<BidLog> {
        let mut records: Vec<BidRecord> = Vec::new();
        // Bid numbers have no gaps, so the loop ends with the item's last bid.
        while let Some(after) = i64::try_from(records.len()).ok().filter(|after| *after < item.bid_count) {
            let page = Page { after: Some(after), limit: BIDS_READ_MAX };
            let bids = self.store().bids(item.uuid, page).await?;
            if bids.is_empty() {
                break;
            }
            records.extend(bids.iter().map(Bid::record));
        }
        Ok(BidLog::new(records)?)
    }

    /// The time that applies in this auction: the server's time, or the time of a sandbox auction's test clock.
    pub fn time_of(&self, auction: &Auction) -> Timestamp {
        // A rehearsal runs by the server's clock, as the sale does.
        auction.clock_or(self.now())
    }
}
