//! Nodes that share one PostgreSQL database: notifications between them, and concurrent commits.

use std::time::Duration;

use contract::ItemStatus;
use kit_runtime::signal::Signal;
use platform_core::port::{Change, NOTIFICATION_BYTES_MAX, Notification, StartFrom, StoreError};
use platform_store::postgres::PostgresConfig;

use super::access_changes::AccessChanges as _;
use super::given::{Shared, announced, at, bid, claims, commit, connected_sale, consumer, ends, item_uuid, sale};

/// Timeout of a wait on a busy machine. A passing test never waits that long.
const SOON: Duration = Duration::from_secs(20);

async fn config() -> PostgresConfig {
    PostgresConfig { url: testkit::postgres::fresh_database().await.unwrap(), pool_size: 8, ..Default::default() }
}

/// Two nodes that start at the same moment on an empty database.
async fn two_nodes() -> (Shared, Shared) {
    let config = config().await;
    tokio::try_join!(platform_store::postgres::open(&config), platform_store::postgres::open(&config)).unwrap()
}

/// A signal of a node that starts now, and so has received no earlier notification.
async fn heard_from_now_on(config: &PostgresConfig) -> (Shared, Signal) {
    let node = platform_store::postgres::open(config).await.unwrap();
    let changed = node.remote_changes();
    (node, changed)
}

async fn is_told(signal: &Signal) {
    tokio::time::timeout(SOON, signal.wait()).await.expect("the other node was not notified");
}

#[tokio::test]
async fn two_nodes_of_one_database_see_each_other() {
    let (one, other) = two_nodes().await;
    connected_sale(&one, 1).await;
    let found = other.item(item_uuid(1)).await.unwrap().unwrap();
    commit(&one, bid(found.clone(), 100)).await.unwrap();
    assert!(matches!(commit(&other, bid(found, 200)).await, Err(StoreError::Conflict)));
    let cursor = ends(&one, 1, ItemStatus::Sold).await;
    assert_eq!(claims(&other, 1, at(9)).await, [cursor]);
}

#[tokio::test]
async fn a_node_is_notified_of_ends_connections_and_waiting_rows() {
    let config = config().await;
    let one = platform_store::postgres::open(&config).await.unwrap();
    let (_other, changed) = heard_from_now_on(&config).await;
    sale(&one, 1).await;
    is_told(&changed).await;
    let (_other, changed) = heard_from_now_on(&config).await;
    one.put_consumer(consumer(1), StartFrom::Now).await.unwrap();
    is_told(&changed).await;
    let (_other, changed) = heard_from_now_on(&config).await;
    ends(&one, 1, ItemStatus::Sold).await;
    is_told(&changed).await;
    let (_other, changed) = heard_from_now_on(&config).await;
    one.park_queue(consumer(1).customer, None).await.unwrap();
    is_told(&changed).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn overlapping_batches_of_two_nodes_end_each_item_once() {
    const ITEMS: usize = 40;
    let (one, other) = two_nodes().await;
    connected_sale(&one, ITEMS).await;
    let mut batch = Vec::new();
    for number in 1..=ITEMS {
        batch.push(announced(one.item(item_uuid(number)).await.unwrap().unwrap(), ItemStatus::Sold, at(1)));
    }
    let backwards: Vec<Change> = batch.iter().rev().cloned().collect();
    let (first, second) = tokio::join!(one.commit(batch, None), other.commit(backwards, None));
    let first = first.unwrap();
    let second = second.unwrap();
    for (first, second) in first.iter().zip(second.iter().rev()) {
        assert!(first.is_ok() != second.is_ok(), "{first:?}, {second:?}");
        let refused = first.as_ref().err().or(second.as_ref().err());
        assert!(matches!(refused, Some(StoreError::Conflict)), "{refused:?}");
    }
    assert_eq!(claims(&other, 1, at(9)).await.len(), ITEMS);
}

#[tokio::test]
async fn a_notification_reaches_other_nodes_and_not_its_sender() {
    let (one, other) = two_nodes().await;
    let mut own = one.notifications().unwrap();
    let mut others = other.notifications().unwrap();
    let longest = "n".repeat(NOTIFICATION_BYTES_MAX);
    one.broadcast(&longest).await.unwrap();
    other.broadcast("back").await.unwrap();
    let message = |notice: &str| Some(Notification::Message(notice.into()));
    assert_eq!(tokio::time::timeout(SOON, others.next()).await.unwrap(), message(&longest));
    assert_eq!(
        tokio::time::timeout(SOON, own.next()).await.unwrap(),
        message("back"),
        "a node received its own notification"
    );
}

#[tokio::test]
async fn a_single_process_store_has_no_notifications() {
    let store = platform_store::sqlite::open_temporary().unwrap();
    store.broadcast("nobody is there").await.unwrap();
    assert!(store.notifications().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_locked_item_delays_only_its_own_bids() {
    const ITEMS: usize = 12;
    let config = config().await;
    let store = platform_store::postgres::open(&config).await.unwrap();
    sale(&store, ITEMS).await;
    let (mut holder, connection) = tokio_postgres::connect(&config.url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    let lock_holder = holder.transaction().await.unwrap();
    let lock = "SELECT 1 FROM platform.items WHERE uuid = $1 FOR UPDATE";
    lock_holder.execute(lock, &[&item_uuid(1)]).await.unwrap();
    let mut bids = Vec::new();
    for number in 1..=ITEMS {
        let change = bid(store.item(item_uuid(number)).await.unwrap().unwrap(), 100);
        let store = store.clone();
        bids.push(tokio::spawn(async move { commit(&store, change).await }));
    }
    let waits = bids.remove(0);
    for bid in bids {
        tokio::time::timeout(SOON, bid).await.expect("nobody waits for another's item").unwrap().unwrap();
    }
    assert!(!waits.is_finished());
    lock_holder.rollback().await.unwrap();
    tokio::time::timeout(SOON, waits).await.unwrap().unwrap().unwrap();
}
