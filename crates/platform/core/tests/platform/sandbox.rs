//! Sandbox auctions, whose test clock can be advanced.

use std::time::Duration;

use contract::{AuctionStatus, ItemStatus};
use jiff::{SignedDuration, Timestamp};
use kit_runtime::clock::Clock as _;
use platform_core::bidding::bids::NewBid;
use platform_core::config::TimerConfig;
use platform_core::port::Page;
use platform_core::ring::{ClerkCommand, Confirmed};
use platform_core::sales::auctions::{CreatedAuction, NewAuction};
use platform_core::sales::item_ends::ItemEndWorker;
use platform_core::sales::new_item::NewItem;
use platform_core::sandbox::{Advance, Advanced, TestClockWorker};
use platform_core::{IdempotentRequest, Outcome, PlatformConfig, PlatformError};
use platform_rules::{AuctionKind, Item, SaleMode, Stagger};
use uuid::Uuid;

use crate::fixture::{TestPlatform, node};

const WEEK: Duration = Duration::from_secs(7 * 24 * 3_600);

/// A platform that ends at most three items in one commit, with a sandbox auction that ends in a week.
async fn sandbox(lots: usize, stagger: Option<Stagger>) -> (TestPlatform, CreatedAuction) {
    let timers = TimerConfig { clock_items_max: 3, ..TimerConfig::default() };
    let fixture = TestPlatform::with(PlatformConfig { timers, ..PlatformConfig::default() }).await;
    let items = (1..=lots).map(|lot| NewItem::new(lot.to_string(), "A lot")).collect();
    let new = NewAuction {
        sale_mode: SaleMode::Sandbox,
        stagger,
        extension_seconds: Some(600),
        ..fixture.timed(WEEK, items)
    };
    let created = fixture.create(&new).await;
    (fixture, created)
}

async fn bid(fixture: &TestPlatform, item: Uuid, amount: i64) -> Result<Item, PlatformError> {
    let new = NewBid { bidder: "paddle 7".into(), amount };
    Ok(fixture.platform.place_bid(&fixture.caller, item, &new, None, None).await?.fresh()?.item)
}

async fn advance(fixture: &TestPlatform, auction: Uuid, by: Advance) -> Result<Advanced, PlatformError> {
    fixture.platform.advance_clock(&fixture.caller, auction, by, None, None).await?.fresh()
}

/// The lot number of each journal entry about an item, with its time in seconds after `start`, in journal order.
async fn ends(fixture: &TestPlatform, created: &CreatedAuction, start: Timestamp) -> Vec<(String, i64)> {
    let page = Page { after: None, limit: 10_000 };
    let rows = fixture.store.events_after(fixture.customer.uuid, page).await.unwrap();
    let lot = |subject| created.items.iter().find(|item| item.uuid == subject).map(|item| item.lot_number.clone());
    rows.iter().filter_map(|row| Some((lot(row.subject)?, row.at.duration_since(start).as_secs()))).collect()
}

#[tokio::test]
async fn advancing_the_clock_ends_each_item_at_its_own_time() {
    let (fixture, created) = sandbox(2, Some(Stagger { seconds: 60, items: 1 })).await;
    let auction = created.auction.uuid;
    let start = fixture.clock.now();
    // Real time does not advance the test clock, and the timer of real sales ignores sandbox items.
    fixture.clock.advance(WEEK * 2);
    assert_eq!(ItemEndWorker::new(fixture.platform.clone()).run_once(fixture.clock.now()).await.unwrap().items, 0);
    assert_eq!(fixture.platform.test_clock(&fixture.caller, auction).await.unwrap().1.now(), start);

    // A bid in the last minute extends the end by the auction's clock.
    let closing = start + WEEK;
    let almost = Advance::To(closing - SignedDuration::from_secs(60));
    assert_eq!(advance(&fixture, auction, almost).await.unwrap().ended, []);
    let extended = bid(&fixture, created.items[0].uuid, 100).await.unwrap();
    assert_eq!(extended.standing.as_ref().unwrap().at, closing - SignedDuration::from_secs(60));
    assert_eq!(extended.effective_end_time, Some(closing + SignedDuration::from_secs(540)));

    let advanced = advance(&fixture, auction, Advance::Seconds(3_600)).await.unwrap();
    let clock = advanced.auction.clock.unwrap();
    assert_eq!((clock.now(), clock.target, clock.ended), (closing + SignedDuration::from_secs(3_540), None, 2));
    let ended: Vec<_> = advanced.ended.iter().map(|item| (item.lot_number.as_str(), item.status)).collect();
    assert_eq!(ended, [("2", ItemStatus::Unsold), ("1", ItemStatus::Sold)]);
    let week = WEEK.as_secs() as i64;
    assert_eq!(ends(&fixture, &created, start).await, [("2".into(), week + 60), ("1".into(), week + 540)]);
    assert_eq!(fixture.journal_of(created.items[0].uuid).await, ["LIVE created", "SOLD end_reached, announced"]);
    assert_eq!(bid(&fixture, created.items[0].uuid, 500).await.unwrap_err().code(), "item_not_live");
    let (item, _) = fixture.platform.item(&fixture.caller, created.items[1].uuid).await.unwrap();
    // The answer includes the head of the audit log that the commit wrote.
    assert_eq!(item, advanced.ended[0], "the answer differs from the stored item");
}

