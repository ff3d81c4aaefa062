//! Searching what happened, sending it once more, and forgetting it.

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

/// Retries far away.
fn patient() -> ProviderConfig {
    let retry_schedule = RetrySchedule::new(vec![Duration::from_secs(3_600); 3]);
    ProviderConfig { retry_schedule, ..quick() }
}

#[tokio::test]
async fn what_a_deleted_endpoint_received_is_listed_when_it_is_deleted() {
    let mut config = patient();
    // Attempts end, and are written, well after the receiver has the message.
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
async fn a_receiver_that_does_not_answer_does_not_hold_up_the_deletion_of_its_endpoint() {
    let fixture = Fixture::new(ProviderConfig { request_timeout: Duration::from_secs(60), ..patient() }).await;
    let mut receiver = Receiver::start(|_| Reply::Never).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    fixture.send().await;
    receiver.next().await;
    let deletion = fixture.provider.delete_endpoint(&fixture.caller, "app", &endpoint.id);
    tokio::time::timeout(Duration::from_secs(30), deletion).await.expect("it waited for the receiver").unwrap();
}

async fn resend(fixture: &Fixture, message: &str, endpoint: &str) -> Result<Created<()>, ProviderError> {
    fixture.provider.resend(&fixture.caller, "app", message, endpoint, None, || "{}".to_owned()).await
}

#[tokio::test]
async fn a_resend_takes_the_place_of_the_scheduled_retry_and_is_one_attempt() {
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
        let (all, ask) = (AttemptedFilter::default(), &PageRequest::default());
        let list = fixture.provider.list_attempted_messages(
            &fixture.caller,
            "app",
            &endpoint.id,
            &all,
            PayloadRead::Skip,
            ask,
        );
        let rows = list.await.unwrap().data.into_iter();
        rows.map(|row| (row.state.status(), row.state.next_at.is_some())).collect::<Vec<_>>()
    };
    assert_eq!(destinations().await, [(AttemptStatus::Fail, true)], "fails while it is being tried again");
    assert_eq!(attempted().await, [(AttemptStatus::Sending, true)]);

    assert_eq!(resend(&fixture, &sent.id, &endpoint.id).await.unwrap(), Created::New(()));
    let attempts = fixture.attempts(&sent, 2).await;
    let triggers: Vec<_> = attempts.iter().map(|attempt| (attempt.trigger, attempt.status)).collect();
    let (scheduled, manual) = (AttemptTrigger::Scheduled, AttemptTrigger::Manual);
    assert_eq!(triggers, [(scheduled, AttemptStatus::Fail), (manual, AttemptStatus::Fail)]);
    fixture.finished(&endpoint).await;
    assert_eq!(destinations().await, [(AttemptStatus::Fail, false)], "nothing more is to come");
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
async fn a_resend_goes_to_endpoints_that_did_not_want_the_message_and_never_to_disabled_ones() {
    let fixture = Fixture::new(patient()).await;
    let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
    let input = EndpointInput { url: receiver.url(), ..EndpointInput::default() };
    let elsewhere = EndpointInput { channels: Some(vec!["elsewhere".into()]), ..input.clone() };
    let (elsewhere, disabled) = (
        fixture.endpoint_with(elsewhere).await,
        fixture.endpoint_with(EndpointInput { disabled: true, ..input }).await,
    );
    let sent = fixture.send().await;
    resend(&fixture, &sent.id, &elsewhere.id).await.unwrap();
    receiver.next().await;
    let code = async |message: &str, endpoint: &str| resend(&fixture, message, endpoint).await.unwrap_err().code();
    assert_eq!(code(&sent.id, &disabled.id).await, "endpoint_disabled");
    assert_eq!(code(&sent.id, "ep_unknown").await, "not_found");
    assert_eq!(code("msg_unknown", &elsewhere.id).await, "not_found");
    fixture.finished(&elsewhere).await;
    fixture.provider.expunge_message(&fixture.caller, "app", &sent.id).await.unwrap();
    assert_eq!(code(&sent.id, &elsewhere.id).await, "missing_payload");
    assert_eq!(fixture.provider.message(&fixture.caller, "app", &sent.id).await.unwrap().payload, None);
    assert_eq!(receiver.count_now(), 0);
}

/// A node has it in memory, and would send it when its turn comes.
#[tokio::test]
async fn what_was_expunged_is_not_sent_any_more_whichever_node_was_asked() {
    for elsewhere in [false, true] {
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
        let asked = if elsewhere { &other } else { &fixture.provider };
        asked.expunge_message(&fixture.caller, "app", &sent[2].id).await.unwrap();
        if elsewhere {
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
async fn a_resend_that_is_asked_for_twice_with_a_key_is_one() {
    let fixture = Fixture::new(patient()).await;
    let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    let sent = fixture.send().await;
    receiver.next().await;
    fixture.finished(&endpoint).await;
    let key = idempotency("auto_1", "");
    let again = async || {
        let render = || "{}".to_owned();
        fixture.provider.resend(&fixture.caller, "app", &sent.id, &endpoint.id, Some(&key), render).await.unwrap()
    };
    assert_eq!(again().await, Created::New(()));
    receiver.next().await;
    fixture.finished(&endpoint).await;
    // What has changed since is no matter.
    fixture.provider.expunge_message(&fixture.caller, "app", &sent.id).await.unwrap();
    let Created::Replayed(before) = again().await else { panic!("it was asked for before") };
    assert_eq!((before.status, before.body.as_str()), (202, "{}"));
    fixture.finished(&endpoint).await;
    assert_eq!(receiver.count_now(), 0);
}

#[tokio::test]
async fn a_resend_outlives_the_node_that_took_it() {
    let store = store();
    let fixture = Fixture::without_workers(Arc::clone(&store), patient()).await;
    let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
    let input = EndpointInput { url: receiver.url(), channels: Some(vec!["none".into()]), ..EndpointInput::default() };
    let endpoint = fixture.endpoint_with(input).await;
    let sent = fixture.send().await;
    resend(&fixture, &sent.id, &endpoint.id).await.unwrap();
    // Its node never delivers: another one does.
    let other = crate::fixture::provider(Arc::clone(&store), patient());
    let tasks = kit_runtime::tasks::Tasks::new();
    other.spawn_workers(&tasks);
    receiver.next().await;
    fixture.finished(&endpoint).await;
    assert_eq!(fixture.attempts(&sent, 1).await[0].trigger, AttemptTrigger::Manual);
}

#[tokio::test]
async fn a_filter_that_finds_nothing_leads_on_page_by_page() {
    let fixture = Fixture::without_workers(store(), quick()).await;
    let count = SCANNED_ROWS_MAX + 10;
    let rare = fixture.try_send(MessageInput { tags: Some(vec!["rare".into()]), ..message() }, None).await.unwrap();
    for _ in 1..count {
        fixture.send().await;
    }
    let filter = MessageFilter { tag: Some("rare".into()), ..MessageFilter::default() };
    let page = async |iterator: Option<&str>| {
        let ask = HistoryRequest::parse(HistoryQuery { iterator, ..HistoryQuery::default() }, "msg_").unwrap();
        fixture.provider.find_messages(&fixture.caller, "app", &filter, PayloadRead::Skip, ask).await.unwrap()
    };
    let first = page(None).await;
    assert_eq!((first.data.len(), first.done), (0, false));
    let second = page(first.iterator.as_deref()).await;
    let found: Vec<_> = second.data.iter().map(|message| &message.id).collect();
    assert_eq!((found, second.done), (vec![&rare.id], true));
    let back = page(first.prev_iterator.as_deref()).await;
    assert_eq!((back.data.len(), back.done), (0, true), "nothing newer is rare");
}

#[tokio::test]
async fn attempts_of_a_message_are_found_for_one_endpoint() {
    let fixture = Fixture::new(patient()).await;
    let receiver = Receiver::start(|_| Reply::Status(200)).await;
    let input = |uid: &str| EndpointInput { url: receiver.url(), uid: Some(uid.into()), ..EndpointInput::default() };
    let (one, two) = (fixture.endpoint_with(input("one")).await, fixture.endpoint_with(input("two")).await);
    let sent = fixture.send().await;
    fixture.attempts(&sent, 2).await;
    let find = async |endpoint: Option<&str>, filter: AttemptFilter| {
        let ask = &PageRequest::default();
        let found =
            fixture.provider.find_attempts_of_message(&fixture.caller, "app", &sent.id, endpoint, filter, ask).await;
        found.map(|page| page.data.into_iter().map(|attempt| attempt.endpoint).collect::<Vec<_>>())
    };
    assert_eq!(find(Some("two"), AttemptFilter::default()).await.unwrap(), [two.id]);
    assert_eq!(find(Some(&one.id), AttemptFilter::default()).await.unwrap(), [one.id]);
    assert!(matches!(find(Some("three"), AttemptFilter::default()).await, Err(ProviderError::NotFound)));
    let other = MessageFilter { channel: Some("other".into()), ..MessageFilter::default() };
    assert_eq!(find(None, AttemptFilter { message: other, ..AttemptFilter::default() }).await.unwrap(), []);
}

#[tokio::test]
async fn what_is_over_its_time_is_not_shown_and_then_forgotten() {
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
    assert_eq!(payloads().await, [true, false], "before it is removed");
    let kept = fixture.store.message(&short.application, &short.id).await.unwrap().unwrap();
    assert!(kept.payload.is_some());
    fixture.provider.apply_retention().await.unwrap();
    let kept = fixture.store.message(&short.application, &short.id).await.unwrap().unwrap();
    assert_eq!(kept.payload, None);
    assert_eq!(fixture.provider.retention_counts(), RetentionCounts { payloads: 1, ..RetentionCounts::default() });
    let days = SignedDuration::from_hours(90 * 24);
    clock.advance(Duration::try_from(long.created_at + days - clock.now()).unwrap());
    fixture.provider.apply_retention().await.unwrap();
    assert_eq!(fixture.provider.retention_counts().messages, 0, "90 days are not over");
    clock.advance(Duration::from_millis(4));
    fixture.provider.apply_retention().await.unwrap();
    assert_eq!(fixture.provider.retention_counts(), RetentionCounts { payloads: 1, attempts: 0, messages: 2 });
    let gone = fixture.provider.message(&fixture.caller, "app", &long.id).await;
    assert!(matches!(gone, Err(ProviderError::NotFound)));
}

#[tokio::test]
async fn a_message_for_later_waits_for_its_time_and_is_delivered_then() {
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
    let waits = fixture.provider.list_attempted_destinations(&fixture.caller, "app", &sent.id, &page).await.unwrap();
    assert_eq!((waits.data[0].status, waits.data[0].next_attempt), (AttemptStatus::Pending, Some(at)));
    // Asked again when its time has nearly come, it is the same message.
    clock.advance(Duration::from_secs(119));
    assert_eq!(fixture.try_send(later(at), Some(&key)).await.unwrap(), sent);
    assert_eq!(fixture.attempts(&sent, 0).await, []);
    assert_eq!(receiver.count_now(), 0);
    let arrives = receiver.next();
    let passes = eventually(async || {
        clock.advance(Duration::from_millis(200));
        (clock.now() >= at + SignedDuration::from_secs(3)).then_some(())
    });
    let (arrival, ()) = tokio::join!(arrives, passes);
    assert_eq!(arrival.body, PAYLOAD);
    assert!(fixture.attempts(&sent, 1).await[0].at >= at, "not before its time");
}
