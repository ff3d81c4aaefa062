//! Tests of the admission of bidders, buy now, cancellations and absentee bids.

use super::*;
use crate::{BidLog, WebcastPhase};

/// A sale of one timed item, with its log of bids.
struct Sale {
    auction: Auction,
    item: Item,
    log: BidLog,
}

impl Sale {
    fn new(auction: Auction, item: Item) -> Self {
        Self { auction, item, log: BidLog::default() }
    }

    fn run(&mut self, command: ItemCommand, seconds: i64) -> String {
        let outcome = decide(&self.auction, &self.item, command, at(seconds));
        for change in outcome.iter().flatten() {
            self.log.apply(change);
            self.item.apply(change);
        }
        words(&outcome)
    }

    fn bid(&mut self, paddle: &str, amount: i64) -> String {
        let bid = Uuid::from_u128(self.item.bid_count as u128 + 1);
        self.run(ItemCommand::PlaceBid { bid, bidder: Bidder::vouched_for(paddle), amount }, 10)
    }

    fn cancel(&mut self, number: u128) -> String {
        let log = self.log.clone();
        self.run(ItemCommand::CancelBid { bid: Uuid::from_u128(number), reason: "typing error".to_owned(), log }, 20)
    }
}

#[test]
fn bidders_are_rejected_without_approval_suspended_as_vendor_and_above_their_limit() {
    let auction = live();
    let vendor = Uuid::from_u128(70);
    let buyer = Uuid::from_u128(71);
    let item = Item { vendor: Some(vendor), buy_now: Some(30_000), ..item(&auction, Live) };
    let known = Bidder { party: Some(buyer), limit: Some(25_000), committed: 5_000, ..Bidder::vouched_for("b-17") };
    let taken = "bid 1 10000 internet";
    for (bidder, amount, expect) in [
        (known.clone(), 20_000, taken),
        (known.clone(), 20_001, "spending_limit_reached"),
        (Bidder { committed: i64::MAX, ..known.clone() }, 20_000, "spending_limit_reached"),
        (Bidder { limit: None, committed: i64::MAX, ..known.clone() }, 20_000, taken),
        (Bidder { approved: false, ..known.clone() }, 20_000, "bidder_not_approved"),
        (Bidder { suspended: true, ..known.clone() }, 20_000, "bidder_suspended"),
        (Bidder { party: Some(vendor), ..known.clone() }, 20_000, "vendor_barred"),
        (Bidder { party: Some(auction.auctioneer), ..known.clone() }, 20_000, "vendor_barred"),
        (Bidder { merged: vec![vendor], ..known.clone() }, 20_000, "vendor_barred"),
        (Bidder { party: None, merged: vec![vendor], ..known.clone() }, 20_000, "vendor_barred"),
        (Bidder { merged: vec![Uuid::from_u128(72)], ..known.clone() }, 20_000, taken),
        (Bidder { party: None, ..known.clone() }, 20_000, taken),
    ] {
        let command = ItemCommand::PlaceBid { bid: Uuid::nil(), bidder: bidder.clone(), amount };
        check(&auction, &item, command, 10, expect);
        let buys = ItemCommand::BuyNow { bid: Uuid::nil(), bidder: Bidder { limit: None, ..bidder } };
        let barred = ["bidder_not_approved", "bidder_suspended", "vendor_barred"].contains(&expect);
        let bought = "bid 1 30000 buyNow, LIVE->SOLD_BUY_NOW bought_now announced";
        check(&auction, &item, buys, 10, if barred { expect } else { bought });
    }
    let buys = ItemCommand::BuyNow { bid: Uuid::nil(), bidder: known.clone() };
    check(&auction, &item, buys, 10, "spending_limit_reached");
    let (limit, committed) = (known.limit.unwrap(), known.committed);
    let rejection = Rejection::SpendingLimitReached { limit, committed, amount: 20_001 };
    let command = ItemCommand::PlaceBid { bid: Uuid::nil(), bidder: known, amount: 20_001 };
    assert_eq!(decide(&auction, &item, command, at(10)), Err(rejection));
}

