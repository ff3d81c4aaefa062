//! Bulk changes of a large auction that keep its status: moved ends, new terms, a copy. They run in steps and change each
//! item once, even if a process is killed between two steps.

use std::time::Duration;

use contract::{AuctionStatus, ItemStatus};
use jiff::Timestamp;
use kit_runtime::clock::Clock as _;
use platform_core::port::{BulkChange, BulkOperation, Change};
use platform_core::sales::auctions::copy::{AuctionCopy, CopiedItems};
use platform_core::sales::auctions::edit::AuctionPatch;
use platform_core::sales::auctions::move_ends::{MoveEnds, MovedEnds, NewEnds};
use platform_core::sales::auctions::shift::Shift;
use platform_core::sales::bulk_change::BulkChangeWorker;
use platform_core::sales::new_item::NewItem;
use platform_core::{Caller, PlatformError};
use platform_rules::edit::Plan;
use platform_rules::item::ItemEdit;
use platform_rules::{AuctionChange, AuctionEdit, AuctionKind, IncrementTable, Stagger};
use uuid::Uuid;

use super::bulk_changes::{Nodes, bulk_change, code, step};
use super::given::{Shared, bid, caller_uuid, commit, next, next_auction, whole};

/// The end of each item, in seconds from now.
async fn ends(nodes: &Nodes, auction: Uuid) -> Vec<i64> {
    let seconds = |end: Timestamp| end.duration_since(nodes.clock.now()).as_secs();
    nodes.items(auction).await.iter().map(|item| item.effective_end_time.map_or(0, seconds)).collect()
}

async fn versions(nodes: &Nodes, auction: Uuid) -> Vec<i64> {
    nodes.items(auction).await.iter().map(|item| item.version).collect()
}

async fn move_ends(nodes: &Nodes, auction: Uuid, ends: NewEnds) -> Result<MovedEnds, PlatformError> {
    let wanted = MoveEnds { ends, items: None, reason: Some("Snow".into()) };
    nodes.first.move_ends(&Caller::command_line(), auction, &wanted, None, None).await?.fresh()
}

/// Creates the state that a process leaves if it is killed after the items up to `through` have been changed.
async fn leave(nodes: &Nodes, auction: Uuid, through: i64, operation: BulkOperation, change: Option<AuctionChange>) {
    let mut state = nodes.store.auction(auction).await.unwrap().unwrap();
    change.iter().for_each(|change| state.apply(change));
    let until = nodes.items(auction).await.len() as i64 - 1;
    let bulk_change =
        BulkChange { auction, customer: state.customer, through, until, step: 2, ..bulk_change(1, operation) };
    let begun = step(None, Some(bulk_change), None);
    commit(&nodes.store, Change { auction: Some(next_auction(state)), ..begun }).await.unwrap();
}

pub(super) async fn the_ends_of_a_large_auction_move_in_steps_and_each_once(store: Shared) {
    let nodes = Nodes::new(store).await;
    let auction = nodes.auction(AuctionKind::Timed, 12).await;
    nodes.status(auction, AuctionStatus::Live).await.unwrap();
    nodes.follow(auction).await;
    let before = versions(&nodes, auction).await;
    let shift = |seconds| NewEnds::Shift { seconds };
    assert_eq!(code(move_ends(&nodes, auction, shift(-60)).await), "end_not_later");
    assert_eq!(
        (versions(&nodes, auction).await, nodes.store.bulk_change(auction).await.unwrap()),
        (before.clone(), None)
    );
    let moved = move_ends(&nodes, auction, shift(600)).await.unwrap();
    assert_eq!((moved.moved, moved.kept), (12, 0));
    assert_eq!(ends(&nodes, auction).await, [4_200; 12]);
    let incremented: Vec<i64> = before.iter().map(|version| version + 1).collect();
    assert_eq!(versions(&nodes, auction).await, incremented);

    leave(&nodes, auction, 5, BulkOperation::ShiftEnds { seconds: 60, reason: Some("Snow".into()) }, None).await;
    let items = nodes.items(auction).await;
    // Items on sale accept bids meanwhile. Commands on waiting items and another shift are refused.
    assert_eq!(nodes.bid(items[11].uuid).await.unwrap(), 1);
    let caller = Caller::command_line();
    let reason = Some("a doubt".to_owned());
    let suspended =
        nodes.second.change_item_status(&caller, items[11].uuid, ItemStatus::Suspended, reason, None, None).await;
    assert_eq!(code(suspended), "items_following");
    assert_eq!(code(move_ends(&nodes, auction, shift(60)).await), "items_following");
    // An item whose sale ends meanwhile keeps its end.
    let mut bought = nodes.items(auction).await[10].clone();
    bought.status = ItemStatus::Unsold;
    commit(&nodes.store, Change { items: vec![next(bought)], ..Change::default() }).await.unwrap();
    nodes.follow(auction).await;
    let moved = [4_200, 4_200, 4_200, 4_200, 4_200, 4_200, 4_260, 4_260, 4_260, 4_260, 4_200, 4_260];
    assert_eq!(ends(&nodes, auction).await, moved);

    // A new stagger moves all ends except that of the item that is no longer on sale.
    let ends_at = nodes.clock.now() + Duration::from_secs(5_000);
    let plan = Plan { ends_at, stagger: Some(Stagger { seconds: 10, items: 6 }) };
    let moved = move_ends(&nodes, auction, NewEnds::Plan(plan)).await.unwrap();
    assert_eq!((moved.moved, moved.kept), (11, 1));
    let planned = [5_000, 5_000, 5_000, 5_000, 5_000, 5_000, 5_010, 5_010, 5_010, 5_010, 4_200, 5_010];
    assert_eq!(ends(&nodes, auction).await, planned);
}

