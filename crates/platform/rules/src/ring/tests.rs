//! Tests of the clerk's commands and of internet bids.

use super::*;
use crate::sample::{at, auction, in_ring, item, log_of, with_bid};
use crate::{BidLog, Hidden};
use contract::AuctionStatus;
use contract::ItemStatus::{Live, Passed, Preview, Sold, Suspended, Unsold, Withdrawn};
use uuid::Uuid;

fn webcast() -> Auction {
    auction(AuctionKind::Webcast, AuctionStatus::Live)
}

fn room(amount: i64) -> RingCommand {
    RingCommand::RoomBid {
        bid: Uuid::from_u128(60),
        bidder: Bidder::vouched_for("paddle 7"),
        amount,
        large_jump: false,
    }
}

fn ask(amount: i64, log: BidLog) -> RingCommand {
    RingCommand::SetAskingPrice { amount, confirmed: ConfirmedPrice::default(), log }
}

fn relayed(amount: i64) -> RingCommand {
    RingCommand::RelayedBid { bid: Uuid::from_u128(61), bidder: Bidder::vouched_for("b-17"), amount, large_jump: false }
}

fn sell(item: &Item) -> RingCommand {
    RingCommand::Sell { confirmed: Confirmed::default(), log: log_of(item) }
}

fn sell_below_reserve(item: &Item) -> RingCommand {
    RingCommand::Sell { confirmed: Confirmed { below_reserve: true, over_waiting_bid: false }, log: log_of(item) }
}

fn pass(item: &Item) -> RingCommand {
    RingCommand::Pass { over_waiting_bid: false, log: log_of(item) }
}

fn run(auction: &mut Auction, item: &mut Item, command: RingCommand) -> Result<(), Rejection> {
    let decision = decide(auction, item, command, at(10))?;
    decision.item.iter().for_each(|change| item.apply(change));
    decision.auction.iter().for_each(|change| auction.apply(change));
    Ok(())
}

/// In the ring at an asking price, not paused and without warnings.
fn place(asking_price: i64) -> RingStatus {
    RingStatus::InRing(InRing { asking_price, paused: false, warnings: 0, lowered: false })
}

#[track_caller]
fn refused(auction: &Auction, item: &Item, command: RingCommand, code: &str) {
    match decide(auction, item, command, at(10)) {
        Err(rejection) => assert_eq!(rejection.code(), code),
        Ok(decision) => panic!("{decision:?}"),
    }
}

#[test]
fn an_item_is_sent_bid_on_and_sold_and_the_ring_is_empty_again() {
    let mut auction = webcast();
    let mut item = item(&auction, Live);
    for command in [RingCommand::Send { is_next: true }, room(10_000), relayed(11_000)] {
        run(&mut auction, &mut item, command).unwrap();
    }
    let sold = sell(&item);
    run(&mut auction, &mut item, sold).unwrap();
    assert_eq!((item.status, item.ring, auction.in_ring), (Sold, RingStatus::Done, None));
    assert_eq!((item.price(), item.bid_count, item.sequence, item.announced), (Some(11_000), 2, 2, true));
    assert_eq!(auction.sequence, 1, "the ring does not change the status of the auction");
}

#[test]
fn the_clerk_sells_below_the_reserve_when_confirmed_but_not_without_a_bid() {
    let auction = webcast();
    let (auction, offered) =
        in_ring(auction.clone(), Item { reserve: Some(Hidden::new(90_000)), ..item(&auction, Live) });
    refused(&auction, &offered, sell(&offered), "no_standing_bid");
    refused(&auction, &offered, sell_below_reserve(&offered), "no_standing_bid");
    let below = with_bid(offered.clone(), 10_000);
    refused(&auction, &below, sell(&below), "reserve_not_met");
    assert!(decide(&auction, &below, sell_below_reserve(&below), at(10)).is_ok());
    let met = with_bid(offered, 90_000);
    assert!(decide(&auction, &met, sell(&met), at(10)).is_ok());
}

