//! Searching what happened, sending it once more, and forgetting it.

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use kit_runtime::clock::{Clock as _, TestClock};
use provider_core::model::{AttemptStatus, AttemptTrigger};
use provider_core::port::{AttemptFilter, Content, MessageFilter};
use provider_core::retry::RetrySchedule;
use provider_core::{
    AttemptedFilter, Created, EndpointInput, Forgotten, HistoryQuery, HistoryRequest, LOOKED_ROWS_MAX, MessageInput,
    PageRequest, ProviderConfig, ProviderError,
};

use crate::receiver::{Receiver, Reply};
use crate::stage::{PAYLOAD, Stage, eventually, idempotency, message, quick, store};

/// Retries far away.
fn patient() -> ProviderConfig {
    let retry_schedule = RetrySchedule::new(vec![Duration::from_secs(3_600); 3]);
    ProviderConfig { retry_schedule, ..quick() }
}

async fn resend(stage: &Stage, message: &str, endpoint: &str) -> Result<Created<()>, ProviderError> {
    stage.provider.resend(&stage.caller, "app", message, endpoint, None, || "{}".to_owned()).await
}

#[tokio::test]
async fn a_resend_takes_the_place_of_the_scheduled_retry_and_is_one_attempt() {
    let stage = Stage::new(patient()).await;
    let mut receiver = Receiver::start(|n| Reply::Status(if n == 2 { 200 } else { 500 })).await;
    let endpoint = stage.endpoint(&receiver.url()).await;
    let sent = stage.send().await;
    stage.attempts(&sent, 1).await;
    let destinations = async || {
        let page = PageRequest::default();
        let list = stage.provider.list_attempted_destinations(&stage.caller, "app", &sent.id, &page).await;
        list.unwrap().data.into_iter().map(|row| (row.status, row.next_attempt.is_some())).collect::<Vec<_>>()
    };
    let attempted = async || {
        let (all, ask) = (AttemptedFilter::default(), &PageRequest::default());
        let list = stage.provider.list_attempted_messages(&stage.caller, "app", &endpoint.id, &all, Content::Left, ask);
        let rows = list.await.unwrap().data.into_iter();
        rows.map(|row| (row.standing.shown(), row.standing.next_at.is_some())).collect::<Vec<_>>()
    };
    assert_eq!(destinations().await, [(AttemptStatus::Fail, true)], "fails while it is being tried again");
    assert_eq!(attempted().await, [(AttemptStatus::Sending, true)]);

    assert_eq!(resend(&stage, &sent.id, &endpoint.id).await.unwrap(), Created::New(()));
    let attempts = stage.attempts(&sent, 2).await;
    let triggers: Vec<_> = attempts.iter().map(|attempt| (attempt.trigger, attempt.status)).collect();
    let (scheduled, manual) = (AttemptTrigger::Scheduled, AttemptTrigger::Manual);
    assert_eq!(triggers, [(scheduled, AttemptStatus::Fail), (manual, AttemptStatus::Fail)]);
    stage.finished(&endpoint).await;
    assert_eq!(destinations().await, [(AttemptStatus::Fail, false)], "nothing more is to come");
    assert_eq!(attempted().await, [(AttemptStatus::Fail, false)]);

    resend(&stage, &sent.id, &endpoint.id).await.unwrap();
    let attempts = stage.attempts(&sent, 3).await;
    assert_eq!((attempts[2].trigger, attempts[2].status), (manual, AttemptStatus::Success));
    stage.finished(&endpoint).await;
    for _ in 0..3 {
        assert_eq!(receiver.next().await.body, PAYLOAD);
    }
    assert_eq!(receiver.count_now(), 0);
}

#[tokio::test]
async fn a_resend_goes_to_endpoints_that_did_not_want_the_message_and_never_to_disabled_ones() {
    let stage = Stage::new(patient()).await;
    let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
    let input = EndpointInput { url: receiver.url(), ..EndpointInput::default() };
    let elsewhere = EndpointInput { channels: Some(vec!["elsewhere".into()]), ..input.clone() };
    let (elsewhere, disabled) =
        (stage.endpoint_with(elsewhere).await, stage.endpoint_with(EndpointInput { disabled: true, ..input }).await);
    let sent = stage.send().await;
    resend(&stage, &sent.id, &elsewhere.id).await.unwrap();
    receiver.next().await;
    let code = async |message: &str, endpoint: &str| resend(&stage, message, endpoint).await.unwrap_err().code();
    assert_eq!(code(&sent.id, &disabled.id).await, "endpoint_disabled");
    assert_eq!(code(&sent.id, "ep_unknown").await, "not_found");
    assert_eq!(code("msg_unknown", &elsewhere.id).await, "not_found");
    stage.finished(&elsewhere).await;
    stage.provider.expunge_message(&stage.caller, "app", &sent.id).await.unwrap();
    assert_eq!(code(&sent.id, &elsewhere.id).await, "missing_payload");
    assert_eq!(stage.provider.message(&stage.caller, "app", &sent.id).await.unwrap().payload, None);
    assert_eq!(receiver.count_now(), 0);
}

