//! Search of the history, resending, expunging and retention.

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use kit_runtime::clock::{Clock as _, TestClock};
use provider_core::config::retry_schedule::RetrySchedule;
use provider_core::model::{AttemptStatus, AttemptTrigger};
use provider_core::port::{AttemptFilter, MessageFilter, PayloadRead};
use provider_core::{
    AttemptedFilter, Created, EndpointInput, HistoryQuery, HistoryRequest, MessageInput, PageRequest, ProviderConfig,
    ProviderError, RetentionCounts, SCANNED_ROWS_MAX,
};

use crate::fixture::{Fixture, PAYLOAD, eventually, idempotency, message, quick, store};
use crate::receiver::{Receiver, Reply};

/// A configuration whose first retry is due in an hour.
fn patient() -> ProviderConfig {
    let retry_schedule = RetrySchedule::new(vec![Duration::from_secs(3_600); 3]);
    ProviderConfig { retry_schedule, ..quick() }
}

#[tokio::test]
async fn the_destinations_of_a_message_include_a_deleted_endpoint() {
    let mut config = patient();
    // The attempts end and are recorded 100 ms or more after the receiver has the message.
    config.lanes.record_linger = Duration::from_millis(100);
    let fixture = Fixture::new(config).await;
    let mut receiver = Receiver::start(|_| Reply::After(Duration::from_millis(50), 200)).await;
    let mut endpoints = Vec::new();
    for _ in 0..3 {
        endpoints.push(fixture.endpoint(&receiver.url()).await);
    }
    let sent = fixture.send().await;
    for _ in 0..3 {
        receiver.next().await;
    }
    fixture.provider.delete_endpoint(&fixture.caller, "app", &endpoints[1].id).await.unwrap();
    let page = PageRequest::default();
    let list = fixture.provider.list_attempted_destinations(&fixture.caller, "app", &sent.id, &page).await.unwrap();
    let listed: Vec<_> = list.data.iter().map(|row| &row.id).collect();
    assert_eq!(listed, endpoints.iter().map(|endpoint| &endpoint.id).collect::<Vec<_>>());
    assert_eq!((list.data[1].status, list.data[1].endpoint.is_some()), (AttemptStatus::Success, false));
}

#[tokio::test]
async fn deleting_an_endpoint_does_not_wait_for_its_receiver() {
    let fixture = Fixture::new(ProviderConfig { request_timeout: Duration::from_secs(60), ..patient() }).await;
    let mut receiver = Receiver::start(|_| Reply::Never).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    fixture.send().await;
    receiver.next().await;
    let deletion = fixture.provider.delete_endpoint(&fixture.caller, "app", &endpoint.id);
    tokio::time::timeout(Duration::from_secs(30), deletion)
        .await
        .expect("the deletion waits for the receiver")
        .unwrap();
}

async fn resend(fixture: &Fixture, message: &str, endpoint: &str) -> Result<Created<()>, ProviderError> {
    fixture.provider.resend(&fixture.caller, "app", message, endpoint, None, || "{}".to_owned()).await
}