#[test]
fn a_pass_is_announced_and_so_is_sending_the_item_again() {
    let mut auction = webcast();
    let mut item = item(&auction, Live);
    run(&mut auction, &mut item, RingCommand::Send { is_next: true }).unwrap();
    let passed = pass(&item);
    run(&mut auction, &mut item, passed).unwrap();
    assert_eq!((item.status, item.ring, item.announced, auction.in_ring), (Passed, RingStatus::Done, true, None));
    let sent_again = decide(&auction, &item, RingCommand::Send { is_next: true }, at(20)).unwrap();
    assert!(matches!(
        sent_again.item[0],
        ItemChange::StatusChanged { to: Live, cause: crate::Cause::OfferedAgain, announced: true, .. }
    ));
    run(&mut auction, &mut item, RingCommand::Send { is_next: true }).unwrap();
    assert_eq!((item.status, item.ring, auction.in_ring), (Live, place(10_000), Some(item.uuid)));
}

#[test]
fn an_item_is_offered_again_while_another_is_in_the_ring_and_waits() {
    let mut auction = webcast();
    auction.in_ring = Some(Uuid::from_u128(11));
    let mut passed = Item { announced: true, ring: RingStatus::Done, ..item(&auction, Passed) };
    run(&mut auction, &mut passed, RingCommand::OfferAgain).unwrap();
    assert_eq!(
        (passed.status, passed.ring, auction.in_ring),
        (Live, RingStatus::WaitingAgain, Some(Uuid::from_u128(11)))
    );
    refused(&auction, &passed, RingCommand::OfferAgain, "item_not_passed");
}

#[test]
fn only_one_item_is_in_the_ring_and_only_a_live_or_passed_one_enters() {
    let auction = webcast();
    let mut occupied = auction.clone();
    occupied.in_ring = Some(Uuid::from_u128(11));
    let other = Rejection::RingOccupied { item: Uuid::from_u128(11) };
    assert_eq!(decide(&occupied, &item(&auction, Live), RingCommand::Send { is_next: true }, at(10)), Err(other));
    for status in [Preview, Suspended, Sold, Unsold, Withdrawn] {
        refused(&auction, &item(&auction, status), RingCommand::Send { is_next: true }, "item_not_live");
    }
}

#[test]
fn bids_sales_and_passes_need_the_item_in_the_ring() {
    let auction = webcast();
    let waiting = with_bid(item(&auction, Live), 10_000);
    for command in [room(50_000), relayed(50_000), sell(&waiting), pass(&waiting), RingCommand::Remove] {
        refused(&auction, &waiting, command.clone(), "not_in_ring");
        let (occupied, offered) = in_ring(auction.clone(), waiting.clone());
        refused(&occupied, &waiting, command.clone(), "not_in_ring");
        refused(&auction, &offered, command, "not_in_ring");
    }
}

#[test]
fn bids_below_the_asking_price_are_rejected() {
    let auction = webcast();
    let (auction, offered) = in_ring(auction.clone(), item(&auction, Live));
    refused(&auction, &offered, room(9_999), "bid_too_low");
    assert!(decide(&auction, &offered, room(10_000), at(10)).is_ok());
    let too_low = Err(Rejection::BidTooLow { minimum: 11_000 });
    assert_eq!(
        {
            let (auction, bidden) = in_ring(webcast(), with_bid(item(&auction, Live), 10_000));
            decide(&auction, &bidden, relayed(10_999), at(10))
        },
        too_low
    );
}

#[test]
fn a_removed_item_waits_with_its_bids() {
    let auction = webcast();
    let (mut auction, mut offered) = in_ring(auction.clone(), with_bid(item(&auction, Live), 10_000));
    run(&mut auction, &mut offered, RingCommand::Remove).unwrap();
    assert_eq!((offered.status, offered.ring, auction.in_ring), (Live, RingStatus::WaitingAgain, None));
    assert_eq!((offered.price(), offered.sequence), (Some(10_000), 1));
    assert_eq!(auction.last_in_ring, None, "a removed item can be sent again, but not reopened");
}

#[test]
fn only_a_live_webcast_has_a_ring() {
    let empty = item(&webcast(), Live);
    let every =
        [RingCommand::Send { is_next: true }, room(1), relayed(1), sell(&empty), pass(&empty), RingCommand::OfferAgain];
    let timed = auction(AuctionKind::Timed, AuctionStatus::Live);
    let preview = auction(AuctionKind::Webcast, AuctionStatus::Preview);
    let elsewhere = Item { auction: Uuid::from_u128(77), ..item(&preview, Live) };
    for command in every {
        refused(&timed, &item(&timed, Live), command.clone(), "wrong_auction_kind");
        refused(&preview, &item(&preview, Live), command.clone(), "auction_not_live");
        refused(&webcast(), &elsewhere, command, "item_not_in_auction");
    }
}

