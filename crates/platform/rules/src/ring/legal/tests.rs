//! The legal commands are exactly the ones that the rules accept, after every series of at most six commands.

use uuid::Uuid;

use super::*;
use crate::ring::{Confirmed, ConfirmedPrice, begin, decide};
use crate::sample::{at, auction, item};
use crate::{BidRecord, Bidder, ItemCommand, RingCommand};
use contract::ItemStatus;

#[derive(Clone)]
struct Sale {
    auction: Auction,
    item: Item,
    log: BidLog,
}

const STEPS: [&str; 14] = [
    "begin",
    "leave",
    "send",
    "room",
    "online",
    "accept",
    "commission",
    "undo",
    "lower",
    "pause",
    "resume",
    "sell",
    "pass",
    "reopen",
];

impl Sale {
    fn new() -> Self {
        let auction = Auction { phase: WebcastPhase::PreBidding, ..auction(AuctionKind::Webcast, AuctionStatus::Live) };
        let item = item(&auction, ItemStatus::Live);
        Sale { auction, item, log: BidLog::default() }
    }

    fn command(&self, step: &str) -> RingCommand {
        let bid = Uuid::from_u128(500 + self.item.bid_count as u128);
        let asking_price = self.item.in_ring().map_or(10_000, |ring| ring.asking_price);
        let log = self.log.clone();
        let reason = "requested".to_owned();
        let bidder = Bidder::vouched_for("b-17");
        match step {
            "send" => RingCommand::Send { is_next: true },
            "room" => {
                RingCommand::RoomBid { bid, bidder: Bidder::vouched_for("7"), amount: asking_price, large_jump: false }
            }
            "online" => RingCommand::InternetBid {
                bid: Uuid::from_u128(900 + self.item.bid_count as u128),
                bidder,
                amount: asking_price,
            },
            "accept" => {
                let bid = self.item.pending.first().map_or(bid, |pending| pending.bid);
                RingCommand::AcceptPending { bid, bidder }
            }
            "commission" => RingCommand::CommissionBid { bid, bidder: Bidder::vouched_for("absent"), log },
            "undo" => RingCommand::Undo { reason, log },
            "retract" => {
                let counts = |record: &&BidRecord| record.stands() && !self.item.is_over(record.number, record.source);
                let bid = self.log.bids().iter().find(counts).map_or(bid, |record| record.bid);
                RingCommand::Retract { bid, reason, log }
            }
            "lower" => {
                let confirmed = ConfirmedPrice { below_standing_bid: true, ..ConfirmedPrice::default() };
                RingCommand::SetAskingPrice { amount: 5_000, confirmed, log }
            }
            "warning" => RingCommand::FairWarning,
            "pause" => RingCommand::Pause,
            "resume" => RingCommand::Resume,
            "sell" => {
                RingCommand::Sell { confirmed: Confirmed { over_waiting_bid: true, ..Confirmed::default() }, log }
            }
            "pass" => RingCommand::Pass { over_waiting_bid: true, log },
            "remove" => RingCommand::Remove,
            "offer again" => RingCommand::OfferAgain,
            _ => RingCommand::Reopen { reason },
        }
    }

    /// The sale after the step; none when the rules reject the step.
    fn after(&self, step: &str) -> Option<Self> {
        let mut next = self.clone();
        let (of_item, of_auction) = match step {
            "begin" => (Vec::new(), begin(&self.auction).ok()?),
            "leave" => {
                let bid = Uuid::from_u128(100 + self.item.bid_count as u128);
                let leave = ItemCommand::PlaceAbsenteeBid {
                    bid,
                    bidder: Bidder::vouched_for("absent"),
                    maximum: 12_000,
                    unusual_amount: false,
                };
                (crate::item::decide(&self.auction, &self.item, leave, at(1)).ok()?, Vec::new())
            }
            step => {
                let decision = decide(&self.auction, &self.item, self.command(step), at(1)).ok()?;
                (decision.item, decision.auction)
            }
        };
        for change in &of_item {
            next.item.apply(change);
            next.log.apply(change);
        }
        of_auction.iter().for_each(|change| next.auction.apply(change));
        Some(next)
    }

    fn legal(&self) -> Vec<RingAction> {
        let is_in = self.auction.in_ring == Some(self.item.uuid);
        legal_actions(&RingFacts {
            auction: &self.auction,
            in_ring: is_in.then_some((&self.item, &self.log)),
            last: (self.auction.last_in_ring == Some(self.item.uuid)).then_some(&self.item),
            any_waits: self.item.waits_for_ring(),
            any_passed: self.item.status == ItemStatus::Passed,
            now: at(1),
        })
    }

    #[track_caller]
    fn check_legal(&self, steps: &[&str]) {
        let legal = self.legal();
        for (action, step) in [
            (RingAction::Begin, "begin"),
            (RingAction::Send, "send"),
            (RingAction::SetAskingPrice, "lower"),
            (RingAction::Bid, "room"),
            (RingAction::Accept, "accept"),
            (RingAction::CommissionBid, "commission"),
            (RingAction::Undo, "undo"),
            (RingAction::Retract, "retract"),
            (RingAction::FairWarning, "warning"),
            (RingAction::Pause, "pause"),
            (RingAction::Resume, "resume"),
            (RingAction::Sell, "sell"),
            (RingAction::Pass, "pass"),
            (RingAction::Remove, "remove"),
            (RingAction::OfferAgain, "offer again"),
            (RingAction::Reopen, "reopen"),
        ] {
            assert_eq!(legal.contains(&action), self.after(step).is_some(), "{} after {steps:?}", action.as_str());
        }
    }
}

fn walk(sale: &Sale, steps: &mut Vec<&'static str>, left: usize) {
    sale.check_legal(steps);
    if left == 0 {
        return;
    }
    for step in STEPS {
        if let Some(next) = sale.after(step) {
            steps.push(step);
            walk(&next, steps, left - 1);
            steps.pop();
        }
    }
}

#[test]
fn legal_commands_are_exactly_the_accepted_ones() {
    walk(&Sale::new(), &mut Vec::new(), 6);
}

#[test]
fn only_a_live_webcast_has_legal_commands() {
    let mut sale = Sale::new();
    sale.auction.status = AuctionStatus::Preview;
    assert_eq!(sale.legal(), []);
    sale.auction = auction(AuctionKind::Timed, AuctionStatus::Live);
    assert_eq!(sale.legal(), []);
}
