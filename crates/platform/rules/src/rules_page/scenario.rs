//! The second cell of an example: the steps, such as `a bids 500; b bids 300; the end is reached`.

use contract::{AuctionStatus, ItemStatus};
use uuid::Uuid;

use super::given::{Given, number};
use crate::item::{ConfirmedBuyer, NewLot, relist};
use crate::lifecycle::{self, AuctionCommand, ItemCounts};
use crate::ring::{Confirmed, ConfirmedPrice};
use crate::sample::{at, auction};
use crate::{
    Auction, AuctionChange, AuctionKind, BidLog, Bidder, Cause, Item, ItemChange, ItemCommand, LogHash,
    RegistrationRef, Rejection, RingCommand, item, ring,
};

/// A sale after the steps of an example.
pub(super) struct Scenario {
    pub(super) auction: Auction,
    pub(super) item: Item,
    pub(super) log: BidLog,
    pub(super) relisted: Option<Item>,
    /// Code of the rejection of the last step, if it was rejected.
    pub(super) refused: Option<&'static str>,
    bidders: Vec<Bidder>,
    now_seconds: i64,
}

enum Command {
    Item(ItemCommand),
    Ring(RingCommand),
}

use Command::{Item as OfItem, Ring as OfRing};

impl Scenario {
    pub(super) fn run(given: &str, happens: &str) -> Result<Self, String> {
        let Given { auction, item, bidders } = Given::read(given)?;
        let log = BidLog::default();
        let now_seconds = 10;
        let mut scenario = Self { auction, item, log, relisted: None, refused: None, bidders, now_seconds };
        for step in happens.split(';').map(str::trim).filter(|step| !step.is_empty()) {
            if let Some(code) = scenario.refused {
                return Err(format!("a step before {step:?} was rejected: {code}"));
            }
            scenario.take(step)?;
        }
        Ok(scenario)
    }

    fn take(&mut self, step: &str) -> Result<(), String> {
        let words: Vec<&str> = step.split_whitespace().collect();
        let refused = match words[..] {
            ["at", seconds] => {
                self.now_seconds = number(seconds)?;
                Ok(())
            }
            ["another", "is", "sent"] => {
                let item = Some(Uuid::from_u128(11));
                self.auction.apply(&AuctionChange::RingChanged { item, position: None, cause: Cause::SentToRing });
                Ok(())
            }
            ["another", "is", "passed"] => {
                self.auction.apply(&AuctionChange::RingChanged {
                    item: None,
                    position: None,
                    cause: Cause::PassedInRing,
                });
                Ok(())
            }
            ["relist"] => self.relist(),
            ["auction", "reconciled"] => self.decide_auction(AuctionStatus::Reconciliation),
            ["auction", "archived"] => self.decide_auction(AuctionStatus::Archived),
            ["preview", "again"] => self.decide_auction(AuctionStatus::Preview),
            ["live", "again"] => self.decide_auction(AuctionStatus::Live),
            ["begin"] => ring::begin(&self.auction).map(|changes| self.apply(&[], &changes)),
            _ => match self.command(&words)? {
                OfItem(command) => self.decide_item(command),
                OfRing(command) => self.decide_ring(command),
            },
        };
        self.refused = refused.err().map(|rejection| rejection.code());
        Ok(())
    }

