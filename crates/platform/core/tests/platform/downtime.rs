//! Ends that pass while no node runs.

use std::time::Duration;

use contract::ItemStatus;
use platform_core::bidding::bids::NewBid;
use platform_core::config::TimerConfig;
use platform_core::port::{HouseSaleroom, OutageEnds};
use platform_core::sales::item_ends::ItemEndWorker;
use platform_core::sales::new_item::NewItem;
use platform_core::{PlatformConfig, PlatformError};
use platform_rules::Item;
use uuid::Uuid;

use crate::fixture::{TestPlatform, node};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3_600);
const GRACE: Duration = Duration::from_secs(120);

fn with_grace(grace: Duration) -> PlatformConfig {
    let timers = TimerConfig { downtime_grace: grace, ..TimerConfig::default() };
    PlatformConfig { timers, ..PlatformConfig::default() }
}

/// A worker of a new process, after its first run.
async fn restart(fixture: &TestPlatform, grace: Duration) -> ItemEndWorker {
    let mut timer = ItemEndWorker::new(node(&fixture.store, &fixture.clock, with_grace(grace), 7));
    timer.run_once(fixture.platform.now()).await.unwrap();
    timer
}

async fn item(fixture: &TestPlatform, item: Uuid) -> Item {
    fixture.store.item(item).await.unwrap().unwrap()
}

async fn bid(fixture: &TestPlatform, item: Uuid, amount: i64) -> Result<i64, PlatformError> {
    let new = NewBid { bidder: "7".into(), amount };
    Ok(fixture.platform.place_bid(&fixture.caller, item, &new, None, None).await?.fresh()?.item.bid_count)
}

/// Three lots that end in a minute, and one that ends in two hours. The last heartbeat is one second before the first ends.
async fn sale() -> (TestPlatform, Vec<Uuid>) {
    let fixture = TestPlatform::with(with_grace(GRACE)).await;
    let later = NewItem { end_time: Some(fixture.platform.now() + 2 * HOUR), ..NewItem::new("4", "A lamp") };
    let items = vec![NewItem::new("1", "A table"), NewItem::new("2", "A chair"), NewItem::new("3", "A bed"), later];
    let created = fixture.create(&fixture.timed(MINUTE, items)).await;
    let lots: Vec<Uuid> = created.items.iter().map(|item| item.uuid).collect();
    bid(&fixture, lots[0], 100).await.unwrap();
    fixture.clock.advance(Duration::from_secs(59));
    fixture.store.detect_downtime(fixture.platform.now(), 3_000).await.unwrap();
    (fixture, lots)
}

#[tokio::test]
async fn ends_in_a_downtime_are_extended_by_the_grace() {
    let (fixture, lots) = sale().await;
    let planned = item(&fixture, lots[3]).await.effective_end_time;
    fixture.clock.advance(HOUR);
    let restarted_at = fixture.platform.now();
    let mut timer = restart(&fixture, GRACE).await;
    for lot in &lots[..3] {
        let extended = item(&fixture, *lot).await;
        assert_eq!((extended.status, extended.effective_end_time), (ItemStatus::Live, Some(restarted_at + GRACE)));
    }
    assert_eq!(item(&fixture, lots[3]).await.effective_end_time, planned);
    assert_eq!(fixture.journal_of(lots[0]).await, ["LIVE created"]);
    let record = fixture.platform.record(&fixture.caller, lots[0], 0).await.unwrap();
    assert!(record.entries.last().unwrap().content.contains("\"cause\":\"end_moved_downtime\""));
    // A second node extends nothing more, and bidders can bid.
    restart(&fixture, GRACE).await;
    assert_eq!(bid(&fixture, lots[1], 500).await.unwrap(), 1);
    fixture.clock.advance(GRACE);
    assert_eq!(timer.run_once(fixture.platform.now()).await.unwrap().items, 3);
    assert_eq!(item(&fixture, lots[0]).await.status, ItemStatus::Sold);
    assert_eq!(item(&fixture, lots[1]).await.status, ItemStatus::Sold);
    assert_eq!(item(&fixture, lots[2]).await.status, ItemStatus::Unsold);
    let verified = fixture.platform.verify_all(&[], &|_| ()).await.unwrap();
    assert!(verified.broken.is_empty(), "{:?}", verified.broken);
}

