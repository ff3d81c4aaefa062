//! What bidders do in a webcast by themselves: bid on the item in the ring. What absentees leave before it is among the
//! bids.

use platform_rules::{Auction, Item, RingCommand};
use uuid::Uuid;

use crate::bidding::bid::Bid;
use crate::decide::{Decision, expect_version};
use crate::error::PlatformResult;
use crate::idempotency::{IdempotentRequest, Outcome};
use crate::{Caller, Platform, Scope};

/// A bid on the item in the ring, as it is entered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewInternetBid {
    /// Who bids; 1 to 64 characters.
    pub bidder: String,
    /// Minor units; at least the asking price.
    pub amount: i64,
}

/// What became of a bid on the item in the ring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InternetBidResult {
    /// UUID of the bid.
    pub uuid: Uuid,
    /// The bid, when it was accepted at once; otherwise it waits for the clerk.
    pub bid: Option<Bid>,
    /// The item with it.
    pub item: Item,
    /// The item's auction.
    pub auction: Auction,
}

impl Platform {
    /// Bids on the item in the ring. It waits for the clerk, or is accepted at once where the auction says so; a
    /// bidder's later one takes the place of the one that waits. The item's version moves, so no hammer falls on a bid
    /// unseen.
    ///
    /// Errors: `not_found`, `precondition_failed`, and those of [`platform_rules::ring::decide`] for bids.
    pub async fn bid_in_ring(
        &self,
        caller: &Caller,
        item: Uuid,
        new: &NewInternetBid,
        expected_version: Option<i64>,
        answering: Option<IdempotentRequest<'_, InternetBidResult>>,
    ) -> PlatformResult<Outcome<InternetBidResult>> {
        caller.require(Scope::BidsWrite)?;
        let uuid = self.ids().uuid_v7();
        let queue = self.item_queue(item)?;
        queue
            .decide(answering.as_ref(), || async {
                let (item, auction) = queue.visible_item(caller).await?;
                expect_version(expected_version, item.version)?;
                let now = self.time_of(&auction);
                let admitted = self.admit_to_webcast(&auction, &new.bidder).await?;
                let bidder = admitted.bidder.clone();
                let command = RingCommand::InternetBid { bid: uuid, bidder, amount: new.amount };
                let decided = platform_rules::ring::decide(&auction, &item, command, now)?;
                let mut draft = self.build_change(&caller.actor, now);
                draft.set_bidder_preconditions(&admitted);
                // The auction stays: bidders don't wait for each other's items, and the item's version is enough.
                let item = draft.item(&auction, item, &decided.item);
                let result = InternetBidResult { uuid, bid: draft.last_bid().cloned(), item, auction };
                let change = draft.finish(answering.as_ref(), &result);
                Ok(Decision { customer: result.item.customer, change, result })
            })
            .await
    }
}
