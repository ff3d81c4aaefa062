//! Tests of bids on timed items, and of their ends.

use super::*;

#[test]
fn a_timed_item_ends_sold_exactly_when_the_standing_bid_is_at_or_above_the_reserve() {
    let auction = live();
    let ends = |reserve: Option<i64>, price: Option<i64>, expect: &str| {
        let item = Item { reserve: reserve.map(Hidden::new), ..item(&auction, Live) };
        let item = price.map_or(item.clone(), |price| with_bid(item, price));
        check(&auction, &item, ItemCommand::ReachEnd, 1_000, expect);
    };
    ends(None, None, "LIVE->UNSOLD end_reached announced");
    ends(None, Some(10_000), "LIVE->SOLD end_reached announced");
    ends(Some(0), None, "LIVE->UNSOLD end_reached announced");
    ends(Some(20_000), Some(19_999), "LIVE->UNSOLD end_reached announced");
    ends(Some(20_000), Some(20_000), "LIVE->SOLD end_reached announced");
    ends(Some(20_000), Some(20_001), "LIVE->SOLD end_reached announced");
}

#[test]
fn a_timer_ends_only_live_items_of_timed_auctions_after_their_effective_end() {
    let auction = live();
    let extended = Item { effective_end_time: Some(at(1_600)), ..item(&auction, Live) };
    check(&auction, &item(&auction, Live), ItemCommand::ReachEnd, 999, "end_not_reached");
    check(&auction, &extended, ItemCommand::ReachEnd, 1_599, "end_not_reached");
    check(&auction, &extended, ItemCommand::ReachEnd, 1_600, "LIVE->UNSOLD end_reached announced");
    check(&auction, &item(&auction, Live), ItemCommand::ReachEnd, 900_000, "LIVE->UNSOLD end_reached announced");
    check(&auction, &item(&auction, Suspended), ItemCommand::ReachEnd, 1_000, "item_not_live");
    check(&auction, &item(&auction, Unsold), ItemCommand::ReachEnd, 1_000, "item_not_live");
    let webcast = self::auction(AuctionKind::Webcast, AuctionStatus::Live);
    check(&webcast, &item(&webcast, Live), ItemCommand::ReachEnd, 1_000, "wrong_auction_kind");
}

#[test]
fn a_bid_is_accepted_between_start_and_effective_end_of_a_live_item_in_a_live_timed_auction() {
    let auction = live();
    let open = item(&auction, Live);
    check(&auction, &open, bid(10_000), -1, "auction_not_started");
    check(&auction, &open, bid(10_000), 0, "bid 1 10000 internet");
    check(&auction, &open, bid(10_000), 999, "bid 1 10000 internet");
    check(&auction, &open, bid(10_000), 1_000, "item_ended");
    let extended = Item { effective_end_time: Some(at(1_600)), ..open.clone() };
    check(&auction, &extended, bid(10_000), 1_599, "bid 1 10000 internet");
    for &status in ItemStatus::ALL.iter().filter(|&&status| status != Live) {
        check(&auction, &item(&auction, status), bid(10_000), 10, "item_not_live");
    }
    for &status in AuctionStatus::ALL.iter().filter(|&&status| status != AuctionStatus::Live) {
        check(&self::auction(AuctionKind::Timed, status), &open, bid(10_000), 10, "auction_not_live");
    }
    let webcast = self::auction(AuctionKind::Webcast, AuctionStatus::Live);
    check(&webcast, &item(&webcast, Live), bid(10_000), 10, "wrong_auction_kind");
    let elsewhere = Item { auction: Uuid::from_u128(77), ..open };
    check(&auction, &elsewhere, bid(10_000), 10, "item_not_in_auction");
}

#[test]
fn a_bid_has_to_reach_the_minimum_and_name_its_bidder() {
    let auction = live();
    let standing = with_bid(item(&auction, Live), 10_000);
    assert_eq!(decide(&auction, &standing, bid(10_999), at(10)), Err(Rejection::BidTooLow { minimum: 11_000 }));
    check(&auction, &standing, bid(11_000), 10, "bid 2 11000 internet");
    check(&auction, &standing, bid(AMOUNT_MAX), 10, "bid 2 11000 internet");
    check(&auction, &standing, bid(AMOUNT_MAX + 1), 10, "bid_too_high");
    check(&auction, &standing, bid(i64::MIN), 10, "bid_too_low");
    for (bidder, expect) in [
        ("", "field_invalid"),
        (" ", "field_invalid"),
        (" 7", "field_invalid"),
        ("7\u{a0}", "field_invalid"),
        ("paddle\0 7", "field_invalid"),
        (&"é".repeat(65), "field_invalid"),
    ] {
        check(&auction, &standing, bid_of(bidder, 11_000), 10, expect);
    }
    check(&auction, &standing, bid_of(&"é".repeat(64), 11_000), 10, "bid 2 11000 internet");
}
