//! Delivering a message once more.

use provider_core::model::{Attempt, AttemptTrigger};
use provider_core::port::{
    AttemptEvent, AttemptRecord, ClaimLimit, DeliveryKind, DeliveryOutcome, EndpointEffect, RESEND_DUE, Resend,
};

use super::given::*;

fn again(message: usize, endpoint: usize) -> Resend {
    Resend { application: id("app", 1), message: id("msg", message), endpoint: id("ep", endpoint) }
}

fn manual(attempt: Attempt) -> AttemptRecord {
    let attempt = Attempt { trigger: AttemptTrigger::Manual, ..attempt };
    AttemptRecord {
        attempt,
        outcome: DeliveryOutcome::Done,
        endpoint: EndpointEffect::None,
        notice: AttemptEvent::None,
    }
}

/// What a node is given of the endpoint: the message, attempts made, and what the next one is made for.
async fn claimed(store: &Shared, of: usize, endpoint: usize, now_ms: i64) -> Vec<(usize, u32, AttemptTrigger)> {
    let rows = claim_all(&**store, of, endpoint, now_ms, 9).await;
    rows.into_iter().map(|row| (row.message.id[4..].parse().unwrap(), row.attempts, row.trigger)).collect()
}

async fn waiting(store: &Shared) -> u64 {
    store.backlog(&id("ep", 1)).await.unwrap().deliveries
}

pub(super) async fn a_resend_is_one_manual_attempt_in_place_of_the_scheduled_one(store: Shared) {
    let version = routes(&store, 1).await;
    accepted(&store, vec![sent(1, version, &[(1, Some(1))]), sent(2, version, &[(1, None)])], at(5)).await;
    store.record_attempts(vec![failed(attempt(1, 1, 1, at(10)), 1, 5_000)].into(), NO_DELAY).await.unwrap();
    store.resend(again(1, 1), None).await.unwrap();
    assert_eq!(store.next_due().await.unwrap(), Some(RESEND_DUE));
    // Twice before it is made is once.
    store.resend(again(1, 1), None).await.unwrap();
    let (first, second) = ((1, 1, AttemptTrigger::Manual), (2, 0, AttemptTrigger::Scheduled));
    assert_eq!(claimed(&store, 2, 1, 20).await, [first, second], "before what waits longer");
    // Its node dies, and it is still a manual one.
    store.heartbeat(&node(3), at(100), at(50)).await.unwrap();
    assert_eq!(claimed(&store, 3, 1, 100).await, [first, second]);
    store.release(&node(3), vec![(id("msg", 1), id("ep", 1))], at(101)).await.unwrap();
    assert_eq!(claimed(&store, 3, 1, 102).await, [first]);
    store.record_attempts(vec![manual(attempt(2, 1, 1, at(110)))].into(), NO_DELAY).await.unwrap();
    assert_eq!(waiting(&store).await, 1, "the other message");
    assert_eq!(claimed(&store, 3, 1, 9_000).await, [], "nothing is scheduled any more");
}

pub(super) async fn a_resend_of_what_is_done_or_was_never_wanted_is_a_new_row(store: Shared) {
    let version = routes(&store, 2).await;
    accepted(&store, vec![sent(1, version, &[(1, Some(1))])], at(5)).await;
    store.record_attempts(vec![succeeded(attempt(1, 1, 1, at(10)))].into(), NO_DELAY).await.unwrap();
    for endpoint in [1, 2] {
        store.resend(again(1, endpoint), None).await.unwrap();
        assert_eq!(claimed(&store, 1, endpoint, 20).await, [(1, 0, AttemptTrigger::Manual)]);
        store.record_attempts(vec![manual(attempt(2 + endpoint, 1, endpoint, at(20)))].into(), NO_DELAY).await.unwrap();
        assert_eq!(claimed(&store, 1, endpoint, 9_000).await, []);
    }
    assert_eq!(waiting(&store).await, 0);
}

pub(super) async fn what_is_accepted_to_be_tried_by_hand_is_one_manual_attempt_before_all_others(store: Shared) {
    let version = routes(&store, 1).await;
    let mut by_hand = sent(2, version, &[(1, None)]);
    by_hand.deliveries[0].trigger = AttemptTrigger::Manual;
    accepted(&store, vec![sent(1, version, &[(1, None)]), by_hand], at(5)).await;
    assert_eq!(store.next_due().await.unwrap(), Some(RESEND_DUE));
    let rows = store.claim(&node(1), &id("ep", 1), DeliveryKind::Manual, at(5), ClaimLimit::for_rows(9)).await.unwrap();
    assert_eq!(rows.iter().map(|row| &*row.message.id).collect::<Vec<_>>(), [&*id("msg", 2)]);
    assert_eq!(claimed(&store, 1, 1, 5).await, [(1, 0, AttemptTrigger::Scheduled)], "the other one waits as it would");
    store.record_attempts(vec![manual(attempt(1, 2, 1, at(10)))].into(), NO_DELAY).await.unwrap();
    assert_eq!(waiting(&store).await, 1, "it is not tried again");
}