pub(super) async fn planned_ends_of_a_large_auction_follow_its_closing_time(store: Shared) {
    let nodes = Nodes::new(store).await;
    let auction = nodes.auction(AuctionKind::Timed, 11).await;
    let own = nodes.clock.now() + Duration::from_secs(9_000);
    let edit = platform_rules::item::ItemEdit { end_time: Some(Some(own)), ..Default::default() };
    let caller = Caller::command_line();
    nodes.first.change_item(&caller, nodes.items(auction).await[7].uuid, &edit, None).await.unwrap();
    let ends_at = Some(nodes.clock.now() + Duration::from_secs(7_200));
    let edit = AuctionEdit { ends_at: Some(ends_at), title: Some("Late prints".into()), ..AuctionEdit::default() };
    let patch = AuctionPatch { edit, address: None };
    let changed = nodes.first.change_auction(&caller, auction, &patch, None).await.unwrap();
    assert_eq!((changed.title.as_str(), changed.ends_at), ("Late prints", ends_at));
    let mut planned = [7_200; 11];
    planned[7] = 9_000;
    assert_eq!(ends(&nodes, auction).await, planned);

    let state = nodes.store.auction(auction).await.unwrap().unwrap();
    let edit = AuctionEdit { ends_at: Some(Some(own)), ..AuctionEdit::default() };
    let operation = BulkOperation::ReplanEnds { ends_at: state.ends_at, stagger: state.stagger };
    leave(&nodes, auction, 3, operation, Some(AuctionChange::Edited { edit: Box::new(edit) })).await;
    nodes.follow(auction).await;
    assert_eq!(
        ends(&nodes, auction).await,
        [7_200, 7_200, 7_200, 7_200, 9_000, 9_000, 9_000, 9_000, 9_000, 9_000, 9_000]
    );
}

pub(super) async fn the_terms_of_a_large_sale_change_unless_a_bid_was_accepted(store: Shared) {
    let nodes = Nodes::new(store).await;
    let auction = nodes.auction(AuctionKind::Timed, 11).await;
    nodes.status(auction, AuctionStatus::Live).await.unwrap();
    nodes.follow(auction).await;
    let before = versions(&nodes, auction).await;
    let edit = AuctionEdit { extension_seconds: Some(Some(60)), ..AuctionEdit::default() };
    let patch = AuctionPatch { edit: edit.clone(), address: None };
    let caller = Caller::command_line();
    let changed = nodes.first.change_auction(&caller, auction, &patch, None).await.unwrap();
    assert_eq!((changed.extension_seconds, changed.returning), (Some(60), false));
    assert!(versions(&nodes, auction).await.iter().zip(&before).all(|(after, before)| after > before));

    let table = IncrementTable::new(vec![platform_rules::increments::IncrementRow { from: 0, increment: 7 }]).unwrap();
    let edit = AuctionEdit { increments: Some(table), ..AuctionEdit::default() };
    leave(&nodes, auction, 5, BulkOperation::EditTerms { edit: Box::new(edit.clone()) }, Some(AuctionChange::BidsHeld))
        .await;
    let last = nodes.items(auction).await[10].clone();
    assert_eq!(code(nodes.bid(last.uuid).await), "items_following");
    // This bid was decided before the change of the terms.
    commit(&nodes.store, bid(last, 100)).await.unwrap();
    nodes.follow(auction).await;
    let state = nodes.store.auction(auction).await.unwrap().unwrap();
    assert_eq!((state.returning, state.increments == IncrementTable::default()), (false, true));
    let patch = AuctionPatch { edit, address: None };
    assert_eq!(code(nodes.first.change_auction(&caller, auction, &patch, None).await), "fields_locked");
    assert_eq!(nodes.bid(nodes.items(auction).await[0].uuid).await.unwrap(), 1);
}

