//! Proxy bids and purchases in timed auctions, and the commands of administrators on bids and ends.

use platform_rules::{Auction, AuctionKind, Bidder, Item, ItemCommand};
use uuid::Uuid;

use crate::bidders::{Admitted, LookUpIn};
use crate::error::{PlatformError, PlatformResult};
use crate::port::{Bid, BidSource, Page};
use crate::steps::decide::{Decision, expect_version};
use crate::steps::decide_in_queue::{Attempt, Step};
use crate::steps::idempotency::{IdempotentRequest, Outcome};
use crate::{Caller, Platform, Scope};

/// The input of a bid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewBid {
    /// The bidder's paddle; 1 to 64 characters.
    pub bidder: String,
    /// The bidder's maximum, minor units of the auction's currency. The platform bids up to it by proxy.
    pub amount: i64,
}

/// The result of an accepted bid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedBid {
    /// The bid.
    pub bid: Bid,
    /// The item with its new price.
    pub item: Item,
    /// The item's auction.
    pub auction: Auction,
}

/// Refuses a bid on an item that is not as the bidder expects it. It is called each time the bid is decided.
pub(crate) type Expected<'a> = dyn Fn(&Auction, &Item) -> PlatformResult<()> + Send + Sync + 'a;

/// How the bidder of a bid is admitted.
struct BidAdmission<'a> {
    paddle: &'a str,
    /// Where the registration is read.
    source: LookUpIn,
    /// The caller holds the lock on the bidder's bids.
    has_bidder_lock: bool,
}

