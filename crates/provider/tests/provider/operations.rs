//! Figures, and the end of a node.

use std::time::Duration;

use provider::{EndpointInput, ProviderConfig, ProviderError};

use crate::faults::{self, Fault};
use crate::receiver::{Receiver, Reply};
use crate::stage::{Stage, eventually, message, quick};

/// The value of a figure without labels, or with these.
fn figure(text: &str, name: &str) -> f64 {
    let line = text.lines().find(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(' ')));
    line.unwrap_or_else(|| panic!("no {name} in {text}")).rsplit(' ').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn what_happens_is_counted_and_an_endpoint_shows_its_own_when_asked_for() {
    let stage = Stage::new(quick()).await;
    let mut receiver = Receiver::start(|n| Reply::Status(if n == 0 { 500 } else { 200 })).await;
    let endpoint = stage.endpoint(&receiver.url()).await;
    for _ in 0..3 {
        stage.send().await;
        receiver.next().await;
    }
    stage.finished(&endpoint).await;
    let named = [endpoint.id.to_string(), "ep_nonsense\"".to_owned()];
    let text = eventually(async || {
        let text = stage.provider.metrics(&named).await;
        (figure(&text, "lotwire_provider_deliveries_succeeded_total") == 3.0).then_some(text)
    })
    .await;
    assert_eq!(figure(&text, "lotwire_provider_messages_accepted_total"), 3.0);
    assert_eq!(figure(&text, "lotwire_provider_attempts_failed_total"), 1.0);
    assert_eq!(figure(&text, "lotwire_provider_attempt_seconds_count"), 4.0);
    assert!(figure(&text, "lotwire_provider_accept_batch_count") >= 1.0);
    assert_eq!(figure(&text, "lotwire_provider_lanes"), 1.0);
    let of_endpoint = format!("lotwire_provider_endpoint_backlog{{endpoint=\"{}\"}}", endpoint.id);
    assert_eq!(figure(&text, &of_endpoint), 0.0);
    assert!(!text.contains("nonsense"));
    assert!(!stage.provider.metrics(&[]).await.contains("endpoint="));
}

#[tokio::test]
async fn while_the_store_is_away_what_the_process_counted_is_shown() {
    let stage = faults::stage("total_backlog", Fault::NotDone, 1).await;
    let away = stage.provider.metrics(&[]).await;
    assert_eq!(figure(&away, "lotwire_provider_messages_accepted_total"), 0.0);
    assert_eq!(figure(&away, "lotwire_provider_store_answers"), 0.0);
    assert!(!away.contains("backlog"), "{away}");
    let back = stage.provider.metrics(&[]).await;
    assert_eq!(figure(&back, "lotwire_provider_store_answers"), 1.0);
    assert_eq!(figure(&back, "lotwire_provider_backlog"), 0.0);
}

#[tokio::test]
async fn at_the_end_nothing_is_accepted_and_what_is_cut_off_is_free_at_once() {
    let stage = Stage::new(ProviderConfig { request_timeout: Duration::from_secs(60), ..quick() }).await;
    let mut receiver = Receiver::start(|_| Reply::Never).await;
    let input = EndpointInput { url: receiver.url(), ..EndpointInput::default() };
    let endpoint = stage.endpoint_with(input).await;
    for _ in 0..20 {
        stage.send().await;
    }
    receiver.next().await;
    stage.provider.ping().await.unwrap();
    stage.provider.refuse_messages();
    assert!(matches!(stage.try_send(message(), None).await, Err(ProviderError::Unavailable(_))));
    assert!(matches!(stage.provider.ping().await, Err(ProviderError::Unavailable(_))));
    assert!(stage.tasks.shutdown(Duration::from_millis(100)).await.is_err(), "an attempt is under way");
    stage.provider.leave().await;
    let node = provider::port::NodeId("node_test".into());
    let claimed = stage
        .store
        .claim(&node, &endpoint.id, provider::port::RowKind::First, jiff::Timestamp::MAX, 100)
        .await
        .unwrap();
    assert_eq!(claimed.len(), 20);
}