async fn choose(fixture: &TestPlatform, ends: OutageEnds) {
    let saleroom = HouseSaleroom { outage_ends: Some(ends), ..HouseSaleroom::default() };
    fixture.platform.change_saleroom(&fixture.caller, fixture.customer.uuid, saleroom, None).await.unwrap();
}

#[tokio::test]
async fn the_choice_of_a_house_counts_before_the_setting_of_the_platform() {
    let (fixture, lots) = sale().await;
    choose(&fixture, OutageEnds::AfterMinutes(30)).await;
    fixture.clock.advance(HOUR);
    let restarted_at = fixture.platform.now();
    let mut timer = restart(&fixture, Duration::ZERO).await;
    for lot in &lots[..3] {
        let extended = item(&fixture, *lot).await;
        let end = Some(restarted_at + 30 * MINUTE);
        assert_eq!((extended.status, extended.effective_end_time), (ItemStatus::Live, end));
    }
    fixture.clock.advance(30 * MINUTE);
    assert_eq!(timer.run_once(fixture.platform.now()).await.unwrap().items, 3);
    assert_eq!(item(&fixture, lots[0]).await.status, ItemStatus::Sold);

    let (fixture, lots) = sale().await;
    choose(&fixture, OutageEnds::AtTheirTime).await;
    fixture.clock.advance(HOUR);
    restart(&fixture, GRACE).await;
    assert_eq!(item(&fixture, lots[0]).await.status, ItemStatus::Sold);
    assert_eq!(item(&fixture, lots[1]).await.status, ItemStatus::Unsold);
    assert_eq!(fixture.store.detect_downtime(fixture.platform.now(), 3_000).await.unwrap(), None);
}

#[tokio::test]
async fn the_next_node_extends_the_ends_of_a_downtime_that_a_killed_node_detected() {
    let (fixture, lots) = sale().await;
    fixture.clock.advance(HOUR);
    // The first node only detects the downtime. The second starts at once and only detects it, too. The third starts an
    // hour later.
    let found = fixture.store.detect_downtime(fixture.platform.now(), 3_000).await.unwrap().unwrap();
    assert_eq!(found.until, fixture.platform.now());
    fixture.clock.advance(Duration::from_secs(1));
    assert_eq!(fixture.store.detect_downtime(fixture.platform.now(), 3_000).await.unwrap(), Some(found));
    fixture.clock.advance(HOUR);
    restart(&fixture, GRACE).await;
    let extended = item(&fixture, lots[2]).await;
    assert_eq!(
        (extended.status, extended.effective_end_time),
        (ItemStatus::Live, Some(fixture.platform.now() + GRACE))
    );
    assert_eq!(
        fixture.store.detect_downtime(fixture.platform.now(), 3_000).await.unwrap(),
        None,
        "the downtime was not cleared"
    );
}

#[tokio::test]
async fn items_due_before_the_downtime_or_without_one_end_at_once() {
    let (fixture, lots) = sale().await;
    fixture.clock.advance(Duration::from_secs(2));
    fixture.store.detect_downtime(fixture.platform.now(), 3_000).await.unwrap();
    // The node stopped one second after the ends, before it ended the items.
    fixture.clock.advance(HOUR);
    restart(&fixture, GRACE).await;
    assert_eq!(item(&fixture, lots[0]).await.status, ItemStatus::Sold);

    let (fixture, lots) = sale().await;
    fixture.clock.advance(Duration::from_secs(2));
    restart(&fixture, GRACE).await;
    assert_eq!(item(&fixture, lots[1]).await.status, ItemStatus::Unsold, "a short restart counted as a downtime");

    let (fixture, lots) = sale().await;
    fixture.clock.advance(HOUR);
    restart(&fixture, Duration::ZERO).await;
    assert_eq!(
        item(&fixture, lots[1]).await.status,
        ItemStatus::Unsold,
        "an end was extended although the grace period is zero"
    );
}
