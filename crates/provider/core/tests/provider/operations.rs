//! Metrics, and the shutdown of a node.

use std::sync::Arc;
use std::time::Duration;

use kit_runtime::clock::{Clock as _, SystemClock, TestClock};
use provider_core::endpoints::RateLimits;
use provider_core::model::{TaskKind, TaskStatus};
use provider_core::port::WaitingCounts;
use provider_core::{
    DeliveryHold, EndpointInput, MessageInput, ProviderConfig, ProviderError, ReplayInput, StuckReason,
};

use crate::faults;
use crate::faulty_store::Fault;
use crate::fixture::{Fixture, eventually, message, quick, store};
use crate::properties::ClockedFixture;
use crate::receiver::{Receiver, Reply};

/// A fixture with a test clock, and a receiver that answers request number `n` (from 0) with `answer(n)`.
async fn clocked(answer: impl Fn(usize) -> (u16, Option<String>) + Send + Sync + 'static) -> ClockedFixture {
    let answer = Box::new(move |before: &[crate::properties::Arrival], _: &_| answer(before.len()));
    ClockedFixture::new(store(), ProviderConfig::default(), answer).await
}

/// The value of the series `name`, which includes its labels.
fn figure(text: &str, name: &str) -> f64 {
    let line = text.lines().find(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(' ')));
    line.unwrap_or_else(|| panic!("no {name} in {text}")).rsplit(' ').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn metrics_count_deliveries_and_report_the_requested_endpoints() {
    let fixture = Fixture::new(quick()).await;
    let mut receiver = Receiver::start(|n| Reply::Status(if n == 0 { 500 } else { 200 })).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    for _ in 0..3 {
        fixture.send().await;
        receiver.next().await;
    }
    fixture.finished(&endpoint).await;
    let requested = [endpoint.id.to_string(), "ep_nonsense\"".to_owned()];
    let text = eventually(async || {
        let text = fixture.provider.metrics(&requested).await;
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
    assert!(!fixture.provider.metrics(&[]).await.contains("endpoint="));
}

#[tokio::test]
async fn delivery_seconds_measures_first_attempts_and_no_retries_or_replays() {
    let clocked = clocked(|n| if n == 1 { (500, None) } else { (200, None) }).await;
    let fixture = &clocked.fixture;
    let endpoint = fixture.endpoint("https://example.com/").await;
    let metrics_after = async |succeeded: f64| {
        eventually(async || {
            let text = fixture.provider.metrics(&[]).await;
            (figure(&text, "lotwire_provider_deliveries_succeeded_total") == succeeded).then_some(text)
        })
        .await
    };
    fixture.send().await;
    let text = metrics_after(1.0).await;
    assert_eq!(figure(&text, "lotwire_provider_delivery_seconds_count"), 1.0);
    // The first attempt of this message fails, so its delivery is not measured.
    fixture.send().await;
    clocked.until_nothing_waits(&endpoint).await;
    let since = clocked.receivers.clock.now() - jiff::SignedDuration::from_hours(1);
    let task = fixture
        .replay(&endpoint, TaskKind::BulkReplay, ReplayInput::time_range(TaskKind::BulkReplay, since, None))
        .await;
    clocked.receivers.clock.advance(Duration::from_secs(3_600));
    let running = async || {
        clocked.receivers.clock.advance(Duration::from_millis(100));
        let task = fixture.provider.background_task(&fixture.caller, &task.id).await.unwrap();
        (task.status == TaskStatus::Finished).then_some(())
    };
    eventually(running).await;
    clocked.until_nothing_waits(&endpoint).await;
    let text = metrics_after(4.0).await;
    assert_eq!(figure(&text, "lotwire_provider_delivery_seconds_count"), 1.0);
    // A message with `deliver_at` is measured from that time.
    let at = clocked.receivers.clock.now() + Duration::from_secs(1_800);
    fixture.try_send(MessageInput { deliver_at: Some(at), ..message() }, None).await.unwrap();
    clocked.until_nothing_waits(&endpoint).await;
    let text = metrics_after(5.0).await;
    assert_eq!(figure(&text, "lotwire_provider_delivery_seconds_count"), 2.0);
    assert!(figure(&text, "lotwire_provider_delivery_seconds_sum") < 60.0, "{text}");
    clocked.end().await;
}

#[tokio::test]
async fn the_age_of_due_deliveries_is_separate_from_the_age_of_the_backlog() {
    let clock = Arc::new(TestClock::new(crate::properties::NOW.parse().unwrap()));
    let fixture = Fixture::at(Arc::clone(&clock) as _, quick()).await;
    fixture.endpoint("https://example.com/").await;
    let ages = async || {
        let text = fixture.provider.metrics(&[]).await;
        ["lotwire_provider_backlog_age_seconds", "lotwire_provider_backlog_due_age_seconds"]
            .map(|name| figure(&text, name))
    };
    // No worker runs, so due deliveries stay due.
    let at = clock.now() + Duration::from_secs(600);
    fixture.try_send(MessageInput { deliver_at: Some(at), ..message() }, None).await.unwrap();
    clock.advance(Duration::from_secs(500));
    assert_eq!(ages().await, [500.0, 0.0]);
    clock.advance(Duration::from_secs(400));
    assert_eq!(ages().await, [900.0, 300.0]);
}

#[tokio::test]
async fn deliveries_of_a_paused_endpoint_do_not_count_as_due() {
    let clocked = clocked(|n| if n == 0 { (503, Some("3600".to_owned())) } else { (200, None) }).await;
    let fixture = &clocked.fixture;
    let endpoint = fixture.endpoint("https://example.com/").await;
    let refused = fixture.send().await;
    fixture.attempts(&refused, 1).await;
    fixture.send().await;
    eventually(async || (fixture.store.backlog(&endpoint.id).await.unwrap().deliveries == 2).then_some(())).await;
    clocked.receivers.clock.advance(Duration::from_secs(1_800));
    let text = fixture.provider.metrics(&[]).await;
    assert!(figure(&text, "lotwire_provider_backlog_age_seconds") >= 1_800.0, "{text}");
    assert_eq!(figure(&text, "lotwire_provider_backlog_due_age_seconds"), 0.0);
    clocked.until_nothing_waits(&endpoint).await;
    clocked.end().await;
}

#[tokio::test]
async fn endpoints_and_tasks_are_counted_by_state() {
    let fixture = Fixture::new(quick()).await;
    let mut receiver = Receiver::start(|_| Reply::Status(500)).await;
    let failing = fixture.endpoint(&receiver.url()).await;
    fixture.send().await;
    receiver.next().await;
    let disabled = EndpointInput { url: receiver.url(), disabled: true, ..EndpointInput::default() };
    fixture.endpoint_with(disabled).await;
    fixture.finished(&failing).await;
    let since = SystemClock.now() - jiff::SignedDuration::from_hours(1);
    let task =
        fixture.replay(&failing, TaskKind::Recover, ReplayInput::time_range(TaskKind::Recover, since, None)).await;
    fixture.finished_with(&task).await;
    let text = fixture.provider.metrics(&[]).await;
    for (series, value) in [
        ("endpoints{state=\"failing\"}", 1.0),
        ("endpoints{state=\"disabled\"}", 1.0),
        ("background_tasks{kind=\"recover\",status=\"finished\"}", 1.0),
        ("background_tasks{kind=\"recover\",status=\"running\"}", 0.0),
    ] {
        assert_eq!(figure(&text, &format!("lotwire_provider_{series}")), value, "{series}");
    }
}

#[tokio::test]
async fn a_stuck_endpoint_reports_its_reason() {
    // No worker runs, so due deliveries stay due.
    let fixture = Fixture::without_workers(store(), quick()).await;
    let seven = DeliveryHold::Throttled(RateLimits::new(Some(7), None).unwrap());
    let limits = [(None, StuckReason::Due), (Some(7), StuckReason::Held(seven))];
    for (throttle_rate, expected) in limits {
        let input = EndpointInput { url: "https://example.com/".into(), throttle_rate, ..EndpointInput::default() };
        let endpoint = fixture.endpoint_with(input).await;
        assert_eq!(fixture.provider.stuck_endpoint(&endpoint).await.unwrap(), None);
        let at = SystemClock.now() + Duration::from_secs(600);
        fixture.try_send(MessageInput { deliver_at: Some(at), ..message() }, None).await.unwrap();
        assert_eq!(fixture.provider.stuck_endpoint(&endpoint).await.unwrap().unwrap().why, StuckReason::Later);
        fixture.send().await;
        let stuck = fixture.provider.stuck_endpoint(&endpoint).await.unwrap().unwrap();
        assert_eq!((stuck.why, stuck.deliveries), (expected, 2));
        assert_eq!(stuck.waiting_for, WaitingCounts { due: 1, later: 1, ..WaitingCounts::default() });
        fixture.provider.delete_endpoint(&fixture.caller, "app", &endpoint.id).await.unwrap();
    }
}

#[tokio::test]
async fn metrics_of_the_process_are_reported_while_the_store_is_unavailable() {
    let fixture = faults::fixture("total_backlog", Fault::NotDone, 1).await;
    let unavailable = fixture.provider.metrics(&[]).await;
    assert_eq!(figure(&unavailable, "lotwire_provider_messages_accepted_total"), 0.0);
    assert_eq!(figure(&unavailable, "lotwire_provider_store_answers"), 0.0);
    assert!(!unavailable.contains("backlog"), "{unavailable}");
    let available = fixture.provider.metrics(&[]).await;
    assert_eq!(figure(&available, "lotwire_provider_store_answers"), 1.0);
    assert_eq!(figure(&available, "lotwire_provider_backlog"), 0.0);
}

#[tokio::test]
async fn a_shutdown_refuses_messages_and_releases_interrupted_deliveries_at_once() {
    let fixture = Fixture::new(ProviderConfig { request_timeout: Duration::from_secs(60), ..quick() }).await;
    let mut receiver = Receiver::start(|_| Reply::Never).await;
    let input = EndpointInput { url: receiver.url(), ..EndpointInput::default() };
    let endpoint = fixture.endpoint_with(input).await;
    for _ in 0..20 {
        fixture.send().await;
    }
    receiver.next().await;
    fixture.provider.ping().await.unwrap();
    fixture.provider.refuse_messages();
    assert!(matches!(fixture.try_send(message(), None).await, Err(ProviderError::Unavailable(_))));
    assert!(matches!(fixture.provider.ping().await, Err(ProviderError::Unavailable(_))));
    assert!(fixture.tasks.shutdown(Duration::from_millis(100)).await.is_err(), "an attempt is still running");
    fixture.provider.release_node().await;
    let node = provider_core::port::NodeId("node_test".into());
    let claimed = fixture
        .store
        .claim(
            &node,
            &endpoint.id,
            provider_core::port::DeliveryKind::First,
            jiff::Timestamp::MAX,
            provider_core::port::ClaimLimit::for_rows(100),
        )
        .await
        .unwrap();
    assert_eq!(claimed.len(), 20);
}
