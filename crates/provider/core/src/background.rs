//! Background tasks: recover and replay send many messages to an endpoint again; purge removes payloads.
//!
//! Actors: the use cases in this module store a task and respond. `worker` leases tasks and runs their steps.
//! `step_plan` selects the messages of a step, and `batch_size` limits their number.
//!
//! Guarantees:
//! - a task is durable when its caller receives the response, and continues after a crash, or on another node, from its
//!   last step;
//! - a step inserts deliveries and moves the task's position in one transaction, so that each message is enqueued once.
//!   If a delivery already waits for a retry, the step makes it due and keeps its number of attempts;
//! - a step begins only after the deliveries of the previous step were sent, and takes about as many messages as the
//!   endpoint receives in a second. So a new message does not wait behind a long queue of old messages, and other
//!   endpoints are not delayed;
//! - each enqueued message waits, or is counted by the end of its delivery, in the transaction that ends it. So the figures
//!   of a task add up at any time, also after its last step and after a restart ([`crate::model::Progress`]).

mod batch_size;
mod endpoint_tasks;
mod purge;
mod replay_count;
mod step_plan;
pub(crate) mod stop;
pub(crate) mod worker;

use jiff::{SignedDuration, Timestamp};

use crate::caller::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::ids;
use crate::model::{AttemptStatus, BackgroundTask, Id, Progress, Selection, TaskKind, TaskStatus};
use crate::page::{ListPage, PageRequest};
use crate::port::{Order, TaskFilter};
use crate::provider::Provider;
use crate::steps::idempotency::{self, Idempotency, IdempotentWrite};
use crate::steps::written::Created;
use crate::uid::{CHANNEL_CHARS_MAX, NAME_CHARS_MAX};
use crate::validation::{FILTER_TYPES_MAX, FieldErrors};

/// Longest time span of a recovery: the 14 days of the specification, and five minutes for differences between clocks.
const RECOVER_MAX: SignedDuration = SignedDuration::from_mins(14 * 24 * 60 + 5);
/// Tasks of an account that run at the same time.
const RUNNING_MAX: usize = 100;
const TAG_CHARS_MAX: usize = 128;

/// Selects the messages to send again. A filter that is none selects all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayInput {
    /// Kind of the task.
    pub kind: TaskKind,
    /// Messages from this time.
    pub since: Timestamp,
    /// Messages before this time; until now when none or in the future.
    pub until: Option<Timestamp>,
    /// Messages of these event types.
    pub event_types: Option<Vec<String>>,
    /// Messages in this channel.
    pub channel: Option<String>,
    /// Messages with this tag.
    pub tag: Option<String>,
    /// Messages whose latest attempt at the endpoint has this status.
    pub status: Option<AttemptStatus>,
    /// Messages whose latest attempt has a status code of this class: 0, 100, 200 … 500.
    pub status_code_class: Option<u16>,
}

impl ReplayInput {
    /// Selects all messages of a time span.
    pub fn time_range(kind: TaskKind, since: Timestamp, until: Option<Timestamp>) -> Self {
        Self { kind, since, until, event_types: None, channel: None, tag: None, status: None, status_code_class: None }
    }
}

/// A new task. The endpoint of a task for the whole application is empty.
struct TaskRequest {
    kind: TaskKind,
    application: Id,
    endpoint: Id,
    selection: Selection,
}

impl Provider {
    /// Starts a task that sends messages to an endpoint again. `render` makes the JSON of the 202 response, which is
    /// stored for the idempotency key. 404, 422, 400 `limit_reached`, 503 `disk_full`.
    pub async fn replay(
        &self,
        caller: &Caller,
        application: &str,
        endpoint: &str,
        input: ReplayInput,
        idempotency: Option<&Idempotency>,
        render: impl FnOnce(&BackgroundTask) -> String + Send,
    ) -> ProviderResult<Created<BackgroundTask>> {
        self.config().disk_reserve.check()?;
        let now = self.now();
        let kind = input.kind;
        let selection = input.check(now)?;
        let endpoint = self.endpoint(caller, application, endpoint).await?;
        let (application, id) = (endpoint.application.clone(), endpoint.id.clone());
        let request = TaskRequest { kind, application, endpoint: id, selection };
        let begun = self.begin_task(caller, request, now, idempotency, render).await?;
        if let Created::New(task) = &begun {
            self.record_replay(caller, &endpoint, task).await;
        }
        Ok(begun)
    }

