//! Ordered delivery: one ordering key after another message of the same key.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use kit_runtime::clock::{Clock as _, SystemClock};
use kit_runtime::tasks::Tasks;
use provider_core::model::{Endpoint, Message, TaskKind};
use provider_core::{
    BlockedReason, DeliveryOrder, EndpointInput, EndpointPatch, MessageInput, OrderingKey, PatchField, ProviderConfig,
    ReplayInput, StuckReason,
};

use crate::fixture::{Fixture, eventually, message, payload, provider, quick, real_pause, store};
use crate::receiver::{Receiver, Reply};

async fn in_order(fixture: &Fixture, receiver: &Receiver) -> Endpoint {
    let ordering = Some(DeliveryOrder::PerKey);
    fixture.endpoint_with(EndpointInput { url: receiver.url(), ordering, ..EndpointInput::default() }).await
}

fn numbered(key: &str, number: usize) -> MessageInput {
    let text = format!("{{\"key\":\"{key}\",\"number\":{number}}}");
    MessageInput { payload: payload(&text), ordering_key: Some(OrderingKey::parse(key).unwrap()), ..message() }
}

async fn send(fixture: &Fixture, key: &str, number: usize) -> Message {
    fixture.try_send(numbered(key, number), None).await.unwrap()
}

/// Key and number of a request that arrived.
fn read(body: &[u8]) -> (String, usize) {
    let body: serde_json::Value = serde_json::from_slice(body).unwrap();
    (body["key"].as_str().unwrap().to_owned(), body["number"].as_u64().unwrap() as usize)
}

#[tokio::test]
async fn a_failed_head_of_line_blocks_only_its_key() {
    let fixture = Fixture::new(quick()).await;
    let mut receiver = Receiver::start(|n| Reply::Status(if n == 0 { 500 } else { 200 })).await;
    let endpoint = in_order(&fixture, &receiver).await;
    let first = send(&fixture, "a", 0).await;
    assert_eq!(read(&receiver.next().await.body), ("a".into(), 0));
    fixture.attempts(&first, 1).await;
    for number in 1..4 {
        send(&fixture, "a", number).await;
    }
    send(&fixture, "b", 0).await;
    let mut arrived = Vec::new();
    for _ in 0..5 {
        arrived.push(read(&receiver.next().await.body));
    }
    let of_a: Vec<usize> = arrived.iter().filter(|(key, _)| key == "a").map(|(_, number)| *number).collect();
    assert_eq!(of_a, [0, 1, 2, 3]);
    fixture.finished(&endpoint).await;
    assert_eq!(receiver.count_now(), 0);
}

#[tokio::test]
async fn a_blocked_key_is_listed_and_can_be_skipped() {
    let retry_schedule = provider_core::config::retry_schedule::RetrySchedule::new(vec![Duration::from_secs(3_600); 3]);
    let fixture = Fixture::new(ProviderConfig { retry_schedule, ..quick() }).await;
    let mut receiver = Receiver::start(|n| Reply::Status(if n == 0 { 500 } else { 200 })).await;
    let endpoint = in_order(&fixture, &receiver).await;
    let (first, second) = (send(&fixture, "a", 0).await, send(&fixture, "a", 1).await);
    let blocked = eventually(async || {
        let (blocked, done) =
            fixture.provider.blocked_keys(&fixture.caller, "app", &endpoint.id, None, 9).await.unwrap();
        assert!(done);
        blocked.into_iter().find(|blocked| matches!(blocked.waits_for, BlockedReason::Retry(_)))
    })
    .await;
    assert_eq!((blocked.key.as_str(), &blocked.message, blocked.attempts, blocked.waiting), ("a", &first.id, 1, 1));
    assert!(blocked.waits_for.until() > Some(SystemClock.now()));
    let key = OrderingKey::parse("a").unwrap();
    let skip = async |message: &str| {
        let skipped = fixture.provider.skip_blocked_key(&fixture.caller, "app", &endpoint.id, &key, message);
        skipped.await.map_err(|error| error.code())
    };
    assert_eq!(skip(&second.id).await, Err("not_found"), "the message is not the head of its key");
    assert_eq!(skip(&first.id).await, Ok(()));
    assert_eq!(read(&receiver.next().await.body), ("a".into(), 0));
    assert_eq!(read(&receiver.next().await.body), ("a".into(), 1));
    fixture.finished(&endpoint).await;
}

