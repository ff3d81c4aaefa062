//! Background tasks, which send many messages to an endpoint again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use jiff::SignedDuration;
use kit_runtime::clock::{Clock as _, SystemClock};
use kit_runtime::tasks::Tasks;
use provider_core::config::Nodes;
use provider_core::config::retry_schedule::RetrySchedule;
use provider_core::model::{
    AttemptStatus, AttemptTrigger, BackgroundTask, Endpoint, Message, Progress, TaskKind, TaskStatus,
};
use provider_core::port::TaskFilter;
use provider_core::{Created, EndpointInput, PageRequest, ProviderConfig, ProviderError, ReplayInput};

use crate::fixture::{Fixture, eventually, idempotency, message, provider, quick, store};
use crate::receiver::{Receiver, Reply};

impl Fixture {
    pub(crate) async fn replay(&self, endpoint: &Endpoint, kind: TaskKind, input: ReplayInput) -> BackgroundTask {
        match self.try_replay(endpoint, kind, input).await.unwrap() {
            Created::New(task) => task,
            other => panic!("{other:?}"),
        }
    }

    async fn try_replay(
        &self,
        endpoint: &Endpoint,
        kind: TaskKind,
        input: ReplayInput,
    ) -> Result<Created<BackgroundTask>, ProviderError> {
        let input = ReplayInput { kind, ..input };
        self.provider.replay(&self.caller, "app", &endpoint.id, input, None, |_| String::new()).await
    }

    async fn ended(&self, task: &BackgroundTask) -> BackgroundTask {
        eventually(async || {
            let task = self.provider.background_task(&self.caller, &task.id).await.unwrap();
            (task.status != TaskStatus::Running).then_some(task)
        })
        .await
    }

    /// Waits until `task` has finished, and returns how many messages it found and enqueued.
    pub(crate) async fn finished_with(&self, task: &BackgroundTask) -> (u64, u64) {
        let task = self.ended(task).await;
        assert_eq!((task.status, &task.error), (TaskStatus::Finished, &None));
        (task.progress.found, task.progress.enqueued)
    }
}

fn all() -> ReplayInput {
    span(SystemClock.now() - SignedDuration::from_hours(24), None)
}

/// The kind is a placeholder: `try_replay` sets the kind of the task.
fn span(since: jiff::Timestamp, until: Option<jiff::Timestamp>) -> ReplayInput {
    ReplayInput::time_range(TaskKind::Recover, since, until)
}

fn once() -> ProviderConfig {
    ProviderConfig { retry_schedule: RetrySchedule::new(Vec::new()), ..quick() }
}

/// Responds with 500 until the flag is set. Counts requests.
async fn receiver() -> (Receiver, Arc<AtomicBool>) {
    let works = Arc::new(AtomicBool::new(false));
    let answer = Arc::clone(&works);
    let status = move |_| Reply::Status(if answer.load(Ordering::SeqCst) { 200 } else { 500 });
    (Receiver::start(status).await, works)
}

#[tokio::test]
async fn recover_sends_messages_that_failed_and_were_never_delivered() {
    let fixture = Fixture::new(once()).await;
    let (mut receiver, works) = receiver().await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    let mut failed: Vec<Message> = Vec::new();
    for _ in 0..40 {
        failed.push(fixture.send().await);
    }
    fixture.finished(&endpoint).await;
    works.store(true, Ordering::SeqCst);
    fixture.send().await;
    fixture.finished(&endpoint).await;
    assert_eq!(receiver.count_now(), 41);

    let task = fixture.replay(&endpoint, TaskKind::Recover, all()).await;
    assert_eq!(fixture.finished_with(&task).await, (40, 40));
    fixture.finished(&endpoint).await;
    for message in &failed {
        let attempts = fixture.attempts(message, 2).await;
        assert_eq!((attempts[1].status, attempts[1].trigger), (AttemptStatus::Success, AttemptTrigger::Manual));
    }
    assert_eq!(receiver.count_now(), 40);
    let second_task = fixture.replay(&endpoint, TaskKind::Recover, all()).await;
    assert_eq!(fixture.finished_with(&second_task).await, (0, 0), "a delivered message was found");
}