    fn command(&self, words: &[&str]) -> Result<Command, String> {
        let bid = Uuid::from_u128(1_000 + self.item.bid_count as u128 + 100 * self.item.pending.len() as u128);
        let reason = || "requested".to_owned();
        let log = || self.log.clone();
        let is_webcast = self.auction.kind == AuctionKind::Webcast;
        Ok(match *words {
            [paddle, "bids", amount] if is_webcast => {
                OfRing(RingCommand::InternetBid { bid, bidder: self.bidder(paddle), amount: number(amount)? })
            }
            [paddle, "bids", amount] => {
                OfItem(ItemCommand::PlaceBid { bid, bidder: self.bidder(paddle), amount: number(amount)? })
            }
            [paddle, "leaves", maximum] => {
                let bidder = self.bidder(paddle);
                let maximum = number(maximum)?;
                OfItem(ItemCommand::PlaceAbsenteeBid { bid, bidder, maximum, unusual_amount: false })
            }
            [paddle, "leaves", maximum, "as", "unusual"] => {
                let bidder = self.bidder(paddle);
                let maximum = number(maximum)?;
                OfItem(ItemCommand::PlaceAbsenteeBid { bid, bidder, maximum, unusual_amount: true })
            }
            [paddle, "buys"] => OfItem(ItemCommand::BuyNow { bid, bidder: self.bidder(paddle) }),
            ["offer", paddle, amount] => {
                let bidder = self.registered(paddle);
                let amount = number(amount)?;
                OfItem(ItemCommand::AcceptOffer { bid, bidder, amount, reason: reason(), unusual_amount: false })
            }
            ["offer", paddle, amount, "as", "unusual"] => {
                let bidder = self.registered(paddle);
                let amount = number(amount)?;
                OfItem(ItemCommand::AcceptOffer { bid, bidder, amount, reason: reason(), unusual_amount: true })
            }
            ["unregistered", "offer", paddle, amount] => {
                let bidder = self.bidder(paddle);
                let amount = number(amount)?;
                OfItem(ItemCommand::AcceptOffer { bid, bidder, amount, reason: reason(), unusual_amount: false })
            }
            ["cancel", "bid", number] => {
                OfItem(ItemCommand::CancelBid { bid: self.numbered(number)?, reason: reason(), log: log() })
            }
            ["status", name] => {
                let to: ItemStatus = name.parse().map_err(|_| format!("{name} is not a status"))?;
                OfItem(ItemCommand::ChangeStatus { to, reason: Some(reason()) })
            }
            ["the", "end", "is", "reached"] => OfItem(ItemCommand::ReachEnd),
            ["the", "end", "is", "moved", "to", to] => {
                OfItem(ItemCommand::MoveEnd { to: at(number(to)?), reason: reason() })
            }
            ["reconciled"] => OfItem(ItemCommand::Reconcile),
            ["send"] => OfRing(RingCommand::Send { is_next: true }),
            ["ask", amount, ref confirmed @ ..] => {
                let confirmed = match *confirmed {
                    [] => ConfirmedPrice::default(),
                    ["below", "bids"] => ConfirmedPrice { below_standing_bid: true, ..ConfirmedPrice::default() },
                    ["with", "large", "jump"] => ConfirmedPrice { large_jump: true, ..ConfirmedPrice::default() },
                    _ => return Err(format!("unknown confirmation {:?}", confirmed.join(" "))),
                };
                OfRing(RingCommand::SetAskingPrice { amount: number(amount)?, confirmed, log: log() })
            }
            ["open", "room", amount] => {
                OfRing(RingCommand::OpenRoomBid { bid, amount: number(amount)?, large_jump: false })
            }
            ["room", paddle, amount, "with", "large", "jump"] => {
                let bidder = self.bidder(paddle);
                let amount = number(amount)?;
                OfRing(RingCommand::RoomBid { bid, bidder, amount, large_jump: true })
            }
            ["room", paddle, amount] => {
                let bidder = self.bidder(paddle);
                let amount = number(amount)?;
                OfRing(RingCommand::RoomBid { bid, bidder, amount, large_jump: false })
            }
            ["internet", paddle, amount] => {
                let bidder = self.bidder(paddle);
                let amount = number(amount)?;
                OfRing(RingCommand::RelayedBid { bid, bidder, amount, large_jump: false })
            }
            ["accept", paddle] => {
                let pending = self.item.pending.iter().find(|pending| pending.bidder == paddle);
                let bid = pending.map_or(Uuid::nil(), |pending| pending.bid);
                OfRing(RingCommand::AcceptPending { bid, bidder: self.bidder(paddle) })
            }
            ["commission"] => {
                let commissions =
                    ring::commissions(&self.item, &self.log).map_err(|rejection| rejection.to_string())?;
                let next = ring::next_commission(&self.item, &commissions);
                let bidder = self.bidder(next.map_or("nobody", |next| &next.bidder));
                OfRing(RingCommand::CommissionBid { bid, bidder, log: log() })
            }
            ["commission", paddle] => {
                OfRing(RingCommand::CommissionBid { bid, bidder: self.bidder(paddle), log: log() })
            }
            [paddle, "withdraws"] => {
                OfItem(ItemCommand::WithdrawAbsenteeBid { bidder: paddle.to_owned(), reason: None, log: log() })
            }
            ["undo"] => OfRing(RingCommand::Undo { reason: reason(), log: log() }),
            ["retract", "bid", number] => {
                OfRing(RingCommand::Retract { bid: self.numbered(number)?, reason: reason(), log: log() })
            }
            ["fair", "warning"] => OfRing(RingCommand::FairWarning),
            ["pause"] => OfRing(RingCommand::Pause),
            ["resume"] => OfRing(RingCommand::Resume),
            ["sell", ref confirmed @ ..] => {
                let confirmed = match *confirmed {
                    [] => Confirmed::default(),
                    ["below", "reserve"] => Confirmed { below_reserve: true, ..Confirmed::default() },
                    ["over", "waiting", "bid"] => Confirmed { over_waiting_bid: true, ..Confirmed::default() },
                    ["below", "reserve", "over", "waiting", "bid"] => {
                        Confirmed { below_reserve: true, over_waiting_bid: true }
                    }
                    _ => return Err(format!("unknown confirmation {:?}", confirmed.join(" "))),
                };
                OfRing(RingCommand::Sell { confirmed, log: log() })
            }
            ["unregistered", "buyer", paddle, ref how @ ..] => {
                let confirmed =
                    ConfirmedBuyer { not_approved: how == ["not", "approved"], ..ConfirmedBuyer::default() };
                OfItem(ItemCommand::ChangeBuyer { bidder: self.bidder(paddle), reason: Some(reason()), confirmed })
            }
            ["buyer", paddle, ref how @ ..] => {
                let confirmed = ConfirmedBuyer::default();
                let (reason, confirmed) = match *how {
                    [] => (Some(reason()), confirmed),
                    ["without", "reason"] => (None, confirmed),
                    ["not", "approved"] => (None, ConfirmedBuyer { not_approved: true, ..confirmed }),
                    ["over", "limit"] => (Some(reason()), ConfirmedBuyer { over_limit: true, ..confirmed }),
                    ["over", "limit", "without", "reason"] => (None, ConfirmedBuyer { over_limit: true, ..confirmed }),
                    _ => return Err(format!("unknown confirmation {:?}", how.join(" "))),
                };
                OfItem(ItemCommand::ChangeBuyer { bidder: self.registered(paddle), reason, confirmed })
            }
            ["price", amount, ref how @ ..] => {
                let (reason, unusual_amount) = match *how {
                    [] => (reason(), false),
                    ["as", "unusual"] => (reason(), true),
                    ["without", "reason"] => (String::new(), false),
                    _ => return Err(format!("unknown confirmation {:?}", how.join(" "))),
                };
                OfItem(ItemCommand::CorrectPrice { amount: number(amount)?, reason, unusual_amount })
            }
            ["pass"] => OfRing(RingCommand::Pass { over_waiting_bid: false, log: log() }),
            ["pass", "over", "waiting", "bid"] => OfRing(RingCommand::Pass { over_waiting_bid: true, log: log() }),
            ["remove"] => OfRing(RingCommand::Remove),
            ["offer", "again"] => OfRing(RingCommand::OfferAgain),
            ["reopen"] => OfRing(RingCommand::Reopen { reason: reason() }),
            _ => return Err(format!("unknown step {:?}", words.join(" "))),
        })
    }