pub(super) async fn a_large_auction_is_copied_completely_or_not_at_all(store: Shared) {
    let nodes = Nodes::new(store).await;
    let auction = nodes.auction(AuctionKind::Timed, 13).await;
    let caller = Caller::command_line();
    let withdrawn = nodes.items(auction).await[6].uuid;
    nodes.first.change_item_status(&caller, withdrawn, ItemStatus::Withdrawn, None, None, None).await.unwrap();
    let copy = AuctionCopy { title: None, shift: Shift::Seconds(86_400), items: CopiedItems::All };
    let copied = nodes.first.copy_auction(&caller, auction, &copy, None).await.unwrap().fresh().unwrap();
    assert_eq!(copied.items, nodes.store.item_counts(copied.auction.uuid).await.unwrap());
    let copied = copied.auction;
    let lots = async |auction: Uuid| -> Vec<(i64, String)> {
        nodes.items(auction).await.into_iter().map(|item| (item.position, item.lot_number)).collect()
    };
    let numbers = (1..=13).filter(|number| *number != 7);
    let expected: Vec<(i64, String)> = (0..).zip(numbers.map(|number| number.to_string())).collect();
    assert_eq!(lots(copied.uuid).await, expected);
    assert_eq!(ends(&nodes, copied.uuid).await, [90_000; 12]);
    let far = nodes.clock.now() + Duration::from_secs(9);
    assert_eq!(nodes.store.bulk_change(copied.uuid).await.unwrap(), None);
    assert_eq!(nodes.store.delete_orphaned_chunks(far, 99).await.unwrap(), 0, "staged chunks remained");

    // A process that is killed directly after the first commit of a copy of three more items leaves this state.
    let import = caller_uuid(7);
    let piece = |lots: std::ops::Range<usize>| lots.map(|lot| NewItem::new(lot.to_string(), "A print")).collect();
    nodes.store.stage_chunk(import, 0, piece(20..22), nodes.clock.now()).await.unwrap();
    nodes.store.stage_chunk(import, 1, piece(22..23), nodes.clock.now()).await.unwrap();
    let state = nodes.store.auction(copied.uuid).await.unwrap().unwrap();
    let auction = copied.uuid;
    let customer = state.customer;
    let at = nodes.clock.now();
    let bulk_change = BulkChange {
        auction,
        customer,
        at,
        step: 0,
        through: 11,
        until: 14,
        ..bulk_change(1, BulkOperation::Copy { import })
    };
    commit(&nodes.store, Change { auction: Some(next_auction(state)), ..step(None, Some(bulk_change), None) })
        .await
        .unwrap();
    assert_eq!(code(nodes.first.copy_auction(&caller, auction, &copy, None).await), "items_following");
    nodes.follow(auction).await;
    assert_eq!(lots(auction).await[12..], [(12, "20".to_owned()), (13, "21".to_owned()), (14, "22".to_owned())]);
    nodes.verifies().await;
}

