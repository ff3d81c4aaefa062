//! What holds after any run of commands, legal or not, in any order, on one item.

use contract::{AuctionStatus, ItemStatus};
use proptest::prelude::*;
use uuid::Uuid;

use crate::sample::{at, auction, item};
use crate::{
    Auction, AuctionChange, AuctionKind, Cause, Item, ItemChange, ItemCommand, Rejection, RingCommand, RingPlace,
    minimum_bid, ring,
};

#[derive(Debug, Clone)]
enum Command {
    Item(ItemCommand),
    Ring(RingCommand),
}

/// A bid relative to the minimum at that moment, so that about half of them are accepted.
#[derive(Debug, Clone)]
enum Step {
    Run(Command),
    BidOnline { above_minimum: i64 },
    BidInRoom { above_minimum: i64 },
    Wait { seconds: i64 },
}

fn step() -> impl Strategy<Value = Step> {
    let reason = prop_oneof![Just(None), Just(Some("query".to_owned()))];
    let status = prop::sample::select(ItemStatus::ALL);
    let administrator =
        (status, reason).prop_map(|(to, reason)| Step::Run(Command::Item(ItemCommand::ChangeStatus { to, reason })));
    let other = prop::sample::select(vec![
        Command::Item(ItemCommand::GoLive),
        Command::Item(ItemCommand::ReachEnd),
        Command::Item(ItemCommand::Reconcile),
        Command::Item(ItemCommand::Correct { reason: "wrong lot".to_owned() }),
        Command::Ring(RingCommand::Send),
        Command::Ring(RingCommand::Sell),
        Command::Ring(RingCommand::Pass),
        Command::Ring(RingCommand::Remove),
        Command::Ring(RingCommand::OfferAgain),
    ]);
    prop_oneof![
        3 => administrator,
        5 => other.prop_map(Step::Run),
        4 => (-500_i64..5_000).prop_map(|above_minimum| Step::BidOnline { above_minimum }),
        4 => (-500_i64..5_000).prop_map(|above_minimum| Step::BidInRoom { above_minimum }),
        1 => (0_i64..400).prop_map(|seconds| Step::Wait { seconds }),
    ]
}

/// One item, its auction, and all that happened to them.
struct Sale {
    auction: Auction,
    item: Item,
    now_seconds: i64,
    item_changes: Vec<ItemChange>,
    auction_changes: Vec<AuctionChange>,
    accepted: Vec<i64>,
}

impl Sale {
    fn new(kind: AuctionKind, reserve: Option<i64>) -> Self {
        let auction = auction(kind, AuctionStatus::Live);
        let item = Item { sequence: 0, reserve, ..item(&auction, ItemStatus::Draft) };
        let mut sale = Self {
            auction,
            item,
            now_seconds: 0,
            item_changes: Vec::new(),
            auction_changes: Vec::new(),
            accepted: Vec::new(),
        };
        sale.run(Command::Item(ItemCommand::Create { status: ItemStatus::Live })).unwrap();
        sale
    }

    fn take(&mut self, step: Step) -> Result<(), Rejection> {
        let minimum = minimum_bid(&self.auction, &self.item);
        let bid = Uuid::from_u128(self.item_changes.len() as u128);
        let bidder = "b-17".to_owned();
        match step {
            Step::Run(command) => self.run(command),
            Step::BidOnline { above_minimum } => {
                let amount = minimum + above_minimum;
                let command = match self.auction.kind {
                    AuctionKind::Timed => Command::Item(ItemCommand::PlaceBid { bid, bidder, amount }),
                    AuctionKind::Webcast => Command::Ring(RingCommand::InternetBid { bid, bidder, amount }),
                };
                self.run(command)
            }
            Step::BidInRoom { above_minimum } => {
                self.run(Command::Ring(RingCommand::RoomBid { bid, bidder, amount: minimum + above_minimum }))
            }
            Step::Wait { seconds } => {
                self.now_seconds += seconds;
                Ok(())
            }
        }
    }

    fn run(&mut self, command: Command) -> Result<(), Rejection> {
        let now = at(self.now_seconds);
        let (item_changes, auction_changes) = match command {
            Command::Item(command) => (crate::item::decide(&self.auction, &self.item, command, now)?, Vec::new()),
            Command::Ring(command) => {
                let decision = ring::decide(&self.auction, &self.item, command, now)?;
                (decision.item, decision.auction)
            }
        };
        for change in item_changes {
            self.check(&change);
            self.item.apply(&change);
            self.item_changes.push(change);
        }
        for change in auction_changes {
            self.auction.apply(&change);
            self.auction_changes.push(change);
        }
        Ok(())
    }

