//! A plain model of a sale: the price follows from the two highest maxima, and the ring is an asking price.

use contract::ItemStatus;
use platform_rules::AuctionKind;

use crate::test_sale::{INCREMENT, OPENING};

/// A command for the model and the platform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    Bid { paddle: String, amount: i64 },
    Status { to: ItemStatus },
    Correct,
    Send,
    RoomBid { paddle: String, amount: i64 },
    Sell,
    Pass,
    Remove,
    OfferAgain,
    Reopen,
    End,
}

/// The state of an item in the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Model {
    kind: AuctionKind,
    pub(crate) status: ItemStatus,
    pub(crate) price: Option<i64>,
    pub(crate) leader: Option<String>,
    maximum: i64,
    asked: Option<i64>,
    /// Price and leader before the pass.
    before_pass: (Option<i64>, Option<String>),
    /// True when the end of a timed item has passed: it can't be LIVE again.
    is_over: bool,
}

impl Model {
    pub(crate) fn new(kind: AuctionKind) -> Self {
        Self {
            kind,
            status: ItemStatus::Live,
            price: None,
            leader: None,
            maximum: 0,
            asked: None,
            before_pass: (None, None),
            is_over: false,
        }
    }

    fn minimum(&self) -> i64 {
        self.price.map_or(OPENING, |price| price + INCREMENT)
    }

    /// Applies a command and returns true, or refuses it, changes nothing and returns false.
    pub(crate) fn take(&mut self, command: &Command) -> bool {
        use ItemStatus::{Live, Passed, Sold, Suspended, Unsold};
        let is_timed = self.kind == AuctionKind::Timed;
        match command {
            Command::Bid { paddle, amount } => {
                let is_leader = self.leader.as_ref() == Some(paddle);
                let least = if is_leader { self.maximum + 1 } else { self.minimum() };
                let taken = is_timed && self.status == Live && *amount >= least;
                if taken {
                    self.proxy(paddle, *amount, is_leader);
                }
                taken
            }
            Command::Status { to } => {
                let in_ring = self.asked.is_some();
                let taken = match (self.status, *to) {
                    (Live, Suspended) => !in_ring,
                    (Suspended, Live) => !self.is_over,
                    _ => false,
                };
                if taken {
                    self.status = *to;
                }
                taken
            }
            Command::Correct => self.moved(matches!(self.status, Sold | Passed) && !is_timed, Live),
            Command::Send => {
                let taken = !is_timed && self.asked.is_none() && matches!(self.status, Live | Passed);
                if taken {
                    self.status = Live;
                    self.asked = Some(self.minimum());
                }
                taken
            }
            Command::RoomBid { paddle, amount } => {
                let taken = !is_timed && self.asked.is_some_and(|asked| *amount >= asked);
                if taken {
                    (self.price, self.leader) = (Some(*amount), Some(paddle.clone()));
                    self.asked = Some(amount + INCREMENT);
                }
                taken
            }
            Command::Sell => self.leaves(self.asked.is_some() && self.price.is_some(), Sold),
            Command::Pass => {
                let taken = self.leaves(self.asked.is_some(), Passed);
                if taken {
                    self.before_pass = (self.price.take(), self.leader.take());
                }
                taken
            }
            Command::Remove => self.leaves(self.asked.is_some(), Live),
            Command::OfferAgain => self.moved(!is_timed && self.status == Passed, Live),
            Command::Reopen => {
                let taken = !is_timed && matches!(self.status, Sold | Passed);
                if taken && self.status == Passed {
                    (self.price, self.leader) = self.before_pass.clone();
                }
                if taken {
                    self.asked = Some(self.minimum());
                }
                self.moved(taken, Live)
            }
            Command::End => {
                self.is_over |= is_timed;
                let to = if self.price.is_some() { Sold } else { Unsold };
                self.moved(is_timed && self.status == Live, to)
            }
        }
    }

    fn proxy(&mut self, paddle: &str, amount: i64, is_leader: bool) {
        match self.price {
            None => {
                (self.price, self.leader, self.maximum) = (Some(OPENING), Some(paddle.to_owned()), amount);
            }
            Some(_) if is_leader => self.maximum = amount,
            Some(_) if amount > self.maximum => {
                self.price = Some(amount.min(self.maximum + INCREMENT));
                (self.leader, self.maximum) = (Some(paddle.to_owned()), amount);
            }
            Some(_) => self.price = Some(self.maximum.min(amount + INCREMENT)),
        }
    }

    fn leaves(&mut self, may: bool, to: ItemStatus) -> bool {
        if may {
            self.asked = None;
        }
        self.moved(may, to)
    }

    fn moved(&mut self, may: bool, to: ItemStatus) -> bool {
        if may {
            self.status = to;
        }
        may
    }
}
