//! Forgetting.

use provider_core::model::Message;
use provider_core::port::{EXPUNGED, NewMessage, Order};

use super::given::*;
use super::ordering::keyed;

const HOUR_MS: i64 = 3_600_000;

pub(super) async fn an_expunged_payload_and_response_are_gone(store: Shared) {
    let version = routes(&store, 1).await;
    accepted(&store, vec![sent(1, version, &[(1, None)]), sent(2, version, &[(1, None)])], at(5)).await;
    store.record_attempts(vec![failed(attempt(1, 1, 1, at(10)), 1, 0)].into(), NO_DELAY).await.unwrap();
    let app = id("app", 1);
    assert!(store.expunge_payload(&app, &id("msg", 1), at(15)).await.unwrap());
    assert!(store.expunge_payload(&app, &id("msg", 1), at(15)).await.unwrap(), "again is harmless");
    for (application, message) in [(id("app", 2), id("msg", 1)), (app.clone(), id("msg", 9))] {
        assert!(!store.expunge_payload(&application, &message, at(15)).await.unwrap());
        assert!(!store.expunge_response(&application, &message, &id("atmpt", 1)).await.unwrap());
    }
    let found = store.message(&app, &id("msg", 1)).await.unwrap().unwrap();
    assert_eq!(found, Message { payload: None, ..message(1) });
    let claimed = claim_all(&*store, 1, 1, 20, 9).await;
    let payloads: Vec<bool> = claimed.iter().map(|delivery| delivery.message.payload.is_some()).collect();
    assert_eq!(payloads.iter().filter(|there| **there).count(), 1, "what waits has none either");

    assert!(store.expunge_response(&app, &id("msg", 1), &id("atmpt", 1)).await.unwrap());
    assert!(!store.expunge_response(&app, &id("msg", 1), &id("atmpt", 9)).await.unwrap());
    let found = store.attempt(&app, &id("msg", 1), &id("atmpt", 1)).await.unwrap().unwrap();
    assert_eq!((found.response.as_str(), found.response_status_code, found.failure_detail), (EXPUNGED, 500, None));
    assert_eq!(found.response_headers, "", "headers of a response go with it");
    let listed = store.attempts_at_endpoint(&app, &id("ep", 1), whole(Order::Descending)).await.unwrap();
    assert_eq!(listed[0].response, EXPUNGED);
}

pub(super) async fn payloads_of_a_span_are_expunged_a_few_at_a_time(store: Shared) {
    let version = routes(&store, 1).await;
    store.create_application(application(2), None).await.unwrap();
    accepted(&store, (1..=5).map(|number| new(message(number), version)).collect(), at(5)).await;
    let elsewhere = Message { application: id("app", 2), ..message(6) };
    accepted(&store, vec![new(elsewhere, 1)], at(5)).await;
    let app = id("app", 1);
    assert!(store.expunge_payload(&app, &id("msg", 2), at(15)).await.unwrap());
    let expunge = async |after, before, limit| {
        let (after, before) = (id("msg", after), id("msg", before));
        let (removed, last) = store.expunge_payloads(&app, &after, &before, limit, at(15)).await.unwrap();
        (removed, last.map(|last| last.to_string()))
    };
    let last = |number| Some(id("msg", number).to_string());
    assert_eq!(expunge(0, 5, 3).await, (2, last(3)), "one had gone before");
    assert_eq!(expunge(3, 5, 3).await, (1, last(4)), "the end is not in it");
    assert_eq!(expunge(4, 5, 3).await, (0, None));
    assert_eq!(expunge(0, 5, 9).await, (0, last(4)), "again is harmless");
    let kept = async |application, number| {
        store.message(&id("app", application), &id("msg", number)).await.unwrap().unwrap().payload.is_some()
    };
    assert_eq!([kept(1, 1).await, kept(1, 4).await, kept(1, 5).await, kept(2, 6).await], [false, false, true, true]);
}