#[tokio::test]
async fn a_replay_attempts_waiting_messages_at_once_and_the_attempt_counts_in_their_schedule() {
    let retry_schedule = RetrySchedule::new([0, 3_600, 3_600].map(Duration::from_secs).to_vec());
    for kind in [TaskKind::Recover, TaskKind::BulkReplay] {
        let fixture = Fixture::new(ProviderConfig { retry_schedule: retry_schedule.clone(), ..quick() }).await;
        let (mut receiver, works) = receiver().await;
        let endpoint = fixture.endpoint(&receiver.url()).await;
        let (first, second) = (fixture.send().await, fixture.send().await);
        for message in [&first, &second] {
            fixture.attempts(message, 2).await;
        }
        // The receiver still answers 500: the third attempt fails too, and the fourth is due in an hour.
        let task = fixture.replay(&endpoint, kind, all()).await;
        assert_eq!(fixture.finished_with(&task).await, (2, 2));
        for message in [&first, &second] {
            let attempts = fixture.attempts(message, 3).await;
            assert_eq!(attempts[2].trigger, AttemptTrigger::Manual);
        }
        works.store(true, Ordering::SeqCst);
        let task = fixture.replay(&endpoint, kind, all()).await;
        assert_eq!(fixture.finished_with(&task).await, (2, 2));
        fixture.finished(&endpoint).await;
        let last_task = fixture.replay(&endpoint, TaskKind::Recover, all()).await;
        assert_eq!(fixture.finished_with(&last_task).await, (0, 0), "a delivered message was found");
        assert_eq!(receiver.count_now(), 2 * 4, "each message has the four attempts of its schedule");
    }
}

#[tokio::test]
async fn a_replayed_attempt_is_manual_and_its_retries_are_scheduled() {
    let retry_schedule = RetrySchedule::new(vec![Duration::ZERO]);
    let fixture = Fixture::new(ProviderConfig { retry_schedule, ..quick() }).await;
    let (receiver, _works) = receiver().await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    let message = fixture.send().await;
    for (kind, attempts) in [(TaskKind::Recover, 4), (TaskKind::BulkReplay, 6)] {
        fixture.finished(&endpoint).await;
        let task = fixture.replay(&endpoint, kind, all()).await;
        assert_eq!(fixture.finished_with(&task).await, (1, 1));
        fixture.finished(&endpoint).await;
        let triggers: Vec<_> = fixture.attempts(&message, attempts).await.iter().map(|made| made.trigger).collect();
        assert_eq!(triggers[attempts - 2..], [AttemptTrigger::Manual, AttemptTrigger::Scheduled]);
    }
}

/// A replay does not restart the retry schedule: a message with one attempt left is attempted once.
#[tokio::test]
async fn a_replayed_message_is_given_up_after_the_last_attempt_of_its_schedule() {
    let retry_schedule = RetrySchedule::new(vec![Duration::from_secs(3_600)]);
    let fixture = Fixture::new(ProviderConfig { retry_schedule, ..quick() }).await;
    let (mut receiver, _) = receiver().await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    let message = fixture.send().await;
    fixture.attempts(&message, 1).await;
    let task = fixture.replay(&endpoint, TaskKind::Recover, all()).await;
    assert_eq!(fixture.finished_with(&task).await, (1, 1));
    fixture.finished(&endpoint).await;
    assert_eq!((fixture.attempts(&message, 2).await.len(), receiver.count_now()), (2, 2));
}

