//! Figures, and the end of a node.

use std::sync::Arc;
use std::time::Duration;

use kit_runtime::clock::{Clock as _, SystemClock, TestClock};
use provider_core::model::{TaskKind, TaskStatus};
use provider_core::port::supervision::WaitingFor;
use provider_core::{EndpointInput, MessageInput, ProviderConfig, ProviderError, ReplayInput, Why};

use crate::faults::{self, Fault};
use crate::properties::Play;
use crate::receiver::{Receiver, Reply};
use crate::stage::{Stage, eventually, message, quick, store};

/// A stage whose clock is the test's, with a receiver that answers request number `n` (from 0) so.
async fn play(answer: impl Fn(usize) -> (u16, Option<String>) + Send + Sync + 'static) -> Play {
    let answer = Box::new(move |before: &[crate::properties::Arrival], _: &_| answer(before.len()));
    Play::new(store(), ProviderConfig::default(), answer).await
}

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
async fn the_way_from_acceptance_to_the_first_attempt_is_measured_and_nothing_that_is_sent_again() {
    let play = play(|n| if n == 1 { (500, None) } else { (200, None) }).await;
    let stage = &play.stage;
    let endpoint = stage.endpoint("https://example.com/").await;
    let first = async |figure_now: f64| {
        eventually(async || {
            let text = stage.provider.metrics(&[]).await;
            (figure(&text, "lotwire_provider_deliveries_succeeded_total") == figure_now).then_some(text)
        })
        .await
    };
    stage.send().await;
    let text = first(1.0).await;
    assert_eq!(figure(&text, "lotwire_provider_delivery_seconds_count"), 1.0);
    // It fails once, which takes it out of the measure.
    stage.send().await;
    play.until_nothing_waits(&endpoint).await;
    let since = play.world.clock.now() - jiff::SignedDuration::from_hours(1);
    let task =
        stage.replay(&endpoint, TaskKind::BulkReplay, ReplayInput::span(TaskKind::BulkReplay, since, None)).await;
    play.world.clock.advance(Duration::from_secs(3_600));
    let running = async || {
        play.world.clock.advance(Duration::from_millis(100));
        let task = stage.provider.background_task(&stage.caller, &task.id).await.unwrap();
        (task.status == TaskStatus::Finished).then_some(())
    };
    eventually(running).await;
    play.until_nothing_waits(&endpoint).await;
    let text = first(4.0).await;
    assert_eq!(figure(&text, "lotwire_provider_delivery_seconds_count"), 1.0);
    // One that is wanted later is measured from then.
    let at = play.world.clock.now() + Duration::from_secs(1_800);
    stage.try_send(MessageInput { deliver_at: Some(at), ..message() }, None).await.unwrap();
    play.until_nothing_waits(&endpoint).await;
    let text = first(5.0).await;
    assert_eq!(figure(&text, "lotwire_provider_delivery_seconds_count"), 2.0);
    assert!(figure(&text, "lotwire_provider_delivery_seconds_sum") < 60.0, "{text}");
    play.end().await;
}

#[tokio::test]
async fn what_is_due_is_told_from_what_waits() {
    let clock = Arc::new(TestClock::new(crate::properties::NOW.parse().unwrap()));
    let stage = Stage::at(Arc::clone(&clock) as _, quick()).await;
    stage.endpoint("https://example.com/").await;
    let ages = async || {
        let text = stage.provider.metrics(&[]).await;
        ["lotwire_provider_backlog_age_seconds", "lotwire_provider_backlog_due_age_seconds"]
            .map(|name| figure(&text, name))
    };
    // No worker runs, so what is due stays so.
    let at = clock.now() + Duration::from_secs(600);
    stage.try_send(MessageInput { deliver_at: Some(at), ..message() }, None).await.unwrap();
    clock.advance(Duration::from_secs(500));
    assert_eq!(ages().await, [500.0, 0.0]);
    clock.advance(Duration::from_secs(400));
    assert_eq!(ages().await, [900.0, 300.0]);
}

#[tokio::test]
async fn what_a_receiver_asked_to_wait_with_is_not_counted_as_due() {
    let play = play(|n| if n == 0 { (503, Some("3600".to_owned())) } else { (200, None) }).await;
    let stage = &play.stage;
    let endpoint = stage.endpoint("https://example.com/").await;
    let refused = stage.send().await;
    stage.attempts(&refused, 1).await;
    stage.send().await;
    eventually(async || (stage.store.backlog(&endpoint.id).await.unwrap().deliveries == 2).then_some(())).await;
    play.world.clock.advance(Duration::from_secs(1_800));
    let text = stage.provider.metrics(&[]).await;
    assert!(figure(&text, "lotwire_provider_backlog_age_seconds") >= 1_800.0, "{text}");
    assert_eq!(figure(&text, "lotwire_provider_backlog_due_age_seconds"), 0.0);
    play.until_nothing_waits(&endpoint).await;
    play.end().await;
}

#[tokio::test]
async fn endpoints_that_fail_and_tasks_are_counted_by_state() {
    let stage = Stage::new(quick()).await;
    let mut receiver = Receiver::start(|_| Reply::Status(500)).await;
    let failing = stage.endpoint(&receiver.url()).await;
    stage.send().await;
    receiver.next().await;
    let disabled = EndpointInput { url: receiver.url(), disabled: true, ..EndpointInput::default() };
    stage.endpoint_with(disabled).await;
    stage.finished(&failing).await;
    let since = SystemClock.now() - jiff::SignedDuration::from_hours(1);
    let task = stage.replay(&failing, TaskKind::Recover, ReplayInput::span(TaskKind::Recover, since, None)).await;
    stage.finished_with(&task).await;
    let text = stage.provider.metrics(&[]).await;
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
async fn what_waits_says_why() {
    // No worker runs: what is due stays so.
    let stage = Stage::without_workers(store(), quick()).await;
    let limits = [(None, Why::Due), (Some(7), Why::Throttled { rate: 7 })];
    for (throttle_rate, expected) in limits {
        let input = EndpointInput { url: "https://example.com/".into(), throttle_rate, ..EndpointInput::default() };
        let endpoint = stage.endpoint_with(input).await;
        assert_eq!(stage.provider.stuck_at(&endpoint).await.unwrap(), None);
        let at = SystemClock.now() + Duration::from_secs(600);
        stage.try_send(MessageInput { deliver_at: Some(at), ..message() }, None).await.unwrap();
        assert_eq!(stage.provider.stuck_at(&endpoint).await.unwrap().unwrap().why, Why::Later);
        stage.send().await;
        let stuck = stage.provider.stuck_at(&endpoint).await.unwrap().unwrap();
        assert_eq!((stuck.why, stuck.deliveries), (expected, 2));
        assert_eq!(stuck.waiting_for, WaitingFor { due: 1, later: 1, ..WaitingFor::default() });
        stage.provider.delete_endpoint(&stage.caller, "app", &endpoint.id).await.unwrap();
    }
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
    let node = provider_core::port::NodeId("node_test".into());
    let claimed = stage
        .store
        .claim(
            &node,
            &endpoint.id,
            provider_core::port::RowKind::First,
            jiff::Timestamp::MAX,
            provider_core::port::Room::for_rows(100),
        )
        .await
        .unwrap();
    assert_eq!(claimed.len(), 20);
}
