//! Operational events: their content, their account, and that each is written in the transaction of its cause.

use jiff::Timestamp;
use provider_core::model::{Application, Attempt, Endpoint};
use provider_core::operational::hidden_account;
use provider_core::port::{AttemptEvent, AttemptRecord, DeliveryOutcome, EndpointEffect};
use serde_json::{Value, json};

use super::given::*;

/// The first account listens from now on.
async fn listen(store: &Shared) {
    let hidden = Application { account: hidden_account(&id("org", 1)), uid: None, ..application(100) };
    store.create_application(hidden, None).await.unwrap();
}

/// The payloads of the events that are not settled yet.
async fn unsettled(store: &Shared) -> Vec<Value> {
    let events = store.operational_events(100).await.unwrap();
    let payloads = events.iter().map(|event| {
        assert_eq!(event.account, id("org", 1));
        let payload: Value = serde_json::from_slice(&event.payload).unwrap();
        assert_eq!(payload["type"], event.event_type);
        payload
    });
    payloads.collect()
}

fn endpoint_event(event_type: &str, number: usize) -> Value {
    json!({"type": event_type, "data": {"appId": &*id("app", 1), "appUid": "customer-1",
        "endpointId": &*id("ep", number), "endpointUid": format!("receiver-{number}")}})
}

fn disabled_event(number: usize, fail_since: Option<&str>, trigger: &str) -> Value {
    let mut event = endpoint_event("endpoint.disabled", number);
    event["data"]["failSince"] = json!(fail_since);
    event["data"]["trigger"] = json!(trigger);
    event
}

fn disabling(attempt: Attempt) -> AttemptRecord {
    AttemptRecord {
        attempt,
        outcome: DeliveryOutcome::Done,
        endpoint: EndpointEffect::Disable,
        notice: AttemptEvent::None,
    }
}

fn text(at: Timestamp) -> String {
    kit_runtime::clock::rfc3339_ms(at)
}

pub(super) async fn no_event_is_written_without_an_operational_application(store: Shared) {
    let version = routes(&store, 1).await;
    accepted(&store, vec![sent(1, version, &[(1, Some(1))])], at(0)).await;
    update_endpoint(&*store, endpoint(1)).await.unwrap();
    let record = AttemptRecord { notice: AttemptEvent::Exhausted, ..disabling(attempt(1, 1, 1, at(10))) };
    store.record_attempts(vec![record].into(), NO_DELAY).await.unwrap();
    store.delete_endpoint(&id("app", 1), &id("ep", 1)).await.unwrap();
    assert_eq!(unsettled(&store).await, Vec::<Value>::new());

    // No event reports changes of the operational endpoints themselves.
    listen(&store).await;
    let own = Endpoint { application: id("app", 100), ..endpoint(100) };
    store.create_endpoint(own.clone(), usize::MAX, None).await.unwrap();
    update_endpoint(&*store, own.clone()).await.unwrap();
    let record = disabling(Attempt { application: id("app", 100), ..attempt(2, 2, 100, at(10)) });
    store
        .record_attempts(vec![AttemptRecord { notice: AttemptEvent::Exhausted, ..record }].into(), NO_DELAY)
        .await
        .unwrap();
    store.delete_endpoint(&id("app", 100), &id("ep", 100)).await.unwrap();
    assert_eq!(unsettled(&store).await, Vec::<Value>::new());
}

pub(super) async fn changes_of_an_endpoint_are_reported_in_order(store: Shared) {
    let version = routes(&store, 0).await;
    accepted(&store, vec![new(message(1), version)], at(0)).await;
    listen(&store).await;
    store.create_endpoint(endpoint(1), usize::MAX, None).await.unwrap();
    let taken = store.create_endpoint(Endpoint { uid: endpoint(1).uid, ..endpoint(2) }, usize::MAX, None).await;
    assert!(taken.is_err());
    store.create_endpoint(endpoint(2), usize::MAX, None).await.unwrap();
    update_endpoint(&*store, Endpoint { url: "https://receiver.example/new".to_owned(), ..endpoint(1) }).await.unwrap();
    let by_hand = Endpoint { disabled: true, ..endpoint(1) };
    update_endpoint(&*store, by_hand.clone()).await.unwrap();
    update_endpoint(&*store, by_hand).await.unwrap();
    assert!(store.delete_endpoint(&id("app", 1), &id("ep", 1)).await.unwrap());
    assert!(!store.delete_endpoint(&id("app", 1), &id("ep", 1)).await.unwrap());
    // It has failed since 10, and is disabled at 20; saying so again tells nothing.
    let failing = AttemptRecord { outcome: DeliveryOutcome::Done, ..failed(attempt(1, 1, 2, at(10)), 1, 1) };
    let records = [failing, disabling(attempt(2, 1, 2, at(20)))];
    store.record_attempts(records[..1].to_vec().into(), NO_DELAY).await.unwrap();
    store.record_attempts(records[1..].to_vec().into(), NO_DELAY).await.unwrap();
    store.record_attempts(vec![disabling(attempt(3, 1, 2, at(30)))].into(), NO_DELAY).await.unwrap();
    let since = text(at(10));
    assert_eq!(
        unsettled(&store).await,
        [
            endpoint_event("endpoint.created", 1),
            endpoint_event("endpoint.created", 2),
            endpoint_event("endpoint.updated", 1),
            endpoint_event("endpoint.updated", 1),
            disabled_event(1, None, "manual"),
            endpoint_event("endpoint.updated", 1),
            endpoint_event("endpoint.deleted", 1),
            disabled_event(2, Some(&since), "automatic"),
        ]
    );
}

