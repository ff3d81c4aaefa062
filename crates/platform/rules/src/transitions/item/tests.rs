//! Tests of the item transitions: every row, and every pair of statuses without a row.

use super::*;
use crate::item::decide;
use crate::ring::Confirmed;
use crate::sample::{at, auction, in_ring, item, log_of, with_bid};
use crate::{AuctionKind, ItemChange, ItemCommand, RingCommand, ring};
use contract::AuctionStatus;

/// The specified table: from, to, by, announced.
const SPECIFIED: &[(&str, &str, &str, &str)] = &[
    ("-", "DRAFT", "Creation", "no"),
    ("-", "LIVE", "Creation", "no"),
    ("-", "DRAFT", "Import", "no"),
    ("-", "LIVE", "Import", "no"),
    ("DRAFT", "PREVIEW", "Administrator", "no"),
    ("DRAFT", "PREVIEW", "AuctionGoesLive", "no"),
    ("PREVIEW", "DRAFT", "Administrator", "no"),
    ("PREVIEW", "LIVE", "Administrator", "no"),
    ("PREVIEW", "LIVE", "AuctionGoesLive", "no"),
    ("LIVE", "DRAFT", "Administrator", "no"),
    ("LIVE", "SOLD", "End", "yes"),
    ("LIVE", "UNSOLD", "End", "yes"),
    ("LIVE", "SOLD", "ClerkSells", "yes"),
    ("LIVE", "PASSED", "ClerkPasses", "yes"),
    ("LIVE", "SOLD_BUY_NOW", "Buyer", "yes"),
    ("PASSED", "LIVE", "ClerkOffersAgain", "follow-up"),
    ("SOLD", "LIVE", "Correction", "follow-up"),
    ("PASSED", "LIVE", "Correction", "follow-up"),
    ("DRAFT", "SUSPENDED", "Administrator", "follow-up"),
    ("PREVIEW", "SUSPENDED", "Administrator", "follow-up"),
    ("LIVE", "SUSPENDED", "Administrator", "follow-up"),
    ("SUSPENDED", "DRAFT", "Administrator", "follow-up"),
    ("SUSPENDED", "PREVIEW", "Administrator", "follow-up"),
    ("SUSPENDED", "LIVE", "Administrator", "follow-up"),
    ("DRAFT", "WITHDRAWN", "Administrator", "follow-up"),
    ("PREVIEW", "WITHDRAWN", "Administrator", "follow-up"),
    ("LIVE", "WITHDRAWN", "Administrator", "follow-up"),
    ("SUSPENDED", "WITHDRAWN", "Administrator", "follow-up"),
    ("PASSED", "WITHDRAWN", "Administrator", "follow-up"),
    ("WITHDRAWN", "DRAFT", "Administrator", "follow-up"),
    ("PASSED", "UNSOLD", "Reconciliation", "follow-up"),
    ("PASSED", "SOLD", "PostSaleOffer", "yes"),
    ("SOLD", "UNSOLD", "Administrator", "yes"),
    ("SOLD_BUY_NOW", "UNSOLD", "Administrator", "yes"),
    ("UNSOLD", "SOLD", "PostSaleOffer", "yes"),
    ("DRAFT", "WITHDRAWN", "AuctionArchived", "follow-up"),
    ("PREVIEW", "WITHDRAWN", "AuctionArchived", "follow-up"),
    ("SUSPENDED", "WITHDRAWN", "AuctionArchived", "follow-up"),
];

#[test]
fn the_table_has_the_specified_rows_and_no_other() {
    let written: Vec<_> = ITEM_TRANSITIONS
        .iter()
        .map(|row| {
            (row.from.map_or("-", ItemStatus::name), row.to.name(), format!("{:?}", row.by), row.announced.as_str())
        })
        .collect();
    let specified: Vec<_> =
        SPECIFIED.iter().map(|&(from, to, by, announced)| (from, to, by.to_owned(), announced)).collect();
    assert_eq!(written, specified);
}

