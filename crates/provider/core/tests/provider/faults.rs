//! Behaviour when the store fails, panics, or commits without confirming it: nothing acknowledged or committed is lost.

use std::time::Duration;

use provider_core::model::{TaskKind, TaskStatus};
use provider_core::port::NodeStore as _;
use provider_core::{EndpointInput, ProviderConfig, ReplayInput};

use crate::faulty_store::{Fault, FaultyStore};
use crate::fixture::{Fixture, eventually, quick, store};
use crate::receiver::{Receiver, Reply};

/// A provider whose store faults the first `calls` calls of `method`.
pub(crate) async fn fixture(method: &'static str, fault: Fault, calls: usize) -> Fixture {
    let config = ProviderConfig { node_dead_after: Duration::from_millis(300), ..quick() };
    Fixture::on(FaultyStore::new(store(), method, fault, calls), config).await
}

#[tokio::test]
async fn rows_of_an_unconfirmed_claim_are_claimed_again() {
    for fault in [Fault::CommittedUnacknowledged, Fault::NotDone] {
        let fixture = fixture("claim", fault, 2).await;
        let mut receiver = Receiver::start(|n| Reply::Status(if n == 0 { 500 } else { 200 })).await;
        let endpoint = fixture.endpoint(&receiver.url()).await;
        let message = fixture.send().await;
        fixture.attempts(&message, 2).await;
        fixture.finished(&endpoint).await;
        assert_eq!(receiver.count_now(), 2);
    }
}

#[tokio::test]
async fn a_change_by_another_process_before_the_first_heartbeat_does_not_occupy_the_runtime() {
    let store = FaultyStore::new(store(), "heartbeat", Fault::NotDone, 5);
    store.remote_changes().notify();
    let config = ProviderConfig { node_dead_after: Duration::from_millis(300), ..quick() };
    let fixture = Fixture::on(store, config).await;
    let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    fixture.send().await;
    receiver.next().await;
    fixture.finished(&endpoint).await;
}

#[tokio::test]
async fn attempts_are_recorded_when_the_store_is_available_again() {
    for fault in [Fault::CommittedUnacknowledged, Fault::NotDone] {
        let fixture = fixture("record_attempts", fault, 3).await;
        let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
        let endpoint = fixture.endpoint(&receiver.url()).await;
        let message = fixture.send().await;
        fixture.finished(&endpoint).await;
        assert_eq!(fixture.attempts(&message, 1).await.len(), 1);
        assert_eq!(receiver.count_now(), 1);
    }
}

#[tokio::test]
async fn while_attempts_are_not_recorded_ping_fails_and_metrics_show_it() {
    let config = ProviderConfig { recording_late_after: Duration::from_millis(20), ..quick() };
    let faulty = FaultyStore::new(store(), "record_attempts", Fault::NotDone, 5);
    let fixture = Fixture::on(faulty, config).await;
    let receiver = Receiver::start(|_| Reply::Status(200)).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    let unrecorded_count = async || {
        let text = fixture.provider.metrics(&[]).await;
        let line = text.lines().find_map(|line| line.strip_prefix("lotwire_provider_attempts_unrecorded "));
        line.expect(&text).to_owned()
    };
    assert_eq!((unrecorded_count().await.as_str(), fixture.provider.ping().await.is_ok()), ("0", true));
    fixture.send().await;
    let refused = eventually(async || fixture.provider.ping().await.err()).await;
    assert!(refused.to_string().contains("1 attempts are not recorded"), "{refused}");
    assert_eq!(unrecorded_count().await, "1");
    fixture.finished(&endpoint).await;
    eventually(async || fixture.provider.ping().await.ok()).await;
    assert_eq!(unrecorded_count().await, "0");
}

#[tokio::test]
async fn an_attempt_lost_in_a_panic_is_made_again() {
    let fixture = fixture("record_attempts", Fault::Panic, 1).await;
    let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    let message = fixture.send().await;
    fixture.finished(&endpoint).await;
    assert_eq!(fixture.attempts(&message, 1).await.len(), 1);
    assert_eq!(receiver.count_now(), 2);
}

/// The store commits a step, and the worker receives an error: the worker does not repeat the step, so each message is sent
/// once.
#[tokio::test]
async fn a_task_step_is_applied_once_even_if_its_confirmation_is_lost() {
    for (fault, calls) in [(Fault::CommittedUnacknowledged, 3), (Fault::NotDone, 3), (Fault::Panic, 1)] {
        const MESSAGES: usize = 60;
        let fixture = fixture("advance_task", fault, calls).await;
        for _ in 0..MESSAGES {
            fixture.send().await;
        }
        let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
        let input = EndpointInput { url: receiver.url(), ..EndpointInput::default() };
        let endpoint = fixture.endpoint_with(input).await;
        let since = ReplayInput::time_range(
            TaskKind::ReplayMissing,
            endpoint.created_at - jiff::SignedDuration::from_hours(1),
            None,
        );
        let task = fixture.replay(&endpoint, TaskKind::ReplayMissing, since).await;
        let finished = eventually(async || {
            let task = fixture.provider.background_task(&fixture.caller, &task.id).await.unwrap();
            (task.status == TaskStatus::Finished).then_some(task)
        })
        .await;
        fixture.finished(&endpoint).await;
        assert_eq!((finished.progress.found, finished.progress.enqueued), (MESSAGES as u64, MESSAGES as u64));
        assert_eq!(receiver.count_now(), MESSAGES);
    }
}

/// The message of an event is accepted, and deleting the event fails: the event is not sent a second time.
#[tokio::test]
async fn an_operational_event_is_sent_once_even_if_deleting_it_fails() {
    for fault in [Fault::CommittedUnacknowledged, Fault::NotDone] {
        let fixture = fixture("delete_operational_events", fault, 3).await;
        let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
        fixture.listen(&receiver.url()).await;
        for number in 0..3 {
            fixture.endpoint(&format!("http://127.0.0.1:9/{number}")).await;
        }
        eventually(async || fixture.store.operational_events(9).await.unwrap().is_empty().then_some(())).await;
        for _ in 0..3 {
            receiver.next().await;
        }
        fixture.wait_for_operational_deliveries().await;
        assert_eq!(receiver.count_now(), 0);
    }
}