#[test]
fn an_item_can_be_bought_now_until_the_price_reaches_the_buy_now_price() {
    let auction = live();
    let buy = || ItemCommand::BuyNow { bid: Uuid::nil(), bidder: Bidder::vouched_for("b-17") };
    let item = Item { buy_now: Some(30_000), ..item(&auction, Live) };
    let bought = "bid 1 30000 buyNow, LIVE->SOLD_BUY_NOW bought_now announced";
    check(&auction, &item, buy(), 10, bought);
    check(&auction, &item, buy(), -1, "auction_not_started");
    check(&auction, &item, buy(), 1_000, "item_ended");
    check(&auction, &with_bid(item.clone(), 29_999), buy(), 10, &bought.replace("bid 1", "bid 2"));
    check(&auction, &with_bid(item.clone(), 30_000), buy(), 10, "buy_now_over");
    check(&auction, &Item { buy_now: None, ..item.clone() }, buy(), 10, "no_buy_now");
    check(&auction, &Item { status: Suspended, ..item.clone() }, buy(), 10, "item_not_live");
    let webcast = self::auction(AuctionKind::Webcast, AuctionStatus::Live);
    check(&webcast, &Item { buy_now: Some(30_000), ..self::item(&webcast, Live) }, buy(), 10, "wrong_auction_kind");
}

#[test]
fn after_a_cancellation_the_price_is_what_it_would_be_without_the_bid() {
    let auction = live();
    let mut sale = Sale::new(auction.clone(), item(&auction, Live));
    assert_eq!(sale.bid("a", 20_000), "bid 1 10000 internet");
    assert_eq!(sale.bid("b", 50_000), "bid 2 22000 internet");
    assert_eq!(sale.bid("c", 40_000), "bid 3 42000 internet");
    assert_eq!(sale.cancel(2), "bid 2 cancelled, c stands at 22000");
    assert_eq!(sale.cancel(2), "bid_struck");
    assert_eq!(sale.cancel(9), "bid_not_found");
    assert_eq!(sale.bid("a", 60_000), "bid 4 42000 internet");
    assert_eq!(sale.cancel(1), "bid 1 cancelled");
    assert_eq!(sale.cancel(4), "bid 4 cancelled, c stands at 10000");
    assert_eq!(sale.cancel(3), "bid 3 cancelled, nothing stands");
    assert_eq!((sale.item.price(), sale.item.bid_count, sale.item.has_bids()), (None, 4, true));
    assert_eq!(sale.bid("d", 10_000), "bid 5 10000 internet", "numbers are never reused");
}

#[test]
fn a_bid_is_cancelled_with_a_reason_while_the_item_is_for_sale() {
    let auction = live();
    let mut sale = Sale::new(auction.clone(), item(&auction, Live));
    sale.bid("a", 20_000);
    let cancel = |reason: &str, log| ItemCommand::CancelBid { bid: Uuid::from_u128(1), reason: reason.to_owned(), log };
    check(&auction, &sale.item, cancel(" ", sale.log.clone()), 20, "reason_required");
    check(&auction, &sale.item, cancel("error", BidLog::default()), 20, "bid_log_incomplete");
    for status in [Sold, Unsold, Withdrawn] {
        let item = Item { status, ..sale.item.clone() };
        check(&auction, &item, cancel("error", sale.log.clone()), 20, "item_not_live");
    }
    sale.item.status = Suspended;
    assert_eq!(sale.cancel(1), "bid 1 cancelled, nothing stands");
}

#[test]
fn absentee_bids_are_accepted_until_the_item_is_in_the_ring_and_do_not_stand() {
    let webcast = auction(AuctionKind::Webcast, AuctionStatus::Live);
    let leave = |maximum| ItemCommand::PlaceAbsenteeBid {
        bid: Uuid::nil(),
        bidder: Bidder::vouched_for("absent"),
        maximum,
        unusual_amount: false,
    };
    let item = self::item(&webcast, Live);
    check(&webcast, &item, leave(9_999), 10, "bid_too_low");
    check(&webcast, &item, leave(50_000), 10, "bid 1 0 absentee");
    let left = decide(&webcast, &item, leave(50_000), at(10)).unwrap();
    let mut after = item.clone();
    left.iter().for_each(|change| after.apply(change));
    assert_eq!((after.price(), after.bid_count, crate::minimum_bid(&webcast, &after)), (None, 1, 10_000));
    let begun = Auction { phase: WebcastPhase::Live, ..webcast };
    check(&begun, &item, leave(50_000), 10, "bid 1 0 absentee");
    let (begun, offered) = in_ring(begun, item);
    check(&begun, &offered, leave(50_000), 10, "item_in_ring");
    check(&live(), &self::item(&live(), Live), leave(50_000), 10, "wrong_auction_kind");
}
