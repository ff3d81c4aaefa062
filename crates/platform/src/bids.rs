//! Bids on items of timed auctions (decisions, section 6).

use auction::{Auction, Bidder, Item, ItemCommand};
use uuid::Uuid;

use crate::bid::Bid;
use crate::deciding::{Decision, expect_version};
use crate::draft::Draft;
use crate::error::{PlatformError, PlatformResult};
use crate::idempotency::{Answering, Outcome};
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
    /// Errors: `not_found`, `precondition_failed`, and those of [`auction::item::decide`] for bids.
    pub async fn place_bid(
        &self,
        caller: &Caller,
        item: Uuid,
        new: &NewBid,
        expected_version: Option<i64>,
        answering: Option<Answering<'_, PlacedBid>>,
    ) -> PlatformResult<Outcome<PlacedBid>> {
        caller.require(Scope::BidsWrite)?;
        let bid = self.ids().uuid_v7();
        let turn = self.turn(item)?;
        turn.decide(answering.as_ref(), || async {
            let (item, auction) = turn.seen_item(caller).await?;
            expect_version(expected_version, item.version)?;
            let now = self.now();
            let bidder = Bidder::vouched_for(&new.bidder);
            let command = ItemCommand::PlaceBid { bid, bidder, amount: new.amount };
            let changes = auction::item::decide(&auction, &item, command, now)?;
            let mut draft = Draft::new(&caller.actor, now);
            let item = draft.item(&auction, item, &changes);
            let bid = draft.last_bid().cloned();
            let bid = bid.ok_or_else(|| PlatformError::Internal("an accepted bid is not there".into()))?;
            let result = PlacedBid { bid, item, auction };
            let change = draft.finish(answering.as_ref(), &result);
            Ok(Decision { customer: result.item.customer, change, result })
        })
        .await
    }

    /// Bids of an item by their number, oldest first.
    pub async fn bids(&self, caller: &Caller, item: Uuid, page: Page<i64>) -> PlatformResult<Vec<Bid>> {
        self.item(caller, item).await?;
        Ok(self.store().bids(item, page).await?)
    }
}