    /// Stores a task. A worker then runs it.
    async fn begin_task(
        &self,
        caller: &Caller,
        TaskRequest { kind, application, endpoint, selection }: TaskRequest,
        now: Timestamp,
        idempotency: Option<&Idempotency>,
        render: impl FnOnce(&BackgroundTask) -> String + Send,
    ) -> ProviderResult<Created<BackgroundTask>> {
        let task = BackgroundTask {
            id: self.ids().make(ids::TASK),
            account: caller.account.clone(),
            kind,
            application,
            endpoint,
            progress: Progress::at(position_at(kind, selection.since)),
            selection,
            status: TaskStatus::Running,
            error: None,
            created_at: now,
            updated_at: now,
        };
        let written = idempotency::write(
            self.store(),
            caller,
            idempotency,
            now,
            202,
            || render(&task),
            |answer| self.store().create_task(task.clone(), RUNNING_MAX, answer),
        );
        Ok(match written.await.map_err(with_limit)? {
            IdempotentWrite::Done => Created::New(task),
            IdempotentWrite::Replayed(answer) => Created::Replayed(answer),
        })
    }

    /// A task by its id. 404 when the task does not exist, or the caller may not access its application.
    pub async fn background_task(&self, caller: &Caller, id: &str) -> ProviderResult<BackgroundTask> {
        let task = self.store().task(&caller.account, id).await?.ok_or(ProviderError::NotFound)?;
        if self.can_access(caller, &task.application).await? { Ok(task) } else { Err(ProviderError::NotFound) }
    }

    /// The account's tasks, by default newest first.
    pub async fn list_background_tasks(
        &self,
        caller: &Caller,
        filter: TaskFilter,
        page: &PageRequest,
    ) -> ProviderResult<ListPage<BackgroundTask>> {
        let rows = self.store().tasks(&caller.account, filter, page.to_store(Order::Descending)).await?;
        Ok(page.slice(rows, |task| &task.id))
    }
}

fn with_limit(error: ProviderError) -> ProviderError {
    match error {
        ProviderError::BadRequest { code: "limit_reached", .. } => ProviderError::BadRequest {
            code: "limit_reached",
            detail: format!("{RUNNING_MAX} background tasks of this account are running; wait until one is finished"),
        },
        error => error,
    }
}

impl ReplayInput {
    fn check(self, now: Timestamp) -> ProviderResult<Selection> {
        let latest = now + ids::RESOLUTION;
        let until = self.until.map_or(latest, |until| until.min(latest));
        let mut errors = FieldErrors::default();
        if self.since >= until {
            errors.fault("since", "must be before until, and not in the future");
        }
        if self.kind == TaskKind::Recover && until.duration_since(self.since) > RECOVER_MAX {
            errors.fault("since", "must be at most 14 days before until");
        }
        errors.names("eventTypes", self.event_types.as_deref(), FILTER_TYPES_MAX, NAME_CHARS_MAX);
        errors.names("channel", self.channel.as_ref().map(std::slice::from_ref), 1, CHANNEL_CHARS_MAX);
        errors.names("tag", self.tag.as_ref().map(std::slice::from_ref), 1, TAG_CHARS_MAX);
        if self.status_code_class.is_some_and(|class| !(class <= 500 && class % 100 == 0)) {
            errors.fault("statusCodeClass", "must be 0, 100, 200, 300, 400 or 500");
        }
        errors.finish()?;
        Ok(Selection {
            since: self.since,
            until,
            event_types: self.event_types,
            channel: self.channel,
            tag: self.tag,
            status: self.status,
            status_code_class: self.status_code_class,
        })
    }
}

/// The position of a time in the rows that a task reads: attempts for a recovery, messages for other tasks.
fn position_at(kind: TaskKind, at: Timestamp) -> Id {
    ids::lowest_id_at(if kind == TaskKind::Recover { ids::ATTEMPT } else { ids::MESSAGE }, at).into()
}