/// The first of a key is to be delivered later, another waits for its next attempt, and a third is left alone.
pub(super) async fn what_waits_of_expunged_messages_is_due_and_others_are_read_again(store: Shared) {
    let version = routes(&store, 2).await;
    let later_on = |number| {
        let new = keyed(number, version, "lot", &[1]);
        NewMessage { message: Message { deliver_at: Some(at(9_000)), ..new.message }, ..new }
    };
    accepted(&store, vec![later_on(1), keyed(2, version, "lot", &[1]), keyed(3, version, "bid", &[2])], at(5)).await;
    assert_eq!(claim_all(&*store, 1, 2, 5, 9).await.len(), 1);
    store.record_attempts(vec![failed(attempt(1, 3, 2, at(10)), 1, 9_000)].into(), NO_DELAY).await.unwrap();
    let purges = async || {
        let app = id("app", 1);
        let (application, _) = store.snapshot(&app).await.unwrap().unwrap();
        (application.purges, application.version)
    };
    let given = async |endpoint, now_ms| {
        let rows = claim_all(&*store, 1, endpoint, now_ms, 9).await;
        rows.into_iter().map(|row| (row.message.id, row.message.payload.is_some())).collect::<Vec<_>>()
    };
    let (app, as_it_was) = (id("app", 1), purges().await);
    assert_eq!((given(1, 20).await, given(2, 20).await), (vec![], vec![]));
    assert!(store.expunge_payload(&app, &id("msg", 1), at(20)).await.unwrap());
    assert_eq!(store.next_due().await.unwrap(), Some(at(20)));
    assert_eq!(given(1, 20).await, [(id("msg", 1), false)]);
    assert_eq!(given(2, 20).await, [], "its message is another");
    store.drop_deliveries(vec![dropped(1, 1)], at(5)).await.unwrap();
    assert_eq!(given(1, 20).await, [(id("msg", 2), true)], "the next of its key");
    let (removed, _) = store.expunge_payloads(&app, &id("msg", 0), &id("msg", 9), 9, at(30)).await.unwrap();
    assert_eq!((removed, given(2, 30).await), (2, vec![(id("msg", 3), false)]));
    // Rows that a node owns stay with it: the application's counter shows that payloads were removed.
    assert_eq!(given(1, 30).await, []);
    assert_eq!(purges().await, (as_it_was.0 + 2, as_it_was.1), "routes are what they were");
}

pub(super) async fn payloads_go_at_their_time_a_few_at_a_time(store: Shared) {
    let version = routes(&store, 0).await;
    // Five hours each, and one that goes with its message.
    let batch = (1..=6).map(|number| {
        let created_at = at(number as i64);
        let kept_ms = if number == 6 { 3_650 * 24 * HOUR_MS } else { 5 * HOUR_MS };
        new(Message { payload_expires_at: created_at + later(kept_ms), ..message(number) }, version)
    });
    accepted(&store, batch.collect(), at(10)).await;
    let there = async || {
        let messages = messages(&*store, &id("app", 1), Order::Ascending).await;
        let there = messages.iter().filter(|message| message.payload.is_some());
        there.map(|message| message.id[4..].parse().unwrap()).collect::<Vec<usize>>()
    };
    let over = |ms: i64| at(5 * HOUR_MS + ms);
    assert_eq!(store.expunge_expired_payloads(over(0), 9).await.unwrap(), 0);
    assert_eq!(store.expunge_expired_payloads(over(3), 2).await.unwrap(), 2);
    assert_eq!(store.expunge_expired_payloads(over(3), 2).await.unwrap(), 1);
    assert_eq!(there().await, [4, 5, 6]);
    assert_eq!(store.expunge_expired_payloads(over(3), 2).await.unwrap(), 0);
    assert_eq!(store.expunge_expired_payloads(at(4_000 * 24 * HOUR_MS), 9).await.unwrap(), 2);
    assert_eq!(there().await, [6]);
}

