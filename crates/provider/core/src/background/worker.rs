//! Takes tasks and makes their steps, one after the other, each at its own pace.
//!
//! A node that has a task says so for ten seconds at a time, so that others leave it alone. Two that have one by mistake
//! do no harm: of two steps from one position the store lets one happen, and the other finds the task gone ahead.

use std::time::{Duration, Instant};

use jiff::SignedDuration;
use kit_runtime::tasks::Tasks;
use tokio_util::sync::CancellationToken;

use super::bound;
use super::choice::choose;
use super::pace::Pace;
use crate::config::Nodes;
use crate::ids;
use crate::model::{BackgroundTask, Id, TaskKind, TaskStatus};
use crate::port::{Advance, StoreError, StoreResult};
use crate::provider::Provider;
use crate::target::Target;

/// Tasks are looked for this often.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Steps are made at most this often.
const STEP_EVERY: Duration = Duration::from_millis(20);
/// Tasks that a node has at the same time.
const HELD_MAX: usize = 64;
/// Messages whose payloads go in one step.
const PURGED_MAX: usize = 250;
/// How long a task is a node's own, and how much before its end that is said again.
const LEASE: SignedDuration = SignedDuration::from_secs(10);
const LEASE_RENEWED: SignedDuration = SignedDuration::from_secs(5);
/// Leases end before this, unless the clock was set back.
const LEASE_AT_START: SignedDuration = SignedDuration::from_hours(1);
/// A task whose step failed is left alone for this long.
const PAUSE: Duration = Duration::from_secs(1);
/// Tasks that ended are remembered for this long, and forgotten a few at a time, this often.
const REMEMBERED: SignedDuration = SignedDuration::from_hours(90 * 24);
const FORGET_MAX: usize = 1_000;
const FORGET_EVERY: Duration = Duration::from_secs(600);

/// A task that this node has.
struct Held {
    task: BackgroundTask,
    leased_until: jiff::Timestamp,
    pace: Pace,
    /// Messages enqueued in the last step of which some may not have been tried.
    under_way: Vec<Id>,
    /// Not before.
    next: Instant,
    /// Whether the last step was made is not known.
    doubtful: bool,
}

/// What a step came to.
enum Stepped {
    /// It goes on.
    On,
    /// It has ended, or is another's.
    Off,
}

pub(crate) fn spawn(provider: &Provider, tasks: &Tasks) {
    let provider = provider.clone();
    tasks.spawn("provider background tasks", move |stopping| {
        let worker = Worker { me: provider.ids().make(ids::NODE), provider: provider.clone() };
        async move { worker.run(stopping).await }
    });
}

struct Worker {
    provider: Provider,
    me: Id,
}

impl Worker {
    async fn run(&self, stopping: CancellationToken) {
        let clock = self.provider.clock();
        let mut held: Vec<Held> = Vec::new();
        let (mut look_at, mut forget_at) = (clock.monotonic(), clock.monotonic());
        // An only node knows at its start that nobody has a task, whatever a lease says.
        let mut free_before = match self.provider.config().nodes {
            Nodes::Sole => LEASE_AT_START,
            Nodes::Many => SignedDuration::ZERO,
        };
        while !stopping.is_cancelled() {
            let now = clock.monotonic();
            if now >= look_at {
                look_at = now + LOOK_EVERY;
                match self.lease(HELD_MAX.saturating_sub(held.len()), free_before).await {
                    Ok(more) => {
                        held.extend(more);
                        free_before = SignedDuration::ZERO;
                    }
                    Err(error) => tracing::warn!(%error, "background tasks can't be looked for"),
                }
            }
            if now >= forget_at {
                forget_at = now + FORGET_EVERY;
                self.forget().await;
            }
            let mut still_held = Vec::with_capacity(held.len());
            for mut task in held {
                if stopping.is_cancelled() || self.step_or_pause(&mut task).await {
                    still_held.push(task);
                }
            }
            held = still_held;
            let pause = if held.is_empty() { LOOK_EVERY } else { STEP_EVERY };
            let next = self.provider.now() + pause;
            tokio::select! {
                () = stopping.cancelled() => {}
                () = clock.sleep_until(next) => {}
            }
        }
        self.give_back(held).await;
    }

