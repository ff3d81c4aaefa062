//! Internet bids that were refused or came after the hammer: which of them the desk shows.

use jiff::Timestamp;
use platform_rules::{Auction, Item, Rejection};
use uuid::Uuid;

use super::NewInternetBid;
use crate::error::PlatformResult;
use crate::node_state::late_bids::LateBid;
use crate::port::Page;
use crate::{Caller, Platform, Scope};

impl Platform {
    /// Internet bids on a webcast that this node refused in the last 15 seconds, the latest first.
    ///
    /// Errors: `not_found`, `clerk_not_assigned`.
    pub async fn late_bids(&self, caller: &Caller, auction: Uuid) -> PlatformResult<Vec<LateBid>> {
        caller.require(Scope::RingWrite)?;
        let auction = self.visible_auction(caller, auction).await?;
        self.require_clerk(caller, &auction).await?;
        Ok(self.late_bid_memory().shown(auction.uuid, self.now()))
    }

    /// Remembers a bid on the ring's present or last item that the rules refused.
    pub(super) async fn remember_late_bid(
        &self,
        (auction, item): (&Auction, &Item),
        new: &NewInternetBid,
        refusal: &Rejection,
    ) {
        if ![auction.in_ring, auction.last_in_ring].contains(&Some(item.uuid)) {
            return;
        }
        let hammer = if item.in_ring().is_some() { None } else { self.last_change_of(item).await };
        if let Some(hammer) = hammer {
            self.keep_late_bid((auction, item), (&new.bidder, new.amount), self.now(), hammer).await;
        }
        let late_ms = hammer.map(|hammer| {
            let late = self.time_of(auction).duration_since(hammer).as_millis();
            i64::try_from(late).unwrap_or(i64::MAX).max(0)
        });
        let (bidder, amount, code) = (new.bidder.clone(), new.amount, refusal.code());
        let bid = LateBid { item: item.uuid, bidder, amount, code, at: self.now(), late_ms };
        self.late_bid_memory().add(auction.uuid, bid);
    }

    /// When the status of an item changed last; for an item that left the ring, the time of the hammer.
    async fn last_change_of(&self, item: &Item) -> Option<Timestamp> {
        let page = Page { after: Some(item.sequence - 1), limit: 1 };
        Some(self.store().history(item.uuid, page).await.ok()?.first()?.at)
    }
}
