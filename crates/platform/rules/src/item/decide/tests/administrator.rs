//! Tests of commands of an administrator.

use super::*;

#[test]
fn suspending_resuming_and_correcting_need_a_reason() {
    let auction = live();
    for (from, to) in
        [(Draft, Suspended), (Preview, Suspended), (Live, Suspended), (Suspended, Live), (Sold, Live), (Passed, Live)]
    {
        check(&auction, &item(&auction, from), change(to, ""), 10, "reason_required");
        check(&auction, &item(&auction, from), change(to, " \n"), 10, "reason_required");
    }
    check(&auction, &item(&auction, Sold), ItemCommand::Correct { reason: String::new() }, 10, "reason_required");
    check(&auction, &item(&auction, Live), change(Suspended, " query "), 10, "LIVE->SUSPENDED suspended (query)");
    check(&auction, &item(&auction, Suspended), change(Draft, "ok"), 10, "SUSPENDED->DRAFT resumed (ok)");
    check(&auction, &item(&auction, Draft), change(Suspended, &"x".repeat(501)), 10, "field_invalid");
    check(&auction, &item(&auction, Draft), change(Suspended, "no\0thing"), 10, "field_invalid");
    check(&auction, &item(&auction, Live), change(Suspended, "a\nb"), 10, "LIVE->SUSPENDED suspended (a\nb)");
}

#[test]
fn a_suspended_item_of_a_timed_auction_is_resumed_only_before_its_end() {
    let auction = live();
    check(&auction, &item(&auction, Suspended), change(Live, "ok"), 999, "SUSPENDED->LIVE resumed (ok)");
    check(&auction, &item(&auction, Suspended), change(Live, "ok"), 1_000, "end_not_in_future");
    check(&auction, &item(&auction, Suspended), change(Draft, "ok"), 1_000, "SUSPENDED->DRAFT resumed (ok)");
    let webcast = self::auction(AuctionKind::Webcast, AuctionStatus::Live);
    check(&webcast, &item(&webcast, Suspended), change(Live, "ok"), 1_000, "SUSPENDED->LIVE resumed (ok)");
}

#[test]
fn an_item_with_bids_does_not_return_to_draft() {
    let auction = live();
    let lot = with_bid(item(&auction, Live), 10_000);
    check(&auction, &lot, change(Draft, ""), 10, "item_has_bids");
    assert_eq!(lot.legal_next(&auction, at(10)), [Suspended, Withdrawn]);
    check(&auction, &item(&auction, Live), change(Draft, ""), 10, "LIVE->DRAFT status_changed_by_administrator");
}

#[test]
fn an_administrator_can_not_change_the_status_of_an_item_in_the_ring() {
    let webcast = auction(AuctionKind::Webcast, AuctionStatus::Live);
    let (webcast, offered) = in_ring(webcast.clone(), item(&webcast, Live));
    for to in [Draft, Suspended, Withdrawn] {
        check(&webcast, &offered, change(to, "query"), 10, "item_in_ring");
    }
    assert_eq!(offered.legal_next(&webcast, at(10)), []);
}

#[test]
fn a_correction_is_announced_and_an_item_of_a_webcast_waits_again() {
    let webcast = auction(AuctionKind::Webcast, AuctionStatus::Live);
    for (status, from) in [(Sold, "SOLD"), (Passed, "PASSED")] {
        let done = Item { announced: true, ring: RingStatus::Done, ..item(&webcast, status) };
        let expected = format!("{from}->LIVE corrected announced (wrong lot), ring WaitingAgain");
        check(&webcast, &done, change(Live, "wrong lot"), 10, &expected);
        check(&webcast, &done, ItemCommand::Correct { reason: "wrong lot".to_owned() }, 10, &expected);
    }
    check(&webcast, &item(&webcast, Unsold), ItemCommand::Correct { reason: "x".to_owned() }, 10, "illegal_transition");
}

