//! The installation: its restores, and events that are announced again after one.

use contract::ItemStatus;
use platform_core::port::{Cursor, OvertakenPolicy, PublishResult, StartFrom};

use super::access_changes::AccessChanges as _;
use super::given::{
    Shared, at, claims, connected_sale, consumer, customer_uuid, ends, item_uuid, node, outcome, whole,
};

pub(super) async fn restores_are_counted(store: Shared) {
    assert_eq!(store.restores().await.unwrap(), 0);
    assert_eq!(store.count_restore(0).await.unwrap(), 1);
    assert_eq!(store.count_restore(2).await.unwrap(), 2);
    assert_eq!(store.count_restore(2).await.unwrap(), 3);
    assert_eq!(store.count_restore(9).await.unwrap(), 9);
    assert_eq!(store.restores().await.unwrap(), 9);
}

pub(super) async fn the_database_reports_its_version_and_size(store: Shared) {
    let figures = store.database_figures().await.unwrap();
    assert_eq!(figures.schema_version, 4);
    assert!(figures.size_bytes > 100_000, "{figures:?}");
    // Only a database in a file shows its log.
    let is_file = store.database_time().await.unwrap().is_none();
    assert_eq!(figures.wal_bytes.is_some_and(|bytes| bytes > 0), is_file, "{figures:?}");
}

async fn quarantine(store: &Shared, cursor: Cursor) {
    let refused = outcome(cursor, PublishResult::Quarantined { error: "409".into() });
    store.record_outbox_outcomes(vec![refused], at(20)).await.unwrap();
}

async fn send_again(store: &Shared, cursor: Cursor) {
    store.requeue_quarantined(customer_uuid(1), vec![cursor], OvertakenPolicy::Refuse, None).await.unwrap();
}

/// Claims one event; its cursor and event id.
async fn claimed(store: &Shared) -> (Cursor, String) {
    let claimed = store.claim_outbox(node(1), customer_uuid(1), at(99), 9).await.unwrap();
    let [event] = claimed.as_slice() else { panic!("{claimed:?}") };
    (event.cursor, event.event_id())
}

pub(super) async fn an_event_that_is_sent_again_after_a_restore_names_the_restore(store: Shared) {
    connected_sale(&store, 2).await;
    let sold = ends(&store, 1, ItemStatus::Sold).await;
    let (cursor, plain) = claimed(&store).await;
    assert_eq!(cursor, sold);
    let history = async || {
        let rows = store.history(item_uuid(1), whole()).await.unwrap();
        rows.iter().find(|row| row.cursor == sold).unwrap().event_id()
    };
    assert_eq!(history().await, Some(plain.clone()));

    quarantine(&store, sold).await;
    send_again(&store, sold).await;
    assert_eq!(claimed(&store).await, (sold, plain.clone()), "without a restore, the id is the same");

    store.count_restore(0).await.unwrap();
    quarantine(&store, sold).await;
    let of_item = store.quarantined_of(item_uuid(1)).await.unwrap();
    assert_eq!(of_item.iter().map(|one| one.event.event_id()).collect::<Vec<_>>(), std::slice::from_ref(&plain));
    send_again(&store, sold).await;
    assert_eq!(claimed(&store).await, (sold, format!("{plain}.r1")));

    store.count_restore(0).await.unwrap();
    let other = ends(&store, 2, ItemStatus::Sold).await;
    let (cursor, id_of_other) = claimed(&store).await;
    assert_eq!(cursor, other);
    assert!(!id_of_other.contains(".r"), "an event that was not sent again names a restore: {id_of_other}");
    quarantine(&store, sold).await;
    let in_quarantine = store.quarantined(customer_uuid(1), whole()).await.unwrap();
    assert_eq!(in_quarantine[0].event.event_id(), format!("{plain}.r1"), "the id changes only when it is sent again");
    send_again(&store, sold).await;
    assert_eq!(claimed(&store).await, (sold, format!("{plain}.r2")));
    assert_eq!(history().await, Some(format!("{plain}.r2")));
    let events = store.events_after(customer_uuid(1), whole()).await.unwrap();
    let ids: Vec<_> = events.iter().filter(|row| row.cursor >= sold).map(|row| row.event_id().unwrap()).collect();
    assert_eq!(ids, [format!("{plain}.r2"), id_of_other]);

    // An event of the journal that is published once more keeps its id.
    store.put_consumer(consumer(1), StartFrom::Cursor(sold - 1)).await.unwrap();
    store.record_outbox_outcomes(vec![outcome(sold, PublishResult::Released)], at(30)).await.unwrap();
    assert_eq!(claimed(&store).await, (sold, format!("{plain}.r2")));
}

pub(super) async fn the_events_of_a_lot_in_quarantine_are_found(store: Shared) {
    connected_sale(&store, 2).await;
    let passed = ends(&store, 1, ItemStatus::Passed).await;
    let other = ends(&store, 2, ItemStatus::Sold).await;
    assert_eq!(claims(&store, 1, at(9)).await, [passed, other]);
    assert_eq!(store.quarantined_of(item_uuid(1)).await.unwrap(), []);
    quarantine(&store, passed).await;
    quarantine(&store, other).await;
    let live = ends(&store, 1, ItemStatus::Live).await;
    assert_eq!(claims(&store, 1, at(99)).await, [live]);
    quarantine(&store, live).await;
    let all = store.quarantined(customer_uuid(1), whole()).await.unwrap();
    let of_item: Vec<_> = all.into_iter().filter(|one| one.event.subject == item_uuid(1)).collect();
    assert_eq!(of_item.iter().map(|one| one.event.cursor).collect::<Vec<_>>(), [passed, live]);
    assert_eq!(store.quarantined_of(item_uuid(1)).await.unwrap(), of_item);
}
