//! Tests of the auction transitions: every row, every pair of statuses without a row, every guard.

use super::*;
use crate::sample::{at, auction};
use crate::transitions::AUCTION_TRANSITIONS;
use crate::{Cause, Stagger};
use AuctionStatus::{Archived, Draft, Live, Preview, Reconciliation};

const SOLD_OUT: ItemCounts =
    ItemCounts { total: 9, preview: 0, live: 0, suspended: 0, passed: 2, sold: 7, unsold: 0, with_bids: 0 };
const ON_SALE: ItemCounts = ItemCounts { live: 3, ..SOLD_OUT };

fn new(kind: AuctionKind) -> Auction {
    Auction { sequence: 0, ..auction(kind, Draft) }
}

#[track_caller]
fn check(auction: &Auction, items: ItemCounts, command: AuctionCommand, seconds: i64, expect: &str) {
    let words = match decide(auction, &items, command, at(seconds)) {
        Err(rejection) => rejection.code().to_owned(),
        Ok(changes) => match changes.as_slice() {
            [AuctionChange::StatusChanged { from, to, cause, .. }] => {
                format!("{}->{} {}", from.map_or("-", AuctionStatus::name), to.name(), cause.as_str())
            }
            other => panic!("{other:?}"),
        },
    };
    assert_eq!(words, expect);
}

fn create(status: AuctionStatus) -> AuctionCommand {
    AuctionCommand::Create { status }
}

fn change(to: AuctionStatus) -> AuctionCommand {
    AuctionCommand::to_status(to, Some("a mistake".to_owned()))
}

#[test]
fn every_pair_of_statuses_is_legal_exactly_as_specified() {
    let specified = [
        (None, vec![Draft, Preview, Live]),
        (Some(Draft), vec![Preview, Archived]),
        (Some(Preview), vec![Draft, Live, Archived]),
        (Some(Live), vec![Preview, Reconciliation]),
        (Some(Reconciliation), vec![Archived]),
        (Some(Archived), vec![]),
    ];
    for (from, targets) in specified {
        let names: Vec<_> = targets.iter().map(|status| status.name()).collect();
        for kind in AuctionKind::ALL {
            let state = from.map_or(new(kind), |status| auction(kind, status));
            let legal = |items| state.legal_next(items, at(10));
            assert!(from.is_none() || legal(&SOLD_OUT) == targets, "{from:?}");
            for &to in AuctionStatus::ALL {
                let items = if from.is_none() { ON_SALE } else { SOLD_OUT };
                let command = if from.is_none() { create(to) } else { change(to) };
                let outcome = decide(&state, &items, command, at(10));
                if targets.contains(&to) {
                    let cause = match (from, to) {
                        (None, _) => Cause::Created,
                        (Some(Draft | Preview), Archived) => Cause::AuctionArchived,
                        _ => Cause::StatusChangedByAdministrator,
                    };
                    let reason = from.map(|_| "a mistake".to_owned());
                    assert_eq!(outcome, Ok(vec![AuctionChange::StatusChanged { from, to, cause, reason }]));
                } else {
                    let from = from.map(AuctionStatus::name);
                    assert_eq!(
                        outcome,
                        Err(Rejection::IllegalTransition { from, to: to.name(), legal: names.clone() })
                    );
                }
            }
        }
    }
    assert_eq!(AUCTION_TRANSITIONS.len(), 11);
}

#[test]
fn an_auction_is_archived_as_a_mistake_only_with_a_reason_and_before_it_was_live() {
    for from in [Draft, Preview] {
        let draft = auction(AuctionKind::Timed, from);
        let archived = format!("{}->ARCHIVED auction_archived", from.name());
        check(&draft, SOLD_OUT, change(Archived), 10, &archived);
        for reason in [None, Some(" ".to_owned())] {
            check(&draft, SOLD_OUT, AuctionCommand::to_status(Archived, reason), 10, "reason_required");
        }
        check(&draft, ItemCounts { with_bids: 1, ..SOLD_OUT }, change(Archived), 10, "auction_has_bids");
    }
    let mut returned = auction(AuctionKind::Timed, Preview);
    for to in [Live, Preview] {
        for change in decide(&returned, &ON_SALE, change(to), at(10)).unwrap() {
            returned.apply(&change);
        }
    }
    check(&returned, SOLD_OUT, change(Archived), 10, "auction_was_live");
    assert_eq!(returned.legal_next(&SOLD_OUT, at(10)), [Draft, Live]);
}

