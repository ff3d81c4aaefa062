//! Delivery of messages to their endpoints.

use std::time::Duration;

use kit_runtime::clock::{Clock as _, SystemClock};
use provider_core::config::Nodes;
use provider_core::config::retry_schedule::RetrySchedule;
use provider_core::model::{Attempt, AttemptStatus, AttemptTrigger};
use provider_core::port::{AttemptEvent, AttemptRecord, DeliveryOutcome, EndpointEffect, StoreError};
use provider_core::{EndpointInput, EventTypeInput, ProviderConfig, Put, ids};
use standardwebhooks::Webhook;

use crate::fixture::{Fixture, PAYLOAD, eventually, idempotency, message, provider, quick, store};
use crate::properties::ClockedFixture;
use crate::receiver::{Receiver, Reply};

#[tokio::test]
async fn a_message_arrives_signed_byte_for_byte_with_the_endpoints_headers() {
    let fixture = Fixture::new(quick()).await;
    let mut receiver = Receiver::start(|_| Reply::Body(200, "thanks".into())).await;
    let headers = [("X-Customer".to_owned(), "17".to_owned())].into();
    let input = EndpointInput { url: receiver.url(), headers: Some(headers), ..EndpointInput::default() };
    let endpoint = fixture.endpoint_with(input).await;
    let message = fixture.send().await;

    let arrival = receiver.next().await;
    assert_eq!(arrival.path, "/hook");
    assert_eq!(arrival.body, PAYLOAD);
    assert_eq!(arrival.headers["x-customer"], "17");
    assert_eq!(arrival.headers["content-type"], "application/json");
    assert_eq!(arrival.headers["svix-id"], *message.id);
    let secret = fixture.provider.endpoint_secret(&fixture.caller, "app", &endpoint.id).await.unwrap();
    Webhook::new(&secret).unwrap().verify(&arrival.body, &arrival.headers).unwrap();

    let attempts = fixture.attempts(&message, 1).await;
    assert_eq!((attempts[0].status, attempts[0].response_status_code), (AttemptStatus::Success, 200));
    assert_eq!(attempts[0].response, "thanks");
    fixture.finished(&endpoint).await;
}

#[tokio::test]
async fn a_message_is_delivered_only_to_endpoints_whose_filters_match() {
    let fixture = Fixture::new(quick()).await;
    let mut receiver = Receiver::start(|_| Reply::Status(204)).await;
    for name in ["ITEM_STATUS_CHANGE", "AUCTION_STATUS_CHANGE"] {
        let input = EventTypeInput::default();
        fixture.provider.create_event_type(&fixture.caller, name, input, None, |_| String::new()).await.unwrap();
    }
    let endpoint =
        |name: &str, input: EndpointInput| EndpointInput { url: receiver.url().replace("hook", name), ..input };
    let types = |name: &str| Some(vec![name.to_owned()]);
    for input in [
        endpoint("all", EndpointInput::default()),
        endpoint("items", EndpointInput { filter_types: types("ITEM_STATUS_CHANGE"), ..EndpointInput::default() }),
        endpoint(
            "auctions",
            EndpointInput { filter_types: types("AUCTION_STATUS_CHANGE"), ..EndpointInput::default() },
        ),
        endpoint("disabled", EndpointInput { disabled: true, ..EndpointInput::default() }),
        endpoint("red", EndpointInput { channels: types("red"), ..EndpointInput::default() }),
        endpoint("blue", EndpointInput { channels: types("blue"), ..EndpointInput::default() }),
    ] {
        fixture.endpoint_with(input).await;
    }
    let mut input = message();
    input.channels = Some(vec!["red".into(), "green".into()]);
    let message = fixture.try_send(input, None).await.unwrap();
    fixture.attempts(&message, 3).await;
    let mut paths = [receiver.next().await.path, receiver.next().await.path, receiver.next().await.path];
    paths.sort();
    assert_eq!(paths, ["/all", "/items", "/red"]);
    assert_eq!(receiver.count_now(), 0);
}

#[tokio::test]
async fn a_failed_delivery_is_retried_on_its_schedule_and_then_given_up() {
    let fixture = Fixture::new(quick()).await;
    let mut receiver = Receiver::start(|n| if n < 3 { Reply::Status(500) } else { Reply::Status(200) }).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    let message = fixture.send().await;
    let attempts = fixture.attempts(&message, 4).await;
    let codes: Vec<u16> = attempts.iter().map(|attempt| attempt.response_status_code).collect();
    assert_eq!(codes, [500, 500, 500, 200]);
    for (pair, pause_ms) in attempts.windows(2).zip([20, 40, 60]) {
        let waited_ms = pair[1].at.duration_since(pair[0].at).as_millis();
        assert!(waited_ms >= pause_ms * 8 / 10, "{waited_ms} ms instead of {pause_ms}");
    }
    fixture.finished(&endpoint).await;
    assert_eq!(receiver.count_now(), 4);

    let mut never = Receiver::start(|_| Reply::With(302, "location", "http://127.0.0.1:1/")).await;
    let input = EndpointInput { url: never.url(), ..EndpointInput::default() };
    let put = fixture.provider.put_endpoint(&fixture.caller, "app", &endpoint.id, input).await.unwrap();
    assert!(matches!(put, Put::Updated(_)));
    let message = fixture.send().await;
    let attempts = fixture.attempts(&message, 4).await;
    assert!(attempts.iter().all(|attempt| attempt.response_status_code == 302));
    fixture.finished(&endpoint).await;
    assert_eq!(never.count_now(), 4);
}