pub(super) async fn a_copy_with_an_invalid_lot_is_refused_and_a_stuck_copy_blocks_no_other(store: Shared) {
    let nodes = Nodes::new(store).await;
    // 01:30, a week before the night in which London's clocks skip that time.
    let now: Timestamp = "2026-03-22T01:30:00Z".parse().unwrap();
    nodes.clock.advance(now.duration_since(nodes.clock.now()).unsigned_abs());
    let at = |seconds| now + Duration::from_secs(seconds);
    let auction = nodes.auction(AuctionKind::Timed, 13).await;
    let caller = Caller::command_line();
    let change = async |edit: AuctionEdit| {
        let patch = AuctionPatch { edit, address: None };
        nodes.first.change_auction(&caller, auction, &patch, None).await
    };
    change(AuctionEdit { ends_at: Some(Some(at(10_800))), ..AuctionEdit::default() }).await.unwrap();
    let own_end = ItemEdit { end_time: Some(Some(at(3_000))), ..ItemEdit::default() };
    nodes.first.change_item(&caller, nodes.items(auction).await[12].uuid, &own_end, None).await.unwrap();
    let late_start = AuctionEdit { starts_at: Some(Some(at(3_000))), ..AuctionEdit::default() };
    assert_eq!(code(change(late_start).await), "invalid", "the auction starts after the end of a lot");

    let copy = |shift| AuctionCopy { title: None, shift, items: CopiedItems::All };
    let refused = nodes.first.copy_auction(&caller, auction, &copy(Shift::Days(7)), None).await.unwrap_err();
    assert!(
        matches!(&refused, PlatformError::Invalid(problems) if problems[0].message.contains("lot 13")),
        "{refused}"
    );
    assert_eq!(nodes.store.auctions(None, whole()).await.unwrap().len(), 1);
    let far = nodes.clock.now() + Duration::from_secs(9);
    assert_eq!(nodes.store.delete_orphaned_chunks(far, 99).await.unwrap(), 0, "staged chunks remained");
    let copied = nodes.first.copy_auction(&caller, auction, &copy(Shift::Seconds(604_800)), None).await.unwrap();
    let copied = copied.fresh().unwrap().auction;

    let import = caller_uuid(7);
    let wrong = NewItem { opening_bid: 500, buy_now: Some(1), ..NewItem::new("99", "A print") };
    nodes.store.stage_chunk(import, 0, vec![wrong], nodes.clock.now()).await.unwrap();
    let stuck = BulkChange {
        auction: copied.uuid,
        customer: copied.customer,
        step: 0,
        through: 12,
        until: 13,
        ..bulk_change(1, BulkOperation::Copy { import })
    };
    commit(&nodes.store, Change { auction: Some(next_auction(copied)), ..step(None, Some(stuck.clone()), None) })
        .await
        .unwrap();
    let other = nodes.auction(AuctionKind::Timed, 12).await;
    nodes.status(other, AuctionStatus::Live).await.unwrap();
    BulkChangeWorker::new(nodes.second.clone()).run_once().await.unwrap_err();
    assert_eq!(nodes.store.bulk_changes(9).await.unwrap(), [stuck]);
    assert!(nodes.items(other).await.iter().all(|item| item.status == ItemStatus::Live));
}

pub(super) async fn any_lot_with_a_past_end_prevents_a_large_auction_from_going_live(store: Shared) {
    let nodes = Nodes::new(store).await;
    let auction = nodes.auction(AuctionKind::Timed, 12).await;
    let caller = Caller::command_line();
    let minute = Duration::from_secs(60);
    let early_end = ItemEdit { end_time: Some(Some(nodes.clock.now() + minute)), ..ItemEdit::default() };
    // The call itself makes the first four lots LIVE; these two follow after them.
    let items = nodes.items(auction).await;
    for item in [items[6].uuid, items[11].uuid] {
        nodes.first.change_item(&caller, item, &early_end, None).await.unwrap();
    }
    nodes.clock.advance(minute);
    let before = nodes.items(auction).await;
    let refused = nodes.status(auction, AuctionStatus::Live).await.unwrap_err();
    assert_eq!(refused.code(), "invalid");
    assert!(format!("{refused:?}").contains(": 7, 12;"), "the refusal does not name both lots: {refused:?}");
    assert_eq!(nodes.items(auction).await, before, "a lot went LIVE");
    assert_eq!(nodes.store.auction(auction).await.unwrap().unwrap().status, AuctionStatus::Preview);
    assert_eq!(nodes.store.bulk_change(auction).await.unwrap(), None);

    let to = ItemStatus::Withdrawn;
    nodes.first.change_item_status(&caller, items[6].uuid, to, None, None, None).await.unwrap();
    let later = ItemEdit { end_time: Some(None), ..ItemEdit::default() };
    nodes.first.change_item(&caller, items[11].uuid, &later, None).await.unwrap();
    nodes.status(auction, AuctionStatus::Live).await.unwrap();
    nodes.follow(auction).await;
    assert_eq!(nodes.items(auction).await.iter().filter(|item| item.status == ItemStatus::Live).count(), 11);
    nodes.verifies().await;
}
