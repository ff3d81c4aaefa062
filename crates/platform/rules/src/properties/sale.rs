//! The sale of a property test: one item, its auction, its log, and all changes so far.

use std::collections::BTreeSet;

use contract::{AuctionStatus, ItemStatus};
use jiff::Timestamp;
use uuid::Uuid;

use super::steps::{Facts, PADDLES, Paddle, Step};
use crate::edit::AuctionEdit;
use crate::item::{ConfirmedBuyer, ItemEdit};
use crate::ring::{Confirmed, ConfirmedPrice};
use crate::sample::{at, auction, item};
use crate::{
    Auction, AuctionChange, AuctionKind, BidLog, Bidder, Hidden, InternetBids, Item, ItemChange, ItemCommand,
    ItemCounts, RegistrationRef, Rejection, RingCommand, minimum_bid, ring,
};

pub(super) struct Sale {
    pub(super) auction: Auction,
    pub(super) item: Item,
    pub(super) log: BidLog,
    pub(super) beginning: (Auction, Item, BidLog),
    pub(super) now_seconds: i64,
    pub(super) item_changes: Vec<ItemChange>,
    pub(super) auction_changes: Vec<AuctionChange>,
    /// Every price so far.
    pub(super) prices: BTreeSet<i64>,
    /// Suspended bidders.
    pub(super) suspended: BTreeSet<Paddle>,
    /// Spending limit of the bidder "d".
    pub(super) limit: Option<i64>,
}

enum Command {
    OfItem(ItemCommand),
    OfRing(RingCommand),
    Edit(Box<ItemEdit>),
    EditAuction(Box<AuctionEdit>),
    Shift(Timestamp),
}

use Command::{OfItem, OfRing};

impl Sale {
    /// A sale with an item that was created LIVE.
    pub(super) fn new(facts: Facts) -> Self {
        let internet_bids =
            if facts.accepts_at_once { InternetBids::AcceptedAtOnce } else { InternetBids::WaitForClerk };
        let Facts { kind, extension_seconds, .. } = facts;
        let auction = Auction { extension_seconds, internet_bids, ..auction(kind, AuctionStatus::Live) };
        let item = Item {
            sequence: 0,
            opening_bid: facts.opening_bid,
            fixed_increment: facts.fixed_increment,
            reserve: facts.reserve.map(Hidden::new),
            buy_now: facts.buy_now,
            ..item(&auction, ItemStatus::Draft)
        };
        let mut sale = Self {
            beginning: (auction.clone(), item.clone(), BidLog::default()),
            auction,
            item,
            log: BidLog::default(),
            now_seconds: 0,
            item_changes: Vec::new(),
            auction_changes: Vec::new(),
            prices: BTreeSet::new(),
            suspended: BTreeSet::new(),
            limit: facts.limit,
        };
        sale.run(OfItem(ItemCommand::Create { status: ItemStatus::Live })).unwrap();
        sale
    }

    pub(super) fn take(&mut self, step: Step) -> Result<(), Rejection> {
        match step {
            Step::Wait { seconds } => self.now_seconds += seconds,
            Step::Suspend { paddle } => {
                self.suspended.insert(paddle);
            }
            Step::Approve { paddle } => {
                self.suspended.remove(paddle);
            }
            step => return self.run(self.command(step)),
        }
        Ok(())
    }