#[tokio::test]
async fn a_key_blocked_by_deliver_at_is_listed_and_can_be_skipped() {
    let fixture = Fixture::new(quick()).await;
    let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
    let endpoint = in_order(&fixture, &receiver).await;
    let wanted_at = SystemClock.now() + SignedDuration::from_secs(3_600);
    let later = MessageInput { deliver_at: Some(wanted_at), ..numbered("a", 0) };
    let first = fixture.try_send(later, None).await.unwrap();
    send(&fixture, "a", 1).await;
    let (blocked, _) = fixture.provider.blocked_keys(&fixture.caller, "app", &endpoint.id, None, 9).await.unwrap();
    let [key] = &blocked[..] else { panic!("{blocked:?}") };
    let BlockedReason::Later(until) = key.waits_for else { panic!("{key:?}") };
    assert_eq!(until.as_millisecond(), wanted_at.as_millisecond());
    assert_eq!((&key.message, key.attempts, key.waiting, key.since), (&first.id, 0, 1, first.created_at));
    let stuck = fixture.provider.stuck_endpoint(&endpoint).await.unwrap().unwrap();
    assert_eq!((stuck.why, stuck.blocked_keys), (StuckReason::Later, 1));
    fixture.provider.skip_blocked_key(&fixture.caller, "app", &endpoint.id, &key.key, &first.id).await.unwrap();
    assert_eq!(read(&receiver.next().await.body), ("a".into(), 1));
    fixture.finished(&endpoint).await;
}

#[tokio::test]
async fn an_exhausted_head_releases_its_key_and_a_disabled_endpoint_drops_its_rows() {
    let fixture = Fixture::new(quick()).await;
    let mut receiver = Receiver::start(|n| Reply::Status(if n < 4 { 500 } else { 410 })).await;
    let endpoint = in_order(&fixture, &receiver).await;
    for number in 0..40 {
        send(&fixture, "a", number).await;
    }
    let mut arrived = Vec::new();
    for _ in 0..5 {
        arrived.push(read(&receiver.next().await.body).1);
    }
    assert_eq!(arrived, [0, 0, 0, 0, 1]);
    fixture.finished(&endpoint).await;
    assert_eq!(receiver.count_now(), 0);
}

/// After an outage that outlasts the retry schedule, a bulk replay sends all messages of each key in order. If the first
/// message of one key fails again, the other keys do not wait.
#[tokio::test]
async fn a_bulk_replay_of_given_up_messages_keeps_the_order_of_each_key() {
    const KEYS: usize = 3;
    const EACH: usize = 20;
    const OUTAGE: usize = 2 * KEYS * EACH;
    let retries = provider_core::config::retry_schedule::RetrySchedule::new(vec![Duration::from_millis(200)]);
    let fixture = Fixture::new(ProviderConfig { retry_schedule: retries, ..quick() }).await;
    // The outage ends after the first attempt of the replay.
    let mut receiver = Receiver::start(|n| Reply::Status(if n <= OUTAGE { 500 } else { 200 })).await;
    let url = receiver.url();
    let endpoint = fixture.endpoint_with(EndpointInput { url, ..EndpointInput::default() }).await;
    for number in 0..EACH {
        for key in 0..KEYS {
            send(&fixture, &format!("key-{key}"), number).await;
        }
    }
    fixture.finished(&endpoint).await;
    assert_eq!(receiver.count_now(), OUTAGE);
    while receiver.arrived().is_some() {}
    // The endpoint becomes ordered only now. Messages keep their keys for unordered endpoints too.
    let patch = EndpointPatch { ordering: PatchField::Set(DeliveryOrder::PerKey), ..EndpointPatch::default() };
    fixture.provider.patch_endpoint(&fixture.caller, "app", &endpoint.id, patch).await.unwrap();
    let since = SystemClock.now() - SignedDuration::from_hours(1);
    let everything = ReplayInput::time_range(TaskKind::BulkReplay, since, None);
    let task = fixture.replay(&endpoint, TaskKind::BulkReplay, everything).await;
    assert_eq!(fixture.finished_with(&task).await, ((KEYS * EACH) as u64, (KEYS * EACH) as u64));
    fixture.finished(&endpoint).await;
    let mut seen: HashMap<String, Vec<usize>> = HashMap::new();
    let mut first_key = None;
    let mut arrival_count = 0;
    while let Some(arrival) = receiver.arrived() {
        let (key, number) = read(&arrival.body);
        first_key.get_or_insert_with(|| key.clone());
        seen.entry(key).or_default().push(number);
        arrival_count += 1;
    }
    assert_eq!(arrival_count, KEYS * EACH + 1);
    for (key, numbers) in seen {
        let mut expected: Vec<usize> = (0..EACH).collect();
        if Some(&key) == first_key.as_ref() {
            expected.insert(0, 0);
        }
        assert_eq!(numbers, expected, "{key}");
    }
}

