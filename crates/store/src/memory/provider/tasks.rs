//! Background tasks, and what they look at.

use std::collections::HashMap;

use ::provider::model::{Attempt, AttemptStatus, BackgroundTask, Id, TaskKind, TaskStatus};
use ::provider::port::{
    Advance, Failure, From, IdempotentAnswer, Page, Sent, StoreError, StoreResult, TaskFilter, TaskStore,
};
use async_trait::async_trait;
use jiff::Timestamp;

use super::lists::{self, Owned, key};
use super::{Memory, Tables};

/// Tasks, and who has them until when.
#[derive(Default)]
pub(super) struct TaskTable {
    pub(super) tasks: Owned<BackgroundTask>,
    leases: HashMap<Id, (Id, Timestamp)>,
}

impl TaskTable {
    pub(super) fn all(&self) -> impl Iterator<Item = &BackgroundTask> {
        self.tasks.values()
    }
}

#[async_trait]
impl TaskStore for Memory {
    async fn create_task(&self, task: BackgroundTask, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        let mut tables = self.tables();
        tables.config.check_answer(answer.as_ref())?;
        tables.config.keep_answer(answer);
        tables.background.tasks.insert(key(&task.account, &task.id), task);
        Ok(())
    }

    async fn task(&self, account: &str, id: &str) -> StoreResult<Option<BackgroundTask>> {
        Ok(self.tables().background.tasks.get(&key(account, id)).cloned())
    }

    async fn tasks(&self, account: &str, filter: TaskFilter, page: Page) -> StoreResult<Vec<BackgroundTask>> {
        let tables = self.tables();
        let has = |task: &BackgroundTask| {
            filter.status.is_none_or(|status| task.status == status) && filter.kind.is_none_or(|kind| task.kind == kind)
        };
        let selected = tables.background.tasks.iter().filter(|(_, task)| has(task));
        let selected: Owned<BackgroundTask> = selected.map(|(key, task)| (key.clone(), task.clone())).collect();
        Ok(lists::slice(&selected, account, &page))
    }

    async fn lease_tasks(
        &self,
        worker: &str,
        now: Timestamp,
        leased_until: Timestamp,
        limit: usize,
    ) -> StoreResult<Vec<BackgroundTask>> {
        let mut tables = self.tables();
        let TaskTable { tasks, leases } = &mut tables.background;
        let until = |task: &BackgroundTask| leases.get(&task.id).map_or(Timestamp::MIN, |(_, until)| *until);
        let running = tasks.values().filter(|task| task.status == TaskStatus::Running);
        let mut free: Vec<BackgroundTask> = running.filter(|task| until(task) <= now).cloned().collect();
        free.sort_by_key(|task| (until(task), task.id.clone()));
        free.truncate(limit);
        for task in &free {
            leases.insert(task.id.clone(), (worker.into(), leased_until));
        }
        Ok(free)
    }

    async fn advance_task(&self, step: Advance) -> StoreResult<usize> {
        self.tables().advance(step)
    }

    async fn due_of(&self, endpoint: &str, messages: &[Id], now: Timestamp) -> StoreResult<usize> {
        let tables = self.tables();
        Ok(messages.iter().filter(|message| tables.work.is_due(endpoint, message, now)).count())
    }

    async fn failures(
        &self,
        application: &str,
        endpoint: &str,
        after: &str,
        before: &str,
        limit: usize,
    ) -> StoreResult<Vec<Failure>> {
        let tables = self.tables();
        let page = Page { from: Some(From::After(after.to_owned())), limit, ..Page::default() };
        let attempts = lists::slice(&tables.work.attempts_at_endpoint, endpoint, &page);
        let failures = attempts.into_iter().take_while(|attempt| &*attempt.id < before).map(|attempt| {
            let failed = attempt.status == AttemptStatus::Fail;
            let recoverable = failed && tables.is_recoverable(application, &attempt, before);
            Failure { recoverable: recoverable.then_some(attempt.message), attempt: attempt.id }
        });
        Ok(failures.collect())
    }

