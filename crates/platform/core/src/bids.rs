//! Bids of those who are not in the room: proxy bids and purchases in timed auctions, maxima that absentees leave for a
//! webcast, and what an administrator does about bids (decisions, sections 6 and 7).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use platform_rules::{Auction, AuctionKind, Bidder, Item, ItemCommand};
use uuid::Uuid;

use crate::bid::Bid;
use crate::bidders::LookUpIn;
use crate::decide::{Decision, expect_version};
use crate::error::{PlatformError, PlatformResult};
use crate::idempotency::{IdempotentRequest, Outcome};
use crate::port::Page;
use crate::{Caller, Platform, Scope};

/// A bid as it is entered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewBid {
    /// Who bids, as the caller names bidders; 1 to 64 characters.
    pub bidder: String,
    /// How far the bidder goes, minor units of the auction's currency: the platform bids for them up to it.
    pub amount: i64,
}

/// A bid that was accepted, and what it made of the item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedBid {
    /// The bid.
    pub bid: Bid,
    /// The item with its new price.
    pub item: Item,
    /// The item's auction.
    pub auction: Auction,
}

impl Platform {
    /// Bids on an item of a timed auction. `expected_version` is optional: without it, whoever was faster is only followed
    /// by a higher minimum.
    ///
    /// Errors: `not_found`, `precondition_failed`, and those of [`platform_rules::item::decide`] for bids.
    pub async fn place_bid(
        &self,
        caller: &Caller,
        item: Uuid,
        new: &NewBid,
        expected_version: Option<i64>,
        answering: Option<IdempotentRequest<'_, PlacedBid>>,
    ) -> PlatformResult<Outcome<PlacedBid>> {
        let command = |bid, bidder| ItemCommand::PlaceBid { bid, bidder, amount: new.amount };
        self.take_bid(caller, item, &new.bidder, command, expected_version, answering).await
    }

    /// Leaves a maximum for the clerk of a webcast that is not in its live phase yet; a later one takes its place.
    ///
    /// Errors: as [`Platform::place_bid`], and `pre_bidding_over`.
    pub async fn place_absentee_bid(
        &self,
        caller: &Caller,
        item: Uuid,
        new: &NewBid,
        expected_version: Option<i64>,
        answering: Option<IdempotentRequest<'_, PlacedBid>>,
    ) -> PlatformResult<Outcome<PlacedBid>> {
        let command = |bid, bidder| ItemCommand::PlaceAbsenteeBid { bid, bidder, maximum: new.amount };
        self.take_bid(caller, item, &new.bidder, command, expected_version, answering).await
    }

    /// Buys an item of a timed auction at its buy-now price: it is SOLD_BUY_NOW.
    ///
    /// Errors: as [`Platform::place_bid`], and `no_buy_now`, `buy_now_over`.
    pub async fn buy_now(
        &self,
        caller: &Caller,
        item: Uuid,
        bidder: &str,
        expected_version: Option<i64>,
        answering: Option<IdempotentRequest<'_, PlacedBid>>,
    ) -> PlatformResult<Outcome<PlacedBid>> {
        let command = |bid, bidder| ItemCommand::BuyNow { bid, bidder };
        self.take_bid(caller, item, bidder, command, expected_version, answering).await
    }