#[test]
fn every_change_after_an_announcement_is_announced() {
    let webcast = auction(AuctionKind::Webcast, AuctionStatus::Live);
    let mut item = Item { announced: true, ring: RingStatus::Done, ..item(&webcast, Passed) };
    for (to, expect) in [
        (Withdrawn, "PASSED->WITHDRAWN withdrawn announced"),
        (Draft, "WITHDRAWN->DRAFT reinstated announced, ring Waiting"),
        (Preview, "DRAFT->PREVIEW status_changed_by_administrator announced"),
        (Live, "PREVIEW->LIVE status_changed_by_administrator announced"),
    ] {
        check(&webcast, &item, change(to, ""), 10, expect);
        for change in decide(&webcast, &item, change(to, ""), at(10)).unwrap() {
            item.apply(&change);
        }
    }
}

#[test]
fn the_bids_of_a_withdrawn_item_lapse_when_it_is_reinstated() {
    let auction = live();
    let mut item = with_bid(item(&auction, Live), 10_000);
    for (to, expect) in [
        (Withdrawn, "LIVE->WITHDRAWN withdrawn"),
        (Draft, "WITHDRAWN->DRAFT reinstated, bids lapse to 1"),
        (Preview, "DRAFT->PREVIEW status_changed_by_administrator"),
        (Live, "PREVIEW->LIVE status_changed_by_administrator"),
    ] {
        check(&auction, &item, change(to, ""), 10, expect);
        decide(&auction, &item, change(to, ""), at(10)).unwrap().iter().for_each(|change| item.apply(change));
    }
    assert_eq!((item.price(), item.bid_count, item.has_bids()), (None, 1, false));
    check(&auction, &item, bid(10_000), 10, "bid 2 10000 internet");
    check(&auction, &item, change(Draft, ""), 10, "LIVE->DRAFT status_changed_by_administrator");
}

#[test]
fn an_end_only_moves_later() {
    let auction = live();
    let moved = |seconds| ItemCommand::MoveEnd { to: at(seconds), reason: "power cut".to_owned() };
    check(&auction, &item(&auction, Live), moved(1_001), 10, "end moved 1001");
    check(&auction, &item(&auction, Suspended), moved(3_000), 2_000, "end moved 3000");
    check(&auction, &item(&auction, Live), moved(1_000), 10, "end_not_later");
    check(&auction, &item(&auction, Sold), moved(1_500), 1_500, "end_not_later");
    let blank_reason = ItemCommand::MoveEnd { to: at(2_000), reason: " ".to_owned() };
    check(&auction, &item(&auction, Live), blank_reason, 10, "reason_required");
    let webcast = self::auction(AuctionKind::Webcast, AuctionStatus::Live);
    check(&webcast, &item(&webcast, Live), moved(2_000), 10, "wrong_auction_kind");
}

#[test]
fn an_item_goes_live_only_in_a_live_auction() {
    for kind in AuctionKind::ALL {
        for status in [AuctionStatus::Draft, AuctionStatus::Preview] {
            let auction = auction(kind, status);
            for from in [Preview, Suspended] {
                check(&auction, &item(&auction, from), change(Live, "early"), 10, "auction_not_live");
            }
        }
    }
}

#[test]
fn no_item_returns_to_sale_in_a_reconciled_auction() {
    for status in [AuctionStatus::Reconciliation, AuctionStatus::Archived] {
        let closed = auction(AuctionKind::Webcast, status);
        for (from, to) in [(Draft, Suspended), (Sold, Live), (Passed, Live)] {
            check(&closed, &item(&closed, from), change(to, "late"), 10, "auction_closed");
        }
        for from in [Preview, Suspended] {
            check(&closed, &item(&closed, from), change(Live, "late"), 10, "auction_not_live");
        }
        let after_sale = if status == AuctionStatus::Reconciliation { vec![Unsold] } else { Vec::new() };
        assert_eq!(item(&closed, Sold).legal_next(&closed, at(10)), after_sale);
        let reconciled = Item { announced: true, ..item(&closed, Passed) };
        check(&closed, &reconciled, ItemCommand::Reconcile, 10, "PASSED->UNSOLD reconciled announced");
    }
}

#[test]
fn an_item_of_a_timed_auction_goes_live_only_before_its_end() {
    let auction = live();
    let went_live = "PREVIEW->LIVE status_changed_by_administrator";
    check(&auction, &item(&auction, Preview), change(Live, ""), 999, went_live);
    check(&auction, &item(&auction, Preview), change(Live, ""), 1_000, "end_not_in_future");
}