    fn bidder(&self, paddle: &str) -> Bidder {
        let known = self.bidders.iter().find(|bidder| bidder.paddle == paddle);
        known.cloned().unwrap_or_else(|| Bidder::vouched_for(paddle))
    }

    fn registered(&self, paddle: &str) -> Bidder {
        let entry = RegistrationRef { uuid: Uuid::from_u128(90), entry: 1, hash: LogHash::default() };
        Bidder { registered: Some(entry), ..self.bidder(paddle) }
    }

    fn numbered(&self, word: &str) -> Result<Uuid, String> {
        Ok(self.log.get(number(word)?).map_or(Uuid::nil(), |record| record.bid))
    }

    fn decide_item(&mut self, command: ItemCommand) -> Result<(), Rejection> {
        let changes = item::decide(&self.auction, &self.item, command, at(self.now_seconds))?;
        self.apply(&changes, &[]);
        Ok(())
    }

    fn decide_auction(&mut self, to: AuctionStatus) -> Result<(), Rejection> {
        let live = u64::from(self.item.status == ItemStatus::Live);
        let counts = ItemCounts { total: 1, live, ..ItemCounts::default() };
        let command = AuctionCommand::to_status(to, Some("requested".to_owned()));
        let changes = lifecycle::decide(&self.auction, &counts, command, at(self.now_seconds))?;
        self.apply(&[], &changes);
        Ok(())
    }

    fn decide_ring(&mut self, command: RingCommand) -> Result<(), Rejection> {
        let decision = ring::decide(&self.auction, &self.item, command, at(self.now_seconds))?;
        self.apply(&decision.item, &decision.auction);
        Ok(())
    }

    fn relist(&mut self) -> Result<(), Rejection> {
        let into = Auction { uuid: Uuid::from_u128(100), ..auction(AuctionKind::Timed, AuctionStatus::Draft) };
        let uuid = Uuid::from_u128(110);
        let lot_number = "7".to_owned();
        let lot = NewLot { uuid, lot_number, position: 0, status: ItemStatus::Draft };
        let relisting = relist((&self.auction, &self.item), &into, lot, at(self.now_seconds))?;
        let mut item = relisting.item;
        relisting.created.iter().for_each(|change| item.apply(change));
        self.apply(&relisting.unsold, &[]);
        self.relisted = Some(item);
        Ok(())
    }

    fn apply(&mut self, item: &[ItemChange], auction: &[AuctionChange]) {
        for change in item {
            self.log.apply(change);
            self.item.apply(change);
        }
        auction.iter().for_each(|change| self.auction.apply(change));
    }
}
