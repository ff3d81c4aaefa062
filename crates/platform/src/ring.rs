//! The clerk's commands in a webcast (decisions, section 7): one item in the ring, sold or passed.

use auction::{Auction, Item, RingCommand};
use uuid::Uuid;

use crate::bid::Bid;
use crate::deciding::{Decision, expect_version};
use crate::draft::Draft;
use crate::error::{PlatformError, PlatformResult};
use crate::idempotency::{Answering, Outcome};
use crate::port::Page;
use crate::{Caller, Platform, Scope};

/// Items read from the store at once.
const ITEMS_READ_MAX: usize = 500;

/// What the clerk wants of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClerkCommand {
    /// The item enters the empty ring; a PASSED one is offered again by it.
    Send,
    /// A bid in the room.
    RoomBid {
        /// Who bids, such as a paddle number; 1 to 64 characters.
        bidder: String,
        /// Minor units.
        amount: i64,
    },
    /// A bid that came over the internet and that the clerk takes.
    InternetBid {
        /// Who bids; 1 to 64 characters.
        bidder: String,
        /// Minor units.
        amount: i64,
    },
    /// The hammer falls.
    Sell,
    /// Not sold.
    Pass,
    /// The item leaves the ring undecided.
    Remove,
    /// A PASSED item is LIVE and waits to be sent again.
    OfferAgain,
}

/// What a clerk's command made of things.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RingState {
    /// The item.
    pub item: Item,
    /// Its auction, with what is in the ring now.
    pub auction: Auction,
    /// The bid that was taken by this command.
    pub bid: Option<Bid>,
}

impl Platform {
    /// The LIVE item that waits and comes next in running order, after the one that was sent last.
    ///
    /// Errors: `not_found` (auction, or no such item).
    pub async fn next_for_ring(&self, caller: &Caller, auction: Uuid) -> PlatformResult<Item> {
        caller.require(Scope::RingWrite)?;
        let auction = self.seen_auction(caller, auction).await?;
        // Behind the item that was sent last; behind the last one, from the beginning of the catalogue again.
        for after in [auction.ring_position, None] {
            if let Some(next) = self.first_that_waits(auction.uuid, after).await? {
                return Ok(next);
            }
        }
        Err(PlatformError::NotFound("item that waits"))
    }

    async fn first_that_waits(&self, auction: Uuid, mut after: Option<i64>) -> PlatformResult<Option<Item>> {
        loop {
            let items = self.store().items(auction, Page { after, limit: ITEMS_READ_MAX }).await?;
            let Some(last) = items.last().map(|item| item.position) else { return Ok(None) };
            if let Some(next) = items.into_iter().find(Item::waits_for_ring) {
                return Ok(Some(next));
            }
            after = Some(last);
        }
    }

    /// Does what the clerk wants of an item. `expected_version` is the item's that the clerk saw: of two clerks one gets
    /// `precondition_failed`, never two sales.
    ///
    /// Errors: `not_found`, `precondition_failed`, and those of [`auction::ring::decide`].
    pub async fn clerk(
        &self,
        caller: &Caller,
        item: Uuid,
        command: &ClerkCommand,
        expected_version: Option<i64>,
        answering: Option<Answering<'_, RingState>>,
    ) -> PlatformResult<Outcome<RingState>> {
        caller.require(Scope::RingWrite)?;
        let bid = self.ids().uuid_v7();
        self.decide(answering.as_ref(), || async {
            let (item, auction) = self.seen_item(caller, item).await?;
            expect_version(expected_version, item.version)?;
            let now = self.time_of(&auction);
            let decided = auction::ring::decide(&auction, &item, command.with_bid(bid), now)?;
            let mut draft = Draft::new(&caller.actor, now);
            // Also without changes of its own: the auction's guards count items by their status, and a bid must not
            // meet another clerk's hammer.
            let auction = draft.auction(auction, &decided.auction);
            let item = draft.item(&auction, item, &decided.item);
            let result = RingState { item, auction, bid: draft.last_bid().cloned() };
            let change = draft.finish(answering.as_ref(), &result);
            Ok(Decision { customer: result.item.customer, change, result })
        })
        .await
    }
}

impl ClerkCommand {
    /// The command of the rules; a bid gets its UUID.
    fn with_bid(&self, bid: Uuid) -> RingCommand {
        match self.clone() {
            Self::Send => RingCommand::Send,
            Self::RoomBid { bidder, amount } => RingCommand::RoomBid { bid, bidder, amount },
            Self::InternetBid { bidder, amount } => RingCommand::InternetBid { bid, bidder, amount },
            Self::Sell => RingCommand::Sell,
            Self::Pass => RingCommand::Pass,
            Self::Remove => RingCommand::Remove,
            Self::OfferAgain => RingCommand::OfferAgain,
        }
    }
}
