//! More ends at once than a commit takes, on each store.

use std::sync::Arc;
use std::time::Duration;

use contract::ItemStatus;
use kit_runtime::clock::Clock;
use platform_core::bidding::bids::NewBid;
use platform_core::config::TimerConfig;
use platform_core::port::{Page, Store};
use platform_core::sales::item_ends::{EndReport, ItemEndWorker};
use platform_core::{Platform, PlatformConfig};
use platform_rules::AuctionKind;

use crate::test_sale::{OPEN, OPENING, TestSale, platform_with};

const ITEMS: usize = 100;
/// So that the rounds are full, the last one is not, and none divides the items.
const BATCH: usize = 7;

/// A platform that ends few items in a commit.
fn hasty(sale: &TestSale, seed: u64) -> Platform {
    let timers = TimerConfig { batch_items_max: BATCH, ..TimerConfig::default() };
    platform_with(&sale.store, &sale.clock, seed, PlatformConfig { timers, ..PlatformConfig::default() })
}

async fn all_end_once_and_as_their_bids_say(store: Arc<dyn Store>) {
    let sale = TestSale::new(store, 1).await;
    let created = sale.auction(AuctionKind::Timed, ITEMS).await;
    let sold = created.items[ITEMS / 2].uuid;
    let bid = NewBid { bidder: "7".into(), amount: OPENING };
    sale.platform.place_bid(&sale.caller, sold, &bid, None, None).await.unwrap();
    sale.clock.advance(OPEN);

    let ended = ItemEndWorker::new(hasty(&sale, 2)).run_once(sale.clock.now()).await.unwrap();
    assert_eq!(ended, EndReport { items: ITEMS, conflicts: 0, refused: 0 });
    for item in &created.items {
        let (now, _) = sale.item(item.uuid).await;
        let expected = if item.uuid == sold { ItemStatus::Sold } else { ItemStatus::Unsold };
        assert_eq!((now.status, now.sequence), (expected, item.sequence + 1), "lot {}", item.lot_number);
    }
    let again = ItemEndWorker::new(hasty(&sale, 3)).run_once(sale.clock.now()).await.unwrap();
    assert_eq!(again, EndReport::default());
    assert_eq!(sale.broken().await, Vec::<String>::new());
}

async fn of_two_nodes_each_ends_what_the_other_has_not(store: Arc<dyn Store>) {
    let sale = TestSale::new(store, 1).await;
    let created = sale.auction(AuctionKind::Timed, ITEMS).await;
    sale.clock.advance(OPEN);

    let (mut here, mut there) = (ItemEndWorker::new(hasty(&sale, 2)), ItemEndWorker::new(hasty(&sale, 3)));
    let mut items = 0;
    for _ in 0..2 {
        let now = sale.clock.now();
        let (here, there) = tokio::join!(here.run_once(now), there.run_once(now));
        items += here.unwrap().items + there.unwrap().items;
        // What both have left to the other is overdue then.
        sale.clock.advance(Duration::from_secs(1));
    }
    assert_eq!(items, ITEMS);
    for item in &created.items {
        let history = sale.store.history(item.uuid, Page { after: None, limit: 10 }).await.unwrap();
        let ends = history.iter().filter(|row| row.cause == "end_reached").count();
        assert_eq!(ends, 1, "lot {}", item.lot_number);
    }
    assert_eq!(sale.broken().await, Vec::<String>::new());
}

/// A test of each story on each store.
macro_rules! stories {
    ($($story:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)] async fn $story() {
                let directory = tempfile::tempdir().unwrap();
                super::$story(platform_store::sqlite::open(&directory.path().join("platform.db")).await.unwrap()).await;
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)] async fn $story() {
                let url = testkit::postgres::fresh_database().await.unwrap();
                let config = platform_store::postgres::PostgresConfig { url, pool_size: 4, ..Default::default() };
                super::$story(platform_store::postgres::open(&config).await.unwrap()).await;
            })+
        }
    };
}

stories! { all_end_once_and_as_their_bids_say, of_two_nodes_each_ends_what_the_other_has_not }