#[test]
fn an_auction_with_open_buyers_is_archived_once_that_is_confirmed() {
    let over = auction(AuctionKind::Webcast, Reconciliation);
    let archive = |count, confirmed| AuctionCommand::ChangeStatus {
        to: Archived,
        reason: None,
        buyers: OpenBuyers { count, confirmed },
    };
    check(&over, SOLD_OUT, archive(3, false), 10, "buyers_open");
    let archived = "RECONCILIATION->ARCHIVED status_changed_by_administrator";
    check(&over, SOLD_OUT, archive(3, true), 10, archived);
    check(&over, SOLD_OUT, archive(0, false), 10, archived);
    assert_eq!(over.legal_next(&SOLD_OUT, at(10)), [Archived]);
}

#[test]
fn preview_requires_complete_fields_and_the_rejection_names_the_missing_ones() {
    let bare = |kind| Auction {
        title: " ".to_owned(),
        currency: String::new(),
        time_zone: String::new(),
        starts_at: None,
        ends_at: None,
        ..auction(kind, Draft)
    };
    let missing = |auction: &Auction| match decide(auction, &SOLD_OUT, change(Preview), at(10)) {
        Err(Rejection::FieldsMissing { fields }) => fields.join(" "),
        other => panic!("{other:?}"),
    };
    assert_eq!(missing(&bare(AuctionKind::Timed)), "title currency timeZone endsAt");
    assert_eq!(missing(&bare(AuctionKind::Webcast)), "title currency timeZone startsAt");
    let timed = Auction { starts_at: None, ..auction(AuctionKind::Timed, Draft) };
    check(&timed, SOLD_OUT, change(Preview), 10, "DRAFT->PREVIEW status_changed_by_administrator");
    let webcast = Auction { ends_at: None, ..auction(AuctionKind::Webcast, Draft) };
    check(&webcast, SOLD_OUT, change(Preview), 10, "DRAFT->PREVIEW status_changed_by_administrator");
    check(&Auction { sequence: 0, ..bare(AuctionKind::Timed) }, SOLD_OUT, create(Draft), 10, "-->DRAFT created");
    check(&Auction { sequence: 0, ..bare(AuctionKind::Timed) }, SOLD_OUT, create(Preview), 10, "fields_missing");
    check(&Auction { sequence: 0, ..bare(AuctionKind::Timed) }, ON_SALE, create(Live), 10, "fields_missing");
}

#[test]
fn an_auction_is_created_live_only_with_a_live_item_and_an_end_in_the_future() {
    check(&new(AuctionKind::Timed), SOLD_OUT, create(Live), 10, "no_live_item");
    check(&new(AuctionKind::Timed), ON_SALE, create(Live), 999, "-->LIVE created");
    check(&new(AuctionKind::Timed), ON_SALE, create(Live), 1_000, "end_not_in_future");
}

#[test]
fn an_auction_goes_live_only_with_its_closing_time_in_the_future() {
    let went_live = "PREVIEW->LIVE status_changed_by_administrator";
    for kind in AuctionKind::ALL {
        check(&auction(kind, Preview), SOLD_OUT, change(Live), 999, went_live);
        check(&auction(kind, Preview), SOLD_OUT, change(Live), 1_000, "end_not_in_future");
    }
    let endless = |kind| Auction { ends_at: None, ..auction(kind, Preview) };
    check(&endless(AuctionKind::Webcast), SOLD_OUT, change(Live), 10, went_live);
    check(&endless(AuctionKind::Timed), SOLD_OUT, change(Live), 10, "end_not_in_future");
}

#[test]
fn a_live_auction_goes_back_to_preview_only_without_bids() {
    let live = auction(AuctionKind::Timed, Live);
    check(&live, ON_SALE, change(Preview), 10, "LIVE->PREVIEW status_changed_by_administrator");
    check(&live, ItemCounts { with_bids: 1, ..ON_SALE }, change(Preview), 10, "auction_has_bids");
}

