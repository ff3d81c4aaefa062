//! Rate limits, pauses and concurrency of an endpoint. They do not affect other endpoints.

use std::sync::Arc;
use std::time::Duration;

use kit_runtime::clock::{Clock as _, SystemClock, to_ms};
use kit_runtime::tasks::Tasks;
use provider_core::config::Nodes;
use provider_core::endpoints::RateLimits;
use provider_core::model::{AttemptStatus, AttemptTrigger, Endpoint, Message};
use provider_core::port::{ClaimLimit, DeliveryKind, Resend};
use provider_core::{DeliveryHold, EndpointInput, HeldDeliveries, PageRequest, ProviderConfig};

use crate::fixture::{Fixture, eventually, message, provider, quick};
use crate::receiver::{Receiver, Reply};

#[tokio::test]
async fn a_long_pause_releases_all_deliveries_and_loses_none() {
    let fixture = Fixture::new(quick()).await;
    let mut receiver = Receiver::start(|_| Reply::With(429, "retry-after", "3600")).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    for _ in 0..100 {
        fixture.send().await;
    }
    receiver.next().await;
    // The rows have no owner, so a new node can claim them all.
    let due = eventually(async || {
        let due = fixture.store.endpoints_with_due(jiff::Timestamp::MAX, 10).await.unwrap();
        (!due.is_empty()).then_some(due)
    })
    .await;
    assert_eq!(due[0].1, endpoint.id);
    assert_eq!(fixture.store.backlog(&endpoint.id).await.unwrap().deliveries, 100);
    fixture.tasks.shutdown(Duration::from_secs(10)).await.unwrap();
    let node = provider_core::port::NodeId("node_test".into());
    let mut claimed = 0;
    for kind in [DeliveryKind::First, DeliveryKind::Retry] {
        claimed += fixture
            .store
            .claim(&node, &endpoint.id, kind, jiff::Timestamp::MAX, ClaimLimit::for_rows(1_000))
            .await
            .unwrap()
            .len();
    }
    assert_eq!(claimed, 100);
}

#[tokio::test]
async fn an_attempt_at_a_hanging_endpoint_fails_at_its_deadline_and_records_it() {
    let config = ProviderConfig { request_timeout: Duration::from_millis(50), ..quick() };
    let fixture = Fixture::new(config).await;
    let receiver = Receiver::start(|n| if n == 0 { Reply::Never } else { Reply::Status(200) }).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    let message = fixture.send().await;
    let attempts = fixture.attempts(&message, 2).await;
    assert_eq!(attempts[0].response_status_code, 0);
    assert!(attempts[0].response.contains("50 ms"), "{}", attempts[0].response);
    assert!(attempts[0].response_duration_ms >= 50);
    fixture.finished(&endpoint).await;
}

/// Creates an endpoint whose receiver has requested a pause of one hour, and a message that waits for its end.
async fn paused_endpoint(fixture: &Fixture) -> (Endpoint, Message) {
    let receiver = Receiver::start(|_| Reply::With(503, "retry-after", "3600")).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    let refused = fixture.send().await;
    fixture.attempts(&refused, 1).await;
    let waiting = fixture.send().await;
    (endpoint, waiting)
}

#[tokio::test]
async fn a_pause_ends_when_the_url_of_the_endpoint_changes() {
    let fixture = Fixture::new(quick()).await;
    let (endpoint, waiting) = paused_endpoint(&fixture).await;
    let healthy = Receiver::start(|_| Reply::Status(200)).await;
    let input = EndpointInput { url: healthy.url(), ..EndpointInput::default() };
    fixture.provider.put_endpoint(&fixture.caller, "app", &endpoint.id, input).await.unwrap();
    let attempts = fixture.attempts(&waiting, 1).await;
    assert_eq!((attempts[0].status, attempts[0].url.as_str()), (AttemptStatus::Success, healthy.url().as_str()));
}

