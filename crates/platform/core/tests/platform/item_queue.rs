//! Concurrent commands on one item.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use contract::ItemStatus;
use platform_core::bidding::bids::{NewBid, PlacedBid};
use platform_core::config::BulkChangeConfig;
use platform_core::port::{Page, Store};
use platform_core::sales::auctions::move_ends::{MoveEnds, NewEnds};
use platform_core::sales::bulk_change::BulkChangeWorker;
use platform_core::sales::new_item::NewItem;
use platform_core::{IdempotentRequest, Outcome, Platform, PlatformConfig, PlatformResult};
use platform_rules::Item;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::faulty_store::FaultyStore;
use crate::fixture::{TestPlatform, node};

const HOUR: Duration = Duration::from_secs(3_600);

async fn lot(fixture: &TestPlatform) -> Item {
    let item = NewItem { opening_bid: 100, fixed_increment: Some(10), ..NewItem::new("1", "A table") };
    fixture.create(&fixture.timed(HOUR, vec![item])).await.items.remove(0)
}

async fn bid_at(
    platform: &Platform,
    fixture: &TestPlatform,
    item: &Item,
    paddle: &str,
    amount: i64,
) -> PlatformResult<PlacedBid> {
    let new = NewBid { bidder: paddle.into(), amount };
    platform.place_bid(&fixture.caller, item.uuid, &new, None, None).await?.fresh()
}

async fn bid(fixture: &TestPlatform, item: &Item, paddle: &str, amount: i64) -> PlatformResult<PlacedBid> {
    bid_at(&fixture.platform, fixture, item, paddle, amount).await
}

/// Number and bidder of each stored bid, in order.
async fn stored_bids(fixture: &TestPlatform, item: Uuid) -> Vec<(i64, String)> {
    let bids = fixture.store.bids(item, Page { after: None, limit: 250 }).await.unwrap();
    bids.into_iter().map(|bid| (bid.number, bid.bidder)).collect()
}

fn numbered(paddles: &[&str]) -> Vec<(i64, String)> {
    (1..).zip(paddles).map(|(number, paddle)| (number, (*paddle).to_owned())).collect()
}