/// A node has it in memory, and would send it when its turn comes.
#[tokio::test]
async fn what_was_expunged_is_not_sent_any_more_whichever_node_was_asked() {
    for elsewhere in [false, true] {
        let store = store();
        let stage = Stage::on(Arc::clone(&store), patient()).await;
        let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
        let input = EndpointInput { url: receiver.url(), throttle_rate: Some(1), ..EndpointInput::default() };
        let endpoint = stage.endpoint_with(input).await;
        let mut sent = Vec::new();
        for _ in 0..4 {
            sent.push(stage.send().await);
        }
        let other = crate::stage::provider(Arc::clone(&store), patient());
        let asked = if elsewhere { &other } else { &stage.provider };
        asked.expunge_message(&stage.caller, "app", &sent[2].id).await.unwrap();
        if elsewhere {
            store.changed_elsewhere().notify();
        }
        for kept in [&sent[0], &sent[1], &sent[3]] {
            assert_eq!(*receiver.next().await.headers["svix-id"].to_str().unwrap(), *kept.id);
        }
        stage.finished(&endpoint).await;
        assert_eq!(receiver.count_now(), 0);
    }
}

#[tokio::test]
async fn a_resend_that_is_asked_for_twice_with_a_key_is_one() {
    let stage = Stage::new(patient()).await;
    let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
    let endpoint = stage.endpoint(&receiver.url()).await;
    let sent = stage.send().await;
    receiver.next().await;
    stage.finished(&endpoint).await;
    let key = idempotency("auto_1", "");
    let again = async || {
        let render = || "{}".to_owned();
        stage.provider.resend(&stage.caller, "app", &sent.id, &endpoint.id, Some(&key), render).await.unwrap()
    };
    assert_eq!(again().await, Created::New(()));
    receiver.next().await;
    stage.finished(&endpoint).await;
    // What has changed since is no matter.
    stage.provider.expunge_message(&stage.caller, "app", &sent.id).await.unwrap();
    let Created::Before(before) = again().await else { panic!("it was asked for before") };
    assert_eq!((before.status, before.body.as_str()), (202, "{}"));
    stage.finished(&endpoint).await;
    assert_eq!(receiver.count_now(), 0);
}

#[tokio::test]
async fn a_resend_outlives_the_node_that_took_it() {
    let store = store();
    let stage = Stage::without_workers(Arc::clone(&store), patient()).await;
    let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
    let input = EndpointInput { url: receiver.url(), channels: Some(vec!["none".into()]), ..EndpointInput::default() };
    let endpoint = stage.endpoint_with(input).await;
    let sent = stage.send().await;
    resend(&stage, &sent.id, &endpoint.id).await.unwrap();
    // Its node never delivers: another one does.
    let other = crate::stage::provider(Arc::clone(&store), patient());
    let tasks = kit_runtime::tasks::Tasks::new();
    other.spawn_workers(&tasks);
    receiver.next().await;
    stage.finished(&endpoint).await;
    assert_eq!(stage.attempts(&sent, 1).await[0].trigger, AttemptTrigger::Manual);
}