#[tokio::test]
async fn a_resend_replaces_the_scheduled_retry_with_one_attempt() {
    let fixture = Fixture::new(patient()).await;
    let mut receiver = Receiver::start(|n| Reply::Status(if n == 2 { 200 } else { 500 })).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    let sent = fixture.send().await;
    fixture.attempts(&sent, 1).await;
    let destinations = async || {
        let page = PageRequest::default();
        let list = fixture.provider.list_attempted_destinations(&fixture.caller, "app", &sent.id, &page).await;
        list.unwrap().data.into_iter().map(|row| (row.status, row.next_attempt.is_some())).collect::<Vec<_>>()
    };
    let attempted = async || {
        let filter = AttemptedFilter::default();
        let page = &PageRequest::default();
        let list = fixture.provider.list_attempted_messages(
            &fixture.caller,
            "app",
            &endpoint.id,
            &filter,
            PayloadRead::Skip,
            page,
        );
        let rows = list.await.unwrap().data.into_iter();
        rows.map(|row| (row.state.status(), row.state.next_at.is_some())).collect::<Vec<_>>()
    };
    assert_eq!(destinations().await, [(AttemptStatus::Fail, true)], "the last attempt failed and a retry is scheduled");
    assert_eq!(attempted().await, [(AttemptStatus::Sending, true)]);

    assert_eq!(resend(&fixture, &sent.id, &endpoint.id).await.unwrap(), Created::New(()));
    let attempts = fixture.attempts(&sent, 2).await;
    let triggers: Vec<_> = attempts.iter().map(|attempt| (attempt.trigger, attempt.status)).collect();
    let scheduled = AttemptTrigger::Scheduled;
    let manual = AttemptTrigger::Manual;
    assert_eq!(triggers, [(scheduled, AttemptStatus::Fail), (manual, AttemptStatus::Fail)]);
    fixture.finished(&endpoint).await;
    assert_eq!(destinations().await, [(AttemptStatus::Fail, false)], "no retry is scheduled");
    assert_eq!(attempted().await, [(AttemptStatus::Fail, false)]);

    resend(&fixture, &sent.id, &endpoint.id).await.unwrap();
    let attempts = fixture.attempts(&sent, 3).await;
    assert_eq!((attempts[2].trigger, attempts[2].status), (manual, AttemptStatus::Success));
    fixture.finished(&endpoint).await;
    for _ in 0..3 {
        assert_eq!(receiver.next().await.body, PAYLOAD);
    }
    assert_eq!(receiver.count_now(), 0);
}

#[tokio::test]
async fn a_message_can_be_resent_to_endpoints_whose_filters_exclude_it_but_not_to_disabled_ones() {
    let fixture = Fixture::new(patient()).await;
    let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
    let input = EndpointInput { url: receiver.url(), ..EndpointInput::default() };
    let other_channel = EndpointInput { channels: Some(vec!["other".into()]), ..input.clone() };
    let excluding = fixture.endpoint_with(other_channel).await;
    let disabled = fixture.endpoint_with(EndpointInput { disabled: true, ..input }).await;
    let sent = fixture.send().await;
    resend(&fixture, &sent.id, &excluding.id).await.unwrap();
    receiver.next().await;
    let code = async |message: &str, endpoint: &str| resend(&fixture, message, endpoint).await.unwrap_err().code();
    assert_eq!(code(&sent.id, &disabled.id).await, "endpoint_disabled");
    assert_eq!(code(&sent.id, "ep_unknown").await, "not_found");
    assert_eq!(code("msg_unknown", &excluding.id).await, "not_found");
    fixture.finished(&excluding).await;
    fixture.provider.expunge_message(&fixture.caller, "app", &sent.id).await.unwrap();
    assert_eq!(code(&sent.id, &excluding.id).await, "missing_payload");
    assert_eq!(fixture.provider.message(&fixture.caller, "app", &sent.id).await.unwrap().payload, None);
    assert_eq!(receiver.count_now(), 0);
}

/// When the message is expunged, the node has its delivery in memory, behind the throttle of the endpoint.
#[tokio::test]
async fn an_expunged_message_is_not_sent_even_if_another_node_expunged_it() {
    for by_other_node in [false, true] {
        let store = store();
        let fixture = Fixture::on(Arc::clone(&store), patient()).await;
        let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
        let input = EndpointInput { url: receiver.url(), throttle_rate: Some(1), ..EndpointInput::default() };
        let endpoint = fixture.endpoint_with(input).await;
        let mut sent = Vec::new();
        for _ in 0..4 {
            sent.push(fixture.send().await);
        }
        let other = crate::fixture::provider(Arc::clone(&store), patient());
        let expunging = if by_other_node { &other } else { &fixture.provider };
        expunging.expunge_message(&fixture.caller, "app", &sent[2].id).await.unwrap();
        if by_other_node {
            store.remote_changes().notify();
        }
        for kept in [&sent[0], &sent[1], &sent[3]] {
            assert_eq!(*receiver.next().await.headers["svix-id"].to_str().unwrap(), *kept.id);
        }
        fixture.finished(&endpoint).await;
        assert_eq!(receiver.count_now(), 0);
    }
}