#[tokio::test]
async fn replay_missing_sends_the_messages_that_match_a_later_endpoint() {
    let fixture = Fixture::new(once()).await;
    let mut first_receiver = Receiver::start(|_| Reply::Status(200)).await;
    let first = fixture.endpoint(&first_receiver.url()).await;
    // An example for one endpoint is missed by no other one.
    fixture.provider.send_example(&fixture.caller, "app", &first.id, "svix.ping", None, None).await.unwrap();
    first_receiver.next().await;
    for channel in ["north", "south", "north"] {
        let mut input = message();
        input.channels = Some(vec![channel.into()]);
        fixture.try_send(input, None).await.unwrap();
        first_receiver.next().await;
    }
    let mut later_receiver = Receiver::start(|_| Reply::Status(200)).await;
    let input =
        EndpointInput { url: later_receiver.url(), channels: Some(vec!["north".into()]), ..EndpointInput::default() };
    let endpoint = fixture.endpoint_with(input).await;
    let mut reserved = message();
    reserved.tags = Some(vec!["lotwire.test".into()]);
    assert!(matches!(fixture.try_send(reserved, None).await, Err(ProviderError::Validation(_))));
    for expected in [(2, 2), (0, 0)] {
        let task = fixture.replay(&endpoint, TaskKind::ReplayMissing, all()).await;
        assert_eq!(fixture.finished_with(&task).await, expected);
        fixture.finished(&endpoint).await;
    }
    assert_eq!((later_receiver.count_now(), first_receiver.count_now()), (2, 0));
}

#[tokio::test]
async fn bulk_replay_sends_only_the_messages_that_match_the_filter() {
    let fixture = Fixture::new(once()).await;
    let mut receiver = Receiver::start(|n| Reply::Status(if n == 1 { 503 } else { 200 })).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    for (event_type, tag) in [("a", "red"), ("b", "red"), ("a", "blue")] {
        let mut input = message();
        input.event_type = event_type.into();
        input.tags = Some(vec![tag.into()]);
        fixture.try_send(input, None).await.unwrap();
        receiver.next().await;
        fixture.finished(&endpoint).await;
    }
    for (input, sent) in [
        (ReplayInput { status: Some(AttemptStatus::Fail), ..all() }, 1),
        (ReplayInput { status: Some(AttemptStatus::Fail), ..all() }, 0),
        (ReplayInput { status_code_class: Some(200), tag: Some("red".into()), ..all() }, 2),
        (ReplayInput { event_types: Some(vec!["a".into()]), ..all() }, 2),
        (ReplayInput { channel: Some("north".into()), ..all() }, 0),
        (all(), 3),
    ] {
        let task = fixture.replay(&endpoint, TaskKind::BulkReplay, input).await;
        assert_eq!(fixture.finished_with(&task).await, (sent, sent));
        fixture.finished(&endpoint).await;
        assert_eq!(receiver.count_now(), sent as usize);
    }
}

#[tokio::test]
async fn a_live_message_does_not_wait_for_all_replayed_messages() {
    const OLD: usize = 300;
    let fixture = Fixture::without_workers(store(), once()).await;
    for _ in 0..OLD {
        fixture.send().await;
    }
    // The receiver takes 20 ms for each message: if all 300 were enqueued first, the live message would wait six seconds.
    let count = Arc::new(AtomicUsize::new(0));
    let mut receiver = Receiver::start(|_| Reply::After(Duration::from_millis(20), 200)).await;
    let input = EndpointInput { url: receiver.url(), throttle_rate: Some(50), ..EndpointInput::default() };
    let endpoint = fixture.endpoint_with(input).await;
    fixture.replay(&endpoint, TaskKind::ReplayMissing, all()).await;
    fixture.provider.spawn_workers(&fixture.tasks);
    for _ in 0..80 {
        receiver.next().await;
        count.fetch_add(1, Ordering::SeqCst);
    }
    let live = fixture.send().await;
    let mut before = 0;
    while *receiver.next().await.headers["svix-id"].to_str().unwrap() != *live.id {
        before += 1;
    }
    assert!(before <= 128, "{before} replayed messages arrived before the live one");
}