/// Two nodes share one store; one of them is restarted in a loop, and the receiver fails every fifth request. A message arrives
/// for the first time only after every earlier message of its key was delivered or given up.
#[tokio::test(flavor = "multi_thread")]
async fn order_holds_over_failures_restarts_and_nodes() {
    const KEYS: usize = 8;
    const EACH: usize = 25;
    let retries = provider_core::config::retry_schedule::RetrySchedule::new(vec![Duration::from_millis(3); 50]);
    let config = ProviderConfig { retry_schedule: retries, ..quick() };
    let fixture = Fixture::on(store(), config.clone()).await;
    let mut receiver = Receiver::start(|n| Reply::Status(if n % 5 == 0 { 503 } else { 200 })).await;
    let endpoint = in_order(&fixture, &receiver).await;
    let replacing = tokio::spawn({
        let store = Arc::clone(&fixture.store);
        async move {
            loop {
                let other = provider(Arc::clone(&store), config.clone());
                let tasks = Tasks::new();
                other.spawn_workers(&tasks);
                real_pause(Duration::from_millis(15)).await;
                tasks.shutdown(Duration::from_secs(10)).await.unwrap();
            }
        }
    });
    for number in 0..EACH {
        for key in 0..KEYS {
            send(&fixture, &format!("key-{key}"), number).await;
        }
    }
    fixture.finished(&endpoint).await;
    replacing.abort();
    let mut seen: HashMap<String, Vec<usize>> = HashMap::new();
    while let Some(arrival) = receiver.arrived() {
        let (key, number) = read(&arrival.body);
        seen.entry(key).or_default().push(number);
    }
    assert_eq!(seen.len(), KEYS);
    for (key, numbers) in &seen {
        assert!(numbers.is_sorted(), "{key}: {numbers:?}");
        let mut distinct = numbers.clone();
        distinct.dedup();
        assert_eq!(distinct, (0..EACH).collect::<Vec<_>>(), "{key}");
    }
}

#[tokio::test]
async fn a_key_does_not_wait_for_an_expunged_message() {
    let fixture = Fixture::new(quick()).await;
    let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
    let endpoint = in_order(&fixture, &receiver).await;
    let deliver_at = Some(SystemClock.now() + SignedDuration::from_hours(1));
    let first = fixture.try_send(MessageInput { deliver_at, ..numbered("a", 0) }, None).await.unwrap();
    send(&fixture, "a", 1).await;
    fixture.provider.expunge_message(&fixture.caller, "app", &first.id).await.unwrap();
    assert_eq!(read(&receiver.next().await.body), ("a".into(), 1));
    fixture.finished(&endpoint).await;
    assert_eq!(receiver.count_now(), 0);
}
