//! Outcomes of outbox rows.

use contract::ItemStatus;
use platform_core::port::{Parked, PublishResult};

use super::given::{Shared, at, claims, connected_sale, customer_uuid, ends, node, outcome, page, whole};

pub(super) async fn a_retry_delays_the_later_events_of_its_subject(store: Shared) {
    connected_sale(&store, 2).await;
    let passed = ends(&store, 1, ItemStatus::Passed).await;
    let live = ends(&store, 1, ItemStatus::Live).await;
    let other = ends(&store, 2, ItemStatus::Sold).await;
    assert_eq!(claims(&store, 1, at(9)).await, [passed, other]);
    assert_eq!(store.next_outbox_attempt(customer_uuid(1)).await.unwrap(), None);
    let retry = |cursor, ms| outcome(cursor, PublishResult::Retry { at: at(ms), error: "503".into() });
    store.record_outbox_outcomes(vec![retry(passed, 500), retry(other, 400)], at(10)).await.unwrap();
    assert_eq!(store.next_outbox_attempt(customer_uuid(1)).await.unwrap(), Some(at(400)));
    assert_eq!(claims(&store, 1, at(399)).await, [0; 0]);
    assert_eq!(claims(&store, 1, at(400)).await, [other]);
    assert_eq!(store.next_outbox_attempt(customer_uuid(1)).await.unwrap(), Some(at(500)));
    let again = store.claim_outbox(node(2), customer_uuid(1), at(500), 9).await.unwrap();
    assert_eq!((again.len(), again[0].cursor, again[0].attempts), (1, passed, 1));
    assert_eq!(store.next_outbox_attempt(customer_uuid(1)).await.unwrap(), None);
    store.record_outbox_outcomes(vec![retry(passed, 900)], at(600)).await.unwrap();
    let again = store.claim_outbox(node(2), customer_uuid(1), at(900), 9).await.unwrap();
    assert_eq!((again.len(), again[0].attempts), (1, 2));
    store.record_outbox_outcomes(vec![outcome(passed, PublishResult::Published)], at(901)).await.unwrap();
    assert_eq!(claims(&store, 1, at(901)).await, [live]);
}

pub(super) async fn a_released_row_is_due_without_a_counted_attempt(store: Shared) {
    connected_sale(&store, 1).await;
    let cursor = ends(&store, 1, ItemStatus::Sold).await;
    assert_eq!(claims(&store, 1, at(9)).await, [cursor]);
    store.record_outbox_outcomes(vec![outcome(cursor, PublishResult::Released)], at(10)).await.unwrap();
    let again = store.claim_outbox(node(2), customer_uuid(1), at(10), 9).await.unwrap();
    assert_eq!((again[0].cursor, again[0].attempts), (cursor, 0));
    // Outcomes of deleted rows are no error.
    let published = || vec![outcome(cursor, PublishResult::Published)];
    store.record_outbox_outcomes(published(), at(11)).await.unwrap();
    store.record_outbox_outcomes(published(), at(11)).await.unwrap();
    let late = vec![
        outcome(cursor, PublishResult::Released),
        outcome(cursor, PublishResult::Retry { at: at(99), error: "503".into() }),
        outcome(cursor, PublishResult::Quarantined { error: "422".into() }),
    ];
    store.record_outbox_outcomes(late, at(12)).await.unwrap();
    assert_eq!(store.backlog(customer_uuid(1)).await.unwrap(), Default::default());
}

pub(super) async fn a_response_with_a_nul_is_recorded(store: Shared) {
    connected_sale(&store, 3).await;
    let [published, again, aside] = [
        ends(&store, 1, ItemStatus::Sold).await,
        ends(&store, 2, ItemStatus::Sold).await,
        ends(&store, 3, ItemStatus::Sold).await,
    ];
    assert_eq!(claims(&store, 1, at(9)).await, [published, again, aside]);
    let outcomes = vec![
        outcome(published, PublishResult::Published),
        outcome(again, PublishResult::Retry { at: at(50), error: "500: \0GIF".into() }),
        outcome(aside, PublishResult::Quarantined { error: "422: \0GIF".into() }),
    ];
    store.record_outbox_outcomes(outcomes, at(10)).await.unwrap();
    let backlog = store.backlog(customer_uuid(1)).await.unwrap();
    assert_eq!((backlog.pending, backlog.quarantined), (1, 1));
    let parked = Parked { reason: "404: \0GIF".into(), at: at(11) };
    store.park_queue(customer_uuid(1), Some(parked)).await.unwrap();
    assert!(store.consumer(customer_uuid(1)).await.unwrap().unwrap().parked.is_some());
}

pub(super) async fn a_refused_event_is_quarantined_and_the_others_continue(store: Shared) {
    connected_sale(&store, 2).await;
    let passed = ends(&store, 1, ItemStatus::Passed).await;
    let sold = ends(&store, 2, ItemStatus::Sold).await;
    let live = ends(&store, 1, ItemStatus::Live).await;
    let claimed = store.claim_outbox(node(1), customer_uuid(1), at(9), 9).await.unwrap();
    let aside = |cursor| outcome(cursor, PublishResult::Quarantined { error: "422 payload refused".into() });
    store.record_outbox_outcomes(vec![aside(passed), aside(sold)], at(10)).await.unwrap();
    assert_eq!(claims(&store, 1, at(11)).await, [live]);
    let backlog = store.backlog(customer_uuid(1)).await.unwrap();
    assert_eq!((backlog.pending, backlog.quarantined), (1, 2));
    let kept = store.quarantined(customer_uuid(1), whole()).await.unwrap();
    assert_eq!(kept.iter().map(|aside| aside.event.cursor).collect::<Vec<_>>(), [passed, sold]);
    assert_eq!((kept[0].event.body.as_str(), kept[0].at), (claimed[0].body.as_str(), at(10)));
    assert_eq!((kept[0].event.sequence, kept[0].error.as_str()), (1, "422 payload refused"));
    let second = store.quarantined(customer_uuid(1), page(Some(passed), 9)).await.unwrap();
    assert_eq!(second, kept[1..]);
    assert_eq!(store.quarantined(customer_uuid(2), whole()).await.unwrap(), []);
}