#[tokio::test]
async fn a_task_fails_with_a_reason_when_its_endpoint_is_deleted() {
    let fixture = Fixture::without_workers(store(), once()).await;
    fixture.send().await;
    let endpoint = fixture.endpoint("http://127.0.0.1:9/").await;
    let task = fixture.replay(&endpoint, TaskKind::ReplayMissing, all()).await;
    fixture.provider.delete_endpoint(&fixture.caller, "app", &endpoint.id).await.unwrap();
    fixture.provider.spawn_workers(&fixture.tasks);
    let failed = fixture.ended(&task).await;
    assert_eq!(failed.status, TaskStatus::Failed);
    assert!(failed.error.unwrap().contains("deleted"));
}

#[tokio::test]
async fn two_nodes_share_the_tasks_and_send_each_message_once() {
    const MESSAGES: usize = 200;
    const ENDPOINTS: usize = 4;
    let shared = store();
    let fixture = Fixture::without_workers(Arc::clone(&shared), once()).await;
    let other = provider(shared, once());
    for _ in 0..MESSAGES {
        fixture.send().await;
    }
    let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
    let (mut endpoints, mut tasks) = (Vec::new(), Vec::new());
    for _ in 0..ENDPOINTS {
        let endpoint = fixture.endpoint(&receiver.url()).await;
        tasks.push(fixture.replay(&endpoint, TaskKind::ReplayMissing, all()).await);
        endpoints.push(endpoint);
    }
    fixture.provider.spawn_workers(&fixture.tasks);
    other.spawn_workers(&fixture.tasks);
    for (task, endpoint) in tasks.iter().zip(&endpoints) {
        assert_eq!(fixture.finished_with(task).await, (MESSAGES as u64, MESSAGES as u64));
        fixture.finished(endpoint).await;
    }
    assert_eq!(receiver.count_now(), MESSAGES * ENDPOINTS);
    let page = PageRequest::default();
    let listed = fixture.provider.list_background_tasks(&fixture.caller, TaskFilter::default(), &page).await.unwrap();
    assert!(listed.data.is_sorted_by(|one, other| one.id > other.id) && listed.data.len() == tasks.len());
}

#[tokio::test]
async fn a_replay_with_an_invalid_time_range_or_filter_is_refused() {
    let fixture = Fixture::without_workers(store(), quick()).await;
    let endpoint = fixture.endpoint("http://127.0.0.1:9/").await;
    let now = SystemClock.now();
    let back = |days: i64| now - SignedDuration::from_hours(24 * days);
    for (kind, input, field) in [
        (TaskKind::Recover, span(back(15), None), Some("since")),
        (TaskKind::Recover, span(back(20), Some(back(10))), None),
        (TaskKind::Recover, span(back(14), None), None),
        (TaskKind::ReplayMissing, span(back(60), None), None),
        (TaskKind::Recover, span(back(1), Some(back(2))), Some("since")),
        (TaskKind::Recover, span(back(-1), None), Some("since")),
        (TaskKind::BulkReplay, ReplayInput { status_code_class: Some(250), ..all() }, Some("statusCodeClass")),
        (TaskKind::BulkReplay, ReplayInput { channel: Some("a b".into()), ..all() }, Some("channel")),
        (TaskKind::BulkReplay, ReplayInput { event_types: Some(vec![]), ..all() }, Some("eventTypes")),
    ] {
        let result = fixture.try_replay(&endpoint, kind, input.clone()).await;
        match (result, field) {
            (Ok(_), None) => {}
            (Err(ProviderError::Validation(faults)), Some(field)) => assert_eq!(faults[0].loc[1], field),
            (other, _) => panic!("{kind:?} {input:?}: {other:?}"),
        }
    }
    let unknown = fixture.provider.background_task(&fixture.caller, "qtask_1").await;
    assert!(matches!(unknown, Err(ProviderError::NotFound)));
}