pub(super) async fn a_resend_during_an_attempt_comes_after_it(store: Shared) {
    let version = routes(&store, 1).await;
    let batch = (1..=4).map(|number| sent(number, version, &[(1, Some(1))]));
    accepted(&store, batch.collect(), at(5)).await;
    for number in [1, 2] {
        store.resend(again(number, 1), None).await.unwrap();
    }
    assert_eq!(claimed(&store, 2, 1, 20).await, [], "its owner is at it");
    // Of the two attempts during which a resend was requested, one succeeds and one fails. Of the other two as well.
    let records = vec![
        succeeded(attempt(1, 1, 1, at(20))),
        failed(attempt(2, 2, 1, at(20)), 1, 5_000),
        succeeded(attempt(3, 3, 1, at(20))),
        failed(attempt(4, 4, 1, at(20)), 1, 5_000),
    ];
    store.record_attempts(records.into(), NO_DELAY).await.unwrap();
    let due: Vec<(usize, AttemptTrigger)> =
        claimed(&store, 2, 1, 30).await.into_iter().map(|(message, _, trigger)| (message, trigger)).collect();
    assert_eq!(due, [(1, AttemptTrigger::Manual), (2, AttemptTrigger::Manual)]);
    store
        .record_attempts(vec![manual(attempt(5, 1, 1, at(40))), manual(attempt(6, 2, 1, at(40)))].into(), NO_DELAY)
        .await
        .unwrap();
    assert_eq!(waiting(&store).await, 1);
    assert_eq!(claimed(&store, 2, 1, 9_000).await, [(4, 1, AttemptTrigger::Scheduled)]);
}

pub(super) async fn a_manual_row_is_not_finished_by_a_late_scheduled_attempt(store: Shared) {
    let version = routes(&store, 1).await;
    accepted(&store, vec![sent(1, version, &[(1, Some(1))])], at(5)).await;
    // The node is taken for dead, and has only been slow.
    store.heartbeat(&node(2), at(100), at(50)).await.unwrap();
    store.resend(again(1, 1), None).await.unwrap();
    store.record_attempts(vec![succeeded(attempt(1, 1, 1, at(60)))].into(), NO_DELAY).await.unwrap();
    assert_eq!(claimed(&store, 2, 1, 110).await, [(1, 0, AttemptTrigger::Manual)]);
    store.record_attempts(vec![failed(attempt(2, 1, 1, at(120)), 1, 10)].into(), NO_DELAY).await.unwrap();
    assert_eq!(claimed(&store, 3, 1, 9_000).await, [], "it is still the second node's");
    store.record_attempts(vec![manual(attempt(3, 1, 1, at(130)))].into(), NO_DELAY).await.unwrap();
    assert_eq!(waiting(&store).await, 0);
}

pub(super) async fn a_resend_is_answered_once_for_a_key_and_needs_message_and_endpoint(store: Shared) {
    let version = routes(&store, 1).await;
    accepted(&store, vec![sent(1, version, &[])], at(5)).await;
    let refused = async |resend: Resend, key: Option<&str>| {
        let answer = key.map(|key| answer(key, 1, at(6)));
        reason(store.resend(resend, answer).await.unwrap_err())
    };
    let other = provider_core::model::Endpoint { application: id("app", 2), ..endpoint(7) };
    store.create_application(super::given::application(2), None).await.unwrap();
    store.create_endpoint(other, usize::MAX, None).await.unwrap();
    assert_eq!(refused(again(1, 2), Some("k")).await, "not found");
    assert_eq!(refused(again(1, 7), Some("k")).await, "not found");
    assert_eq!(refused(again(2, 1), Some("k")).await, "not found");
    assert_eq!(store.idempotent_answer(&id("org", 1), "k").await.unwrap(), None, "what is refused keeps no answer");
    store.resend(again(1, 1), Some(answer("k", 1, at(6)))).await.unwrap();
    assert_eq!(refused(again(1, 1), Some("k")).await, "replayed");
    assert_eq!(waiting(&store).await, 1);
}
