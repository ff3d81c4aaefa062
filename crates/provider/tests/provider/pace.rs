//! An endpoint's pace, and that nobody else feels it.

use std::time::Duration;

use provider::{EndpointInput, ProviderConfig};

use crate::receiver::{Receiver, Reply};
use crate::stage::{Stage, eventually, quick};

#[tokio::test]
async fn retry_after_is_waited_in_full_by_everything_for_that_endpoint() {
    let stage = Stage::new(quick()).await;
    let mut receiver = Receiver::start(|n| match n {
        0 => Reply::With(429, "retry-after", "1"),
        _ => Reply::Status(200),
    })
    .await;
    let endpoint = stage.endpoint(&receiver.url()).await;
    let first = stage.send().await;
    let refused = receiver.next().await;
    stage.attempts(&first, 1).await;
    stage.send().await;
    for _ in 0..2 {
        assert!(receiver.next().await.at.duration_since(refused.at) >= Duration::from_millis(990));
    }
    stage.finished(&endpoint).await;
    assert_eq!(receiver.count_now(), 0);
}

#[tokio::test]
async fn a_long_pause_leaves_nothing_in_memory_and_no_message_is_lost() {
    let stage = Stage::new(quick()).await;
    let mut receiver = Receiver::start(|_| Reply::With(429, "retry-after", "3600")).await;
    let endpoint = stage.endpoint(&receiver.url()).await;
    for _ in 0..100 {
        stage.send().await;
    }
    receiver.next().await;
    // A new node claims them all: they belong to nobody.
    let due = eventually(async || {
        let due = stage.store.endpoints_with_due(jiff::Timestamp::MAX, 10).await.unwrap();
        (!due.is_empty()).then_some(due)
    })
    .await;
    assert_eq!(due[0].1, endpoint.id);
    assert_eq!(stage.store.backlog(&endpoint.id).await.unwrap().deliveries, 100);
    stage.tasks.shutdown(Duration::from_secs(10)).await.unwrap();
    let node = provider::port::NodeId("node_test".into());
    let claimed = stage.store.claim(&node, &endpoint.id, jiff::Timestamp::MAX, 1_000).await.unwrap();
    assert_eq!(claimed.len(), 100);
}

#[tokio::test]
async fn hanging_endpoints_do_not_delay_a_healthy_one() {
    let config = ProviderConfig { request_timeout: Duration::from_secs(60), ..quick() };
    let stage = Stage::new(config).await;
    let hanging = Receiver::start(|_| Reply::Never).await;
    for _ in 0..50 {
        stage.endpoint(&hanging.url()).await;
    }
    let mut healthy = Receiver::start(|_| Reply::Status(200)).await;
    stage.endpoint(&healthy.url()).await;
    for _ in 0..200 {
        stage.send().await;
        tokio::time::timeout(Duration::from_secs(5), healthy.next()).await.unwrap();
    }
}

#[tokio::test]
async fn a_rate_is_kept() {
    let stage = Stage::new(quick()).await;
    let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
    let input = EndpointInput { url: receiver.url(), throttle_rate: Some(50), ..EndpointInput::default() };
    stage.endpoint_with(input).await;
    for _ in 0..31 {
        stage.send().await;
    }
    let first = receiver.next().await.at;
    let mut last = first;
    for _ in 0..30 {
        last = receiver.next().await.at;
    }
    let took = last.duration_since(first);
    assert!(took >= Duration::from_millis(500), "{took:?}");
}

#[tokio::test]
async fn a_deadline_holds_for_an_endpoint_that_hangs_and_the_attempt_says_so() {
    let config = ProviderConfig { request_timeout: Duration::from_millis(50), ..quick() };
    let stage = Stage::new(config).await;
    let receiver = Receiver::start(|n| if n == 0 { Reply::Never } else { Reply::Status(200) }).await;
    let endpoint = stage.endpoint(&receiver.url()).await;
    let message = stage.send().await;
    let attempts = stage.attempts(&message, 2).await;
    assert_eq!(attempts[0].response_status_code, 0);
    assert!(attempts[0].response.contains("50 ms"), "{}", attempts[0].response);
    assert!(attempts[0].response_duration_ms >= 50);
    stage.finished(&endpoint).await;
}