#[tokio::test]
async fn an_endpoint_that_fails_for_too_long_is_disabled_and_a_success_resets_the_time() {
    let config = ProviderConfig { disable_after: Duration::from_millis(50), ..quick() };
    let fixture = Fixture::new(config).await;
    let receiver = Receiver::start(|n| Reply::Status(if n == 1 { 200 } else { 500 })).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    let read = async || fixture.provider.endpoint(&fixture.caller, "app", &endpoint.id).await.unwrap();
    let first = fixture.send().await;
    fixture.attempts(&first, 2).await;
    assert_eq!(read().await.failing_since, None);
    let second = fixture.send().await;
    eventually(async || read().await.disabled.then_some(())).await;
    assert!(fixture.attempts(&second, 2).await.len() >= 2);
    fixture.finished(&endpoint).await;
}

/// The default is 120 hours. The process restarts between the first failure and the last.
#[tokio::test]
async fn the_time_for_which_an_endpoint_fails_includes_restarts() {
    let fails = || Box::new(|_: &[crate::properties::Arrival], _: &_| (500, None));
    for (hours, is_disabled) in [(119, false), (121, true)] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("provider.db");
        let open = async || provider_store::sqlite::open(&path).await.unwrap();
        let clocked = ClockedFixture::new(open().await, ProviderConfig::default(), fails()).await;
        let endpoint = clocked.fixture.endpoint("https://example.com/").await;
        let message = clocked.fixture.send().await;
        clocked.fixture.attempts(&message, 1).await;
        let restarted_at = clocked.receivers.clock.now() + jiff::SignedDuration::from_hours(hours);
        let key = clocked.fixture.key.clone();
        clocked.end().await;

        let next = ClockedFixture::again(open().await, ProviderConfig::default(), fails(), restarted_at, key).await;
        let message = next.fixture.send().await;
        next.fixture.attempts(&message, 1).await;
        let read = next.fixture.provider.endpoint(&next.fixture.caller, "app", &endpoint.id).await.unwrap();
        assert_eq!(read.disabled, is_disabled, "after {hours} hours");
        next.end().await;
    }
}

#[tokio::test]
async fn a_success_with_no_effect_on_the_endpoint_still_prevents_disabling_it() {
    let config = ProviderConfig { disable_after: Duration::from_secs(600), ..quick() };
    for (worked, is_disabled) in [(true, false), (false, true)] {
        let fixture = Fixture::new(config.clone()).await;
        let receiver = Receiver::start(|_| Reply::Status(500)).await;
        let endpoint = fixture.endpoint(&receiver.url()).await;
        let ago = |minutes| SystemClock.now() - jiff::SignedDuration::from_mins(minutes);
        // The second attempt began before the first failure was recorded, so it had no effect on the endpoint's state.
        let status = if worked { AttemptStatus::Success } else { AttemptStatus::Fail };
        for (status, minutes, effect) in
            [(AttemptStatus::Fail, 60, EndpointEffect::Failing), (status, 30, EndpointEffect::None)]
        {
            let attempt = Attempt {
                id: ids::lowest_id_at(ids::ATTEMPT, ago(minutes)).into(),
                message: ids::lowest_id_at(ids::MESSAGE, ago(minutes)).into(),
                endpoint: endpoint.id.clone(),
                application: endpoint.application.clone(),
                url: endpoint.url.clone(),
                status,
                response_status_code: 0,
                response: String::new(),
                failure_detail: None,
                response_headers: String::new(),
                times: None,
                response_duration_ms: 1,
                trigger: AttemptTrigger::Scheduled,
                at: ago(minutes),
            };
            let record =
                AttemptRecord { attempt, outcome: DeliveryOutcome::Done, endpoint: effect, notice: AttemptEvent::None };
            fixture.store.record_attempts(vec![record].into(), Duration::ZERO).await.unwrap();
        }
        fixture.send().await;
        fixture.finished(&endpoint).await;
        let after = fixture.provider.endpoint(&fixture.caller, "app", &endpoint.id).await.unwrap();
        assert_eq!(after.disabled, is_disabled);
    }
}

