//! An endpoint's pace, and that nobody else feels it.

use std::time::Duration;

use provider::ProviderConfig;

use crate::receiver::{Receiver, Reply};
use crate::stage::{Stage, eventually, quick};

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
