//! Connections of customers, and the rows that enter the outbox.

use contract::ItemStatus;
use kit_runtime::vault::Sealed;
use platform_core::port::{
    AccessChange, AccessChangeResult, Backlog, Consumer, Contact, ContactRecord, Failing, Parked, ProviderAddress,
    PublishResult, StartFrom,
};

use super::access_changes::AccessChanges as _;
use super::given::{
    Shared, announced, at, claims, commit_to, connected_sale, consumer, customer_uuid, ends, item_uuid, node, outcome,
    sale, whole,
};

pub(super) async fn a_connection_reads_back_and_is_replaced(store: Shared) {
    let mut entered = consumer(1);
    entered.api_key = None;
    store.put_consumer(entered.clone(), StartFrom::Now).await.unwrap();
    assert_eq!(store.consumer(customer_uuid(1)).await.unwrap(), Some(entered));
    let parked = Some(Parked { reason: "401 Unauthorized".into(), at: at(9) });
    store.put_consumer(consumer(1), StartFrom::Now).await.unwrap();
    store.park_queue(customer_uuid(1), parked.clone()).await.unwrap();
    let mut entered = consumer(1);
    entered.parked = parked;
    assert_eq!(store.consumer(customer_uuid(1)).await.unwrap(), Some(entered));
    store.park_queue(customer_uuid(1), None).await.unwrap();
    assert_eq!(store.consumer(customer_uuid(1)).await.unwrap(), Some(consumer(1)));
    assert_eq!(store.consumer(customer_uuid(2)).await.unwrap(), None);
}

pub(super) async fn a_connection_is_replaced_only_as_it_was_read(store: Shared) {
    let replace = async |consumer: &Consumer, expected| {
        let change = AccessChange::ReplaceConsumer(consumer.clone(), expected);
        store.apply_access_change(change, "{}".to_owned()).await.unwrap()
    };
    let stored = async || store.consumer(customer_uuid(1)).await.unwrap();
    let first = Consumer { application_id: None, has_made_key: true, ..consumer(1) };
    assert_eq!(replace(&first, Some(at(3))).await, AccessChangeResult::Unchanged, "no connection exists");
    assert_eq!(replace(&first, None).await, AccessChangeResult::Done);
    let other = Consumer { api_key: Some(Sealed::from_text("v1.k.b3RoZXI")), updated_at: at(4), ..first.clone() };
    assert_eq!(replace(&other, None).await, AccessChangeResult::Unchanged, "another call was faster");
    assert_eq!(stored().await, Some(first.clone()));
    let complete = Consumer { application_id: Some("app_1".into()), updated_at: at(5), ..first.clone() };
    assert_eq!(replace(&complete, Some(at(2))).await, AccessChangeResult::Unchanged);
    assert_eq!(replace(&complete, Some(at(3))).await, AccessChangeResult::Done);
    assert_eq!(stored().await, Some(complete.clone()));
    // A key that is entered is not one that the platform made.
    let entered = Consumer { has_made_key: false, ..complete };
    store.put_consumer(entered.clone(), StartFrom::Now).await.unwrap();
    assert_eq!(stored().await, Some(entered));
    assert_eq!(store.access_log(whole()).await.unwrap().len(), 3, "only changes are noted");
    let calls = [6, 7].map(|ms| {
        let (store, consumer) = (store.clone(), Consumer { updated_at: at(ms), ..consumer(2) });
        tokio::spawn(async move {
            store.apply_access_change(AccessChange::ReplaceConsumer(consumer, None), "{}".to_owned()).await.unwrap()
        })
    });
    let mut results = Vec::new();
    for call in calls {
        results.push(call.await.unwrap().is_recorded());
    }
    results.sort_unstable();
    assert_eq!(results, [false, true], "of two calls at the same time one enters its key");
}