/// Runs a call until the store has `count` bids of the item, and drops it before it returns.
async fn drop_before_answer(fixture: &TestPlatform, item: Uuid, count: usize, call: impl Future) {
    let hold = fixture.faults.hold_answers_to_commits().await;
    let committed = async {
        while stored_bids(fixture, item).await.len() < count {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        _ = call => panic!("the call returned although the store delays the result of its commit"),
        () = committed => drop(hold),
    }
}

#[tokio::test]
async fn concurrent_bids_on_an_item_are_decided_in_order() {
    let fixture = TestPlatform::new().await;
    let item = lot(&fixture).await;
    let (a, b, c) =
        tokio::join!(bid(&fixture, &item, "a", 500), bid(&fixture, &item, "b", 300), bid(&fixture, &item, "c", 305));
    let a = a.unwrap();
    let b = b.unwrap();
    let c = c.unwrap_err();
    assert_eq!((a.bid.number, a.item.version, a.item.price()), (1, item.version + 1, Some(100)));
    assert_eq!((b.bid.number, b.item.version, b.item.price()), (2, item.version + 2, Some(310)));
    assert_eq!(c.code(), "bid_too_low");
    let stored = fixture.store.item(item.uuid).await.unwrap().unwrap();
    assert_eq!(stored, b.item, "the store differs from the answer to the last bid");
    assert_eq!(stored_bids(&fixture, item.uuid).await, numbered(&["a", "b"]));
}

#[tokio::test]
async fn a_node_whose_commit_conflicts_decides_again_on_the_new_state() {
    let fixture = TestPlatform::new().await;
    let item = lot(&fixture).await;
    let other = node(&fixture.store, &fixture.clock, PlatformConfig::default(), 2);
    let (a, b, c) = tokio::join!(
        bid(&fixture, &item, "a", 500),
        bid_at(&other, &fixture, &item, "b", 600),
        bid_at(&other, &fixture, &item, "b", 700)
    );
    // The order of the bids varies. In any order, bid a is high enough, and b leads at one step above a.
    assert_eq!(a.unwrap().item.uuid, item.uuid);
    let accepted = 1 + i64::from(b.is_ok()) + i64::from(c.is_ok());
    let stored = fixture.store.item(item.uuid).await.unwrap().unwrap();
    assert_eq!((stored.price(), stored.bid_count), (Some(510), accepted));
    let numbers: Vec<i64> = stored_bids(&fixture, item.uuid).await.into_iter().map(|(number, _)| number).collect();
    assert_eq!(numbers, (1..=accepted).collect::<Vec<_>>(), "the bid numbers have gaps or repetitions");
}

#[tokio::test]
async fn a_bid_is_not_refused_because_of_an_uncommitted_bid() {
    let fixture = TestPlatform::new().await;
    let item = lot(&fixture).await;
    let faults = FaultyStore::over(fixture.store.clone());
    let store: Arc<dyn Store> = faults.clone();
    let other = node(&store, &fixture.clock, PlatformConfig::default(), 2);
    let seen = NewBid { bidder: "b".into(), amount: 900 };
    // The second node decides both bids on the same version, and its commit is delayed. The first node commits meanwhile.
    let hold = faults.hold_commits().await;
    let (b, c, ()) = tokio::join!(
        async { other.place_bid(&fixture.caller, item.uuid, &seen, Some(item.version), None).await },
        bid_at(&other, &fixture, &item, "b", 800),
        async {
            while faults.commits_begun() == 0 {
                tokio::task::yield_now().await;
            }
            bid(&fixture, &item, "a", 200).await.unwrap();
            drop(hold);
        }
    );
    assert_eq!(b.unwrap_err().code(), "precondition_failed");
    assert_eq!(c.unwrap().item.price(), Some(210));
    assert_eq!(stored_bids(&fixture, item.uuid).await, numbered(&["a", "b"]));
}

#[tokio::test]
async fn decisions_based_on_a_commit_with_a_lost_result_are_decided_again() {
    let fixture = TestPlatform::new().await;
    let item = lot(&fixture).await;
    let faults = &fixture.faults;
    faults.lose_answer_of_next_commit();
    let hold = faults.hold_commits().await;
    let begun = faults.commits_begun();
    let first_commit_has_begun = async || {
        while faults.commits_begun() == begun {
            tokio::task::yield_now().await;
        }
    };
    let (a, b, ()) = tokio::join!(
        bid(&fixture, &item, "a", 500),
        async {
            first_commit_has_begun().await;
            bid(&fixture, &item, "b", 600).await
        },
        async {
            first_commit_has_begun().await;
            drop(hold);
        }
    );
    assert_eq!(a.unwrap_err().code(), "unavailable");
    let b = b.unwrap();
    assert_eq!((b.bid.number, b.item.price()), (2, Some(510)));
    assert_eq!(stored_bids(&fixture, item.uuid).await, numbered(&["a", "b"]));
}

#[tokio::test]
async fn a_cancelled_caller_loses_only_the_response() {
    let fixture = TestPlatform::new().await;
    let item = lot(&fixture).await;
    drop_before_answer(&fixture, item.uuid, 1, bid(&fixture, &item, "a", 500)).await;
    let b = bid(&fixture, &item, "b", 600).await.unwrap();
    assert_eq!((b.bid.number, b.item.price()), (2, Some(510)));
    assert_eq!(stored_bids(&fixture, item.uuid).await, numbered(&["a", "b"]));
}

#[tokio::test]
async fn of_two_commands_on_the_same_version_one_is_refused() {
    let fixture = TestPlatform::new().await;
    let item = lot(&fixture).await;
    let a = NewBid { bidder: "a".into(), amount: 500 };
    let b = NewBid { bidder: "b".into(), amount: 600 };
    let place = |new| fixture.platform.place_bid(&fixture.caller, item.uuid, new, Some(item.version), None);
    let (a, b) = tokio::join!(place(&a), place(&b));
    a.unwrap();
    assert_eq!(b.unwrap_err().code(), "precondition_failed");
}

#[tokio::test]
async fn two_concurrent_requests_with_one_idempotency_key_run_once() {
    let fixture = TestPlatform::new().await;
    let item = lot(&fixture).await;
    let new = NewBid { bidder: "a".into(), amount: 500 };
    let render = |placed: &PlacedBid| placed.bid.uuid.to_string();
    let answering = IdempotentRequest {
        caller: fixture.caller.id,
        key: "k",
        request_hash: [1; 32],
        status: 201,
        render: &render,
        tag: &|_| None,
    };
    let place = || fixture.platform.place_bid(&fixture.caller, item.uuid, &new, None, Some(answering));
    let (one, two, other) = tokio::join!(place(), place(), bid(&fixture, &item, "b", 600));
    // Either of the two requests may be decided first.
    let (placed, answer) = match (one, two) {
        (Ok(Outcome::Fresh(placed)), Ok(Outcome::Replayed(answer)))
        | (Ok(Outcome::Replayed(answer)), Ok(Outcome::Fresh(placed))) => (placed, answer),
        other => panic!("{other:?}"),
    };
    assert_eq!(answer.body, placed.bid.uuid.to_string());
    other.unwrap();
    let mut bidders: Vec<String> =
        stored_bids(&fixture, item.uuid).await.into_iter().map(|(_, bidder)| bidder).collect();
    bidders.sort();
    assert_eq!(bidders, ["a", "b"]);
}

#[tokio::test]
async fn a_cancellation_waits_in_the_item_queue_and_sees_every_bid() {
    let fixture = TestPlatform::new().await;
    let item = lot(&fixture).await;
    let a = bid(&fixture, &item, "a", 300).await.unwrap();
    let cancel = fixture.platform.cancel_bid(&fixture.caller, (item.uuid, a.bid.uuid), "a mistake", None, None);
    // When the cancellation enters the queue, b is decided and not yet durable. Bid c enters after it.
    let (b, cancelled, c) = tokio::join!(bid(&fixture, &item, "b", 500), cancel, bid(&fixture, &item, "c", 400));
    let b = b.unwrap();
    let cancelled = cancelled.unwrap().fresh().unwrap();
    let c = c.unwrap();
    assert_eq!((b.item.price(), cancelled.price(), c.item.price()), (Some(310), Some(100), Some(410)));
    let versions = [b.item.version, cancelled.version, c.item.version];
    assert_eq!(versions, [2, 3, 4].map(|steps| item.version + steps));
    let stored = fixture.store.item(item.uuid).await.unwrap().unwrap();
    assert_eq!((stored.price(), stored.version), (c.item.price(), c.item.version));
}

#[tokio::test]
async fn administrator_commands_wait_in_the_item_queue() {
    let fixture = TestPlatform::new().await;
    let item = lot(&fixture).await;
    let reason = Some("the provenance".to_owned());
    let suspend =
        fixture.platform.change_item_status(&fixture.caller, item.uuid, ItemStatus::Suspended, reason, None, None);
    let (a, suspended, b) = tokio::join!(bid(&fixture, &item, "a", 300), suspend, bid(&fixture, &item, "b", 500));
    assert_eq!(a.unwrap().bid.number, 1);
    let suspended = suspended.unwrap().fresh().unwrap();
    assert_eq!((suspended.status, suspended.bid_count), (ItemStatus::Suspended, 1));
    assert_eq!(b.unwrap_err().code(), "item_not_live");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_ends_of_items_can_be_moved_during_constant_bids() {
    let bulk_changes = BulkChangeConfig { first_items_max: 1, items_max: 4 };
    let fixture = TestPlatform::with(PlatformConfig { bulk_changes, ..PlatformConfig::default() }).await;
    let items =
        (0..8).map(|lot| NewItem { fixed_increment: Some(1), ..NewItem::new(lot.to_string(), "A lot") }).collect();
    let created = fixture.create(&fixture.timed(HOUR, items)).await;
    BulkChangeWorker::new(fixture.platform.clone()).run_once().await.unwrap();
    let hot = created.items[5].clone();
    let stop = CancellationToken::new();
    let bidders: Vec<_> = (0..6)
        .map(|bidder| {
            let (platform, caller, hot, stop) =
                (fixture.platform.clone(), fixture.caller.clone(), hot.uuid, stop.clone());
            tokio::spawn(async move {
                let mut amount = 0;
                while !stop.is_cancelled() {
                    amount += 10;
                    let new = NewBid { bidder: bidder.to_string(), amount };
                    let _refused = platform.place_bid(&caller, hot, &new, None, None).await;
                }
            })
        })
        .collect();
    let command = MoveEnds { ends: NewEnds::Shift { seconds: 600 }, items: None, reason: Some("Snow".to_owned()) };
    let moving = fixture.platform.move_ends(&fixture.caller, created.auction.uuid, &command, None, None);
    let moved = tokio::time::timeout(Duration::from_secs(30), moving).await.expect("bids block the move of the ends");
    stop.cancel();
    assert_eq!(moved.unwrap().fresh().unwrap().moved, 8);
    for bidder in bidders {
        bidder.await.unwrap();
    }
    for item in created.items {
        let stored = fixture.store.item(item.uuid).await.unwrap().unwrap();
        assert_eq!(stored.end_time, fixture.timed(HOUR, Vec::new()).ends_at.map(|end| end + Duration::from_secs(600)));
    }
}