    /// Takes tasks whose lease ends before `free_before` from now.
    async fn lease(&self, limit: usize, free_before: SignedDuration) -> StoreResult<Vec<Held>> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let (now, at) = (self.provider.now(), self.provider.clock().monotonic());
        let leased_until = now + LEASE;
        let tasks = self.provider.store().lease_tasks(&self.me, now + free_before, leased_until, limit).await?;
        let hold =
            |task| Held { task, leased_until, pace: Pace::new(at), under_way: Vec::new(), next: at, doubtful: false };
        Ok(tasks.into_iter().map(hold).collect())
    }

    /// False when the task is not this node's any more.
    async fn step_or_pause(&self, held: &mut Held) -> bool {
        let now = self.provider.clock().monotonic();
        if now < held.next {
            return true;
        }
        match self.step(held).await {
            Ok(Stepped::On) => true,
            Ok(Stepped::Off) | Err(StoreError::Stale) => false,
            Err(error) => {
                tracing::warn!(task = %held.task.id, %error, "a step of a background task failed");
                held.next = now + PAUSE;
                held.doubtful = true;
                true
            }
        }
    }

    async fn step(&self, held: &mut Held) -> StoreResult<Stepped> {
        let (provider, now) = (&self.provider, self.provider.now());
        let store = provider.store();
        if held.doubtful {
            match store.task(&held.task.account, &held.task.id).await? {
                Some(task) if task.status == TaskStatus::Running => held.task = task,
                _ => return Ok(Stepped::Off),
            }
            held.doubtful = false;
        }
        // So that nothing that the task itself makes happen is in its span.
        if now < held.task.selection.until {
            return self.renew(held).await;
        }
        if held.task.kind == TaskKind::PurgeContent {
            return self.purge(held).await;
        }
        if !held.under_way.is_empty() {
            if store.due_of(&held.task.endpoint, &held.under_way, now).await? > 0 {
                return self.renew(held).await;
            }
            held.under_way.clear();
            held.pace.ended(provider.clock().monotonic());
        }
        let target = match self.target(&held.task).await? {
            Ok(target) => target,
            Err(reason) => return self.fail(held, reason).await,
        };
        let choice = choose(store, &held.task, &target, held.pace.batch()).await?;
        let step = Advance {
            to: choice.to,
            found: choice.found,
            messages: choice.messages.clone(),
            status: if choice.last { TaskStatus::Finished } else { TaskStatus::Running },
            ..self.stay(held)
        };
        match self.advance(held, step).await {
            Err(StoreError::NotFound) => return self.fail(held, GONE).await,
            advanced => advanced?,
        }
        if !choice.messages.is_empty() {
            held.pace.began(provider.clock().monotonic());
            held.under_way = choice.messages;
            provider.dispatcher().look();
        }
        Ok(if held.task.status == TaskStatus::Running { Stepped::On } else { Stepped::Off })
    }

    /// Removes the payloads of the next messages.
    async fn purge(&self, held: &mut Held) -> StoreResult<Stepped> {
        let BackgroundTask { kind, application, progress, selection, .. } = &held.task;
        let end = bound(*kind, selection.until);
        let (store, now) = (self.provider.store(), self.provider.now());
        let (removed, last) = store.expunge_payloads(application, &progress.position, &end, PURGED_MAX, now).await?;
        if last.is_some() {
            self.provider.purged(application);
        }
        let status = if last.is_none() { TaskStatus::Finished } else { TaskStatus::Running };
        let step = Advance { to: last.unwrap_or(end), found: removed as u64, status, ..self.stay(held) };
        self.advance(held, step).await?;
        Ok(if status == TaskStatus::Running { Stepped::On } else { Stepped::Off })
    }

    /// The endpoint, or why nothing can be sent to it.
    async fn target(&self, task: &BackgroundTask) -> StoreResult<Result<std::sync::Arc<Target>, &'static str>> {
        let snapshots = self.provider.snapshots();
        let known = |snapshot: &crate::snapshot::Snapshot| {
            snapshot.targets.get(&task.endpoint).filter(|target| !target.disabled).cloned()
        };
        if let Some(target) = snapshots.get(&task.application).await?.as_deref().and_then(known) {
            return Ok(Ok(target));
        }
        // What is held of it in memory may be a little old.
        let since = self.provider.clock().monotonic();
        let snapshot = snapshots.get_since(&task.application, since).await?;
        Ok(snapshot.as_deref().and_then(known).ok_or(GONE))
    }

    async fn fail(&self, held: &mut Held, reason: &'static str) -> StoreResult<Stepped> {
        let step = Advance { status: TaskStatus::Failed, error: Some(reason.to_owned()), ..self.stay(held) };
        self.advance(held, step).await.map(|()| Stepped::Off)
    }

    /// Keeps the task while it waits.
    async fn renew(&self, held: &mut Held) -> StoreResult<Stepped> {
        if held.leased_until.duration_since(self.provider.now()) < LEASE_RENEWED {
            self.advance(held, self.stay(held)).await?;
        }
        Ok(Stepped::On)
    }

    /// A step that goes nowhere.
    fn stay(&self, held: &Held) -> Advance {
        let now = self.provider.now();
        Advance {
            task: held.task.id.clone(),
            from: held.task.progress.position.clone(),
            to: held.task.progress.position.clone(),
            found: 0,
            messages: Vec::new(),
            status: TaskStatus::Running,
            error: None,
            worker: self.me.clone(),
            leased_until: now + LEASE,
            now,
        }
    }

    async fn advance(&self, held: &mut Held, step: Advance) -> StoreResult<()> {
        let (position, status, leased_until) = (step.to.clone(), step.status, step.leased_until);
        self.provider.store().advance_task(step).await?;
        held.task.progress.position = position;
        held.task.status = status;
        held.leased_until = leased_until;
        Ok(())
    }

    /// So that another node need not wait for the end of a lease.
    async fn give_back(&self, held: Vec<Held>) {
        for task in held {
            let step = Advance { leased_until: self.provider.now(), ..self.stay(&task) };
            match self.provider.store().advance_task(step).await {
                Ok(_) | Err(StoreError::Stale) => {}
                Err(error) => {
                    tracing::warn!(task = %task.task.id, %error, "a background task is free again in ten seconds");
                }
            }
        }
    }

    async fn forget(&self) {
        if let Err(error) = self.provider.store().forget_tasks(self.provider.now() - REMEMBERED, FORGET_MAX).await {
            tracing::warn!(%error, "old background tasks could not be forgotten");
        }
    }
}

const GONE: &str = "the endpoint is disabled or was deleted; enable it, and ask again";