#[tokio::test]
async fn an_idempotency_key_creates_one_task_and_at_most_a_hundred_tasks_run() {
    let fixture = Fixture::without_workers(store(), quick()).await;
    let endpoint = fixture.endpoint("http://127.0.0.1:9/").await;
    let key = idempotency("k", "{}");
    let request = async || {
        let replay = fixture
            .provider
            .replay(&fixture.caller, "app", &endpoint.id, all(), Some(&key), |task| task.id.to_string());
        replay.await.unwrap()
    };
    let Created::New(task) = request().await else { panic!("the first request creates a task") };
    let Created::Replayed(answer) = request().await else { panic!("the second request returns the stored answer") };
    assert_eq!((answer.status, answer.body), (202, task.id.to_string()));
    for _ in 1..100 {
        fixture.replay(&endpoint, TaskKind::Recover, all()).await;
    }
    let refused = fixture.try_replay(&endpoint, TaskKind::Recover, all()).await;
    assert!(matches!(refused, Err(ProviderError::BadRequest { code: "limit_reached", .. })));
}

/// A task counts the results of all its messages, also those of a node that stopped.
#[tokio::test]
async fn the_results_of_a_task_add_up_until_nothing_waits_also_after_a_restart() {
    const MESSAGES: u64 = 650;
    let config = ProviderConfig { nodes: Nodes::Sole, ..once() };
    let fixture = Fixture::without_workers(store(), config.clone()).await;
    for _ in 0..MESSAGES {
        fixture.send().await;
    }
    let receiver = Receiver::start(|no| Reply::Status(if no % 3 == 0 { 500 } else { 200 })).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    let missing = ReplayInput { kind: TaskKind::ReplayMissing, ..all() };
    let counted = fixture.provider.count_replay(&fixture.caller, "app", &endpoint.id, missing.clone()).await;
    assert_eq!(counted.unwrap(), MESSAGES);
    let task = fixture.replay(&endpoint, TaskKind::ReplayMissing, all()).await;
    let nodes = [config.clone(), config].map(|config| provider(Arc::clone(&fixture.store), config));
    for (place, node) in nodes.iter().enumerate() {
        let tasks = Tasks::new();
        node.spawn_workers(&tasks);
        eventually(async || {
            let found = node.background_task(&fixture.caller, &task.id).await.unwrap();
            let Progress { enqueued, ended, taken_over, .. } = found.progress;
            assert_eq!(enqueued, ended.total() + taken_over + found.progress.waiting());
            let is_done = found.status == TaskStatus::Finished && found.progress.waiting() == 0;
            (is_done || place == 0 && ended.total() > MESSAGES / 3).then_some(())
        })
        .await;
        tasks.shutdown(Duration::from_secs(10)).await.unwrap();
    }
    let progress = fixture.ended(&task).await.progress;
    let attempts = fixture.store.count_attempts(&endpoint.id, "".into().."~".into()).await.unwrap();
    assert_eq!((progress.found, progress.enqueued, progress.ended.total()), (MESSAGES, MESSAGES, MESSAGES));
    assert_eq!((progress.ended.delivered, progress.ended.cancelled), (attempts.success, 0));
    let recover = ReplayInput { kind: TaskKind::Recover, ..missing };
    let counted = fixture.provider.count_replay(&fixture.caller, "app", &endpoint.id, recover).await.unwrap();
    assert_eq!(counted, progress.ended.exhausted);
}

/// On an embedded database there is one node: it takes over the tasks of the previous process at once, without waiting for
/// their leases to expire.
#[tokio::test]
async fn a_sole_node_takes_over_leased_tasks_at_once() {
    let fixture = Fixture::without_workers(store(), ProviderConfig { nodes: Nodes::Sole, ..once() }).await;
    let message = fixture.send().await;
    let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    let task = fixture.replay(&endpoint, TaskKind::ReplayMissing, all()).await;
    let now = SystemClock.now();
    let until = now + SignedDuration::from_mins(30);
    assert_eq!(fixture.store.lease_tasks("node_that_died", now, until, 9).await.unwrap().len(), 1);
    fixture.provider.spawn_workers(&fixture.tasks);
    assert_eq!(fixture.finished_with(&task).await, (1, 1));
    assert_eq!(*receiver.next().await.headers["svix-id"].to_str().unwrap(), *message.id);
}