pub(super) async fn a_contact_keeps_its_first_time_and_applies_only_to_its_connection(store: Shared) {
    store.put_consumer(consumer(1), StartFrom::Now).await.unwrap();
    let customer = customer_uuid(1);
    let contact = async || store.consumer(customer).await.unwrap().unwrap().contact;
    let record = |contact, since_ms, detail: Option<&str>| ContactRecord {
        contact,
        since: at(since_ms),
        detail: detail.map(str::to_owned),
    };
    let refused = record(Contact::Refused, 4, Some("401"));
    store.record_contact(customer, at(3), refused.clone()).await.unwrap();
    assert_eq!(contact().await, refused);
    store.record_contact(customer, at(3), record(Contact::Refused, 9, Some("403"))).await.unwrap();
    assert_eq!(contact().await, record(Contact::Refused, 4, Some("403")));
    store.record_contact(customer, at(2), record(Contact::Working, 10, None)).await.unwrap();
    assert_eq!(contact().await.contact, Contact::Refused, "a request with an earlier connection changed the contact");
    store.record_contact(customer, at(3), record(Contact::Working, 11, None)).await.unwrap();
    assert_eq!(contact().await, record(Contact::Working, 11, None));
    store.put_consumer(consumer(1), StartFrom::Now).await.unwrap();
    assert_eq!(contact().await, consumer(1).contact);
}

pub(super) async fn a_connection_names_the_embedded_provider_or_an_address(store: Shared) {
    let mut embedded = consumer(2);
    embedded.provider = ProviderAddress::Embedded;
    for consumer in [&consumer(1), &embedded] {
        store.put_consumer(consumer.clone(), StartFrom::Now).await.unwrap();
    }
    for consumer in [consumer(1), embedded] {
        assert_eq!(store.consumer(consumer.customer).await.unwrap(), Some(consumer));
    }
}

pub(super) async fn a_commit_returns_the_last_change_of_the_connection(store: Shared) {
    connected_sale(&store, 2).await;
    let item = store.item(item_uuid(1)).await.unwrap().unwrap();
    let change = announced(item, ItemStatus::Sold, at(5));
    let receipt = commit_to(&store, change, Some(node(1))).await.unwrap();
    assert_eq!(receipt.connection_updated_at, Some(at(3)));
}

pub(super) async fn nothing_enters_the_outbox_before_the_connection_is_complete(store: Shared) {
    sale(&store, 3).await;
    ends(&store, 1, ItemStatus::Sold).await;
    let mut half = consumer(1);
    half.application_id = None;
    store.put_consumer(half, StartFrom::Cursor(0)).await.unwrap();
    ends(&store, 2, ItemStatus::Sold).await;
    assert_eq!(store.backlog(customer_uuid(1)).await.unwrap(), Backlog::default());
    assert_eq!(claims(&store, 1, at(9)).await, [0; 0]);
    store.put_consumer(consumer(1), StartFrom::Now).await.unwrap();
    assert_eq!(store.backlog(customer_uuid(1)).await.unwrap(), Backlog::default());
    let third = ends(&store, 3, ItemStatus::Sold).await;
    let backlog = Backlog { pending: 1, oldest_at: Some(at(3)), ..Backlog::default() };
    assert_eq!(store.backlog(customer_uuid(1)).await.unwrap(), backlog);
    assert_eq!(claims(&store, 1, at(9)).await, [third]);
    assert_eq!(store.backlog(customer_uuid(1)).await.unwrap(), backlog);
}

pub(super) async fn a_connection_may_start_from_a_cursor(store: Shared) {
    sale(&store, 3).await;
    let first = ends(&store, 1, ItemStatus::Sold).await;
    let second = ends(&store, 2, ItemStatus::Sold).await;
    let third = ends(&store, 3, ItemStatus::Sold).await;
    store.put_consumer(consumer(1), StartFrom::Cursor(first)).await.unwrap();
    let claimed = store.claim_outbox(node(1), customer_uuid(1), at(9), 9).await.unwrap();
    assert_eq!(claimed.iter().map(|event| event.cursor).collect::<Vec<_>>(), [second, third]);
    let event = &claimed[0];
    assert_eq!((event.subject, event.sequence, event.attempts, event.at), (item_uuid(2), 1, 0, at(2)));
    assert_eq!(event.event_type.name(), "ITEM_STATUS_CHANGE");
    let journal = store.history(item_uuid(2), super::given::whole()).await.unwrap().remove(0);
    assert_eq!(Some(&event.body), journal.body.as_ref());
}