#[tokio::test]
async fn two_resends_with_one_idempotency_key_send_the_message_once() {
    let fixture = Fixture::new(patient()).await;
    let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    let sent = fixture.send().await;
    receiver.next().await;
    fixture.finished(&endpoint).await;
    let key = idempotency("auto_1", "");
    let resend_with_key = async || {
        let render = || "{}".to_owned();
        fixture.provider.resend(&fixture.caller, "app", &sent.id, &endpoint.id, Some(&key), render).await.unwrap()
    };
    assert_eq!(resend_with_key().await, Created::New(()));
    receiver.next().await;
    fixture.finished(&endpoint).await;
    // The stored answer is returned although the message has been expunged since.
    fixture.provider.expunge_message(&fixture.caller, "app", &sent.id).await.unwrap();
    let Created::Replayed(answer) = resend_with_key().await else {
        panic!("the second call returns the stored answer")
    };
    assert_eq!((answer.status, answer.body.as_str()), (202, "{}"));
    fixture.finished(&endpoint).await;
    assert_eq!(receiver.count_now(), 0);
}

#[tokio::test]
async fn another_node_sends_a_resend_whose_node_has_no_workers() {
    let store = store();
    let fixture = Fixture::without_workers(Arc::clone(&store), patient()).await;
    let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
    let input = EndpointInput { url: receiver.url(), channels: Some(vec!["none".into()]), ..EndpointInput::default() };
    let endpoint = fixture.endpoint_with(input).await;
    let sent = fixture.send().await;
    resend(&fixture, &sent.id, &endpoint.id).await.unwrap();
    // The node that accepted the resend runs no workers.
    let other = crate::fixture::provider(Arc::clone(&store), patient());
    let tasks = kit_runtime::tasks::Tasks::new();
    other.spawn_workers(&tasks);
    receiver.next().await;
    fixture.finished(&endpoint).await;
    assert_eq!(fixture.attempts(&sent, 1).await[0].trigger, AttemptTrigger::Manual);
}

#[tokio::test]
async fn a_page_without_matches_has_a_cursor_to_the_next_rows() {
    let fixture = Fixture::without_workers(store(), quick()).await;
    let count = SCANNED_ROWS_MAX + 10;
    let rare = fixture.try_send(MessageInput { tags: Some(vec!["rare".into()]), ..message() }, None).await.unwrap();
    for _ in 1..count {
        fixture.send().await;
    }
    let filter = MessageFilter { tag: Some("rare".into()), ..MessageFilter::default() };
    let page = async |iterator: Option<&str>| {
        let request = HistoryRequest::parse(HistoryQuery { iterator, ..HistoryQuery::default() }, "msg_").unwrap();
        fixture.provider.find_messages(&fixture.caller, "app", &filter, PayloadRead::Skip, request).await.unwrap()
    };
    let first = page(None).await;
    assert_eq!((first.data.len(), first.done), (0, false));
    let second = page(first.iterator.as_deref()).await;
    let found: Vec<_> = second.data.iter().map(|message| &message.id).collect();
    assert_eq!((found, second.done), (vec![&rare.id], true));
    let previous = page(first.prev_iterator.as_deref()).await;
    assert_eq!((previous.data.len(), previous.done), (0, true), "no newer message has the tag");
}

#[tokio::test]
async fn attempts_of_a_message_are_found_for_one_endpoint() {
    let fixture = Fixture::new(patient()).await;
    let receiver = Receiver::start(|_| Reply::Status(200)).await;
    let input = |uid: &str| EndpointInput { url: receiver.url(), uid: Some(uid.into()), ..EndpointInput::default() };
    let one = fixture.endpoint_with(input("one")).await;
    let two = fixture.endpoint_with(input("two")).await;
    let sent = fixture.send().await;
    fixture.attempts(&sent, 2).await;
    let find = async |endpoint: Option<&str>, filter: AttemptFilter| {
        let page = &PageRequest::default();
        let found =
            fixture.provider.find_attempts_of_message(&fixture.caller, "app", &sent.id, endpoint, filter, page).await;
        found.map(|page| page.data.into_iter().map(|attempt| attempt.endpoint).collect::<Vec<_>>())
    };
    assert_eq!(find(Some("two"), AttemptFilter::default()).await.unwrap(), [two.id]);
    assert_eq!(find(Some(&one.id), AttemptFilter::default()).await.unwrap(), [one.id]);
    assert!(matches!(find(Some("three"), AttemptFilter::default()).await, Err(ProviderError::NotFound)));
    let other = MessageFilter { channel: Some("other".into()), ..MessageFilter::default() };
    assert_eq!(find(None, AttemptFilter { message: other, ..AttemptFilter::default() }).await.unwrap(), []);
}