#[tokio::test]
async fn a_restarted_process_finishes_the_deliveries_of_the_previous_one() {
    let store = store();
    let retry_schedule = RetrySchedule::new(vec![Duration::from_millis(300)]);
    let config = ProviderConfig { nodes: Nodes::Sole, retry_schedule, ..quick() };
    let mut receiver = Receiver::start(|n| if n == 0 { Reply::Status(500) } else { Reply::Status(200) }).await;
    let fixture = Fixture::on(store.clone(), config.clone()).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    let failed = fixture.send().await;
    fixture.attempts(&failed, 1).await;
    fixture.tasks.shutdown(Duration::from_secs(10)).await.unwrap();
    // The workers have stopped: the process accepts this message, and does not deliver it.
    let waiting = fixture.send().await;
    assert_eq!(receiver.count_now(), 1);

    let next = Fixture { provider: provider(store, config), ..fixture };
    next.provider.spawn_workers(&kit_runtime::tasks::Tasks::new());
    next.attempts(&waiting, 1).await;
    next.attempts(&failed, 2).await;
    next.finished(&endpoint).await;
    assert_eq!(receiver.count_now(), 2);
}

#[tokio::test]
async fn a_graceful_shutdown_finishes_running_attempts_and_releases_the_other_deliveries() {
    let store = store();
    let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
    let fixture = Fixture::on(store.clone(), quick()).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    let mut sent = Vec::new();
    for _ in 0..500 {
        sent.push(fixture.send().await);
    }
    fixture.tasks.shutdown(Duration::from_secs(10)).await.unwrap();
    // No attempt is running: the delivered messages are recorded, and the other rows have no owner and are due.
    let delivered = receiver.count_now();
    let remaining = store.backlog(&endpoint.id).await.unwrap().deliveries as usize;
    assert_eq!(delivered + remaining, 500);
    let next = Fixture { provider: provider(store, quick()), tasks: kit_runtime::tasks::Tasks::new(), ..fixture };
    next.provider.spawn_workers(&next.tasks);
    next.finished(&endpoint).await;
    assert_eq!(receiver.count_now(), remaining);
}

#[tokio::test]
async fn a_burst_of_messages_arrives_completely_and_once() {
    let mut config = quick();
    // The queue in memory is so short that most deliveries are claimed from the table.
    config.lanes.queued_max = 8;
    let fixture = Fixture::new(config).await;
    let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    let fixture = std::sync::Arc::new(fixture);
    let senders: Vec<_> = (0..16)
        .map(|_| {
            let fixture = fixture.clone();
            tokio::spawn(async move {
                for _ in 0..100 {
                    fixture.send().await;
                }
            })
        })
        .collect();
    for sender in senders {
        sender.await.unwrap();
    }
    let mut seen = std::collections::HashSet::new();
    for _ in 0..1_600 {
        assert!(seen.insert(receiver.next().await.headers["svix-id"].clone()));
    }
    fixture.finished(&endpoint).await;
    assert_eq!(receiver.count_now(), 0);
}

#[tokio::test]
async fn a_message_is_delivered_to_the_endpoints_that_the_store_has_when_it_is_accepted() {
    let fixture = Fixture::new(quick()).await;
    let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
    fixture.send().await;
    // `replace_endpoint` changes the store directly, as another node would.
    let endpoint = fixture.endpoint(&receiver.url()).await;
    let mut changed = endpoint.clone();
    changed.url = receiver.url().replace("hook", "changed");
    fixture.send().await;
    assert_eq!(receiver.next().await.path, "/hook");
    fixture.store.replace_endpoint(endpoint.clone(), changed, None).await.unwrap();
    fixture.send().await;
    assert_eq!(receiver.next().await.path, "/changed");
    let application = fixture.provider.application(&fixture.caller, "app").await.unwrap();
    assert!(fixture.store.delete_application(&fixture.caller.account, &application.id).await.unwrap());
    let refused = fixture.try_send(message(), Some(&idempotency("k", "{}"))).await;
    assert_eq!(refused.unwrap_err().code(), "not_found");
    assert!(matches!(fixture.store.create_endpoint(endpoint, usize::MAX, None).await, Err(StoreError::NotFound)));
}

#[tokio::test]
async fn another_node_finishes_the_deliveries_of_a_dead_node() {
    let store = store();
    let config = ProviderConfig { node_dead_after: Duration::from_millis(500), ..quick() };
    let mut receiver = Receiver::start(|n| if n < 4 { Reply::Never } else { Reply::Status(200) }).await;
    let other = provider(store.clone(), config.clone());
    other.spawn_workers(&kit_runtime::tasks::Tasks::new());
    let fixture = Fixture::on(store, config).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    let mut waiting = std::collections::HashSet::new();
    // These deliveries occupy the lane of the first node until it dies.
    while waiting.len() < 4 {
        fixture.send().await;
        while let Ok(arrival) = tokio::time::timeout(Duration::from_millis(5), receiver.next()).await {
            waiting.insert(arrival.headers["svix-id"].clone());
        }
    }
    fixture.tasks.shutdown(Duration::ZERO).await.unwrap_err();
    while !waiting.is_empty() {
        waiting.remove(&receiver.next().await.headers["svix-id"]);
    }
    fixture.finished(&endpoint).await;
}