#[tokio::test]
async fn an_endpoint_names_what_holds_back_its_deliveries_on_every_node() {
    let fixture = Fixture::new(quick()).await;
    let held = async |endpoint: &Endpoint| fixture.provider.held_deliveries(endpoint).await.unwrap();
    let (paused, _) = paused_endpoint(&fixture).await;
    let HeldDeliveries { hold: DeliveryHold::Paused { until }, waiting: 2 } = held(&paused).await.unwrap() else {
        panic!("{:?}", held(&paused).await)
    };
    assert!(until > SystemClock.now() + Duration::from_secs(3_000), "{until}");
    // A node that sends nothing reads the pause from the store.
    let other = provider(Arc::clone(&fixture.store), quick());
    eventually(async || {
        let found = other.held_deliveries(&paused).await.unwrap()?;
        // The store keeps milliseconds.
        let is_same = matches!(found.hold, DeliveryHold::Paused { until: stored } if to_ms(stored) == to_ms(until));
        is_same.then_some(())
    })
    .await;

    let healthy = Receiver::start(|_| Reply::Status(200)).await;
    let input = EndpointInput { url: healthy.url(), throttle_rate: Some(1), ..EndpointInput::default() };
    let throttled = fixture.endpoint_with(input).await;
    assert_eq!(held(&throttled).await, None);
    for _ in 0..30 {
        fixture.send().await;
    }
    let found = held(&throttled).await.unwrap();
    assert_eq!(found.hold, DeliveryHold::Throttled(RateLimits::new(Some(1), None).unwrap()));
    assert!((25..=30).contains(&found.waiting), "{found:?}");
    assert_eq!(other.held_deliveries(&throttled).await.unwrap().unwrap().hold, found.hold);

    let input = EndpointInput { url: healthy.url(), disabled: true, ..EndpointInput::default() };
    fixture.provider.put_endpoint(&fixture.caller, "app", &paused.id, input).await.unwrap();
    let disabled = fixture.provider.endpoint(&fixture.caller, "app", &paused.id).await.unwrap();
    // The rows of the disabled endpoint may be gone already.
    assert!(held(&disabled).await.is_none_or(|held| held.hold == DeliveryHold::Disabled));
}

#[tokio::test]
async fn deliveries_after_time_outs_are_held_to_fewer_attempts_at_a_time() {
    let config = ProviderConfig { request_timeout: Duration::from_millis(20), ..quick() };
    let fixture = Fixture::new(config).await;
    let receiver = Receiver::start(|_| Reply::Never).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    for _ in 0..40 {
        fixture.send().await;
    }
    let hold = eventually(async || {
        let held = fixture.provider.held_deliveries(&endpoint).await.unwrap()?;
        matches!(held.hold, DeliveryHold::Slowed { attempts_max: 1, until: Some(_) }).then_some(held.hold)
    })
    .await;
    assert!(hold.sentence(SystemClock.now()).starts_with("Slowed to one attempt at a time"), "{hold:?}");
}

#[tokio::test]
async fn a_resend_is_sent_during_a_pause() {
    let fixture = Fixture::new(quick()).await;
    let (endpoint, waiting) = paused_endpoint(&fixture).await;
    let resent = fixture.provider.resend(&fixture.caller, "app", &waiting.id, &endpoint.id, None, String::new);
    resent.await.unwrap();
    let attempts = fixture.attempts(&waiting, 1).await;
    assert_eq!((attempts[0].trigger, attempts[0].response_status_code), (AttemptTrigger::Manual, 503));
}

/// The node that accepted the resend stops before it sends it: only the row in the store remains.
#[tokio::test]
async fn a_resend_that_another_node_accepted_is_sent_during_a_pause() {
    let fixture = Fixture::new(quick()).await;
    let (endpoint, waiting) = paused_endpoint(&fixture).await;
    let resend = Resend { application: endpoint.application, message: waiting.id.clone(), endpoint: endpoint.id };
    fixture.store.resend(resend, None).await.unwrap();
    let attempts = fixture.attempts(&waiting, 1).await;
    assert_eq!((attempts[0].trigger, attempts[0].response_status_code), (AttemptTrigger::Manual, 503));
}

#[tokio::test]
async fn an_example_is_sent_once_during_a_pause() {
    let fixture = Fixture::new(quick()).await;
    let (endpoint, waiting) = paused_endpoint(&fixture).await;
    let example = fixture.provider.send_example(&fixture.caller, "app", &endpoint.id, "svix.ping", None, None);
    let example = example.await.unwrap();
    let attempts = fixture.attempts(&example, 1).await;
    assert_eq!((attempts[0].trigger, attempts[0].response_status_code), (AttemptTrigger::Manual, 503));
    assert_eq!(fixture.attempts(&waiting, 0).await, [], "a message that was not resent still waits");
    assert_eq!(
        fixture.store.backlog(&endpoint.id).await.unwrap().deliveries,
        2,
        "the example waits for the end of the pause"
    );
}

