//! Leases tasks and runs their steps, one after the other.
//!
//! A node leases a task for ten seconds and renews the lease. If two nodes run one task by mistake, the store commits
//! only one of two steps from the same position; the other step fails with a conflict.

use std::time::{Duration, Instant};

use jiff::SignedDuration;
use kit_runtime::tasks::Tasks;
use tokio_util::sync::CancellationToken;

use super::batch_size::BatchSize;
use super::position_at;
use super::step_plan::plan_step;
use crate::config::Nodes;
use crate::dispatcher::target::Target;
use crate::ids;
use crate::model::{BackgroundTask, Id, TaskKind, TaskStatus};
use crate::port::{StoreError, StoreResult, TaskStep};
use crate::provider::Provider;

/// Interval at which the worker looks for tasks.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Minimum interval between steps.
const STEP_INTERVAL: Duration = Duration::from_millis(20);
/// Maximum number of tasks that a node runs at the same time.
const LEASED_TASKS_MAX: usize = 64;
/// Maximum number of payloads that one step removes.
const EXPUNGE_BATCH_MAX: usize = 250;
/// Duration of a lease, and how long before its end it is renewed.
const LEASE: SignedDuration = SignedDuration::from_secs(10);
const LEASE_RENEW_BEFORE: SignedDuration = SignedDuration::from_secs(5);
/// A sole node takes over leases that end within this time of its start. Only a clock that was set back makes them
/// longer.
const LEASE_AT_START: SignedDuration = SignedDuration::from_hours(1);
/// Pause of a task after a failed step.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// Ended tasks are deleted after this time, in batches, at this interval.
const TASK_RETENTION: SignedDuration = SignedDuration::from_hours(90 * 24);
const DELETE_BATCH_MAX: usize = 1_000;
const DELETE_INTERVAL: Duration = Duration::from_secs(600);

struct LeasedTask {
    task: BackgroundTask,
    leased_until: jiff::Timestamp,
    batch_size: BatchSize,
    /// Messages that the last step enqueued; some may still wait for their attempt.
    under_way: Vec<Id>,
    /// The next step begins no earlier than this.
    next: Instant,
    /// Whether the last step may have been committed although the store returned an error.
    outcome_unknown: bool,
}

enum StepResult {
    /// The task has more steps.
    Continue,
    /// The task has ended, or another node runs it.
    Stop,
}

pub(crate) fn spawn(provider: &Provider, tasks: &Tasks) {
    let provider = provider.clone();
    tasks.spawn("provider background tasks", move |stopping| {
        let worker = Worker { worker_id: provider.ids().make(ids::NODE), provider: provider.clone() };
        async move { worker.run(stopping).await }
    });
}

struct Worker {
    provider: Provider,
    worker_id: Id,
}

impl Worker {
    async fn run(&self, stopping: CancellationToken) {
        let clock = self.provider.clock();
        let mut leased: Vec<LeasedTask> = Vec::new();
        let (mut lease_at, mut delete_at) = (clock.monotonic(), clock.monotonic());
        // No other process works on a sole node's tasks, so at its start the node takes over all leases in the table.
        let mut free_before = match self.provider.config().nodes {
            Nodes::Sole => LEASE_AT_START,
            Nodes::Many => SignedDuration::ZERO,
        };
        while !stopping.is_cancelled() {
            let now = clock.monotonic();
            if now >= lease_at {
                lease_at = now + POLL_INTERVAL;
                match self.lease(LEASED_TASKS_MAX.saturating_sub(leased.len()), free_before).await {
                    Ok(more) => {
                        leased.extend(more);
                        free_before = SignedDuration::ZERO;
                    }
                    Err(error) => tracing::warn!(%error, "due background tasks can't be read"),
                }
            }
            if now >= delete_at {
                delete_at = now + DELETE_INTERVAL;
                self.delete_old_tasks().await;
            }
            let mut still_leased = Vec::with_capacity(leased.len());
            for mut task in leased {
                if stopping.is_cancelled() || self.step_or_pause(&mut task).await {
                    still_leased.push(task);
                }
            }
            leased = still_leased;
            let pause = if leased.is_empty() { POLL_INTERVAL } else { STEP_INTERVAL };
            let next = self.provider.now() + pause;
            tokio::select! {
                () = stopping.cancelled() => {}
                () = clock.sleep_until(next) => {}
            }
        }
        self.release_tasks(leased).await;
    }

