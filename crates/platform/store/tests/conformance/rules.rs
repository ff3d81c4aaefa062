//! Sales by the rules: after each command, the store returns the state that the rules decided.

use contract::ItemStatus;
use kit_runtime::random::{Random, SeededRandom};
use platform_core::bidding::bid::{Bid, BidStrike, StruckBid};
use platform_core::port::Change;
use platform_rules::ring::ConfirmedPrice;
use platform_rules::{
    Auction, AuctionChange, AuctionKind, BidLog, Bidder, Item, ItemChange, ItemCommand, RingCommand, minimum_bid, ring,
};
use uuid::Uuid;

use super::given::{Shared, at, auction, commit, item, next, next_auction, whole};

const COMMANDS: usize = 400;
const ACTOR: &str = "key:1";

pub(super) async fn a_timed_sale_is_stored_as_the_rules_decided_after_every_command(store: Shared) {
    drive(store, AuctionKind::Timed).await;
}

pub(super) async fn a_webcast_is_stored_as_the_rules_decided_after_every_command(store: Shared) {
    drive(store, AuctionKind::Webcast).await;
}

async fn drive(store: Shared, kind: AuctionKind) {
    let random = SeededRandom::new(7);
    let auction = Auction { kind, sequence: 1, ..auction(1) };
    // The end is far away, because this test is about bids.
    let item = Item { sequence: 1, buy_now: Some(9_000_000), ..item(1_000_000) };
    let change = Change { auction: Some(next_auction(auction)), items: vec![next(item.clone())], ..Change::default() };
    commit(&store, change).await.unwrap();
    let mut taken = 0;
    let mut struck = 0;
    for step in 0..COMMANDS {
        let (mut auction, mut item, mut log) = load(&store, item.uuid).await;
        let decided = decide(&auction, &item, &log, &random, step);
        let Ok((item_changes, auction_changes)) = decided else { continue };
        let change = written(&auction, &item, &item_changes, &auction_changes);
        taken += change.bids.len();
        struck += change.bid_strikes.len();
        commit(&store, change).await.unwrap();
        for change in &item_changes {
            item.apply(change);
            log.apply(change);
        }
        auction_changes.iter().for_each(|change| auction.apply(change));
        item.version += 1;
        auction.version += 1;
        assert_eq!(load(&store, item.uuid).await, (auction, item, log), "after command {step}");
    }
    assert!(taken > 20 && struck > 5, "{taken} bids were taken and {struck} struck: too few for the test");
}

async fn load(store: &Shared, item: Uuid) -> (Auction, Item, BidLog) {
    let item = store.item(item).await.unwrap().unwrap();
    let auction = store.auction(item.auction).await.unwrap().unwrap();
    let bids = store.bids(item.uuid, whole()).await.unwrap();
    let log = BidLog::new(bids.iter().map(Bid::record).collect()).unwrap();
    (auction, item, log)
}

type Decided = Result<(Vec<ItemChange>, Vec<AuctionChange>), platform_rules::Rejection>;

/// A random command; the rules refuse many of them.
fn decide(auction: &Auction, item: &Item, log: &BidLog, random: &SeededRandom, step: usize) -> Decided {
    let bid = Uuid::from_u128(0x700 + step as u128);
    let log = log.clone();
    let reason = "said so".to_owned();
    let paddle = format!("paddle-{}", below(random, 4));
    let bidder = Bidder::vouched_for(&paddle);
    let amount = minimum_bid(auction, item) + i64::from(below(random, 60)) * 100 - 500;
    let earlier = log.get(item.bid_count - i64::from(below(random, 4))).map_or(bid, |record| record.bid);
    let now = at(step as i64);
    let is_timed = auction.kind == AuctionKind::Timed;
    let of_item = |command| Ok((platform_rules::item::decide(auction, item, command, now)?, Vec::new()));
    let of_ring = |command| {
        let decision = ring::decide(auction, item, command, now)?;
        Ok((decision.item, decision.auction))
    };
    let confirmed = ConfirmedPrice { large_jump: true, below_standing_bid: true };
    let status = |to| ItemCommand::ChangeStatus { to, reason: Some("said so".to_owned()) };
    match below(random, 24) {
        0..6 if is_timed => of_item(ItemCommand::PlaceBid { bid, bidder, amount }),
        0..3 => of_ring(RingCommand::RoomBid { bid, bidder, amount, large_jump: true }),
        3..6 => of_ring(RingCommand::InternetBid { bid, bidder, amount }),
        6..8 => of_item(ItemCommand::CancelBid { bid: earlier, reason, log }),
        8 if step > 20 => of_item(status(ItemStatus::Suspended)),
        9 => of_item(status(ItemStatus::Live)),
        10..13 if step > 10 => of_ring(RingCommand::Send { is_next: step.is_multiple_of(2) }),
        13 => of_ring(RingCommand::SetAskingPrice { amount: amount.max(1), confirmed, log }),
        14 => of_ring(RingCommand::SetAskingPrice { amount: (amount - 2_000).max(1), confirmed, log }),
        15 => of_ring(RingCommand::Undo { reason, log }),
        16 => of_ring(RingCommand::Retract { bid: earlier, reason, log }),
        17 => of_ring(RingCommand::FairWarning),
        18 => of_ring(RingCommand::Pass { over_waiting_bid: step.is_multiple_of(2), log }),
        19 => of_ring(RingCommand::Reopen { reason }),
        20..22 => {
            let pending = item.pending.first();
            let bidder = Bidder::vouched_for(pending.map_or("nobody", |pending| &pending.bidder));
            of_ring(RingCommand::AcceptPending { bid: pending.map_or(bid, |pending| pending.bid), bidder })
        }
        22 => of_ring(RingCommand::CommissionBid { bid, bidder, log }),
        _ => of_item(ItemCommand::PlaceAbsenteeBid { bid, bidder, maximum: amount, unusual_amount: true }),
    }
}

fn below(random: &SeededRandom, end: u32) -> u32 {
    (random.unit_f64() * f64::from(end)) as u32
}

/// The changes as a commit without events.
fn written(auction: &Auction, item: &Item, of_item: &[ItemChange], of_auction: &[AuctionChange]) -> Change {
    let mut auction = auction.clone();
    let mut item = item.clone();
    let mut change = Change::default();
    for one in of_item {
        item.apply(one);
        match one {
            ItemChange::BidAccepted { record, .. } => change.bids.push(Bid::of(item.uuid, record, ACTOR)),
            ItemChange::BidStruck { number, struck, reason, .. } => change.bid_strikes.push(BidStrike {
                item: item.uuid,
                number: *number,
                struck: Some(StruckBid {
                    strike: struck.strike,
                    after: struck.after,
                    reason: reason.clone(),
                    actor: ACTOR.into(),
                    at: at(1),
                }),
            }),
            ItemChange::BidReinstated { number, .. } => {
                change.bid_strikes.push(BidStrike { item: item.uuid, number: *number, struck: None });
            }
            _ => {}
        }
    }
    of_auction.iter().for_each(|one| auction.apply(one));
    Change { auction: Some(next_auction(auction)), items: vec![next(item)], ..change }
}
