//! Claiming rows of the outbox.

use contract::ItemStatus;
use platform_core::port::{PublishResult, StartFrom};

use super::access_changes::AccessChanges as _;
use super::given::{
    Shared, announced, at, auction, claims, commit, commit_to, connected_sale, consumer, created, cursors,
    customer_uuid, ends, item_uuid, node, outcome,
};

pub(super) async fn a_commit_assigns_rows_without_an_earlier_waiting_row(store: Shared) {
    connected_sale(&store, 2).await;
    let found = store.item(item_uuid(1)).await.unwrap().unwrap();
    let change = announced(found, ItemStatus::Passed, at(1));
    let first = commit_to(&store, change.clone(), Some(node(1))).await.unwrap();
    assert_eq!((first.assigned.len(), first.waiting), (1, 0));
    let event = &first.assigned[0];
    assert_eq!((event.cursor, event.customer, event.attempts), (first.cursors[0], customer_uuid(1), 0));
    assert_eq!((event.sequence, event.at), (1, at(1)));
    assert_eq!(event.body, change.journal[0].event.unwrap().to_json());
    assert_eq!(claims(&store, 2, at(9)).await, [0; 0], "an assigned row was claimed");

    let found = store.item(item_uuid(1)).await.unwrap().unwrap();
    let second = commit_to(&store, announced(found, ItemStatus::Live, at(2)), Some(node(1))).await.unwrap();
    assert_eq!(
        (second.assigned.len(), second.waiting),
        (0, 1),
        "a row was assigned although an earlier one of its subject waits"
    );
    let found = store.item(item_uuid(2)).await.unwrap().unwrap();
    let other = commit(&store, announced(found, ItemStatus::Sold, at(3))).await.unwrap();
    assert_eq!((other.assigned.len(), other.waiting), (0, 1), "a commit without a node assigned a row");
    assert_eq!(claims(&store, 2, at(9)).await, other.cursors);
    store.record_outbox_outcomes(vec![outcome(first.cursors[0], PublishResult::Published)], at(9)).await.unwrap();
    assert_eq!(claims(&store, 2, at(9)).await, second.cursors);
}

pub(super) async fn unassigned_rows_are_claimed_oldest_first_and_once(store: Shared) {
    connected_sale(&store, 5).await;
    let mut all = Vec::new();
    for number in [4, 2, 5, 1, 3] {
        all.push(ends(&store, number, ItemStatus::Sold).await);
    }
    let first = store.claim_outbox(node(1), customer_uuid(1), at(9), 2).await.unwrap();
    assert_eq!(cursors(&first), all[..2]);
    assert_eq!(claims(&store, 2, at(9)).await, all[2..]);
    assert_eq!(claims(&store, 1, at(9)).await, [0; 0]);
    let done = all.iter().map(|cursor| outcome(*cursor, PublishResult::Published)).collect();
    store.record_outbox_outcomes(done, at(10)).await.unwrap();
    assert_eq!(store.backlog(customer_uuid(1)).await.unwrap().pending, 0);
}

pub(super) async fn only_the_earliest_row_of_a_subject_is_claimed(store: Shared) {
    connected_sale(&store, 1).await;
    let passed = ends(&store, 1, ItemStatus::Passed).await;
    let live = ends(&store, 1, ItemStatus::Live).await;
    let sold = ends(&store, 1, ItemStatus::Sold).await;
    for cursor in [passed, live, sold] {
        assert_eq!(claims(&store, 1, at(9)).await, [cursor]);
        assert_eq!(claims(&store, 2, at(9)).await, [0; 0]);
        store.record_outbox_outcomes(vec![outcome(cursor, PublishResult::Published)], at(9)).await.unwrap();
    }
    assert_eq!(claims(&store, 1, at(9)).await, [0; 0]);
}

pub(super) async fn customers_with_outbox_rows_are_listed_once(store: Shared) {
    connected_sale(&store, 2).await;
    ends(&store, 1, ItemStatus::Sold).await;
    ends(&store, 2, ItemStatus::Sold).await;
    for number in [2, 3] {
        let mut others = auction(number);
        others.customer = customer_uuid(number);
        if number == 2 {
            store.put_consumer(consumer(number), StartFrom::Now).await.unwrap();
        }
        commit(&store, created(others)).await.unwrap();
    }
    assert_eq!(store.customers_with_outbox(at(9)).await.unwrap(), [customer_uuid(1), customer_uuid(2)]);
    let claimed = claims(&store, 1, at(9)).await;
    assert_eq!(store.customers_with_outbox(at(9)).await.unwrap(), [customer_uuid(2)]);
    let later = outcome(claimed[0], PublishResult::Retry { at: at(50), error: "503".into() });
    store.record_outbox_outcomes(vec![later], at(9)).await.unwrap();
    assert_eq!(store.customers_with_outbox(at(49)).await.unwrap(), [customer_uuid(2)]);
    assert_eq!(store.customers_with_outbox(at(50)).await.unwrap(), [customer_uuid(1), customer_uuid(2)]);
}
