//! Compares the commission book with a plain model, which keeps one number for each fact. For any history of absentee bids
//! and bids in the ring, the rules accept the same steps as the model, and reach the same book, standing bid and asking
//! price.
//!
//! `PROPTEST_CASES=1000000 cargo test -p platform-rules the_book` runs a million histories.

use std::collections::BTreeMap;

use contract::{AuctionStatus, ItemStatus};
use proptest::prelude::*;
use uuid::Uuid;

use crate::ring::{Confirmed, ConfirmedPrice, commissions, next_commission};
use crate::sample::{at, auction, item};
use crate::{Auction, AuctionKind, BidLog, Bidder, Hidden, Item, ItemCommand, PublicBid, Rejection, RingCommand, ring};

const PADDLES: [&str; 4] = ["a", "b", "c", "d"];
const OPENING: i64 = 100;
const STEP: i64 = 10;
/// Histories of a usual run.
const HISTORIES: u32 = 4_000;

#[derive(Debug, Clone, Copy)]
enum Step {
    Leave { paddle: usize, maximum: i64 },
    Withdraw { paddle: usize },
    Send,
    Remove,
    Room { paddle: usize, above: i64 },
    Web { paddle: usize, above: i64 },
    Accept,
    Book,
    RaiseAsk { above: i64 },
    Undo,
    Sell { over_waiting_bid: bool },
    Pass { over_waiting_bid: bool },
    Reopen,
    OfferAgain,
}

fn step() -> impl Strategy<Value = Step> {
    let paddle = || 0..PADDLES.len();
    let tens = |range: std::ops::Range<i64>| range.prop_map(|tens| tens * 5);
    prop_oneof![
        6 => (paddle(), tens(16..80)).prop_map(|(paddle, maximum)| Step::Leave { paddle, maximum }),
        1 => paddle().prop_map(|paddle| Step::Withdraw { paddle }),
        4 => Just(Step::Send),
        1 => Just(Step::Remove),
        2 => (paddle(), tens(-1..8)).prop_map(|(paddle, above)| Step::Room { paddle, above }),
        2 => (paddle(), tens(-1..20)).prop_map(|(paddle, above)| Step::Web { paddle, above }),
        1 => Just(Step::Accept),
        4 => Just(Step::Book),
        1 => tens(0..20).prop_map(|above| Step::RaiseAsk { above }),
        1 => Just(Step::Undo),
        1 => any::<bool>().prop_map(|over_waiting_bid| Step::Sell { over_waiting_bid }),
        1 => any::<bool>().prop_map(|over_waiting_bid| Step::Pass { over_waiting_bid }),
        1 => Just(Step::Reopen),
        1 => Just(Step::OfferAgain),
    ]
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    Waiting,
    InRing,
    Sold,
    Passed,
}

type Standing = Option<(usize, i64)>;

/// The model, after the rules page, with one number for each fact.
struct Model {
    reserve: Option<i64>,
    place: Place,
    /// Maximum of each absentee, and the time at which it was raised last.
    book: BTreeMap<usize, (i64, i64)>,
    time: i64,
    standing: Standing,
    asked: i64,
    /// Waiting web bids by arrival.
    web: Vec<(usize, i64)>,
    /// For each bid that an undo can reach, the bid before it and the asking price that it answered.
    undo: Vec<(Standing, i64)>,
    before_pass: Option<(Standing, Vec<(Standing, i64)>)>,
}

impl Model {
    fn new(reserve: Option<i64>) -> Self {
        Model {
            reserve,
            place: Place::Waiting,
            book: BTreeMap::new(),
            time: 0,
            standing: None,
            asked: 0,
            web: Vec::new(),
            undo: Vec::new(),
            before_pass: None,
        }
    }

    fn next_price(&self) -> i64 {
        self.standing.map_or(OPENING, |(_, price)| price + STEP)
    }