/// The first of a key is to be tried again long after its payload went: the next one does not wait for that.
pub(super) async fn what_waits_of_payloads_that_went_is_due(store: Shared) {
    let version = routes(&store, 1).await;
    let first = keyed(1, version, "lot", &[1]);
    let first = NewMessage { message: Message { payload_expires_at: at(5 * HOUR_MS), ..first.message }, ..first };
    let second = keyed(2, version, "lot", &[1]);
    let third = keyed(3, version, "bid", &[1]);
    let kept = |new: NewMessage| {
        let payload_expires_at = new.message.created_at + later(3_650 * 24 * HOUR_MS);
        NewMessage { message: Message { payload_expires_at, ..new.message }, ..new }
    };
    accepted(&store, vec![first, kept(second), kept(third)], at(5)).await;
    assert_eq!(claim_all(&*store, 1, 1, 5, 9).await.len(), 2);
    let never = 50 * HOUR_MS;
    let tries = [1, 3].map(|message| failed(attempt(message, message, 1, at(10)), 1, never));
    store.record_attempts(tries.into(), NO_DELAY).await.unwrap();
    let over = 6 * HOUR_MS;
    assert_eq!(store.expunge_expired_payloads(at(over), 9).await.unwrap(), 1);
    assert_eq!(store.next_due().await.unwrap(), Some(at(over)));
    let given = claim_all(&*store, 1, 1, over, 9).await;
    assert_eq!(given.len(), 1, "the other key's keeps its time");
    assert_eq!((&given[0].message.id, given[0].message.payload.is_none()), (&id("msg", 1), true));
}

pub(super) async fn messages_and_attempts_go_after_their_time_with_what_waits_of_them(store: Shared) {
    let version = routes(&store, 2).await;
    store.create_application(application(2), None).await.unwrap();
    let named = |number: usize| {
        let new = sent(number, version, &[(1, None), (2, Some(1))]);
        NewMessage { message: Message { event_id: Some(format!("lot.{number}")), ..new.message }, ..new }
    };
    let elsewhere = Message { application: id("app", 2), ..message(4) };
    let batch = vec![named(1), named(2), new(elsewhere, 1), named(5), named(6)];
    accepted(&store, batch, at(5)).await;
    let records = (1..=6).filter(|number| ![3, 4].contains(number));
    // An old message may have a young attempt: it goes with its message.
    let records = records.map(|number| succeeded(attempt(10 - number, number, 2, at(10))));
    store.record_attempts(records.collect(), NO_DELAY).await.unwrap();
    let before = id("msg", 5);
    assert_eq!(store.delete_old_attempts(&before, 1).await.unwrap(), 1);
    assert_eq!(store.delete_old_attempts(&before, 9).await.unwrap(), 1);
    assert_eq!(store.delete_old_attempts(&before, 9).await.unwrap(), 0);
    let mut forgotten = 0;
    for _ in 0..5 {
        forgotten += store.delete_old_messages(&before, 2).await.unwrap();
    }
    assert_eq!(forgotten, 3);
    let app = id("app", 1);
    let left = messages(&*store, &app, Order::Ascending).await;
    assert_eq!(left.iter().map(|message| &message.id).collect::<Vec<_>>(), [&id("msg", 5), &id("msg", 6)]);
    assert_eq!(messages(&*store, &id("app", 2), Order::Ascending).await, []);
    let attempts = store.attempts_at_endpoint(&app, &id("ep", 2), whole(Order::Descending)).await.unwrap();
    assert_eq!(attempts.iter().map(|attempt| &attempt.message).collect::<Vec<_>>(), [&id("msg", 5), &id("msg", 6)]);
    assert_eq!(store.backlog(&id("ep", 1)).await.unwrap().deliveries, 2);
    assert_eq!(claim_all(&*store, 1, 1, 20, 9).await.len(), 2);
    assert_eq!(store.message(&app, "lot.1").await.unwrap(), None);
    // Its event id can be taken again.
    accepted(
        &store,
        vec![NewMessage { message: Message { id: id("msg", 7), ..named(1).message }, ..named(7) }],
        at(30),
    )
    .await;
    assert_eq!(store.message(&app, "lot.1").await.unwrap().unwrap().id, id("msg", 7));
}