pub(super) async fn deleting_an_application_reports_each_deleted_endpoint(store: Shared) {
    listen(&store).await;
    routes(&store, 2).await;
    let created = store.operational_events(100).await.unwrap();
    store.delete_operational_events(created.iter().map(|event| event.no).collect()).await.unwrap();
    assert!(!store.delete_application(&id("org", 2), &id("app", 1)).await.unwrap(), "it is another account's");
    assert_eq!(unsettled(&store).await, Vec::<Value>::new());
    assert!(store.delete_application(&id("org", 1), &id("app", 1)).await.unwrap());
    let mut events = unsettled(&store).await;
    events.sort_by_key(|event| event["data"]["endpointId"].to_string());
    assert_eq!(events, [1, 2].map(|number| endpoint_event("endpoint.deleted", number)));
    assert!(!store.delete_application(&id("org", 1), &id("app", 1)).await.unwrap());
}

pub(super) async fn attempts_that_notify_are_reported_once(store: Shared) {
    let version = routes(&store, 1).await;
    let mut messages = vec![sent(1, version, &[(1, Some(1))]), sent(2, version, &[(1, Some(1))])];
    messages[0].message.event_id = Some("i.1".to_owned());
    accepted(&store, messages, at(0)).await;
    listen(&store).await;
    let with = |notice, record: AttemptRecord| AttemptRecord { notice, ..record };
    store
        .record_attempts(
            vec![
                failed(attempt(1, 1, 1, at(10)), 1, 100),
                with(AttemptEvent::Failing, failed(attempt(2, 1, 1, at(20)), 4, 100)),
                with(
                    AttemptEvent::Exhausted,
                    AttemptRecord { outcome: DeliveryOutcome::Done, ..failed(attempt(3, 2, 1, at(30)), 8, 1) },
                ),
            ]
            .into(),
            NO_DELAY,
        )
        .await
        .unwrap();
    store
        .record_attempts(vec![with(AttemptEvent::Recovered, succeeded(attempt(4, 1, 1, at(40))))].into(), NO_DELAY)
        .await
        .unwrap();
    let event = |event_type: &str, number: usize, message: usize, event_id: Option<&str>, code: u16, ms: i64| {
        json!({"type": event_type, "data": {"appId": &*id("app", 1), "appUid": "customer-1",
            "msgId": &*id("msg", message), "msgEventId": event_id, "endpointId": &*id("ep", 1),
            "lastAttempt": {"id": &*id("atmpt", number), "responseStatusCode": code, "timestamp": text(at(ms))}}})
    };
    assert_eq!(
        unsettled(&store).await,
        [
            event("message.attempt.failing", 2, 1, Some("i.1"), 500, 20),
            event("message.attempt.exhausted", 3, 2, None, 500, 30),
            event("message.attempt.recovered", 4, 1, Some("i.1"), 204, 40),
        ]
    );
}

pub(super) async fn events_are_settled_by_number_and_numbers_are_used_once(store: Shared) {
    routes(&store, 0).await;
    listen(&store).await;
    for number in 1..=3 {
        store.create_endpoint(endpoint(number), usize::MAX, None).await.unwrap();
    }
    let numbers = async || -> Vec<i64> {
        store.operational_events(100).await.unwrap().into_iter().map(|event| event.no).collect()
    };
    let all = numbers().await;
    assert!(all.len() == 3 && all.is_sorted());
    assert_eq!(store.operational_events(1).await.unwrap()[0].no, all[0]);
    store.delete_operational_events(vec![all[1]]).await.unwrap();
    assert_eq!(numbers().await, [all[0], all[2]]);
    store.delete_operational_events(all.clone()).await.unwrap();
    assert_eq!(numbers().await, Vec::<i64>::new());
    store.create_endpoint(endpoint(4), usize::MAX, None).await.unwrap();
    assert!(numbers().await[0] > all[2]);
}
