//! Attempts and what they say of their endpoints.

use provider_core::model::{Attempt, AttemptStatus, AttemptTrigger, Endpoint};
use provider_core::port::{AttemptEvent, AttemptRecord, Cursor, DeliveryOutcome, EndpointEffect, Order, Page};
use provider_core::{Cause, FailureDetail};

use super::given::*;

pub(super) fn manual(attempt: Attempt) -> AttemptRecord {
    AttemptRecord {
        attempt: Attempt { trigger: AttemptTrigger::Manual, ..attempt },
        outcome: DeliveryOutcome::Done,
        endpoint: EndpointEffect::None,
        notice: AttemptEvent::None,
    }
}

pub(super) async fn attempts_are_listed_newest_first_by_message_and_by_endpoint(store: Shared) {
    let version = routes(&store, 2).await;
    accepted(&store, vec![sent(1, version, &[(1, Some(1)), (2, Some(1))]), sent(2, version, &[(1, Some(1))])], at(0))
        .await;
    let silent = FailureDetail::Transport(Cause::NoAnswer { limit_ms: 30_000 });
    let records = vec![
        failed(attempt(1, 1, 1, at(10)), 1, 5),
        succeeded(attempt(2, 1, 2, at(11))),
        failed(Attempt { failure_detail: Some(silent), ..attempt(3, 2, 1, at(12)) }, 1, 5),
        manual(attempt(4, 1, 1, at(13))),
    ];
    let kept: Vec<Attempt> = records.iter().map(|record| record.attempt.clone()).collect();
    store.record_attempts(records.clone().into(), NO_DELAY).await.unwrap();
    // Recording the same again, as after a lost answer, changes nothing.
    store.record_attempts(records[..2].to_vec().into(), NO_DELAY).await.unwrap();
    let [first, second, third, fourth] = kept.try_into().unwrap();

    let app = id("app", 1);
    let all = Page { limit: 250, ..Page::default() };
    let of_message = attempts_of_message(&*store, &app, &id("msg", 1)).await;
    assert_eq!(of_message, [fourth.clone(), second.clone(), first.clone()]);
    let at_endpoint = store.attempts_at_endpoint(&app, &id("ep", 1), all).await.unwrap();
    assert_eq!(at_endpoint, [fourth.clone(), third.clone(), first.clone()]);
    let before = page(Some(Cursor::Before(first.id.to_string())), Order::Descending, 1);
    assert_eq!(store.attempts_at_endpoint(&app, &id("ep", 1), before).await.unwrap(), [third]);

    assert_eq!(store.attempt(&app, &id("msg", 1), &id("atmpt", 2)).await.unwrap(), Some(second));
    assert_eq!(store.attempt(&app, &id("msg", 2), &id("atmpt", 2)).await.unwrap(), None);
    assert_eq!(store.attempt(&id("app", 2), &id("msg", 1), &id("atmpt", 2)).await.unwrap(), None);
    let elsewhere = id("app", 2);
    assert_eq!(store.attempts_at_endpoint(&elsewhere, &id("ep", 1), whole(Order::Descending)).await.unwrap(), []);
}

pub(super) async fn many_attempts_are_recorded_at_once_but_those_that_were(store: Shared) {
    let version = routes(&store, 1).await;
    let messages = (1..=30).map(|number| sent(number, version, &[(1, Some(1))]));
    accepted(&store, messages.collect(), at(0)).await;
    let records: Vec<_> = (1..=30).map(|number| succeeded(attempt(number, number, 1, at(number as i64)))).collect();
    store.record_attempts(records[10..13].to_vec().into(), NO_DELAY).await.unwrap();
    let otherwise = |record: &AttemptRecord| {
        let attempt = Attempt { response: "again".to_owned(), ..record.attempt.clone() };
        AttemptRecord { attempt, ..record.clone() }
    };
    store.record_attempts(records.iter().map(otherwise).collect(), NO_DELAY).await.unwrap();

    let all = whole(Order::Descending);
    let found = store.attempts_at_endpoint(&id("app", 1), &id("ep", 1), all).await.unwrap();
    let expected = records.iter().enumerate().map(|(index, record)| match index {
        10..13 => record.attempt.clone(),
        _ => otherwise(record).attempt,
    });
    assert_eq!(found, expected.rev().collect::<Vec<_>>());
    assert_eq!(store.backlog(&id("ep", 1)).await.unwrap().deliveries, 0);
}