    async fn take_bid(
        &self,
        caller: &Caller,
        item: Uuid,
        paddle: &str,
        command: impl Fn(Uuid, Bidder) -> ItemCommand + Send + Sync,
        expected_version: Option<i64>,
        answering: Option<IdempotentRequest<'_, PlacedBid>>,
    ) -> PlatformResult<Outcome<PlacedBid>> {
        caller.require(Scope::BidsWrite)?;
        let bid = self.ids().uuid_v7();
        let command = &command;
        // A bidder with a limit has one bid under way at a time. That is waited for outside of the item's queue: in it, two
        // bidders could wait for each other.
        let (mut place, mut is_in_turn) = (None, false);
        // What is remembered of the bidder is good for one try: what it was refused on by the store is read.
        let remembers = AtomicBool::new(true);
        loop {
            let waits_for = Mutex::new(None);
            let queue = self.item_queue(item)?;
            let outcome = queue.decide(answering.as_ref(), || async {
                let (item, auction) = queue.visible_item(caller).await?;
                expect_version(expected_version, item.version)?;
                let now = self.time_of(&auction);
                let mut source =
                    if remembers.swap(false, Ordering::Relaxed) { LookUpIn::Cache } else { LookUpIn::Store };
                let (admitted, changes) = loop {
                    let admitted = match auction.kind {
                        AuctionKind::Timed => self.admit(&auction, &item, paddle, source).await?,
                        AuctionKind::Webcast => self.admit_to_webcast(&auction, paddle).await?,
                    };
                    let waits = admitted.spending_version.filter(|_| !is_in_turn);
                    *waits_for.lock().unwrap_or_else(PoisonError::into_inner) = waits;
                    if waits.is_some() {
                        return Err(PlatformError::Busy);
                    }
                    match platform_rules::item::decide(&auction, &item, command(bid, admitted.bidder.clone()), now) {
                        Err(refusal) if admitted.may_be_outdated(&refusal) => source = LookUpIn::Store,
                        Err(refusal) => return Err(self.explain_rejection(&auction, &item, refusal).await),
                        Ok(changes) => break (admitted, changes),
                    }
                };
                let mut draft = self.build_change(&caller.actor, now);
                if admitted.is_registered() && auction.kind == AuctionKind::Timed {
                    draft.note_bidder_item(&item, paddle);
                }
                draft.set_bidder_preconditions(&admitted);
                let item = draft.item(&auction, item, &changes);
                let bid = draft.last_bid().cloned();
                let bid = bid.ok_or_else(|| PlatformError::Internal("an accepted bid is not there".into()))?;
                let result = PlacedBid { bid, item, auction };
                let change = draft.finish(answering.as_ref(), &result);
                Ok(Decision { customer: result.item.customer, change, result })
            });
            let outcome = outcome.await;
            match waits_for.into_inner().unwrap_or_else(PoisonError::into_inner) {
                Some(turn) => (place, is_in_turn) = (self.bidder_locks().lock(turn.registration).await, true),
                None => {
                    drop(place);
                    return outcome;
                }
            }
        }
    }

    /// Cancels a bid, with a reason: the price becomes what it would be without it.
    ///
    /// Errors: `not_found` (item), `precondition_failed`, and those of [`platform_rules::item::decide`] for cancellations.
    pub async fn cancel_bid(
        &self,
        caller: &Caller,
        (item, bid): (Uuid, Uuid),
        reason: &str,
        expected_version: Option<i64>,
        answering: Option<IdempotentRequest<'_, Item>>,
    ) -> PlatformResult<Outcome<Item>> {
        caller.require(Scope::AuctionsWrite)?;
        let queue = self.item_queue(item)?;
        queue
            .decide(answering.as_ref(), || async {
                queue.drain().await;
                let (item, auction) = queue.visible_item(caller).await?;
                expect_version(expected_version, item.version)?;
                let log = self.bid_log(&item).await?;
                let now = self.time_of(&auction);
                let command = ItemCommand::CancelBid { bid, reason: reason.to_owned(), log };
                let changes = platform_rules::item::decide(&auction, &item, command, now)?;
                let mut draft = self.build_change(&caller.actor, now);
                let item = draft.item(&auction, item, &changes);
                let change = draft.finish(answering.as_ref(), &item);
                Ok(Decision { customer: item.customer, change, result: item })
            })
            .await
    }

    /// Puts the end of an item of a timed auction off, with a reason. Of one that is not LIVE, too: it may become so again.
    ///
    /// Errors: `not_found`, `precondition_failed`, `end_not_later`, `wrong_auction_kind`, `auction_closed`,
    /// `reason_required`.
    pub async fn move_end(
        &self,
        caller: &Caller,
        item: Uuid,
        (to, reason): (Timestamp, String),
        expected_version: Option<i64>,
        answering: Option<IdempotentRequest<'_, Item>>,
    ) -> PlatformResult<Outcome<Item>> {
        caller.require(Scope::AuctionsWrite)?;
        self.command_item(caller, item, ItemCommand::MoveEnd { to, reason }, expected_version, answering).await
    }

    /// Bids of an item as others number them, oldest first, with the item: which of them leads decides what may be seen of it.
    /// What absentees left comes before number 1, and is passed over.
    pub async fn bids(&self, caller: &Caller, item: Uuid, page: Page<i64>) -> PlatformResult<(Item, Vec<Bid>)> {
        let (known, _) = self.item(caller, item).await?;
        let after = page.after.unwrap_or(0).max(0).saturating_add(known.absentee_bids);
        // Then the item again: it is as new as they are, so that a bid which leads by now is not shown as an outbid one.
        let bids = self.store().bids(item, Page { after: Some(after), ..page }).await?;
        let (item, _) = self.item(caller, item).await?;
        Ok((item, bids))
    }
}
