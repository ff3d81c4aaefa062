//! Background tasks over a faulty store; what is not about a fault is only handed on.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::model::{BackgroundTask, Id, TaskKind, TaskStatus};
use provider_core::port::{
    EndpointTaskStore, Failure, IdempotentAnswer, OperationalEvent, OperationalStore, Page, ReplayCandidate,
    StoreResult, TaskFilter, TaskStep, TaskStore,
};
use provider_core::{EndpointInput, ReplayInput};

use super::{Fault, Faulty, fixture};
use crate::fixture::eventually;
use crate::receiver::{Receiver, Reply};

/// A step that was made and not said to be is not made again: each message goes out once.
#[tokio::test]
async fn a_step_whose_answer_is_lost_happens_once() {
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

/// An event whose message was accepted, and which was not settled then, is not sent again.
#[tokio::test]
async fn an_event_is_told_once_though_settling_it_fails() {
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
        fixture.told().await;
        assert_eq!(receiver.count_now(), 0);
    }
}

#[async_trait]
impl TaskStore for Faulty {
    async fn create_task(&self, task: BackgroundTask, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.store.create_task(task, answer).await
    }

    async fn task(&self, account: &str, id: &str) -> StoreResult<Option<BackgroundTask>> {
        self.store.task(account, id).await
    }

    async fn tasks(&self, account: &str, filter: TaskFilter, page: Page) -> StoreResult<Vec<BackgroundTask>> {
        self.store.tasks(account, filter, page).await
    }

    async fn lease_tasks(
        &self,
        worker: &str,
        now: Timestamp,
        leased_until: Timestamp,
        limit: usize,
    ) -> StoreResult<Vec<BackgroundTask>> {
        // A lease that ends soon: who lost a task in a panic finds it again.
        let leased_until = leased_until.min(now + jiff::SignedDuration::from_millis(300));
        self.store.lease_tasks(worker, now, leased_until, limit).await
    }

    async fn advance_task(&self, step: TaskStep) -> StoreResult<usize> {
        self.call("advance_task", self.store.advance_task(step)).await
    }

    async fn due_count(&self, endpoint: &str, messages: &[Id], now: Timestamp) -> StoreResult<usize> {
        self.store.due_count(endpoint, messages, now).await
    }

    async fn failed_attempts(
        &self,
        application: &str,
        endpoint: &str,
        after: &str,
        before: &str,
        limit: usize,
    ) -> StoreResult<Vec<Failure>> {
        self.store.failed_attempts(application, endpoint, after, before, limit).await
    }

    async fn replay_candidates(
        &self,
        application: &str,
        endpoint: &str,
        after: &str,
        before: &str,
        limit: usize,
    ) -> StoreResult<Vec<ReplayCandidate>> {
        self.store.replay_candidates(application, endpoint, after, before, limit).await
    }

    async fn delete_old_tasks(&self, before: Timestamp, limit: usize) -> StoreResult<usize> {
        self.store.delete_old_tasks(before, limit).await
    }
}

#[async_trait]
impl EndpointTaskStore for Faulty {
    async fn endpoint_tasks(&self, endpoint: &str, page: Page) -> StoreResult<Vec<BackgroundTask>> {
        self.store.endpoint_tasks(endpoint, page).await
    }
}

#[async_trait]
impl OperationalStore for Faulty {
    async fn operational_events(&self, limit: usize) -> StoreResult<Vec<OperationalEvent>> {
        self.store.operational_events(limit).await
    }

    async fn delete_operational_events(&self, numbers: Vec<i64>) -> StoreResult<()> {
        self.call("delete_operational_events", self.store.delete_operational_events(numbers)).await
    }
}