    async fn sent(
        &self,
        application: &str,
        endpoint: &str,
        after: &str,
        before: &str,
        limit: usize,
    ) -> StoreResult<Vec<Sent>> {
        let tables = self.tables();
        let page = Page { from: Some(From::After(after.to_owned())), limit, ..Page::default() };
        let messages = lists::slice(&tables.work.messages, application, &page);
        let sent = messages.into_iter().take_while(|message| &*message.id < before).map(|message| {
            let latest = tables.attempts_at(&message.id, endpoint).last();
            Sent {
                latest: latest.map(|attempt| (attempt.status, attempt.response_status_code)),
                waits: tables.work.waits(endpoint, &message.id),
                event_type: message.event_type.to_string(),
                payload_kept: message.payload.is_some(),
                channels: message.channels,
                tags: message.tags,
                message: message.id,
            }
        });
        Ok(sent.collect())
    }

    async fn forget_tasks(&self, before: Timestamp, limit: usize) -> StoreResult<usize> {
        let tasks = &mut self.tables().background.tasks;
        let ended = |task: &BackgroundTask| task.status != TaskStatus::Running && task.updated_at < before;
        Ok(tasks.extract_if(.., |_, task| ended(task)).take(limit).count())
    }
}

impl Tables {
    fn advance(&mut self, step: Advance) -> StoreResult<usize> {
        let TaskTable { tasks, leases } = &self.background;
        let is_workers = leases.get(&step.task).is_some_and(|(worker, _)| *worker == step.worker);
        let task = tasks.values().find(|task| {
            task.id == step.task && task.progress.position == step.from && task.status == TaskStatus::Running
        });
        let task = task.filter(|_| is_workers).ok_or(StoreError::Stale)?;
        let (key, application, endpoint) =
            (key(&task.account, &task.id), task.application.clone(), task.endpoint.clone());
        let target = self.config.endpoint(&application, &endpoint);
        if !step.messages.is_empty() && target.as_ref().is_none_or(|target| target.disabled) {
            return Err(StoreError::NotFound);
        }
        let order = target.map(|target| target.ordering).unwrap_or_default();
        let kind = task.kind;
        let mut wanted: Vec<&Id> =
            step.messages.iter().filter(|message| self.is_wanted(kind, message, &endpoint)).collect();
        wanted.sort_unstable();
        let enqueue = |message: &&Id| {
            (kind.hastens() && self.work.hasten(&endpoint, message, step.now))
                || self.work.enqueue(&application, &endpoint, order, message, step.now)
        };
        let made = wanted.into_iter().filter(enqueue).count();
        let further = step.is_progress();
        self.background.leases.insert(step.task, (step.worker, step.leased_until));
        if let Some(task) = self.background.tasks.get_mut(&key) {
            task.progress.position = step.to;
            task.progress.found += step.found;
            task.progress.enqueued += made as u64;
            task.status = step.status;
            task.error = step.error;
            task.updated_at = if further { step.now } else { task.updated_at };
        }
        Ok(made)
    }

    /// Whether a task of this kind still has a reason to send the message.
    fn is_wanted(&self, kind: TaskKind, message: &str, endpoint: &str) -> bool {
        let mut attempts = self.attempts_at(message, endpoint);
        match kind {
            TaskKind::Recover => !attempts.any(|attempt| attempt.status == AttemptStatus::Success),
            TaskKind::ReplayMissing => attempts.next().is_none(),
            TaskKind::BulkReplay => true,
            TaskKind::PurgeContent => false,
        }
    }

    fn attempts_at<'a>(&'a self, message: &str, endpoint: &'a str) -> impl Iterator<Item = &'a Attempt> {
        let of_message = self.work.attempts_of_message.range(key(message, "")..lists::after(message));
        of_message.map(|(_, attempt)| attempt).filter(move |attempt| &*attempt.endpoint == endpoint)
    }

    fn is_recoverable(&self, application: &str, failed: &Attempt, before: &str) -> bool {
        let speaks_against = |other: &Attempt| match other.status {
            AttemptStatus::Success => true,
            AttemptStatus::Fail => other.id > failed.id && &*other.id < before,
            _ => false,
        };
        let message = self.work.messages.get(&key(application, &failed.message));
        message.is_some_and(|message| message.payload.is_some())
            && !self.attempts_at(&failed.message, &failed.endpoint).any(speaks_against)
    }
}
