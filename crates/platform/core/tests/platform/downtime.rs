//! Ends that pass while nothing runs.

use std::time::Duration;

use contract::ItemStatus;
use platform_core::bids::NewBid;
use platform_core::config::TimerConfig;
use platform_core::new_item::NewItem;
use platform_core::timers::EndItems;
use platform_core::{PlatformConfig, PlatformError};
use platform_rules::Item;
use uuid::Uuid;

use crate::house::{House, node};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3_600);
const GRACE: Duration = Duration::from_secs(120);

fn with_grace(grace: Duration) -> PlatformConfig {
    let timers = TimerConfig { downtime_grace: grace, ..TimerConfig::default() };
    PlatformConfig { timers, ..PlatformConfig::default() }
}

/// The platform as a new process finds it, and what it does first.
async fn restart(house: &House, grace: Duration) -> EndItems {
    let mut timer = EndItems::new(node(&house.store, &house.clock, with_grace(grace), 7));
    timer.run_once(house.platform.now()).await.unwrap();
    timer
}

async fn item(house: &House, item: Uuid) -> Item {
    house.store.item(item).await.unwrap().unwrap()
}

async fn bid(house: &House, item: Uuid, amount: i64) -> Result<i64, PlatformError> {
    let new = NewBid { bidder: "7".into(), amount };
    Ok(house.platform.place_bid(&house.caller, item, &new, None, None).await?.fresh()?.item.bid_count)
}

/// Three lots that end in a minute, and one in two hours; a node lived until a second before the first ends.
async fn sale() -> (House, Vec<Uuid>) {
    let house = House::with(with_grace(GRACE)).await;
    let later = NewItem { end_time: Some(house.platform.now() + 2 * HOUR), ..NewItem::new("4", "A lamp") };
    let items = vec![NewItem::new("1", "A table"), NewItem::new("2", "A chair"), NewItem::new("3", "A bed"), later];
    let created = house.create(&house.timed(MINUTE, items)).await;
    let lots: Vec<Uuid> = created.items.iter().map(|item| item.uuid).collect();
    bid(&house, lots[0], 100).await.unwrap();
    house.clock.advance(Duration::from_secs(59));
    house.store.note_run(house.platform.now(), 3_000).await.unwrap();
    (house, lots)
}

#[tokio::test]
async fn ends_in_a_downtime_are_put_off_by_the_grace_and_no_others() {
    let (house, lots) = sale().await;
    let planned = item(&house, lots[3]).await.effective_end_time;
    house.clock.advance(HOUR);
    let back = house.platform.now();
    let mut timer = restart(&house, GRACE).await;
    for lot in &lots[..3] {
        let held = item(&house, *lot).await;
        assert_eq!((held.status, held.effective_end_time), (ItemStatus::Live, Some(back + GRACE)));
    }
    assert_eq!(item(&house, lots[3]).await.effective_end_time, planned);
    assert_eq!(house.journal_of(lots[0]).await, ["LIVE created"]);
    let record = house.platform.record(&house.caller, lots[0], 0).await.unwrap();
    assert!(record.entries.last().unwrap().content.contains("\"cause\":\"end_moved_downtime\""));
    // Another node finds nothing to do, and everybody can bid.
    restart(&house, GRACE).await;
    assert_eq!(bid(&house, lots[1], 500).await.unwrap(), 1);
    house.clock.advance(GRACE);
    assert_eq!(timer.run_once(house.platform.now()).await.unwrap().items, 3);
    assert_eq!(item(&house, lots[0]).await.status, ItemStatus::Sold);
    assert_eq!(item(&house, lots[1]).await.status, ItemStatus::Sold);
    assert_eq!(item(&house, lots[2]).await.status, ItemStatus::Unsold);
    let verified = house.platform.verify_all(&[], &|_| ()).await.unwrap();
    assert!(verified.broken.is_empty(), "{:?}", verified.broken);
}

#[tokio::test]
async fn a_node_that_is_killed_before_it_was_done_leaves_the_rest_to_the_next() {
    let (house, lots) = sale().await;
    house.clock.advance(HOUR);
    // It found the downtime, and no more; another one comes at once and gets no further, and the third an hour later.
    let found = house.store.note_run(house.platform.now(), 3_000).await.unwrap().unwrap();
    assert_eq!(found.until, house.platform.now());
    house.clock.advance(Duration::from_secs(1));
    assert_eq!(house.store.note_run(house.platform.now(), 3_000).await.unwrap(), Some(found));
    house.clock.advance(HOUR);
    restart(&house, GRACE).await;
    let held = item(&house, lots[2]).await;
    assert_eq!((held.status, held.effective_end_time), (ItemStatus::Live, Some(house.platform.now() + GRACE)));
    assert_eq!(house.store.note_run(house.platform.now(), 3_000).await.unwrap(), None, "all of it was seen to");
}

#[tokio::test]
async fn what_was_due_before_the_downtime_or_comes_without_one_ends_at_once() {
    let (house, lots) = sale().await;
    house.clock.advance(Duration::from_secs(2));
    house.store.note_run(house.platform.now(), 3_000).await.unwrap();
    // A second after the ends nothing had come of them; then the node was gone.
    house.clock.advance(HOUR);
    restart(&house, GRACE).await;
    assert_eq!(item(&house, lots[0]).await.status, ItemStatus::Sold);

    let (house, lots) = sale().await;
    house.clock.advance(Duration::from_secs(2));
    restart(&house, GRACE).await;
    assert_eq!(item(&house, lots[1]).await.status, ItemStatus::Unsold, "a restart is no downtime");

    let (house, lots) = sale().await;
    house.clock.advance(HOUR);
    restart(&house, Duration::ZERO).await;
    assert_eq!(item(&house, lots[1]).await.status, ItemStatus::Unsold, "nobody asked for it");
}