#[tokio::test]
async fn a_long_advance_continues_after_a_crash() {
    let (fixture, created) = sandbox(20, Some(Stagger { seconds: 60, items: 1 })).await;
    let auction = created.auction.uuid;
    let start = fixture.clock.now();
    let advanced = advance(&fixture, auction, Advance::Seconds(8 * 24 * 3_600)).await.unwrap();
    let clock = advanced.auction.clock.unwrap();
    assert_eq!((advanced.ended.len(), clock.ended), (3, 3));
    assert_eq!(clock.reached, start + WEEK + SignedDuration::from_secs(120));
    // The clock shows its target already: items that are still to be ended refuse bids, and the clock refuses another advance.
    assert_eq!(bid(&fixture, created.items[19].uuid, 100).await.unwrap_err().code(), "item_ended");
    assert_eq!(advance(&fixture, auction, Advance::Seconds(1)).await.unwrap_err().code(), "clock_advancing");

    // Another process continues the advance after a crash.
    let restarted = node(&fixture.store, &fixture.clock, PlatformConfig::default(), 2);
    assert_eq!(TestClockWorker::new(restarted.clone()).run_once().await.unwrap(), 17);
    assert_eq!(TestClockWorker::new(restarted).run_once().await.unwrap(), 0);
    let (_, clock) = fixture.platform.test_clock(&fixture.caller, auction).await.unwrap();
    assert_eq!((clock.target, clock.ended, clock.now()), (None, 20, start + WEEK + SignedDuration::from_hours(24)));
    let expected: Vec<_> = (0..20).map(|n| ((n + 1).to_string(), WEEK.as_secs() as i64 + 60 * n)).collect();
    assert_eq!(ends(&fixture, &created, start).await, expected);
}

#[tokio::test]
async fn two_nodes_end_each_item_of_an_advance_once_and_in_order() {
    let (fixture, created) = sandbox(50, Some(Stagger { seconds: 1, items: 2 })).await;
    let auction = created.auction.uuid;
    let start = fixture.clock.now();
    let timers = TimerConfig { clock_items_max: 4, ..TimerConfig::default() };
    let other = node(&fixture.store, &fixture.clock, PlatformConfig { timers, ..PlatformConfig::default() }, 2);
    let ended = advance(&fixture, auction, Advance::Seconds(8 * 24 * 3_600)).await.unwrap().ended.len();
    let one = TestClockWorker::new(fixture.platform.clone());
    let two = TestClockWorker::new(other);
    let (first, second) = tokio::join!(one.run_once(), two.run_once());
    assert_eq!(ended + first.unwrap() + second.unwrap(), 50);
    let expected: Vec<_> = (0..50).map(|n| ((n + 1).to_string(), WEEK.as_secs() as i64 + n / 2)).collect();
    assert_eq!(ends(&fixture, &created, start).await, expected);
}