#[test]
fn only_the_next_item_moves_the_place_and_removed_items_come_after_the_last_one() {
    let mut auction = webcast();
    let at_place = |position: i64, status| Item {
        uuid: Uuid::from_u128(20 + position as u128),
        position,
        ..item(&auction, status)
    };
    let mut items: Vec<Item> =
        [Live, Live, Passed, Live, Sold].into_iter().zip(0..).map(|(status, place)| at_place(place, status)).collect();
    let next = |auction: &Auction, items: &[Item]| next_to_send(auction, items).map(|item| item.position);
    assert_eq!(next(&auction, &items), Some(0));
    run(&mut auction, &mut items[3], RingCommand::Send { is_next: false }).unwrap();
    assert_eq!((auction.ring_position, next(&auction, &items)), (None, Some(0)), "a lot out of turn moves no place");
    run(&mut auction, &mut items[3], RingCommand::Remove).unwrap();
    run(&mut auction, &mut items[0], RingCommand::Send { is_next: true }).unwrap();
    assert_eq!((auction.ring_position, next(&auction, &items)), (Some(0), Some(1)));
    run(&mut auction, &mut items[0], RingCommand::Remove).unwrap();
    assert_eq!(next(&auction, &items), Some(1), "a removed item comes after the last one");
    run(&mut auction, &mut items[1], RingCommand::Send { is_next: true }).unwrap();
    assert_eq!((auction.ring_position, next(&auction, &items)), (Some(1), Some(0)), "then the removed ones follow");
    run(&mut auction, &mut items[1], RingCommand::Remove).unwrap();
    run(&mut auction, &mut items[0], RingCommand::Send { is_next: true }).unwrap();
    assert_eq!(auction.ring_position, Some(1), "the place never moves backwards");
    run(&mut auction, &mut items[0], RingCommand::Remove).unwrap();
    items[0].status = Withdrawn;
    assert_eq!(next(&auction, &items), Some(1));
    assert_eq!(next(&auction, &items[2..]), Some(3), "the lot that was sent out of turn waits again, too");
    assert_eq!(next(&auction, &items[4..]), None);
}

#[test]
fn pending_internet_bids_are_limited() {
    let auction = webcast();
    let (mut auction, mut offered) = in_ring(auction.clone(), item(&auction, Live));
    let online = |number: usize| {
        let bidder = Bidder::vouched_for(format!("b-{number}"));
        RingCommand::InternetBid { bid: Uuid::from_u128(number as u128), bidder, amount: 10_000 }
    };
    for number in 0..PENDING_MAX {
        run(&mut auction, &mut offered, online(number)).unwrap();
    }
    refused(&auction, &offered, online(PENDING_MAX), "too_many_pending");
    assert!(decide(&auction, &offered, online(0), at(10)).is_ok(), "a bidder can replace their own pending bid");
    let other_bidder = Bidder::vouched_for("b-1");
    let of_another = RingCommand::AcceptPending { bid: Uuid::from_u128(0), bidder: other_bidder };
    refused(&auction, &offered, of_another, "not_pending");
}

#[test]
fn a_suspended_bidders_pending_bid_is_not_accepted() {
    let auction = webcast();
    let (mut auction, mut offered) = in_ring(auction.clone(), item(&auction, Live));
    let bidder = Bidder::vouched_for("b-17");
    let bid = Uuid::from_u128(5);
    run(&mut auction, &mut offered, RingCommand::InternetBid { bid, bidder: bidder.clone(), amount: 10_000 }).unwrap();
    let suspended = Bidder { suspended: true, ..bidder };
    refused(&auction, &offered, RingCommand::AcceptPending { bid, bidder: suspended }, "bidder_suspended");
}

#[test]
fn undo_and_retract_need_a_reason_and_the_whole_bid_log() {
    let auction = webcast();
    let (auction, bidden) = in_ring(auction.clone(), with_bid(item(&auction, Live), 10_000));
    let log = BidLog::default;
    let why = || "wrong paddle".to_owned();
    refused(&auction, &bidden, RingCommand::Undo { reason: " ".to_owned(), log: log() }, "reason_required");
    refused(&auction, &bidden, RingCommand::Reopen { reason: String::new() }, "reason_required");
    refused(&auction, &bidden, RingCommand::Undo { reason: why(), log: log() }, "bid_log_incomplete");
    refused(&auction, &bidden, ask(5_000, log()), "bid_log_incomplete");
    let retract = RingCommand::Retract { bid: Uuid::from_u128(99), reason: why(), log: log() };
    refused(&auction, &bidden, retract, "bid_log_incomplete");
}