/// The statuses that a command reaches from each status when every guard holds, as `FROM: TO TO`.
fn reached(kind: AuctionKind, command: impl Fn(&Auction, &Item, ItemStatus) -> Vec<ItemStatus>) -> Vec<String> {
    let mut lines = Vec::new();
    for &from in ItemStatus::ALL {
        let auction = auction(kind, AuctionStatus::Live);
        let to: Vec<&str> = command(&auction, &item(&auction, from), from).into_iter().map(ItemStatus::name).collect();
        if !to.is_empty() {
            lines.push(format!("{}: {}", from.name(), to.join(" ")));
        }
    }
    lines
}

fn last_status(changes: &[ItemChange]) -> Option<ItemStatus> {
    changes.iter().rev().find_map(|change| match change {
        ItemChange::StatusChanged { to, .. } => Some(*to),
        _ => None,
    })
}

fn by_command(command: ItemCommand, seconds: i64) -> impl Fn(&Auction, &Item, ItemStatus) -> Vec<ItemStatus> {
    move |auction, item, _| {
        decide(auction, item, command.clone(), at(seconds)).iter().filter_map(|changes| last_status(changes)).collect()
    }
}

fn by_administrator(auction: &Auction, item: &Item, from: ItemStatus) -> Vec<ItemStatus> {
    let asks = |to| {
        let command = ItemCommand::ChangeStatus { to, reason: Some("asked by the vendor".to_owned()) };
        match decide(auction, item, command, at(10)) {
            Ok(changes) => {
                assert_eq!(last_status(&changes), Some(to));
                true
            }
            Err(Rejection::OfferRequired) => {
                assert!(matches!(from, ItemStatus::Unsold | ItemStatus::Passed) && to == Sold);
                true
            }
            Err(Rejection::IllegalTransition { from: named, to: refused, legal }) => {
                assert_eq!((named, refused), (Some(from.name()), to.name()));
                assert_eq!(legal, names(item.legal_next(auction, at(10)).into_iter()));
                assert!(!legal.contains(&to.name()));
                false
            }
            Err(other) => panic!("{from:?} to {to:?}: {other}"),
        }
    };
    ItemStatus::ALL.iter().copied().filter(|&to| asks(to)).collect()
}

#[test]
fn an_administrator_reaches_exactly_the_specified_statuses_from_each_status() {
    let specified = [
        "DRAFT: PREVIEW WITHDRAWN SUSPENDED",
        "PREVIEW: DRAFT LIVE WITHDRAWN SUSPENDED",
        "LIVE: DRAFT WITHDRAWN SUSPENDED",
        "WITHDRAWN: DRAFT",
        "SOLD: LIVE UNSOLD",
        "UNSOLD: SOLD",
        "SUSPENDED: DRAFT PREVIEW LIVE WITHDRAWN",
        "SOLD_BUY_NOW: UNSOLD",
        "PASSED: LIVE WITHDRAWN SOLD",
    ];
    for kind in AuctionKind::ALL {
        assert_eq!(reached(kind, by_administrator), specified);
    }
}

#[test]
fn each_other_command_reaches_exactly_the_specified_statuses_from_each_status() {
    let timed = |command, seconds| reached(AuctionKind::Timed, by_command(command, seconds));
    assert_eq!(timed(ItemCommand::GoLive, 10), ["DRAFT: LIVE", "PREVIEW: LIVE"]);
    assert_eq!(timed(ItemCommand::ReachEnd, 1_000), ["LIVE: UNSOLD"]);
    assert_eq!(timed(ItemCommand::Reconcile, 10), ["PASSED: UNSOLD"]);
    assert_eq!(timed(ItemCommand::Correct { reason: "wrong lot".to_owned() }, 10), ["SOLD: LIVE", "PASSED: LIVE"]);
    let archive = ItemCommand::Archive { reason: "a mistake".to_owned() };
    let withdrawn = ["DRAFT: WITHDRAWN", "PREVIEW: WITHDRAWN", "SUSPENDED: WITHDRAWN"];
    assert_eq!(timed(archive, 10), withdrawn);
    assert_eq!(timed(ItemCommand::Create { status: Draft }, 10), [""; 0], "an existing item was created again");
    let sold_at_its_end = reached(AuctionKind::Timed, |auction, item, from| {
        by_command(ItemCommand::ReachEnd, 1_000)(auction, &with_bid(item.clone(), 10_000), from)
    });
    assert_eq!(sold_at_its_end, ["LIVE: SOLD"]);
}