#[tokio::test]
async fn expired_payloads_are_hidden_at_once_and_deleted_by_retention() {
    let clock = Arc::new(TestClock::new("2026-11-21T06:00:00Z".parse().unwrap()));
    let fixture = Fixture::at(clock.clone(), quick()).await;
    let short = fixture.try_send(MessageInput { payload_retention_hours: Some(1), ..message() }, None).await.unwrap();
    let long = fixture.send().await;
    let payloads = async || {
        let listed = fixture.provider.list_messages(&fixture.caller, "app", &PageRequest::default()).await.unwrap();
        listed.data.iter().map(|message| message.payload.is_some()).collect::<Vec<_>>()
    };
    assert_eq!(payloads().await, [true, true]);
    clock.advance(Duration::from_secs(3_600));
    assert_eq!(payloads().await, [true, false], "an expired payload is shown before retention deletes it");
    let kept = fixture.store.message(&short.application, &short.id).await.unwrap().unwrap();
    assert!(kept.payload.is_some());
    fixture.provider.apply_retention().await.unwrap();
    let kept = fixture.store.message(&short.application, &short.id).await.unwrap().unwrap();
    assert_eq!(kept.payload, None);
    assert_eq!(fixture.provider.retention_counts(), RetentionCounts { payloads: 1, ..RetentionCounts::default() });
    let days = SignedDuration::from_hours(90 * 24);
    clock.advance(Duration::try_from(long.created_at + days - clock.now()).unwrap());
    fixture.provider.apply_retention().await.unwrap();
    assert_eq!(fixture.provider.retention_counts().messages, 0, "retention deleted a message before 90 days");
    clock.advance(Duration::from_millis(4));
    fixture.provider.apply_retention().await.unwrap();
    assert_eq!(fixture.provider.retention_counts(), RetentionCounts { payloads: 1, attempts: 0, messages: 2 });
    let deleted = fixture.provider.message(&fixture.caller, "app", &long.id).await;
    assert!(matches!(deleted, Err(ProviderError::NotFound)));
}

#[tokio::test]
async fn a_message_with_deliver_at_is_delivered_at_that_time() {
    let clock = Arc::new(TestClock::new("2026-11-21T06:00:00Z".parse().unwrap()));
    let fixture = Fixture::at(clock.clone(), quick()).await;
    let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
    fixture.endpoint(&receiver.url()).await;
    let at = clock.now() + SignedDuration::from_mins(2);
    let later = |at| MessageInput { deliver_at: Some(at), ..message() };
    for wrong in [59, 24 * 3_600 + 1, -60] {
        let refused = fixture.try_send(later(clock.now() + SignedDuration::from_secs(wrong)), None).await;
        assert!(matches!(refused, Err(ProviderError::Validation(_))), "{wrong} s");
    }
    let key = idempotency("auto_1", PAYLOAD);
    let sent = fixture.try_send(later(at), Some(&key)).await.unwrap();
    fixture.provider.spawn_workers(&fixture.tasks);
    let page = PageRequest::default();
    let destinations =
        fixture.provider.list_attempted_destinations(&fixture.caller, "app", &sent.id, &page).await.unwrap();
    assert_eq!((destinations.data[0].status, destinations.data[0].next_attempt), (AttemptStatus::Pending, Some(at)));
    // The same request one second before `deliver_at` returns the same message.
    clock.advance(Duration::from_secs(119));
    assert_eq!(fixture.try_send(later(at), Some(&key)).await.unwrap(), sent);
    assert_eq!(fixture.attempts(&sent, 0).await, []);
    assert_eq!(receiver.count_now(), 0);
    let arrives = receiver.next();
    let time_passes = eventually(async || {
        clock.advance(Duration::from_millis(200));
        (clock.now() >= at + SignedDuration::from_secs(3)).then_some(())
    });
    let (arrival, ()) = tokio::join!(arrives, time_passes);
    assert_eq!(arrival.body, PAYLOAD);
    assert!(fixture.attempts(&sent, 1).await[0].at >= at, "the message was sent before its `deliver_at`");
}