pub(super) async fn a_manual_attempt_takes_the_place_of_the_scheduled_retry(store: Shared) {
    let version = routes(&store, 1).await;
    accepted(&store, vec![sent(1, version, &[(1, Some(1))])], at(0)).await;
    store.record_attempts(vec![failed(attempt(1, 1, 1, at(10)), 1, 500)].into(), NO_DELAY).await.unwrap();
    store.record_attempts(vec![manual(attempt(2, 1, 1, at(20)))].into(), NO_DELAY).await.unwrap();
    assert_eq!(store.next_due().await.unwrap(), None);
    assert_eq!(store.backlog(&id("ep", 1)).await.unwrap().deliveries, 0);
}

pub(super) async fn an_endpoint_fails_since_its_first_failure_after_a_success(store: Shared) {
    let version_before = routes(&store, 2).await;
    let batch = (1..=4).map(|number| sent(number, version_before, &[(1, Some(1))]));
    accepted(&store, batch.collect(), at(0)).await;
    let failing_since = async || store.endpoint(&id("app", 1), &id("ep", 1)).await.unwrap().unwrap().failing_since;
    let records = vec![failed(attempt(1, 1, 1, at(10)), 1, 500), failed(attempt(2, 2, 1, at(11)), 1, 500)];
    store.record_attempts(records.into(), NO_DELAY).await.unwrap();
    assert_eq!(failing_since().await, Some(at(10)));
    store.record_attempts(vec![failed(attempt(3, 3, 1, at(12)), 1, 500)].into(), NO_DELAY).await.unwrap();
    assert_eq!(failing_since().await, Some(at(10)));
    store.record_attempts(vec![manual(attempt(4, 4, 1, at(13)))].into(), NO_DELAY).await.unwrap();
    assert_eq!(failing_since().await, Some(at(10)), "an attempt that says nothing changes nothing");
    // In one batch, in order: works, then fails twice.
    let records = vec![
        succeeded(attempt(5, 1, 1, at(20))),
        failed(attempt(6, 2, 1, at(21)), 2, 500),
        failed(attempt(7, 3, 1, at(22)), 2, 500),
    ];
    store.record_attempts(records.into(), NO_DELAY).await.unwrap();
    assert_eq!(failing_since().await, Some(at(21)));
    store.record_attempts(vec![succeeded(attempt(8, 2, 1, at(30)))].into(), NO_DELAY).await.unwrap();
    assert_eq!(failing_since().await, None);
    assert_eq!(version(&store).await, version_before, "routes are as they were");
    assert_eq!(store.endpoint(&id("app", 1), &id("ep", 2)).await.unwrap(), Some(endpoint(2)));
}

pub(super) async fn an_endpoint_that_is_disabled_changes_the_routes_once(store: Shared) {
    let version_before = routes(&store, 1).await;
    accepted(&store, vec![sent(1, version_before, &[(1, Some(1))]), sent(2, version_before, &[(1, Some(1))])], at(0))
        .await;
    let gone = |number, message| AttemptRecord {
        attempt: Attempt {
            status: AttemptStatus::Fail,
            response_status_code: 410,
            failure_detail: None,
            response_headers: String::new(),
            times: None,
            response_duration_ms: 7,
            ..attempt(number, message, 1, at(10))
        },
        outcome: DeliveryOutcome::Done,
        endpoint: EndpointEffect::Disable,
        notice: AttemptEvent::None,
    };
    store.record_attempts(vec![gone(1, 1)].into(), NO_DELAY).await.unwrap();
    let found = async || store.endpoint(&id("app", 1), &id("ep", 1)).await.unwrap();
    let disabled = Endpoint { disabled: true, disabled_at: Some(at(10)), updated_at: at(17), ..endpoint(1) };
    assert_eq!(found().await, Some(disabled.clone()), "it was changed when the answer was there");
    assert_eq!(version(&store).await, version_before + 1);
    store.record_attempts(vec![gone(2, 2)].into(), NO_DELAY).await.unwrap();
    assert_eq!((found().await, version(&store).await), (Some(disabled), version_before + 1));
}
