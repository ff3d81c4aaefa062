//! Absentee bids of webcasts. Bidders, or staff for them, leave, change and withdraw them until the item is sent to the ring.

use contract::ItemStatus;
use platform_rules::ring::{Commission, commissions};
use platform_rules::{Auction, Item, ItemCommand};
use uuid::Uuid;

use super::bids::{Expected, PlacedBid};
use crate::caller::visible;
use crate::error::PlatformResult;
use crate::port::Page;
use crate::steps::decide::{Decision, expect_version};
use crate::steps::idempotency::{IdempotentRequest, Outcome};
use crate::{Caller, Platform, Scope};

/// Items read from the store at once.
const ITEMS_READ_MAX: usize = 200;

/// An absentee bid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAbsenteeBid {
    /// Paddle of the bidder.
    pub bidder: String,
    /// How much the clerk may bid at most, minor units.
    pub maximum: i64,
    /// The caller confirmed a maximum far from the item's known amounts, which is refused with `unusual_amount`
    /// otherwise.
    pub unusual_amount: bool,
}

/// An item after an absentee bid was withdrawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithdrawnBid {
    /// The item.
    pub item: Item,
    /// The item's auction.
    pub auction: Auction,
}

impl Platform {
    /// Leaves an absentee bid on an item of a webcast that is not in the ring. It replaces an earlier one of the same
    /// bidder. Also for the clerks of the webcast.
    ///
    /// Errors: `not_found`, `clerk_not_assigned`, `precondition_failed`, and those of [`platform_rules::item::decide`]
    /// for bids.
    pub async fn place_absentee_bid(
        &self,
        caller: &Caller,
        item: Uuid,
        new: &NewAbsenteeBid,
        expected_version: Option<i64>,
        answering: Option<IdempotentRequest<'_, PlacedBid>>,
    ) -> PlatformResult<Outcome<PlacedBid>> {
        let expected = |_: &Auction, item: &Item| expect_version(expected_version, item.version);
        self.place_absentee_bid_if(caller, item, new, &expected, answering).await
    }

    /// The same, while the item is as expected.
    pub(crate) async fn place_absentee_bid_if(
        &self,
        caller: &Caller,
        item: Uuid,
        new: &NewAbsenteeBid,
        expected: &Expected<'_>,
        answering: Option<IdempotentRequest<'_, PlacedBid>>,
    ) -> PlatformResult<Outcome<PlacedBid>> {
        self.require_absentee_access(caller, item).await?;
        let NewAbsenteeBid { maximum, unusual_amount, .. } = *new;
        let command = |bid, bidder| ItemCommand::PlaceAbsenteeBid { bid, bidder, maximum, unusual_amount };
        self.take_bid(caller, item, &new.bidder, command, expected, answering).await
    }

    /// Withdraws the absentee bid of a bidder on an item of a webcast that is not in the ring. Also for the clerks of the
    /// webcast.
    ///
    /// Errors: `not_found`, `clerk_not_assigned`, `precondition_failed`, and those of [`platform_rules::item::decide`]
    /// for the withdrawal of an absentee bid.
    pub async fn withdraw_absentee_bid(
        &self,
        caller: &Caller,
        item: Uuid,
        (bidder, reason): (&str, Option<String>),
        expected_version: Option<i64>,
        answering: Option<IdempotentRequest<'_, WithdrawnBid>>,
    ) -> PlatformResult<Outcome<WithdrawnBid>> {
        self.require_absentee_access(caller, item).await?;
        let queue = self.item_queue(item)?;
        queue
            .decide(answering.as_ref(), || async {
                queue.drain().await;
                let (item, auction) = queue.visible_item(caller).await?;
                expect_version(expected_version, item.version)?;
                let log = self.bid_log(&item).await?;
                let now = self.time_of(&auction);
                let bidder = bidder.to_owned();
                let command = ItemCommand::WithdrawAbsenteeBid { bidder, reason: reason.clone(), log };
                let changes = platform_rules::item::decide(&auction, &item, command, now)?;
                let mut draft = self.build_change(&caller.actor, now);
                let item = draft.item(&auction, item, &changes);
                let result = WithdrawnBid { item, auction };
                let change = draft.finish(answering.as_ref(), &result);
                Ok(Decision { customer: result.item.customer, change, result })
            })
            .await
    }

    /// The commission book of a webcast: its LIVE items with absentee bids in running order, for its clerks. On each
    /// item the highest maximum comes first, among equal ones the earlier.
    ///
    /// Errors: `not_found`, `clerk_not_assigned`.
    pub async fn commission_book(
        &self,
        caller: &Caller,
        auction: Uuid,
    ) -> PlatformResult<Vec<(Item, Vec<Commission>)>> {
        caller.require(Scope::RingWrite)?;
        let auction = self.visible_auction(caller, auction).await?;
        self.require_clerk(caller, &auction).await?;
        let mut book = Vec::new();
        let mut after = None;
        loop {
            let page = Page { after, limit: ITEMS_READ_MAX };
            let items = self.store().items_with_status(auction.uuid, &[ItemStatus::Live], page).await?;
            let is_last = items.len() < ITEMS_READ_MAX;
            after = items.last().map(|item| item.position);
            for item in items.into_iter().filter(Item::has_absentee_bids) {
                let commissions = commissions(&item, &self.bid_log(&item).await?)?;
                if !commissions.is_empty() {
                    book.push((item, commissions));
                }
            }
            if is_last {
                return Ok(book);
            }
        }
    }

    /// The item of an auction with this lot number.
    ///
    /// Errors: `not_found` (the auction).
    pub async fn item_with_lot_number(
        &self,
        caller: &Caller,
        auction: Uuid,
        lot_number: &str,
    ) -> PlatformResult<Option<Item>> {
        caller.require_one_of(&[Scope::AuctionsRead, Scope::RingWrite])?;
        let auction = self.visible_auction(caller, auction).await?;
        Ok(self.store().item_by_lot_number(auction.uuid, lot_number).await?)
    }

    /// Callers with the scope `bids:write`, and the clerks of the webcast.
    async fn require_absentee_access(&self, caller: &Caller, item: Uuid) -> PlatformResult<()> {
        caller.require_one_of(&[Scope::BidsWrite, Scope::RingWrite])?;
        if caller.require(Scope::BidsWrite).is_ok() {
            return Ok(());
        }
        let item = visible(caller, self.store().item(item).await?, "item", |item| item.customer)?;
        self.require_clerk_of(caller, item.auction).await
    }
}