/// Creates two endpoints. Returns the first endpoint, its receiver, which has requested a pause of one hour, and the receiver
/// of the second endpoint, which answers 200.
async fn one_of_two_paused(fixture: &Fixture) -> (Endpoint, Receiver, Receiver) {
    let mut pausing =
        Receiver::start(|n| if n == 0 { Reply::With(429, "retry-after", "3600") } else { Reply::Status(200) }).await;
    let mut other = Receiver::start(|_| Reply::Status(200)).await;
    let endpoint = fixture.endpoint(&pausing.url()).await;
    fixture.endpoint(&other.url()).await;
    let refused = fixture.send().await;
    fixture.attempts(&refused, 2).await;
    eventually(async || fixture.store.paused_until(&endpoint.id, SystemClock.now()).await.unwrap()).await;
    pausing.next().await;
    other.next().await;
    (endpoint, pausing, other)
}

#[tokio::test]
async fn a_pause_survives_a_restart_until_the_endpoint_is_changed() {
    let mut fixture = Fixture::new(quick()).await;
    let (endpoint, mut pausing, mut other) = one_of_two_paused(&fixture).await;
    fixture.tasks.shutdown(Duration::from_secs(10)).await.unwrap();
    (fixture.provider, fixture.tasks) = (provider(Arc::clone(&fixture.store), quick()), Tasks::new());
    fixture.provider.spawn_workers(&fixture.tasks);
    let mut sent = Vec::new();
    for _ in 0..3 {
        sent.push(fixture.send().await);
        other.next().await;
    }
    let resent = fixture.provider.resend(&fixture.caller, "app", &sent[2].id, &endpoint.id, None, String::new);
    resent.await.unwrap();
    assert_eq!(
        pausing.next().await.headers["svix-id"],
        *sent[2].id,
        "only the resent message is sent during the pause"
    );
    let page = PageRequest::first(9);
    let destinations = fixture.provider.list_attempted_destinations(&fixture.caller, "app", &sent[0].id, &page);
    let destination = destinations.await.unwrap().data.into_iter().find(|row| row.id == endpoint.id).unwrap();
    let next_minutes = destination.next_attempt.unwrap().duration_since(SystemClock.now()).as_mins();
    assert!((50..=70).contains(&next_minutes), "the next attempt is not at the end of the pause: {destination:?}");
    let input = EndpointInput { url: pausing.url(), description: "changed".into(), ..EndpointInput::default() };
    fixture.provider.put_endpoint(&fixture.caller, "app", &endpoint.id, input).await.unwrap();
    for _ in 0..2 {
        assert_ne!(pausing.next().await.headers["svix-id"], *sent[2].id);
    }
}

#[tokio::test]
async fn a_pause_requested_from_one_node_holds_on_all_nodes() {
    let config = ProviderConfig { node_dead_after: Duration::from_millis(500), nodes: Nodes::Many, ..quick() };
    let fixture = Fixture::new(config.clone()).await;
    let second = provider(Arc::clone(&fixture.store), config);
    let tasks = Tasks::new();
    second.spawn_workers(&tasks);
    let (endpoint, mut pausing, mut other) = one_of_two_paused(&fixture).await;
    eventually(async || {
        let figures = second.metrics(&[endpoint.id.to_string()]).await;
        let paused = figures.lines().find(|line| line.contains("paused_seconds{")).unwrap();
        let (_, seconds) = paused.rsplit_once(' ').unwrap();
        (seconds.parse::<f64>().unwrap() > 0.0).then_some(())
    })
    .await;
    let sent = second.create_message(&fixture.caller, "app", message(), None).await.unwrap();
    other.next().await;
    second.resend(&fixture.caller, "app", &sent.id, &endpoint.id, None, String::new).await.unwrap();
    assert_eq!(pausing.next().await.headers["svix-id"], *sent.id);
    let attempts = fixture.attempts(&sent, 2).await;
    let at_paused = attempts.iter().filter(|attempt| attempt.endpoint == endpoint.id);
    assert_eq!(at_paused.map(|attempt| attempt.trigger).collect::<Vec<_>>(), [AttemptTrigger::Manual]);
}
