//! The end of a connection, and events in quarantine.

use contract::ItemStatus;
use platform_core::port::{Backlog, Cursor, OvertakenPolicy, PublishResult, StartFrom, StoreError};

use super::access_changes::AccessChanges as _;
use super::given::{
    Shared, answer, at, caller_uuid, claims, connected_sale, consumer, customer_uuid, ends, node, outcome, whole,
};

async fn aside(store: &Shared, cursors: &[Cursor]) {
    let refused = |cursor: &Cursor| outcome(*cursor, PublishResult::Quarantined { error: "422".into() });
    store.record_outbox_outcomes(cursors.iter().map(refused).collect(), at(20)).await.unwrap();
}

async fn published(store: &Shared, cursor: Cursor) {
    store.record_outbox_outcomes(vec![outcome(cursor, PublishResult::Published)], at(20)).await.unwrap();
}

async fn in_quarantine(store: &Shared) -> Vec<Cursor> {
    let found = store.quarantined(customer_uuid(1), whole()).await.unwrap();
    found.iter().map(|quarantined| quarantined.event.cursor).collect()
}

pub(super) async fn a_connection_that_ended_publishes_nothing_and_may_begin_again(store: Shared) {
    connected_sale(&store, 4).await;
    let first = ends(&store, 1, ItemStatus::Sold).await;
    let second = ends(&store, 2, ItemStatus::Sold).await;
    assert_eq!(claims(&store, 1, at(9)).await, [first, second]);
    aside(&store, &[first]).await;
    let third = ends(&store, 3, ItemStatus::Sold).await;
    assert_eq!(store.disconnect(customer_uuid(1)).await.unwrap(), Some(2));
    assert_eq!(store.disconnect(customer_uuid(1)).await.unwrap(), None);
    assert_eq!(store.consumer(customer_uuid(1)).await.unwrap(), None);
    // What was under way comes back, late; and something more happens.
    store.record_outbox_outcomes(vec![outcome(second, PublishResult::Released)], at(30)).await.unwrap();
    ends(&store, 4, ItemStatus::Sold).await;
    assert!(store.customers_with_outbox(at(99)).await.unwrap().is_empty());
    let kept = Backlog { pending: 0, oldest_at: None, quarantined: 1, failing: None };
    assert_eq!(store.backlog(customer_uuid(1)).await.unwrap(), kept);
    let send = store.requeue_quarantined(customer_uuid(1), vec![first], OvertakenPolicy::Refuse, None).await;
    assert!(matches!(send, Err(StoreError::Conflict)), "not connected: {send:?}");
    // From now on, nothing of before goes out; from a cursor, what the journal has.
    store.put_consumer(consumer(1), StartFrom::Now).await.unwrap();
    assert_eq!(claims(&store, 1, at(99)).await, [0; 0]);
    store.put_consumer(consumer(1), StartFrom::Cursor(second)).await.unwrap();
    assert_eq!(claims(&store, 1, at(99)).await, [third, third + 1]);
}

pub(super) async fn an_event_that_is_sent_again_goes_before_the_later_ones_of_its_subject(store: Shared) {
    connected_sale(&store, 2).await;
    let passed = ends(&store, 1, ItemStatus::Passed).await;
    assert_eq!(claims(&store, 1, at(9)).await, [passed]);
    aside(&store, &[passed]).await;
    let live = ends(&store, 1, ItemStatus::Live).await;
    let again = ends(&store, 1, ItemStatus::Passed).await;
    assert_eq!(store.overtaken(customer_uuid(1), vec![passed]).await.unwrap(), [0; 0], "the later ones wait");
    let kept = Some(answer("send", "{}", at(21)));
    let send = |answer| store.requeue_quarantined(customer_uuid(1), vec![passed], OvertakenPolicy::Refuse, answer);
    send(kept.clone()).await.unwrap();
    assert!(matches!(send(kept.clone()).await, Err(StoreError::Replayed)));
    assert!(matches!(send(None).await, Err(StoreError::Conflict)), "it is in quarantine no more");
    assert_eq!(store.idempotent_answer(caller_uuid(1), "send").await.unwrap(), kept);
    assert_eq!(in_quarantine(&store).await, [0; 0]);
    let claimed = store.claim_outbox(node(1), customer_uuid(1), at(99), 9).await.unwrap();
    assert_eq!(claimed.iter().map(|event| (event.cursor, event.attempts)).collect::<Vec<_>>(), [(passed, 0)]);
    published(&store, passed).await;
    assert_eq!(claims(&store, 1, at(99)).await, [live]);
    published(&store, live).await;
    assert_eq!(claims(&store, 1, at(99)).await, [again]);
}

pub(super) async fn an_event_that_a_later_one_has_overtaken_is_sent_only_on_purpose(store: Shared) {
    connected_sale(&store, 2).await;
    let passed = ends(&store, 1, ItemStatus::Passed).await;
    let other = ends(&store, 2, ItemStatus::Sold).await;
    assert_eq!(claims(&store, 1, at(9)).await, [passed, other]);
    aside(&store, &[passed, other]).await;
    let live = ends(&store, 1, ItemStatus::Live).await;
    // On its way counts as gone out.
    assert_eq!(claims(&store, 1, at(99)).await, [live]);
    let both = vec![passed, other];
    assert_eq!(store.overtaken(customer_uuid(1), both.clone()).await.unwrap(), [passed]);
    published(&store, live).await;
    assert_eq!(store.overtaken(customer_uuid(1), both.clone()).await.unwrap(), [passed]);
    let kept = Some(answer("send", "{}", at(21)));
    let refused = store.requeue_quarantined(customer_uuid(1), both.clone(), OvertakenPolicy::Refuse, kept).await;
    assert!(matches!(refused, Err(StoreError::Conflict)), "{refused:?}");
    assert_eq!(in_quarantine(&store).await, both, "all of them or none");
    assert_eq!(store.idempotent_answer(caller_uuid(1), "send").await.unwrap(), None);
    store.requeue_quarantined(customer_uuid(1), both.clone(), OvertakenPolicy::Send, None).await.unwrap();
    assert_eq!(claims(&store, 1, at(99)).await, both);
}

pub(super) async fn what_is_dropped_is_gone_and_its_journal_stays(store: Shared) {
    connected_sale(&store, 2).await;
    let (one, two) = (ends(&store, 1, ItemStatus::Sold).await, ends(&store, 2, ItemStatus::Sold).await);
    assert_eq!(claims(&store, 1, at(9)).await, [one, two]);
    aside(&store, &[one, two]).await;
    let gone = vec![one, 999];
    assert!(matches!(store.drop_quarantined(customer_uuid(1), gone, None).await, Err(StoreError::Conflict)));
    assert!(matches!(store.drop_quarantined(customer_uuid(2), vec![one], None).await, Err(StoreError::Conflict)));
    let kept = Some(answer("drop", "{}", at(21)));
    store.drop_quarantined(customer_uuid(1), vec![one], kept.clone()).await.unwrap();
    let again = store.drop_quarantined(customer_uuid(1), vec![two], kept).await;
    assert!(matches!(again, Err(StoreError::Replayed)), "{again:?}");
    assert_eq!(in_quarantine(&store).await, [two]);
    assert_eq!(claims(&store, 1, at(99)).await, [0; 0]);
    let announced = store.events_after(customer_uuid(1), whole()).await.unwrap();
    assert!(announced.iter().any(|row| row.cursor == one));
}