impl Platform {
    /// Bids on an item of a timed auction. `expected_version` is optional: without it, an earlier bid is only followed
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
        let expected = |_: &Auction, item: &Item| expect_version(expected_version, item.version);
        self.place_bid_if(caller, item, new, &expected, answering).await
    }

    /// As [`Platform::place_bid`], if the item is as the bidder expects it when the bid is decided.
    pub(crate) async fn place_bid_if(
        &self,
        caller: &Caller,
        item: Uuid,
        new: &NewBid,
        expected: &Expected<'_>,
        answering: Option<IdempotentRequest<'_, PlacedBid>>,
    ) -> PlatformResult<Outcome<PlacedBid>> {
        caller.require(Scope::BidsWrite)?;
        let command = |bid, bidder| ItemCommand::PlaceBid { bid, bidder, amount: new.amount };
        let received_at = self.now();
        let taken = self.take_bid(caller, item, &new.bidder, command, expected, answering).await;
        if let Err(PlatformError::Rejected(refusal)) = &taken {
            self.keep_late_bid_of((item, &new.bidder, new.amount), received_at, refusal).await;
        }
        taken
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
        let expected = |_: &Auction, item: &Item| expect_version(expected_version, item.version);
        self.buy_now_if(caller, item, bidder, &expected, answering).await
    }

    /// The same, while the item is as expected.
    pub(crate) async fn buy_now_if(
        &self,
        caller: &Caller,
        item: Uuid,
        bidder: &str,
        expected: &Expected<'_>,
        answering: Option<IdempotentRequest<'_, PlacedBid>>,
    ) -> PlatformResult<Outcome<PlacedBid>> {
        caller.require(Scope::BidsWrite)?;
        let command = |bid, bidder| ItemCommand::BuyNow { bid, bidder };
        self.take_bid(caller, item, bidder, command, expected, answering).await
    }

    /// Places a bid of a caller who may bid.
    pub(super) async fn take_bid(
        &self,
        caller: &Caller,
        item: Uuid,
        paddle: &str,
        command: impl Fn(Uuid, Bidder) -> ItemCommand + Send + Sync,
        expected: &Expected<'_>,
        answering: Option<IdempotentRequest<'_, PlacedBid>>,
    ) -> PlatformResult<Outcome<PlacedBid>> {
        let answering = answering.as_ref();
        if let Some(answer) = self.replay(answering).await? {
            return Ok(Outcome::Replayed(answer));
        }
        let bid = self.ids().uuid_v7();
        let mut source = LookUpIn::Cache;
        let mut bidder_lock = None;
        for _ in 0..self.config().decide_tries_max {
            let queue = self.item_queue(item)?;
            let decide = async {
                let (item, auction) = queue.visible_item(caller).await?;
                expected(&auction, &item)?;
                let admission = BidAdmission { paddle, source, has_bidder_lock: bidder_lock.is_some() };
                let command = |bidder| command(bid, bidder);
                self.decide_bid(caller, (item, auction), &admission, command, answering).await
            };
            match queue.attempt(answering, decide).await? {
                Attempt::Done(outcome) => return Ok(outcome),
                Attempt::DecideAgain => {}
                Attempt::WaitForBidder(registration) => {
                    drop(queue);
                    bidder_lock = self.bidder_locks().lock(registration).await;
                }
            }
            // The cache serves the first attempt only: after a conflict, the registration is read from the store.
            source = LookUpIn::Store;
        }
        Err(PlatformError::Busy)
    }

    /// Decides a bid on the item as it is now. A bidder with a spending limit has one running bid at a time on this
    /// node; without the bidder's lock the bid waits.
    async fn decide_bid(
        &self,
        caller: &Caller,
        (item, auction): (Item, Auction),
        admission: &BidAdmission<'_>,
        command: impl Fn(Bidder) -> ItemCommand + Send + Sync,
        answering: Option<&IdempotentRequest<'_, PlacedBid>>,
    ) -> PlatformResult<Step<PlacedBid>> {
        let now = self.time_of(&auction);
        let mut admitted = self.admit_to(&auction, &item, admission.paddle, admission.source).await?;
        let decide =
            |admitted: &Admitted| platform_rules::item::decide(&auction, &item, command(admitted.bidder.clone()), now);
        let mut decided = decide(&admitted);
        if decided.as_ref().is_err_and(|refusal| admitted.may_be_outdated(refusal)) {
            // The cached registration that the bid was refused for may be outdated.
            admitted = self.admit_to(&auction, &item, admission.paddle, LookUpIn::Store).await?;
            decided = decide(&admitted);
        }
        if let Some(spending) = admitted.spending_version.filter(|_| !admission.has_bidder_lock) {
            return Ok(Step::WaitForBidder(spending.registration));
        }
        let changes = match decided {
            Ok(changes) => changes,
            Err(refusal) => return Err(self.explain_rejection(&auction, &item, refusal).await),
        };
        let mut draft = self.build_change(&caller.actor, now);
        if admitted.is_registered() && auction.kind == AuctionKind::Timed {
            draft.note_bidder_item(&item, admission.paddle);
        }
        draft.set_bidder_preconditions(admitted.spending_version, &admitted.precondition);
        let item = draft.item(&auction, item, &changes);
        let bid = draft.last_bid().cloned();
        let bid = bid.ok_or_else(|| PlatformError::Internal("an accepted bid has no record".into()))?;
        let result = PlacedBid { bid, item, auction };
        let change = draft.finish(answering, &result);
        Ok(Step::Commit(Decision { customer: result.item.customer, change, result }))
    }

    async fn admit_to(
        &self,
        auction: &Auction,
        item: &Item,
        paddle: &str,
        source: LookUpIn,
    ) -> PlatformResult<Admitted> {
        match auction.kind {
            AuctionKind::Timed => self.admit(auction, item, paddle, source).await,
            AuctionKind::Webcast => self.admit_to_webcast(auction, paddle).await,
        }
    }

    /// Cancels a bid, with a reason. The price becomes what it would be without the bid.
    ///
    /// Errors: `not_found` (item), `precondition_failed`, and those of [`platform_rules::item::decide`] for
    /// cancellations.
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

    /// The public bids of an item by their public numbers, oldest first, with the item, whose leading bid decides which
    /// amounts are public. Absentee bids are left out.
    pub async fn bids(&self, caller: &Caller, item: Uuid, page: Page<i64>) -> PlatformResult<(Item, Vec<Bid>)> {
        let (known, _) = self.item(caller, item).await?;
        let after = known.number_before_shown(page.after.unwrap_or(0).max(0));
        // The item is read again after the bids: with an older item, a bid that leads now would be shown as outbid.
        let bids = self.public_bids(item, after, page.limit).await?;
        let (item, _) = self.item(caller, item).await?;
        Ok((item, bids))
    }

    /// Bids after this number without absentee bids. A page that is not full is the last one: a shorter page would reveal
    /// that an absentee bid is in it.
    async fn public_bids(&self, item: Uuid, mut after: i64, limit: usize) -> PlatformResult<Vec<Bid>> {
        let mut found = Vec::new();
        loop {
            let read = self.store().bids(item, Page { after: Some(after), limit }).await?;
            let is_last = read.len() < limit;
            after = read.last().map_or(after, |bid| bid.number);
            found.extend(read.into_iter().filter(|bid| bid.source != BidSource::Absentee));
            if is_last || found.len() >= limit {
                found.truncate(limit);
                return Ok(found);
            }
        }
    }
}