#[test]
fn a_price_far_above_the_asking_price_is_confirmed() {
    let sent = |item: Item| in_ring(webcast(), item);
    let jumping = |amount| RingCommand::OpenRoomBid { bid: Uuid::from_u128(62), amount, large_jump: false };
    // The asking price is 10,000: ten increments of 1,000 reach 20,000.
    let (auction, offered) = sent(item(&webcast(), Live));
    assert_eq!(unconfirmed_price_max(&auction, &offered), 20_000);
    for command in [room(20_000), relayed(20_000), jumping(20_000), ask(20_000, log_of(&offered))] {
        assert!(decide(&auction, &offered, command, at(10)).is_ok());
    }
    for command in [room(20_001), relayed(20_001), jumping(20_001), ask(20_001, log_of(&offered))] {
        assert_eq!(decide(&auction, &offered, command, at(10)), Err(Rejection::LargeJump { maximum: 20_000 }));
    }
    let confirmed = RingCommand::OpenRoomBid { bid: Uuid::from_u128(62), amount: 20_001, large_jump: true };
    assert!(decide(&auction, &offered, confirmed, at(10)).is_ok());

    // Five times a high estimate of 3,000 is 15,000. An asking price above it has passed the estimate.
    let (auction, estimated) = sent(Item { high_estimate: Some(3_000), ..item(&webcast(), Live) });
    refused(&auction, &estimated, room(15_001), "large_jump");
    assert!(decide(&auction, &estimated, room(15_000), at(10)).is_ok());
    let (auction, passed) = sent(Item { high_estimate: Some(1_000), ..item(&webcast(), Live) });
    assert!(decide(&auction, &passed, room(20_000), at(10)).is_ok());
    refused(&auction, &passed, room(20_001), "large_jump");
}

#[test]
fn an_asking_price_that_cancels_bids_is_confirmed_and_undo_brings_all_of_them_back() {
    let (mut auction, mut item) = in_ring(webcast(), item(&webcast(), Live));
    let mut log = BidLog::default();
    let mut run = |command: &dyn Fn(BidLog) -> RingCommand| {
        let decision = decide(&auction, &item, command(log.clone()), at(10))?;
        for change in &decision.item {
            item.apply(change);
            log.apply(change);
        }
        decision.auction.iter().for_each(|change| auction.apply(change));
        Ok((item.price(), item.in_ring().map(|ring| ring.asking_price)))
    };
    let bid =
        |amount| move |_| RingCommand::OpenRoomBid { bid: Uuid::from_u128(amount as u128), amount, large_jump: false };
    for amount in [10_000, 11_000, 12_000, 13_000] {
        run(&bid(amount)).unwrap();
    }
    assert_eq!(run(&|log| ask(11_500, log)), Err(Rejection::CancelsBids { count: 2 }));
    let lower = |log| {
        let confirmed = ConfirmedPrice { below_standing_bid: true, ..ConfirmedPrice::default() };
        RingCommand::SetAskingPrice { amount: 11_500, confirmed, log }
    };
    let lowest = |log| {
        let confirmed = ConfirmedPrice { below_standing_bid: true, ..ConfirmedPrice::default() };
        RingCommand::SetAskingPrice { amount: 5_000, confirmed, log }
    };
    let undo = |log| RingCommand::Undo { reason: "a slip".into(), log };
    assert_eq!(run(&lower), Ok((Some(11_000), Some(11_500))));
    assert_eq!(run(&lowest), Ok((None, Some(5_000))));
    assert_eq!(run(&undo), Ok((Some(13_000), Some(14_000))));
    // The next undo strikes the last bid.
    assert_eq!(run(&undo), Ok((Some(12_000), Some(13_000))));
    // If a bid was accepted since, undo strikes only that bid.
    run(&lower).unwrap();
    run(&bid(11_500)).unwrap();
    assert_eq!(run(&undo), Ok((Some(11_000), Some(11_500))));
    assert_eq!(run(&undo), Ok((Some(10_000), Some(11_000))));
}