#[tokio::test]
async fn a_filter_that_finds_nothing_leads_on_page_by_page() {
    let stage = Stage::without_workers(store(), quick()).await;
    let count = LOOKED_ROWS_MAX + 10;
    let rare = stage.try_send(MessageInput { tags: Some(vec!["rare".into()]), ..message() }, None).await.unwrap();
    for _ in 1..count {
        stage.send().await;
    }
    let filter = MessageFilter { tag: Some("rare".into()), ..MessageFilter::default() };
    let page = async |iterator: Option<&str>| {
        let ask = HistoryRequest::parse(HistoryQuery { iterator, ..HistoryQuery::default() }, "msg_").unwrap();
        stage.provider.find_messages(&stage.caller, "app", &filter, Content::Left, ask).await.unwrap()
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
    let stage = Stage::new(patient()).await;
    let receiver = Receiver::start(|_| Reply::Status(200)).await;
    let input = |uid: &str| EndpointInput { url: receiver.url(), uid: Some(uid.into()), ..EndpointInput::default() };
    let (one, two) = (stage.endpoint_with(input("one")).await, stage.endpoint_with(input("two")).await);
    let sent = stage.send().await;
    stage.attempts(&sent, 2).await;
    let find = async |endpoint: Option<&str>, filter: AttemptFilter| {
        let ask = &PageRequest::default();
        let found =
            stage.provider.find_attempts_of_message(&stage.caller, "app", &sent.id, endpoint, filter, ask).await;
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
    let stage = Stage::at(clock.clone(), quick()).await;
    let short = stage.try_send(MessageInput { payload_retention_hours: Some(1), ..message() }, None).await.unwrap();
    let long = stage.send().await;
    let payloads = async || {
        let listed = stage.provider.list_messages(&stage.caller, "app", &PageRequest::default()).await.unwrap();
        listed.data.iter().map(|message| message.payload.is_some()).collect::<Vec<_>>()
    };
    assert_eq!(payloads().await, [true, true]);
    clock.advance(Duration::from_secs(3_600));
    assert_eq!(payloads().await, [true, false], "before it is removed");
    let kept = stage.store.message(&short.application, &short.id).await.unwrap().unwrap();
    assert!(kept.payload.is_some());
    stage.provider.forget_old().await.unwrap();
    let kept = stage.store.message(&short.application, &short.id).await.unwrap().unwrap();
    assert_eq!(kept.payload, None);
    assert_eq!(stage.provider.forgotten(), Forgotten { payloads: 1, ..Forgotten::default() });
    let days = SignedDuration::from_hours(90 * 24);
    clock.advance(Duration::try_from(long.created_at + days - clock.now()).unwrap());
    stage.provider.forget_old().await.unwrap();
    assert_eq!(stage.provider.forgotten().messages, 0, "90 days are not over");
    clock.advance(Duration::from_millis(4));
    stage.provider.forget_old().await.unwrap();
    assert_eq!(stage.provider.forgotten(), Forgotten { payloads: 1, attempts: 0, messages: 2 });
    let gone = stage.provider.message(&stage.caller, "app", &long.id).await;
    assert!(matches!(gone, Err(ProviderError::NotFound)));
}

#[tokio::test]
async fn a_message_for_later_waits_for_its_time_and_is_delivered_then() {
    let clock = Arc::new(TestClock::new("2026-11-21T06:00:00Z".parse().unwrap()));
    let stage = Stage::at(clock.clone(), quick()).await;
    let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
    stage.endpoint(&receiver.url()).await;
    let at = clock.now() + SignedDuration::from_mins(2);
    let later = |at| MessageInput { deliver_at: Some(at), ..message() };
    for wrong in [59, 24 * 3_600 + 1, -60] {
        let refused = stage.try_send(later(clock.now() + SignedDuration::from_secs(wrong)), None).await;
        assert!(matches!(refused, Err(ProviderError::Validation(_))), "{wrong} s");
    }
    let key = idempotency("auto_1", PAYLOAD);
    let sent = stage.try_send(later(at), Some(&key)).await.unwrap();
    stage.provider.spawn_workers(&stage.tasks);
    let page = PageRequest::default();
    let waits = stage.provider.list_attempted_destinations(&stage.caller, "app", &sent.id, &page).await.unwrap();
    assert_eq!((waits.data[0].status, waits.data[0].next_attempt), (AttemptStatus::Pending, Some(at)));
    // Asked again when its time has nearly come, it is the same message.
    clock.advance(Duration::from_secs(119));
    assert_eq!(stage.try_send(later(at), Some(&key)).await.unwrap(), sent);
    assert_eq!(stage.attempts(&sent, 0).await, []);
    assert_eq!(receiver.count_now(), 0);
    let arrives = receiver.next();
    let passes = eventually(async || {
        clock.advance(Duration::from_millis(200));
        (clock.now() >= at + SignedDuration::from_secs(3)).then_some(())
    });
    let (arrival, ()) = tokio::join!(arrives, passes);
    assert_eq!(arrival.body, PAYLOAD);
    assert!(stage.attempts(&sent, 1).await[0].at >= at, "not before its time");
}