#[test]
fn an_auction_is_reconciled_only_when_no_item_is_live_or_suspended() {
    let live = auction(AuctionKind::Webcast, Live);
    let suspended = ItemCounts { suspended: 1, ..SOLD_OUT };
    check(&live, ON_SALE, change(Reconciliation), 10, "items_not_finished");
    check(&live, suspended, change(Reconciliation), 10, "items_not_finished");
    check(&live, SOLD_OUT, change(Reconciliation), 10, "LIVE->RECONCILIATION status_changed_by_administrator");
}

#[test]
fn a_stagger_of_zero_items_is_rejected() {
    let auction = Auction { stagger: Some(Stagger { seconds: 30, items: 0 }), ..new(AuctionKind::Timed) };
    check(&auction, SOLD_OUT, create(Draft), 10, "field_invalid");
}

#[test]
fn a_change_of_status_raises_the_sequence_by_one_and_leaves_the_version() {
    let mut auction = auction(AuctionKind::Timed, Preview);
    for change in decide(&auction, &SOLD_OUT, change(Live), at(10)).unwrap() {
        auction.apply(&change);
    }
    assert_eq!((auction.status, auction.sequence, auction.version), (Live, 2, 1));
}

#[test]
fn invalid_charges_and_extensions_are_rejected_with_the_field() {
    let new = Auction { sequence: 0, ..auction(AuctionKind::Timed, Draft) };
    let refuses = |auction: Auction, field: &str| {
        let command = AuctionCommand::Create { status: Draft };
        match decide(&auction, &ItemCounts::default(), command, at(10)) {
            Err(Rejection::FieldInvalid { field: named, .. }) => assert_eq!(named, field),
            other => panic!("{field}: {other:?}"),
        }
    };
    for seconds in [0, 86_401] {
        refuses(Auction { extension_seconds: Some(seconds), ..new.clone() }, "extensionSeconds");
    }
    let charges = crate::Charges { premium_basis_points: 10_001, ..new.charges };
    refuses(Auction { charges, ..new }, "premiumBasisPoints");
}

#[test]
fn a_return_to_preview_stops_bids_and_is_abandoned_if_one_was_accepted_before() {
    let mut live = auction(AuctionKind::Timed, Live);
    let apply = |auction: &mut Auction, changes: Vec<AuctionChange>| {
        changes.iter().for_each(|change| auction.apply(change));
    };
    let with_bids = ItemCounts { with_bids: 1, ..ON_SALE };
    assert_eq!(begin_return_to_preview(&live, &with_bids, at(10)), Err(Rejection::AuctionHasBids));
    let begun = begin_return_to_preview(&live, &ON_SALE, at(10)).unwrap();
    apply(&mut live, begun);
    assert_eq!((live.status, live.require_live()), (Live, Err(Rejection::ItemsFollowing)));
    let mut abandoned = live.clone();
    apply(&mut abandoned, end_return_to_preview(&live, &with_bids, at(11)));
    assert_eq!((abandoned.status, abandoned.require_live()), (Live, Ok(())));
    let ended = end_return_to_preview(&live, &ON_SALE, at(11));
    apply(&mut live, ended);
    assert_eq!((live.status, live.returning), (Preview, false));
}

#[test]
fn legal_statuses_depend_on_the_items() {
    let live = auction(AuctionKind::Timed, Live);
    let with_bids = ItemCounts { with_bids: 1, ..SOLD_OUT };
    assert_eq!(live.legal_next(&SOLD_OUT, at(10)), [Preview, Reconciliation]);
    assert_eq!(live.legal_next(&ON_SALE, at(10)), [Preview]);
    assert_eq!(live.legal_next(&with_bids, at(10)), [Reconciliation]);
    assert_eq!(live.legal_next(&ItemCounts { suspended: 1, ..with_bids }, at(10)), []);
    let late = at(1_000_000);
    assert_eq!(
        auction(AuctionKind::Timed, Preview).legal_next(&SOLD_OUT, late),
        [Draft, Archived],
        "its end has passed"
    );
    assert_eq!(auction(AuctionKind::Timed, Preview).legal_next(&SOLD_OUT, at(10)), [Draft, Live, Archived]);
}
