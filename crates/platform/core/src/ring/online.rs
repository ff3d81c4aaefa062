//! Internet bids on the item in the ring of a webcast.

use platform_rules::{Auction, Item, RingCommand};
use uuid::Uuid;

use crate::decide::{Decision, expect_version};
use crate::error::PlatformResult;
use crate::idempotency::{IdempotentRequest, Outcome};
use crate::port::Bid;
use crate::{Caller, Platform, Scope};

/// The input of an internet bid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewInternetBid {
    /// The bidder's paddle; 1 to 64 characters.
    pub bidder: String,
    /// Minor units; at least the asking price.
    pub amount: i64,
}

/// The result of an internet bid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InternetBidResult {
    /// UUID of the bid.
    pub uuid: Uuid,
    /// The bid, when the platform accepted it without the clerk; none while it is pending.
    pub bid: Option<Bid>,
    /// The item after the bid.
    pub item: Item,
    /// The item's auction.
    pub auction: Auction,
}

impl Platform {
    /// Places an internet bid on the item in the ring. If the auction accepts internet bids at once and the bid is at
    /// least the asking price, the bid stands; otherwise it is pending until the clerk accepts it. A pending bid
    /// replaces an earlier one of the same bidder. The item gets a new version, so a clerk who has not seen the bid
    /// can't sell the item.
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
                let decided = match platform_rules::ring::decide(&auction, &item, command, now) {
                    Ok(decided) => decided,
                    Err(refusal) => {
                        self.remember_late_bid((&auction, &item), new, &refusal).await;
                        return Err(refusal.into());
                    }
                };
                let mut draft = self.build_change(&caller.actor, now);
                draft.set_bidder_preconditions(&admitted);
                // The auction keeps its version, so that bids on other items do not conflict with this one.
                let item = draft.item(&auction, item, &decided.item);
                let result = InternetBidResult { uuid, bid: draft.last_bid().cloned(), item, auction };
                let change = draft.finish(answering.as_ref(), &result);
                Ok(Decision { customer: result.item.customer, change, result })
            })
            .await
    }
}