    /// Leases tasks without a lease, or with a lease that ends within `free_before` from now.
    async fn lease(&self, limit: usize, free_before: SignedDuration) -> StoreResult<Vec<LeasedTask>> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let (now, at) = (self.provider.now(), self.provider.clock().monotonic());
        let leased_until = now + LEASE;
        let tasks = self.provider.store().lease_tasks(&self.worker_id, now + free_before, leased_until, limit).await?;
        let leased_task = |task| LeasedTask {
            task,
            leased_until,
            batch_size: BatchSize::new(at),
            under_way: Vec::new(),
            next: at,
            outcome_unknown: false,
        };
        Ok(tasks.into_iter().map(leased_task).collect())
    }

    /// Runs the next step if it is due. Returns false when this node no longer runs the task.
    async fn step_or_pause(&self, leased: &mut LeasedTask) -> bool {
        let now = self.provider.clock().monotonic();
        if now < leased.next {
            return true;
        }
        match self.step(leased).await {
            Ok(StepResult::Continue) => true,
            Ok(StepResult::Stop) | Err(StoreError::Conflict) => false,
            Err(error) => {
                tracing::warn!(task = %leased.task.id, %error, "a step of a background task failed");
                leased.next = now + RETRY_DELAY;
                leased.outcome_unknown = true;
                true
            }
        }
    }

    async fn step(&self, leased: &mut LeasedTask) -> StoreResult<StepResult> {
        let (provider, now) = (&self.provider, self.provider.now());
        let store = provider.store();
        if leased.outcome_unknown {
            match store.task(&leased.task.account, &leased.task.id).await? {
                Some(task) if task.status == TaskStatus::Running => leased.task = task,
                _ => return Ok(StepResult::Stop),
            }
            leased.outcome_unknown = false;
        }
        // The task begins after its time span, so that it does not select attempts that it causes itself.
        if now < leased.task.selection.until {
            return self.renew(leased).await;
        }
        if leased.task.kind == TaskKind::PurgeContent {
            return self.purge(leased).await;
        }
        if !leased.under_way.is_empty() {
            if store.due_count(&leased.task.endpoint, &leased.under_way, now).await? > 0 {
                return self.renew(leased).await;
            }
            leased.under_way.clear();
            leased.batch_size.ended(provider.clock().monotonic());
        }
        let target = match self.target(&leased.task).await? {
            Ok(target) => target,
            Err(reason) => return self.fail(leased, reason).await,
        };
        let plan = plan_step(store, &leased.task, &target, leased.batch_size.batch()).await?;
        let step = TaskStep {
            to: plan.to,
            found: plan.found,
            messages: plan.messages.clone(),
            status: if plan.last { TaskStatus::Finished } else { TaskStatus::Running },
            ..self.no_progress(leased)
        };
        match self.advance(leased, step).await {
            Err(StoreError::NotFound) => return self.fail(leased, ENDPOINT_UNAVAILABLE).await,
            advanced => advanced?,
        }
        if !plan.messages.is_empty() {
            leased.batch_size.began(provider.clock().monotonic());
            leased.under_way = plan.messages;
            provider.dispatcher().request_sweep();
        }
        Ok(if leased.task.status == TaskStatus::Running { StepResult::Continue } else { StepResult::Stop })
    }

    /// Removes the payloads of the next messages.
    async fn purge(&self, leased: &mut LeasedTask) -> StoreResult<StepResult> {
        let BackgroundTask { kind, application, progress, selection, .. } = &leased.task;
        let end = position_at(*kind, selection.until);
        let (store, now) = (self.provider.store(), self.provider.now());
        let (removed, last) =
            store.expunge_payloads(application, &progress.position, &end, EXPUNGE_BATCH_MAX, now).await?;
        if last.is_some() {
            self.provider.payloads_removed(application);
        }
        let status = if last.is_none() { TaskStatus::Finished } else { TaskStatus::Running };
        let step = TaskStep { to: last.unwrap_or(end), found: removed as u64, status, ..self.no_progress(leased) };
        self.advance(leased, step).await?;
        Ok(if status == TaskStatus::Running { StepResult::Continue } else { StepResult::Stop })
    }

    /// The endpoint, or the reason why it can't receive messages.
    async fn target(&self, task: &BackgroundTask) -> StoreResult<Result<std::sync::Arc<Target>, &'static str>> {
        let snapshots = self.provider.snapshots();
        let known = |snapshot: &crate::dispatcher::snapshot::Snapshot| {
            snapshot.targets.get(&task.endpoint).filter(|target| !target.disabled).cloned()
        };
        if let Some(target) = snapshots.get(&task.application).await?.as_deref().and_then(known) {
            return Ok(Ok(target));
        }
        // The snapshot in memory may be stale.
        let since = self.provider.clock().monotonic();
        let snapshot = snapshots.get_since(&task.application, since).await?;
        Ok(snapshot.as_deref().and_then(known).ok_or(ENDPOINT_UNAVAILABLE))
    }

    async fn fail(&self, leased: &mut LeasedTask, reason: &'static str) -> StoreResult<StepResult> {
        let step = TaskStep { status: TaskStatus::Failed, error: Some(reason.to_owned()), ..self.no_progress(leased) };
        self.advance(leased, step).await.map(|()| StepResult::Stop)
    }

    /// Renews the lease of a waiting task if it ends soon.
    async fn renew(&self, leased: &mut LeasedTask) -> StoreResult<StepResult> {
        if leased.leased_until.duration_since(self.provider.now()) < LEASE_RENEW_BEFORE {
            self.advance(leased, self.no_progress(leased)).await?;
        }
        Ok(StepResult::Continue)
    }

    /// A step that changes nothing but the lease.
    fn no_progress(&self, leased: &LeasedTask) -> TaskStep {
        let now = self.provider.now();
        TaskStep {
            task: leased.task.id.clone(),
            from: leased.task.progress.position.clone(),
            to: leased.task.progress.position.clone(),
            found: 0,
            messages: Vec::new(),
            status: TaskStatus::Running,
            error: None,
            worker: self.worker_id.clone(),
            leased_until: now + LEASE,
            now,
        }
    }

    async fn advance(&self, leased: &mut LeasedTask, step: TaskStep) -> StoreResult<()> {
        let (position, status, leased_until) = (step.to.clone(), step.status, step.leased_until);
        self.provider.store().advance_task(step).await?;
        leased.task.progress.position = position;
        leased.task.status = status;
        leased.leased_until = leased_until;
        Ok(())
    }

    /// Releases the tasks, so that another node need not wait for the end of their leases.
    async fn release_tasks(&self, leased: Vec<LeasedTask>) {
        for task in leased {
            let step = TaskStep { leased_until: self.provider.now(), ..self.no_progress(&task) };
            match self.provider.store().advance_task(step).await {
                Ok(_) | Err(StoreError::Conflict) => {}
                Err(error) => {
                    tracing::warn!(task = %task.task.id, %error, "a background task could not be released; a node takes it again in ten seconds");
                }
            }
        }
    }

    async fn delete_old_tasks(&self) {
        if let Err(error) =
            self.provider.store().delete_old_tasks(self.provider.now() - TASK_RETENTION, DELETE_BATCH_MAX).await
        {
            tracing::warn!(%error, "old background tasks could not be deleted");
        }
    }
}

const ENDPOINT_UNAVAILABLE: &str = "the endpoint is disabled or was deleted; enable it, and ask again";