pub(super) async fn starting_from_a_cursor_duplicates_no_waiting_row(store: Shared) {
    sale(&store, 3).await;
    let first = ends(&store, 1, ItemStatus::Sold).await;
    store.put_consumer(consumer(1), StartFrom::Now).await.unwrap();
    let second = ends(&store, 2, ItemStatus::Sold).await;
    assert_eq!(claims(&store, 1, at(9)).await, [second]);
    let third = ends(&store, 3, ItemStatus::Sold).await;
    store.put_consumer(consumer(1), StartFrom::Cursor(0)).await.unwrap();
    assert_eq!(store.backlog(customer_uuid(1)).await.unwrap().pending, 3);
    assert_eq!(claims(&store, 2, at(9)).await, [first, third]);
}

pub(super) async fn a_backlog_reports_the_last_failure_until_the_connection_changes(store: Shared) {
    connected_sale(&store, 3).await;
    let [first, second, third] = [
        ends(&store, 1, ItemStatus::Sold).await,
        ends(&store, 2, ItemStatus::Sold).await,
        ends(&store, 3, ItemStatus::Sold).await,
    ];
    let customer = customer_uuid(1);
    let failing = async || store.backlog(customer).await.unwrap().failing;
    let retry = |cursor, at, error: &str| outcome(cursor, PublishResult::Retry { at, error: error.into() });
    for reset_by in ["put", "resume"] {
        assert_eq!(failing().await, None);
        assert_eq!(claims(&store, 1, at(9)).await, [first, second, third]);
        store
            .record_outbox_outcomes(vec![retry(first, at(50), "refused"), retry(second, at(40), "refused")], at(10))
            .await
            .unwrap();
        store.record_outbox_outcomes(vec![retry(third, at(60), "timed out")], at(11)).await.unwrap();
        let timed_out = |next_attempt_at| Some(Failing { error: "timed out".into(), at: at(11), next_attempt_at });
        assert_eq!(failing().await, timed_out(Some(at(40))));
        assert_eq!(claims(&store, 1, at(45)).await, [second]);
        assert_eq!(failing().await, timed_out(Some(at(50))));
        store.record_outbox_outcomes(vec![outcome(second, PublishResult::Released)], at(46)).await.unwrap();
        match reset_by {
            "put" => store.put_consumer(consumer(1), StartFrom::Now).await.unwrap(),
            _ => store.resume_queue(customer, at(47), None).await.unwrap(),
        }
    }
    // Rows that waited for their next attempt are due at once.
    assert_eq!((failing().await, store.next_outbox_attempt(customer).await.unwrap()), (None, None));
    assert_eq!(claims(&store, 1, at(12)).await, [first, second, third]);
    let published = [first, second, third].map(|cursor| outcome(cursor, PublishResult::Published));
    store.record_outbox_outcomes(published.into(), at(13)).await.unwrap();
    assert_eq!(store.backlog(customer).await.unwrap(), Backlog::default());
}

pub(super) async fn rows_of_a_parked_queue_are_not_claimed(store: Shared) {
    connected_sale(&store, 2).await;
    let parked = Some(Parked { reason: "403 Forbidden".into(), at: at(9) });
    store.park_queue(customer_uuid(1), parked).await.unwrap();
    let found = store.item(item_uuid(1)).await.unwrap().unwrap();
    let receipt = commit_to(&store, announced(found, ItemStatus::Sold, at(1)), Some(node(1))).await.unwrap();
    assert_eq!((receipt.assigned.len(), receipt.waiting), (0, 1));
    assert!(store.customers_with_outbox(at(9)).await.unwrap().is_empty());
    assert_eq!(claims(&store, 1, at(9)).await, [0; 0]);
    assert_eq!(store.backlog(customer_uuid(1)).await.unwrap().pending, 1);
    store.park_queue(customer_uuid(1), None).await.unwrap();
    assert_eq!(store.customers_with_outbox(at(9)).await.unwrap(), [customer_uuid(1)]);
    assert_eq!(claims(&store, 1, at(9)).await, receipt.cursors);
}