#[tokio::test]
async fn a_repeated_advance_gets_the_stored_answer() {
    let (fixture, created) = sandbox(1, None).await;
    let auction = created.auction.uuid;
    let render = |advanced: &Advanced| format!("{} ended", advanced.ended.len());
    let answering = IdempotentRequest {
        caller: fixture.caller.id,
        key: "k",
        request_hash: [1; 32],
        status: 200,
        render: &render,
        tag: &|_| None,
    };
    let advance_with_key = || {
        fixture.platform.advance_clock(
            &fixture.caller,
            auction,
            Advance::Seconds(8 * 24 * 3_600),
            None,
            Some(answering),
        )
    };
    let requested_at = fixture.clock.now();
    assert!(matches!(advance_with_key().await.unwrap(), Outcome::Fresh(_)));
    let Outcome::Replayed(answer) = advance_with_key().await.unwrap() else { panic!("the clock was advanced again") };
    assert_eq!(
        (answer.body.as_str(), answer.at),
        ("1 ended", requested_at),
        "the stored answer has the time of the server's clock"
    );
    let (_, clock) = fixture.platform.test_clock(&fixture.caller, auction).await.unwrap();
    assert_eq!(clock.now(), requested_at + SignedDuration::from_hours(8 * 24));
}

#[tokio::test]
async fn only_a_sandbox_clock_can_be_advanced_and_only_forward() {
    let (fixture, created) = sandbox(1, None).await;
    let real = fixture.create(&fixture.timed(WEEK, vec![NewItem::new("1", "A table")])).await;
    let refused = async |auction, by| advance(&fixture, auction, by).await.unwrap_err().code();
    assert_eq!(refused(real.auction.uuid, Advance::Seconds(60)).await, "not_a_sandbox");
    let refused_read = fixture.platform.test_clock(&fixture.caller, real.auction.uuid).await;
    assert_eq!(refused_read.unwrap_err().code(), "not_a_sandbox");
    let auction = created.auction.uuid;
    assert_eq!(refused(auction, Advance::To(fixture.clock.now())).await, "clock_not_forward");
    assert_eq!(refused(auction, Advance::Seconds(0)).await, "invalid");
    assert_eq!(refused(auction, Advance::Seconds(366 * 24 * 3_600 + 1)).await, "invalid");
    let in_a_year = fixture.clock.now() + SignedDuration::from_hours(24 * 367);
    assert_eq!(refused(auction, Advance::To(in_a_year)).await, "clock_too_far");

    // The server's clock ends the due item of the real sale, and no item of the sandbox.
    fixture.clock.advance(WEEK);
    assert_eq!(ItemEndWorker::new(fixture.platform.clone()).run_once(fixture.clock.now()).await.unwrap().items, 1);
    assert_eq!(fixture.journal_of(created.items[0].uuid).await, ["LIVE created"]);
}

#[tokio::test]
async fn a_clerk_works_by_the_clock_of_the_auction() {
    let fixture = TestPlatform::new().await;
    let starts_at = Some(fixture.clock.now() + SignedDuration::from_hours(24));
    let items = vec![NewItem::new("1", "A table")];
    let new = NewAuction {
        kind: AuctionKind::Webcast,
        starts_at,
        sale_mode: SaleMode::Sandbox,
        ..fixture.timed(WEEK, items)
    };
    let created = fixture.create(&new).await;
    let auction = created.auction.uuid;
    let table = created.items[0].uuid;
    let start = fixture.clock.now();
    advance(&fixture, auction, Advance::Seconds(25 * 3_600)).await.unwrap();
    let room = ClerkCommand::RoomBid { bidder: "paddle 7".into(), amount: Some(5_000), large_jump: true };
    for command in
        [ClerkCommand::Send { item: Some(table) }, room, ClerkCommand::Sell { confirmed: Confirmed::default() }]
    {
        let seen = fixture.platform.ring(&fixture.caller, auction).await.unwrap().version();
        fixture.platform.clerk(&fixture.caller, auction, &command, seen, None).await.unwrap();
    }
    assert_eq!(ends(&fixture, &created, start).await, [("1".into(), 25 * 3_600)]);
    let (auction, _) = fixture.platform.test_clock(&fixture.caller, auction).await.unwrap();
    let closed = fixture.platform.change_auction_status(
        &fixture.caller,
        auction.uuid,
        AuctionStatus::Reconciliation,
        Some(auction.version),
        None,
    );
    assert_eq!(closed.await.unwrap().fresh().unwrap().auction.status, AuctionStatus::Reconciliation);
}
