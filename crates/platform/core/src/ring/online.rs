//! Internet bids on the item in the ring of a webcast.

use platform_rules::{Auction, BidSource, Cause, Item, RingCommand};
use uuid::Uuid;

use super::desk::BIDS_READ_MAX;
use crate::caller::visible;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{Bid, Page};
use crate::steps::decide::{Decision, expect_version};
use crate::steps::idempotency::{IdempotentRequest, Outcome};
use crate::{Caller, Platform, Scope};

/// The input of an internet bid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewInternetBid {
    /// The bidder's paddle; 1 to 64 characters.
    pub bidder: String,
    /// Minor units; at least the asking price.
    pub amount: i64,
}

/// What became of an internet bid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InternetBidState {
    /// It waits for the clerk.
    Waiting,
    /// It was accepted as this bid.
    Accepted(Box<Bid>),
    /// It waited and was not accepted, for this cause.
    Lost(Cause),
}

/// The result of an internet bid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InternetBidResult {
    /// UUID of the bid.
    pub uuid: Uuid,
    /// What became of it.
    pub state: InternetBidState,
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
                draft.set_bidder_preconditions(admitted.spending_version, &admitted.precondition);
                // The auction keeps its version, so that bids on other items do not conflict with this one.
                let item = draft.item(&auction, item, &decided.item);
                let state = draft
                    .last_bid()
                    .map_or(InternetBidState::Waiting, |bid| InternetBidState::Accepted(Box::new(bid.clone())));
                let result = InternetBidResult { uuid, state, item, auction };
                let change = draft.finish(answering.as_ref(), &result);
                Ok(Decision { customer: result.item.customer, change, result })
            })
            .await
    }

    /// What became of an internet bid on an item. An item keeps the latest 50 bids that were not accepted.
    ///
    /// Errors: `not_found`.
    pub async fn internet_bid(&self, caller: &Caller, item: Uuid, bid: Uuid) -> PlatformResult<InternetBidResult> {
        caller.require(Scope::BidsWrite)?;
        let item = visible(caller, self.store().item(item).await?, "item", |item| item.customer)?;
        let auction = self.visible_auction(caller, item.auction).await?;
        let lost = item.lost.iter().find(|lost| lost.bid.bid == bid);
        let state = if item.pending.iter().any(|pending| pending.bid == bid) {
            InternetBidState::Waiting
        } else if let Some(lost) = lost {
            InternetBidState::Lost(lost.cause)
        } else {
            self.accepted_internet_bid(&item, bid).await?
        };
        Ok(InternetBidResult { uuid: bid, state, item, auction })
    }

    async fn accepted_internet_bid(&self, item: &Item, bid: Uuid) -> PlatformResult<InternetBidState> {
        let mut after = 0;
        // Bid numbers have no gaps, so the loop ends with the item's last bid.
        while after < item.bid_count {
            let page = Page { after: Some(after), limit: BIDS_READ_MAX };
            let bids = self.store().bids(item.uuid, page).await?;
            let Some(last) = bids.last().map(|last| last.number) else { break };
            let is_it = |found: &Bid| found.uuid == bid && found.source == BidSource::Internet;
            if let Some(found) = bids.into_iter().find(is_it) {
                return Ok(InternetBidState::Accepted(Box::new(found)));
            }
            after = last;
        }
        Err(PlatformError::NotFound("internet bid"))
    }
}
