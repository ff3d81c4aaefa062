//! Disconnecting, and events in quarantine.

use contract::ItemStatus;
use platform_core::port::{
    Backlog, Cursor, CustomerBacklog, OvertakenPolicy, Parked, PublishResult, StartFrom, StoreError,
};

use super::access_changes::AccessChanges as _;
use super::given::{
    Shared, answer, at, caller_uuid, claims, connected_sale, consumer, customer_uuid, ends, node, outcome, whole,
};

async fn quarantine(store: &Shared, cursors: &[Cursor]) {
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

pub(super) async fn a_disconnected_customer_publishes_nothing_and_can_reconnect(store: Shared) {
    connected_sale(&store, 4).await;
    let first = ends(&store, 1, ItemStatus::Sold).await;
    let second = ends(&store, 2, ItemStatus::Sold).await;
    assert_eq!(claims(&store, 1, at(9)).await, [first, second]);
    quarantine(&store, &[first]).await;
    let third = ends(&store, 3, ItemStatus::Sold).await;
    assert_eq!(store.disconnect(customer_uuid(1)).await.unwrap(), Some(2));
    assert_eq!(store.disconnect(customer_uuid(1)).await.unwrap(), None);
    assert_eq!(store.consumer(customer_uuid(1)).await.unwrap(), None);
    // Outcomes of requests from before the end are recorded late, and another event is committed.
    store.record_outbox_outcomes(vec![outcome(second, PublishResult::Released)], at(30)).await.unwrap();
    ends(&store, 4, ItemStatus::Sold).await;
    assert!(store.customers_with_outbox(at(99)).await.unwrap().is_empty());
    let backlog = Backlog { pending: 0, oldest_at: None, quarantined: 1, failing: None };
    assert_eq!(store.backlog(customer_uuid(1)).await.unwrap(), backlog);
    let send = store.requeue_quarantined(customer_uuid(1), vec![first], OvertakenPolicy::Refuse, None).await;
    assert!(matches!(send, Err(StoreError::Conflict)), "not connected: {send:?}");
    // A new connection from now publishes no earlier event; a connection from a cursor publishes the events of the journal.
    store.put_consumer(consumer(1), StartFrom::Now).await.unwrap();
    assert_eq!(claims(&store, 1, at(99)).await, [0; 0]);
    store.put_consumer(consumer(1), StartFrom::Cursor(second)).await.unwrap();
    assert_eq!(claims(&store, 1, at(99)).await, [third, third + 1]);
}

pub(super) async fn what_waits_for_each_customer_is_counted(store: Shared) {
    assert_eq!(store.customer_backlogs().await.unwrap(), []);
    connected_sale(&store, 3).await;
    let first = ends(&store, 1, ItemStatus::Sold).await;
    ends(&store, 2, ItemStatus::Sold).await;
    ends(&store, 3, ItemStatus::Sold).await;
    let customer = customer_uuid(1);
    let waiting = |pending, oldest_ms| CustomerBacklog {
        customer,
        pending,
        oldest_at: Some(at(oldest_ms)),
        ..CustomerBacklog::default()
    };
    assert_eq!(store.customer_backlogs().await.unwrap(), [waiting(3, 1)]);
    claims(&store, 1, at(9)).await;
    quarantine(&store, &[first]).await;
    let expected = CustomerBacklog { quarantined: 1, ..waiting(2, 2) };
    assert_eq!(store.customer_backlogs().await.unwrap(), [expected]);
    // A parked queue is listed although nothing waits in it.
    store.put_consumer(consumer(2), StartFrom::Now).await.unwrap();
    let parked = Some(Parked { reason: "401".into(), at: at(30) });
    store.park_queue(customer_uuid(2), parked).await.unwrap();
    let second = CustomerBacklog { customer: customer_uuid(2), parked_at: Some(at(30)), ..CustomerBacklog::default() };
    assert_eq!(store.customer_backlogs().await.unwrap(), [expected, second]);
    store.park_queue(customer_uuid(2), None).await.unwrap();
    store.disconnect(customer).await.unwrap();
    let left = CustomerBacklog { customer, quarantined: 1, ..CustomerBacklog::default() };
    assert_eq!(store.customer_backlogs().await.unwrap(), [left]);
}

pub(super) async fn an_event_from_quarantine_precedes_later_events_of_its_subject(store: Shared) {
    connected_sale(&store, 2).await;
    let passed = ends(&store, 1, ItemStatus::Passed).await;
    assert_eq!(claims(&store, 1, at(9)).await, [passed]);
    quarantine(&store, &[passed]).await;
    let live = ends(&store, 1, ItemStatus::Live).await;
    let passed_again = ends(&store, 1, ItemStatus::Passed).await;
    assert_eq!(
        store.overtaken(customer_uuid(1), vec![passed]).await.unwrap(),
        [0; 0],
        "an event counts as overtaken although the later ones still wait"
    );
    let stored_answer = Some(answer("send", "{}", at(21)));
    let send = |answer| store.requeue_quarantined(customer_uuid(1), vec![passed], OvertakenPolicy::Refuse, answer);
    send(stored_answer.clone()).await.unwrap();
    assert!(matches!(send(stored_answer.clone()).await, Err(StoreError::Replayed)));
    assert!(matches!(send(None).await, Err(StoreError::Conflict)), "an event that left quarantine was sent again");
    assert_eq!(store.idempotent_answer(caller_uuid(1), "send").await.unwrap(), stored_answer);
    assert_eq!(in_quarantine(&store).await, [0; 0]);
    let claimed = store.claim_outbox(node(1), customer_uuid(1), at(99), 9).await.unwrap();
    assert_eq!(claimed.iter().map(|event| (event.cursor, event.attempts)).collect::<Vec<_>>(), [(passed, 0)]);
    published(&store, passed).await;
    assert_eq!(claims(&store, 1, at(99)).await, [live]);
    published(&store, live).await;
    assert_eq!(claims(&store, 1, at(99)).await, [passed_again]);
}

pub(super) async fn an_overtaken_event_is_sent_only_on_explicit_request(store: Shared) {
    connected_sale(&store, 2).await;
    let passed = ends(&store, 1, ItemStatus::Passed).await;
    let other = ends(&store, 2, ItemStatus::Sold).await;
    assert_eq!(claims(&store, 1, at(9)).await, [passed, other]);
    quarantine(&store, &[passed, other]).await;
    let live = ends(&store, 1, ItemStatus::Live).await;
    // A claimed row counts as published.
    assert_eq!(claims(&store, 1, at(99)).await, [live]);
    let both = vec![passed, other];
    assert_eq!(store.overtaken(customer_uuid(1), both.clone()).await.unwrap(), [passed]);
    published(&store, live).await;
    assert_eq!(store.overtaken(customer_uuid(1), both.clone()).await.unwrap(), [passed]);
    let stored_answer = Some(answer("send", "{}", at(21)));
    let refused =
        store.requeue_quarantined(customer_uuid(1), both.clone(), OvertakenPolicy::Refuse, stored_answer).await;
    assert!(matches!(refused, Err(StoreError::Conflict)), "{refused:?}");
    assert_eq!(in_quarantine(&store).await, both, "a refused call moved an event");
    assert_eq!(store.idempotent_answer(caller_uuid(1), "send").await.unwrap(), None);
    store.requeue_quarantined(customer_uuid(1), both.clone(), OvertakenPolicy::Send, None).await.unwrap();
    assert_eq!(claims(&store, 1, at(99)).await, both);
}

pub(super) async fn a_dropped_event_stays_in_the_journal(store: Shared) {
    connected_sale(&store, 2).await;
    let one = ends(&store, 1, ItemStatus::Sold).await;
    let two = ends(&store, 2, ItemStatus::Sold).await;
    assert_eq!(claims(&store, 1, at(9)).await, [one, two]);
    quarantine(&store, &[one, two]).await;
    let with_unknown = vec![one, 999];
    assert!(matches!(store.drop_quarantined(customer_uuid(1), with_unknown, None).await, Err(StoreError::Conflict)));
    assert!(matches!(store.drop_quarantined(customer_uuid(2), vec![one], None).await, Err(StoreError::Conflict)));
    let stored_answer = Some(answer("drop", "{}", at(21)));
    store.drop_quarantined(customer_uuid(1), vec![one], stored_answer.clone()).await.unwrap();
    let replayed = store.drop_quarantined(customer_uuid(1), vec![two], stored_answer).await;
    assert!(matches!(replayed, Err(StoreError::Replayed)), "{replayed:?}");
    assert_eq!(in_quarantine(&store).await, [two]);
    assert_eq!(claims(&store, 1, at(99)).await, [0; 0]);
    let announced = store.events_after(customer_uuid(1), whole()).await.unwrap();
    assert!(announced.iter().any(|row| row.cursor == one));
}
