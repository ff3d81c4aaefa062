//! More simultaneous ends than one commit contains, on each store.

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
/// Items in one commit. It does not divide [`ITEMS`], so that the last commit is not full.
const BATCH: usize = 7;

/// A platform that ends at most [`BATCH`] items in a commit.
fn platform_with_small_batches(sale: &TestSale, seed: u64) -> Platform {
    let timers = TimerConfig { batch_items_max: BATCH, ..TimerConfig::default() };
    platform_with(&sale.store, &sale.clock, seed, PlatformConfig { timers, ..PlatformConfig::default() })
}

async fn all_items_end_once_with_the_result_of_their_bids(store: Arc<dyn Store>) {
    let sale = TestSale::new(store, 1).await;
    let created = sale.auction(AuctionKind::Timed, ITEMS).await;
    let sold = created.items[ITEMS / 2].uuid;
    let bid = NewBid { bidder: "7".into(), amount: OPENING };
    sale.platform.place_bid(&sale.caller, sold, &bid, None, None).await.unwrap();
    sale.clock.advance(OPEN);

    let ended = ItemEndWorker::new(platform_with_small_batches(&sale, 2)).run_once(sale.clock.now()).await.unwrap();
    assert_eq!(ended, EndReport { items: ITEMS, conflicts: 0, refused: 0 });
    for item in &created.items {
        let (now, _) = sale.item(item.uuid).await;
        let expected = if item.uuid == sold { ItemStatus::Sold } else { ItemStatus::Unsold };
        assert_eq!((now.status, now.sequence), (expected, item.sequence + 1), "lot {}", item.lot_number);
    }
    let second_run =
        ItemEndWorker::new(platform_with_small_batches(&sale, 3)).run_once(sale.clock.now()).await.unwrap();
    assert_eq!(second_run, EndReport::default());
    assert_eq!(sale.broken().await, Vec::<String>::new());
}

async fn two_nodes_end_all_items_once(store: Arc<dyn Store>) {
    let sale = TestSale::new(store, 1).await;
    let created = sale.auction(AuctionKind::Timed, ITEMS).await;
    sale.clock.advance(OPEN);

    let mut one = ItemEndWorker::new(platform_with_small_batches(&sale, 2));
    let mut other = ItemEndWorker::new(platform_with_small_batches(&sale, 3));
    let mut items = 0;
    for _ in 0..2 {
        let now = sale.clock.now();
        let (first, second) = tokio::join!(one.run_once(now), other.run_once(now));
        items += first.unwrap().items + second.unwrap().items;
        // After a second, items that each node left to the other are overdue, and both nodes end them.
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

/// Runs each story on each store.
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

stories! { all_items_end_once_with_the_result_of_their_bids, two_nodes_end_all_items_once }