    /// What holds of a change against the state right before it.
    fn check(&mut self, change: &ItemChange) {
        let item = &self.item;
        match change {
            ItemChange::StatusChanged { from, to, cause, announced, .. } => {
                assert_eq!(*from, (item.sequence > 0).then_some(item.status));
                assert!(*announced || !item.announced, "an earlier announcement is followed up");
                if *cause == Cause::EndReached {
                    let price = self.accepted.last().copied();
                    let sells = price.is_some_and(|price| price >= item.reserve.unwrap_or(0));
                    assert_eq!(*to, if sells { ItemStatus::Sold } else { ItemStatus::Unsold });
                    assert!(*announced);
                }
                if *cause == Cause::SoldInRing {
                    assert!(item.standing.is_some());
                }
                if matches!(to, ItemStatus::Sold | ItemStatus::Unsold | ItemStatus::Passed) {
                    assert!(*announced);
                }
            }
            ItemChange::BidAccepted { standing, number, .. } => {
                assert!(item.price().is_none_or(|price| standing.amount > price), "a price never falls");
                assert!(standing.amount >= minimum_bid(&self.auction, item));
                self.accepted.push(standing.amount);
                assert_eq!(*number, self.accepted.len() as i64);
            }
            ItemChange::RingChanged { .. } | ItemChange::EndPlanned { .. } => {}
        }
    }

    /// What holds of the state after every step.
    fn check_state(&self) {
        let (auction, item) = (&self.auction, &self.item);
        assert_eq!(item.price(), self.accepted.iter().copied().max(), "the standing bid is the highest accepted");
        assert_eq!(item.bid_count, self.accepted.len() as i64);
        let statuses = self.item_changes.iter().filter(|change| matches!(change, ItemChange::StatusChanged { .. }));
        assert_eq!(item.sequence, statuses.count() as i64, "one number for each status change");
        assert_eq!(auction.in_ring == Some(item.uuid), item.ring == RingPlace::InRing, "both sides of the ring agree");
        assert!(item.ring != RingPlace::InRing || item.status == ItemStatus::Live, "what is in the ring can be sold");
        assert_eq!((item.version, auction.version), (1, 1), "versions are the platform's");
    }
}

proptest! {
    #[test]
    fn any_run_of_commands_keeps_the_promises_of_the_crate(
        kind in prop::sample::select(&AuctionKind::ALL[..]),
        reserve in prop::option::of(0_i64..40_000),
        steps in prop::collection::vec(step(), 0..60),
    ) {
        let mut sale = Sale::new(kind, reserve);
        let (first_auction, first_item) = (auction(kind, AuctionStatus::Live), Item {
            sequence: 0, reserve, ..item(&sale.auction, ItemStatus::Draft)
        });
        for step in steps {
            let before = (sale.auction.clone(), sale.item.clone());
            if sale.take(step).is_err() {
                prop_assert_eq!(&before, &(sale.auction.clone(), sale.item.clone()));
            }
            sale.check_state();
        }
        let (mut replayed_auction, mut replayed_item) = (first_auction, first_item);
        sale.item_changes.iter().for_each(|change| replayed_item.apply(change));
        sale.auction_changes.iter().for_each(|change| replayed_auction.apply(change));
        prop_assert_eq!(replayed_item, sale.item);
        prop_assert_eq!(replayed_auction, sale.auction);
    }

    #[test]
    fn what_an_administrator_is_offered_is_what_is_not_refused_as_illegal(
        kind in prop::sample::select(&AuctionKind::ALL[..]),
        steps in prop::collection::vec(step(), 0..30),
    ) {
        let mut sale = Sale::new(kind, None);
        for step in steps {
            let _refused = sale.take(step);
            let legal = sale.item.legal_next(&sale.auction);
            for &to in ItemStatus::ALL {
                let command = ItemCommand::ChangeStatus { to, reason: Some("query".to_owned()) };
                match crate::item::decide(&sale.auction, &sale.item, command, at(sale.now_seconds)) {
                    Ok(_) | Err(Rejection::EndNotInFuture) => prop_assert!(legal.contains(&to)),
                    Err(_) => prop_assert!(!legal.contains(&to)),
                }
            }
        }
    }
}