#[test]
fn each_ring_command_reaches_exactly_the_specified_statuses_from_each_status() {
    let log = || log_of(&with_bid(item(&auction(AuctionKind::Webcast, AuctionStatus::Live), Live), 10_000));
    let sell = || RingCommand::Sell { confirmed: Confirmed::default(), log: log() };
    let pass = || RingCommand::Pass { over_waiting_bid: false, log: log() };
    let after = |command: RingCommand, place: fn(Auction, Item) -> (Auction, Item)| {
        reached(AuctionKind::Webcast, |auction, item, _| {
            let (auction, item) = place(auction.clone(), with_bid(item.clone(), 10_000));
            let decision = ring::decide(&auction, &item, command.clone(), at(10));
            decision.iter().filter_map(|decision| last_status(&decision.item)).collect()
        })
    };
    let waiting = |auction, item| (auction, item);
    assert_eq!(after(sell(), in_ring), ["LIVE: SOLD"]);
    assert_eq!(after(pass(), in_ring), ["LIVE: PASSED"]);
    assert_eq!(after(RingCommand::OfferAgain, waiting), ["PASSED: LIVE"]);
    assert_eq!(after(RingCommand::Send { is_next: true }, waiting), ["PASSED: LIVE"]);
    assert_eq!(after(sell(), waiting), [""; 0]);
    assert_eq!(after(pass(), waiting), [""; 0]);
}

#[test]
fn an_item_is_created_as_draft_or_live_only() {
    for &status in ItemStatus::ALL {
        for command in [ItemCommand::Create { status }, ItemCommand::Import { status }] {
            let auction = auction(AuctionKind::Timed, AuctionStatus::Live);
            let new = Item { sequence: 0, ..item(&auction, Draft) };
            match decide(&auction, &new, command, at(10)) {
                Ok(changes) => assert_eq!(last_status(&changes), Some(status)),
                Err(rejection) => {
                    let legal = vec!["DRAFT", "LIVE"];
                    assert_eq!(rejection, Rejection::IllegalTransition { from: None, to: status.name(), legal });
                    assert!(!matches!(status, Draft | Live));
                }
            }
        }
    }
}

#[test]
fn only_always_announced_changes_are_announced_before_the_first_announcement() {
    for row in ITEM_TRANSITIONS {
        let auction = auction(AuctionKind::Timed, AuctionStatus::Live);
        let silent = item(&auction, row.from.unwrap_or(Draft));
        let announced = Item { announced: true, ..silent.clone() };
        assert_eq!(row.announced.applies_to(&silent), row.announced == Announced::Yes, "{row:?}");
        assert!(row.announced.applies_to(&announced), "{row:?}");
    }
}

#[test]
fn guards_have_distinct_words() {
    let mut words: Vec<&str> = ITEM_TRANSITIONS.iter().flat_map(|row| row.guards).map(|guard| guard.words()).collect();
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), 14, "{words:?}");
}

#[test]
fn rows_print_as_markdown() {
    let printed: Vec<String> = ITEM_TRANSITIONS.iter().map(ToString::to_string).collect();
    assert_eq!(printed[0], "| – | DRAFT | created | the auction is not reconciled | no |");
    let sold = "| LIVE | SOLD | its end | timed auction; effective end reached; high bid ≥ reserve | yes |";
    assert_eq!(printed.iter().filter(|row| row.as_str() == sold).count(), 1);
    let auction = crate::transitions::AUCTION_TRANSITIONS.last().unwrap();
    let archived = "every sold item has a buyer, or it is confirmed";
    let archived = format!("| RECONCILIATION | ARCHIVED | status_changed_by_administrator | {archived} |");
    assert_eq!(auction.to_string(), archived);
}
