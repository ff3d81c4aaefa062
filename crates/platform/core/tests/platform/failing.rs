//! Retries of the publisher: it sends every failed event again, at the time that its backoff gives.

use std::time::Duration;

use kit_runtime::clock::Clock;
use platform_core::PlatformConfig;
use platform_core::config::PublisherConfig;

use crate::fixture::TestPlatform;
use crate::provider::{Provider, Reply};
use crate::publishing::{WORKERS, pending};

#[tokio::test]
async fn after_a_429_the_lane_waits_for_retry_after_and_probes_once() {
    let provider = Provider::start([Reply::With(429, "retry-after", "120".into())]).await;
    let fixture = TestPlatform::connected(&provider, PlatformConfig::default()).await;
    fixture.draft().await;
    provider.request(1).await;
    fixture.asleep(WORKERS + 1).await;
    // Events of commits during the pause wait.
    for _ in 0..5 {
        fixture.draft().await;
    }
    fixture.clock.advance(Duration::from_millis(119_999));
    fixture.asleep(WORKERS + 1).await;
    assert_eq!(provider.requests().len(), 1);
    // The provider does not answer the probe, and no other request follows it.
    provider.otherwise(Reply::Hang);
    fixture.clock.advance(Duration::from_millis(1));
    provider.request(2).await;
    fixture.asleep(WORKERS).await;
    assert_eq!(provider.requests().len(), 2);
    assert_eq!(pending(&fixture).await, (6, 0));
}

#[tokio::test]
async fn an_event_is_retried_with_growing_pauses_after_a_500_a_time_out_or_a_closed_connection() {
    for reply in [Reply::Status(500), Reply::Status(503), Reply::Hang, Reply::Close] {
        // The client kept the connection of the credential test alive. When the provider closes it, the client sends the
        // request again at once over a new connection, within the first attempt.
        let first_attempt = if matches!(reply, Reply::Close) { 2 } else { 1 };
        let provider = Provider::start(vec![reply; first_attempt + 1]).await;
        let publisher = PublisherConfig { request_timeout: Duration::from_millis(200), ..PublisherConfig::default() };
        let fixture =
            TestPlatform::connected(&provider, PlatformConfig { publisher, ..PlatformConfig::default() }).await;
        let auction = fixture.draft().await;
        provider.request(first_attempt).await;
        // The first pause is 500 ms with jitter, so no request is sent before half of it.
        fixture.asleep(WORKERS + 1).await;
        fixture.clock.advance(Duration::from_millis(249));
        fixture.asleep(WORKERS + 1).await;
        assert_eq!(provider.requests().len(), first_attempt);
        fixture.clock.advance(Duration::from_millis(251));
        provider.request(first_attempt + 1).await;
        fixture.asleep(WORKERS + 1).await;
        // The second pause is twice as long.
        fixture.clock.advance(Duration::from_millis(499));
        fixture.asleep(WORKERS + 1).await;
        assert_eq!(provider.requests().len(), first_attempt + 1);
        fixture.clock.advance(Duration::from_millis(501));
        let request = provider.request(first_attempt + 2).await;
        assert_eq!(request.idempotency_key, format!("{}.1", auction.uuid));
        fixture.close().await;
        assert_eq!(pending(&fixture).await, (0, 0));
    }
}

#[tokio::test]
async fn an_event_claimed_again_before_its_failure_is_confirmed_is_retried() {
    let provider = Provider::start([Reply::Status(500)]).await;
    let fixture = TestPlatform::connected(&provider, PlatformConfig::default()).await;
    let hold = fixture.faults.hold_answers_to_outcomes().await;
    let auction = fixture.draft().await;
    provider.request(1).await;
    let has_next_attempt = async || fixture.store.next_outbox_attempt(fixture.customer.uuid).await.unwrap().is_some();
    while !has_next_attempt().await {
        tokio::task::yield_now().await;
    }
    // The pause ends, and the sweep finds the row, which no node owns.
    fixture.asleep(WORKERS).await;
    fixture.clock.advance(Duration::from_secs(1));
    while has_next_attempt().await {
        tokio::task::yield_now().await;
    }
    drop(hold);
    assert_eq!(provider.request(2).await.idempotency_key, format!("{}.1", auction.uuid));
    fixture.close().await;
    assert_eq!(pending(&fixture).await, (0, 0));
}

#[tokio::test]
async fn each_failed_event_is_retried_at_its_own_time_without_a_sweep() {
    const EVENTS: usize = 8;
    let provider = Provider::start(vec![Reply::When(EVENTS, 500); EVENTS]).await;
    let publisher = PublisherConfig { sweep_every: Duration::from_secs(3_600), ..PublisherConfig::default() };
    let fixture = TestPlatform::connected(&provider, PlatformConfig { publisher, ..PlatformConfig::default() }).await;
    let failed = fixture.clock.now();
    // All requests are sent before the provider answers the first one.
    for _ in 0..EVENTS {
        fixture.draft().await;
    }
    provider.request(EVENTS).await;
    // All retries are sent within the first pause.
    while provider.requests().len() < 2 * EVENTS {
        tokio::select! {
            _ = provider.request(provider.requests().len() + 1) => {}
            () = fixture.asleep(WORKERS + 1) => drop(fixture.clock.advance_to_next_sleeper()),
        }
    }
    assert!(fixture.clock.now().duration_since(failed).unsigned_abs() <= Duration::from_millis(500));
    fixture.close().await;
    assert_eq!(pending(&fixture).await, (0, 0));
}
