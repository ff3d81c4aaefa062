//! The dispatcher honours the rate of an endpoint, `Retry-After` and 410 Gone.

use std::time::Duration;

use provider_core::EndpointInput;

use crate::fixture::{Fixture, quick};
use crate::receiver::{Receiver, Reply};

#[tokio::test]
async fn the_throttle_rate_of_an_endpoint_is_enforced() {
    let fixture = Fixture::new(quick()).await;
    let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
    let input = EndpointInput { url: receiver.url(), throttle_rate: Some(50), ..EndpointInput::default() };
    fixture.endpoint_with(input).await;
    for _ in 0..31 {
        fixture.send().await;
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
async fn retry_after_delays_every_message_for_that_endpoint() {
    let fixture = Fixture::new(quick()).await;
    let mut receiver = Receiver::start(|n| match n {
        0 => Reply::With(429, "retry-after", "1"),
        _ => Reply::Status(200),
    })
    .await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    let first = fixture.send().await;
    let refused = receiver.next().await;
    fixture.attempts(&first, 1).await;
    fixture.send().await;
    for _ in 0..2 {
        assert!(receiver.next().await.at.duration_since(refused.at) >= Duration::from_millis(990));
    }
    fixture.finished(&endpoint).await;
    assert_eq!(receiver.count_now(), 0);
}

#[tokio::test]
async fn an_endpoint_that_answers_410_is_disabled_and_receives_nothing_more() {
    let fixture = Fixture::new(quick()).await;
    let mut receiver = Receiver::start(|_| Reply::Status(410)).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    let message = fixture.send().await;
    receiver.next().await;
    let attempts = fixture.attempts(&message, 1).await;
    assert_eq!(attempts[0].response_status_code, 410);
    let disabled = fixture.provider.endpoint(&fixture.caller, "app", &endpoint.id).await.unwrap();
    assert!(disabled.disabled);
    fixture.send().await;
    fixture.finished(&endpoint).await;
    assert_eq!(receiver.count_now(), 0);
}