    /// Paddles of the book, the best first.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = self.book.keys().copied().collect();
        order.sort_by_key(|paddle| (-self.book[paddle].0, self.book[paddle].1));
        order
    }

    fn next_in_book(&self) -> Option<usize> {
        self.order().into_iter().find(|paddle| match self.standing {
            None => true,
            Some((leader, price)) => leader != *paddle && self.book[paddle].0 > price,
        })
    }

    fn higher_waits(&self) -> bool {
        let price = self.standing.map_or(0, |(_, price)| price);
        self.web.iter().any(|(_, amount)| *amount > price) || self.next_in_book().is_some()
    }

    fn bid(&mut self, paddle: usize, amount: i64) {
        self.undo.push((self.standing, self.asked));
        if amount >= self.asked {
            self.asked = amount + STEP;
        }
        self.standing = Some((paddle, amount));
        self.web.retain(|(_, waiting)| *waiting >= self.asked);
    }

    /// Drops the web bids below the asking price, and those of the bidder who leads.
    fn drop_waiting(&mut self) {
        let leader = self.standing.map(|(leader, _)| leader);
        self.web.retain(|(paddle, waiting)| *waiting >= self.asked && Some(*paddle) != leader);
    }

    fn leave_ring(&mut self, place: Place) {
        self.place = place;
        self.web.clear();
    }

    /// Returns false when the model refuses the step.
    fn take(&mut self, step: Step) -> bool {
        self.time += 1;
        let in_ring = self.place == Place::InRing;
        let waits = self.higher_waits();
        match step {
            Step::Leave { paddle, maximum } => {
                let done = self.place == Place::Waiting && maximum >= self.next_price();
                if done {
                    let raised = self.book.get(&paddle).filter(|(before, _)| maximum <= *before).map(|(_, at)| *at);
                    self.book.insert(paddle, (maximum, raised.unwrap_or(self.time)));
                }
                done
            }
            Step::Withdraw { paddle } => self.place == Place::Waiting && self.book.remove(&paddle).is_some(),
            Step::Send => {
                let done = matches!(self.place, Place::Waiting | Place::Passed);
                if done {
                    if self.place == Place::Passed {
                        (self.standing, self.undo) = (None, Vec::new());
                    }
                    self.place = Place::InRing;
                    self.asked = self.next_price();
                }
                done
            }
            Step::Remove => {
                if in_ring {
                    self.leave_ring(Place::Waiting);
                }
                in_ring
            }
            Step::Room { paddle, above } => {
                let done = in_ring && above >= 0;
                if done {
                    self.bid(paddle, self.asked + above);
                }
                done
            }
            Step::Web { paddle, above } => {
                let leads = self.standing.is_some_and(|(leader, _)| leader == paddle);
                let done = in_ring && above >= 0 && !leads;
                if done {
                    self.web.retain(|(other, _)| *other != paddle);
                    self.web.push((paddle, self.asked + above));
                }
                done
            }
            Step::Accept => {
                let first = self.web.first().copied().filter(|_| in_ring);
                if let Some((paddle, amount)) = first {
                    self.bid(paddle, amount);
                }
                first.is_some()
            }
            Step::Book => {
                let next = self.next_in_book().filter(|_| in_ring);
                if let Some(paddle) = next {
                    let maximum = self.book[&paddle].0;
                    let second = self.book.iter().filter(|(other, _)| **other != paddle).map(|(_, left)| left.0).max();
                    let reserve = self.reserve.filter(|reserve| maximum >= *reserve).unwrap_or(0);
                    let wanted = self.asked.max(second.map_or(0, |second| second + STEP)).max(reserve);
                    self.bid(paddle, wanted.min(maximum));
                }
                next.is_some()
            }
            Step::RaiseAsk { above } => {
                if in_ring {
                    self.asked += above;
                    self.drop_waiting();
                }
                in_ring
            }
            Step::Undo => {
                let undone = if in_ring { self.undo.pop() } else { None };
                if let Some((standing, asked)) = undone {
                    (self.standing, self.asked) = (standing, asked);
                    self.drop_waiting();
                }
                undone.is_some()
            }
            Step::Sell { over_waiting_bid } => {
                let done = in_ring && self.standing.is_some() && (over_waiting_bid || !waits);
                if done {
                    self.leave_ring(Place::Sold);
                }
                done
            }
            Step::Pass { over_waiting_bid } => {
                let done = in_ring && (over_waiting_bid || !waits);
                if done {
                    self.before_pass = Some((self.standing.take(), std::mem::take(&mut self.undo)));
                    self.leave_ring(Place::Passed);
                }
                done
            }
            Step::Reopen => {
                let done = matches!(self.place, Place::Sold | Place::Passed);
                if self.place == Place::Passed
                    && let Some((standing, undo)) = self.before_pass.take()
                {
                    (self.standing, self.undo) = (standing, undo);
                }
                if done {
                    self.place = Place::InRing;
                    self.asked = self.next_price();
                }
                done
            }
            Step::OfferAgain => {
                let done = self.place == Place::Passed;
                if done {
                    self.place = Place::Waiting;
                }
                done
            }
        }
    }
}

struct Real {
    auction: Auction,
    item: Item,
    log: BidLog,
    seconds: i64,
}