    fn command(&self, step: Step) -> Command {
        let bid = Uuid::from_u128(1_000 + self.item_changes.len() as u128);
        let log = self.log.clone();
        let reason = "query".to_owned();
        let minimum = minimum_bid(&self.auction, &self.item);
        let is_timed = self.auction.kind == AuctionKind::Timed;
        let bidder = |paddle: Paddle| Bidder {
            suspended: self.suspended.contains(paddle),
            limit: self.limit.filter(|_| paddle == "d"),
            ..Bidder::vouched_for(paddle)
        };
        match step {
            Step::Administrator { to, with_reason } => {
                OfItem(ItemCommand::ChangeStatus { to, reason: with_reason.then_some(reason) })
            }
            Step::GoLive => OfItem(ItemCommand::GoLive),
            Step::Edit { opening_bid, reserve, buy_now } => {
                let reserve = reserve.map(|reserve| reserve.map(Hidden::new));
                Command::Edit(Box::new(ItemEdit { opening_bid, reserve, buy_now, ..ItemEdit::default() }))
            }
            Step::EditAuction { extension_seconds } => {
                let extension_seconds = Some(extension_seconds);
                Command::EditAuction(Box::new(AuctionEdit { extension_seconds, ..AuctionEdit::default() }))
            }
            Step::Shift { to_seconds } => Command::Shift(at(to_seconds)),
            Step::ReachEnd | Step::Suspend { .. } | Step::Approve { .. } | Step::Wait { .. } => {
                OfItem(ItemCommand::ReachEnd)
            }
            Step::MoveEnd { seconds } => OfItem(ItemCommand::MoveEnd { to: at(seconds), reason }),
            Step::Reconcile => OfItem(ItemCommand::Reconcile),
            Step::Bid { paddle, above_minimum } if is_timed => {
                OfItem(ItemCommand::PlaceBid { bid, bidder: bidder(paddle), amount: minimum + above_minimum })
            }
            Step::Bid { paddle, above_minimum } => {
                OfRing(RingCommand::InternetBid { bid, bidder: bidder(paddle), amount: minimum + above_minimum })
            }
            Step::Leave { paddle, above_minimum } => OfItem(ItemCommand::PlaceAbsenteeBid {
                bid,
                bidder: bidder(paddle),
                maximum: minimum + above_minimum,
                unusual_amount: true,
            }),
            Step::BuyNow { paddle } => OfItem(ItemCommand::BuyNow { bid, bidder: bidder(paddle) }),
            Step::AcceptOffer { paddle, amount } => {
                let entry = RegistrationRef { uuid: Uuid::from_u128(90), entry: 1, hash: crate::LogHash::default() };
                let bidder = Bidder { registered: Some(entry), ..bidder(paddle) };
                OfItem(ItemCommand::AcceptOffer { bid, bidder, amount, reason, unusual_amount: true })
            }
            Step::Cancel { ago } => OfItem(ItemCommand::CancelBid { bid: self.bid_before(ago), reason, log }),
            Step::Send => OfRing(RingCommand::Send { is_next: true }),
            Step::RoomBid { paddle, above_minimum } => {
                let large_jump = above_minimum % 20 == 0;
                OfRing(RingCommand::RoomBid {
                    bid,
                    bidder: bidder(paddle),
                    amount: minimum + above_minimum,
                    large_jump,
                })
            }
            Step::Accept { place } => {
                let pending = self.item.pending.get(place);
                let paddle =
                    PADDLES.into_iter().find(|paddle| pending.is_some_and(|pending| pending.bidder == *paddle));
                let paddle = paddle.unwrap_or("unknown");
                let bid = pending.map_or(bid, |pending| pending.bid);
                OfRing(RingCommand::AcceptPending { bid, bidder: bidder(paddle) })
            }
            Step::Commission { paddle } => OfRing(RingCommand::CommissionBid { bid, bidder: bidder(paddle), log }),
            Step::Withdraw { paddle } => {
                OfItem(ItemCommand::WithdrawAbsenteeBid { bidder: paddle.to_owned(), reason: None, log })
            }
            Step::Ask { above_minimum } => {
                // Some are confirmed.
                let (large_jump, below_standing_bid) = (above_minimum % 2 == 0, above_minimum % 3 != 0);
                let confirmed = ConfirmedPrice { large_jump, below_standing_bid };
                OfRing(RingCommand::SetAskingPrice { amount: (minimum + above_minimum).max(1), confirmed, log })
            }
            Step::Undo => OfRing(RingCommand::Undo { reason, log }),
            Step::Retract { ago } => OfRing(RingCommand::Retract { bid: self.bid_before(ago), reason, log }),
            Step::FairWarning => OfRing(RingCommand::FairWarning),
            Step::Pause => OfRing(RingCommand::Pause),
            Step::Resume => OfRing(RingCommand::Resume),
            Step::OpenRoomBid { above_minimum } => {
                let large_jump = above_minimum % 20 == 0;
                OfRing(RingCommand::OpenRoomBid { bid, amount: minimum + above_minimum, large_jump })
            }
            Step::Buyer { paddle, with_reason } => {
                let confirmed = ConfirmedBuyer { not_approved: with_reason, over_limit: with_reason };
                OfItem(ItemCommand::ChangeBuyer {
                    bidder: bidder(paddle),
                    reason: with_reason.then_some(reason),
                    confirmed,
                })
            }
            Step::Price { amount } => OfItem(ItemCommand::CorrectPrice { amount, reason, unusual_amount: true }),
            Step::Sell { below_reserve, over_waiting_bid } => {
                OfRing(RingCommand::Sell { confirmed: Confirmed { below_reserve, over_waiting_bid }, log })
            }
            Step::Pass { over_waiting_bid } => OfRing(RingCommand::Pass { over_waiting_bid, log }),
            Step::Remove => OfRing(RingCommand::Remove),
            Step::OfferAgain => OfRing(RingCommand::OfferAgain),
            Step::Reopen => OfRing(RingCommand::Reopen { reason }),
        }
    }

    fn bid_before(&self, ago: i64) -> Uuid {
        self.log.get(self.item.bid_count - ago).map_or(Uuid::nil(), |record| record.bid)
    }

    fn run(&mut self, command: Command) -> Result<(), Rejection> {
        let now = at(self.now_seconds);
        let (item_changes, auction_changes) = match command {
            OfItem(command) => (crate::item::decide(&self.auction, &self.item, command, now)?, Vec::new()),
            Command::Edit(edit) => (crate::item::edit(&self.auction, &self.item, *edit)?, Vec::new()),
            Command::EditAuction(edit) => {
                let with_bids = u64::from(self.item.has_bids());
                let counts = ItemCounts { total: 1, live: 1, with_bids, ..ItemCounts::default() };
                (Vec::new(), crate::edit::edit(&self.auction, &counts, *edit)?)
            }
            Command::Shift(to) => {
                let changes = crate::item::move_plan(&self.auction, &self.item, Some(to), Some("query"), now)?;
                (changes, Vec::new())
            }
            OfRing(command) => {
                let decision = ring::decide(&self.auction, &self.item, command, now)?;
                (decision.item, decision.auction)
            }
        };
        for change in item_changes {
            self.check_change(&change);
            self.item.apply(&change);
            self.log.apply(&change);
            self.prices.extend(self.item.price());
            self.item_changes.push(change);
        }
        for change in auction_changes {
            self.auction.apply(&change);
            self.auction_changes.push(change);
        }
        Ok(())
    }
}