impl Real {
    fn take(&mut self, step: Step) -> Result<(), Rejection> {
        self.seconds += 1;
        let now = at(self.seconds);
        let bid = Uuid::from_u128(1_000 + self.seconds as u128);
        let bidder = |paddle: usize| Bidder::vouched_for(PADDLES[paddle]);
        let log = self.log.clone();
        let reason = "requested".to_owned();
        let asked = self.item.in_ring().map_or(OPENING, |ring| ring.asking_price);
        let command = match step {
            Step::Leave { paddle, maximum } => {
                return self.item_command(ItemCommand::PlaceAbsenteeBid {
                    bid,
                    bidder: bidder(paddle),
                    maximum,
                    unusual_amount: true,
                });
            }
            Step::Withdraw { paddle } => {
                let bidder = PADDLES[paddle].to_owned();
                return self.item_command(ItemCommand::WithdrawAbsenteeBid { bidder, reason: None, log });
            }
            Step::Send => RingCommand::Send { is_next: true },
            Step::Remove => RingCommand::Remove,
            Step::Room { paddle, above } => {
                RingCommand::RoomBid { bid, bidder: bidder(paddle), amount: asked + above, large_jump: true }
            }
            Step::Web { paddle, above } => {
                RingCommand::InternetBid { bid, bidder: bidder(paddle), amount: asked + above }
            }
            Step::Accept => {
                let first = self.item.pending.first();
                let bidder = Bidder::vouched_for(first.map_or("nobody", |first| &first.bidder));
                RingCommand::AcceptPending { bid: first.map_or(bid, |first| first.bid), bidder }
            }
            Step::Book => {
                let commissions = commissions(&self.item, &self.log)?;
                let next = next_commission(&self.item, &commissions);
                let bidder = Bidder::vouched_for(next.map_or("nobody", |next| &next.bidder));
                RingCommand::CommissionBid { bid, bidder, log }
            }
            Step::RaiseAsk { above } => {
                let confirmed = ConfirmedPrice { large_jump: true, ..ConfirmedPrice::default() };
                RingCommand::SetAskingPrice { amount: asked + above, confirmed, log }
            }
            Step::Undo => RingCommand::Undo { reason, log },
            Step::Sell { over_waiting_bid } => {
                RingCommand::Sell { confirmed: Confirmed { below_reserve: true, over_waiting_bid }, log }
            }
            Step::Pass { over_waiting_bid } => RingCommand::Pass { over_waiting_bid, log },
            Step::Reopen => RingCommand::Reopen { reason },
            Step::OfferAgain => RingCommand::OfferAgain,
        };
        let decision = ring::decide(&self.auction, &self.item, command, now)?;
        decision.auction.iter().for_each(|change| self.auction.apply(change));
        self.apply(&decision.item);
        Ok(())
    }

    fn item_command(&mut self, command: ItemCommand) -> Result<(), Rejection> {
        let changes = crate::item::decide(&self.auction, &self.item, command, at(self.seconds))?;
        self.apply(&changes);
        Ok(())
    }

    fn apply(&mut self, changes: &[crate::ItemChange]) {
        for change in changes {
            self.item.apply(change);
            self.log.apply(change);
        }
    }

    /// The book, best first.
    fn book(&self) -> Vec<(String, i64)> {
        let commissions = commissions(&self.item, &self.log).unwrap();
        commissions.into_iter().map(|left| (left.bidder, left.maximum.reveal())).collect()
    }
}

fn histories() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(HISTORIES)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(histories()))]

    #[test]
    fn the_book_is_that_of_a_plain_model(
        reserve in prop::option::of((16_i64..80).prop_map(|tens| tens * 5)),
        steps in prop::collection::vec(step(), 1..30),
    ) {
        let auction = auction(AuctionKind::Webcast, AuctionStatus::Live);
        let lot = item(&auction, ItemStatus::Live);
        let reserve_of_lot = reserve.map(Hidden::new);
        let lot = Item { opening_bid: OPENING, fixed_increment: Some(STEP), reserve: reserve_of_lot, ..lot };
        let mut real = Real { auction, item: lot, log: BidLog::default(), seconds: 0 };
        let mut model = Model::new(reserve);
        for step in steps {
            let refused = real.take(step).err();
            let done = model.take(step);
            prop_assert_eq!(refused.is_none(), done, "{:?}: {:?}", step, refused);
            let standing = real.item.standing.as_ref().map(|bid| (bid.bidder.as_str(), bid.amount));
            prop_assert_eq!(standing, model.standing.map(|(paddle, price)| (PADDLES[paddle], price)), "{:?}", step);
            let book: Vec<_> =
                model.order().into_iter().map(|paddle| (PADDLES[paddle].to_owned(), model.book[&paddle].0)).collect();
            prop_assert_eq!(real.book(), book, "{:?}", step);
            if let Some(ring) = real.item.in_ring() {
                prop_assert_eq!(ring.asking_price, model.asked, "{:?}", step);
                let web: Vec<_> = real.item.pending.iter().map(|bid| (bid.bidder.as_str(), bid.amount)).collect();
                let expected: Vec<_> = model.web.iter().map(|(paddle, amount)| (PADDLES[*paddle], *amount)).collect();
                prop_assert_eq!(web, expected, "{:?}", step);
            }
            let shown = real.log.bids().iter().filter_map(|record| PublicBid::of(&real.item, record));
            let numbers: Vec<i64> = shown.map(|bid| bid.number).collect();
            prop_assert_eq!(numbers, (1..=real.item.shown_bids()).collect::<Vec<_>>(), "public numbers have a gap");
        }
    }
}
