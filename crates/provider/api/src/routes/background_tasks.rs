//! Background tasks and their progress.

use axum::extract::State;
use axum::response::Response;
use provider_core::model::{BackgroundTask, TaskKind, TaskStatus};
use provider_core::page::CursorKey;
use provider_core::port::TaskFilter;
use provider_core::{ListPage, Provider, ids};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::errors::{ApiError, HttpErrorOut};
use crate::extract::{Auth, ListQuery, PathParams, QueryParams};
use crate::response::{self, ListResponse};

/// A background task.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BackgroundTaskOut<'a> {
    /// `qtask_…`
    id: &'a str,
    /// Status of the task.
    status: BackgroundTaskStatus,
    /// Type of the task.
    task: BackgroundTaskType,
    /// Selection and progress of the task.
    data: BackgroundTaskData<'a>,
    /// Time of the last progress.
    #[schema(value_type = String, format = DateTime)]
    updated_at: String,
}

/// Selection and progress of a task.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BackgroundTaskData<'a> {
    /// Id of the application, `app_…`.
    app_id: &'a str,
    /// Id of the endpoint, `ep_…`; absent for `application.purge_content`.
    #[serde(skip_serializing_if = "Option::is_none")]
    endpoint_id: Option<&'a str>,
    /// Start of the time range.
    #[schema(value_type = String, format = DateTime)]
    since: String,
    /// End of the time range.
    #[schema(value_type = String, format = DateTime)]
    until: String,
    /// Messages selected so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    messages_found: Option<u64>,
    /// Messages that the task has enqueued so far. The other selected messages were already waiting.
    #[serde(skip_serializing_if = "Option::is_none")]
    messages_sent: Option<u64>,
    /// Sent messages that were delivered.
    #[serde(skip_serializing_if = "Option::is_none")]
    messages_delivered: Option<u64>,
    /// Sent messages whose last attempt failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    messages_failed: Option<u64>,
    /// Sent messages that a caller skipped or cancelled, or whose endpoint or payload no longer exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    messages_cancelled: Option<u64>,
    /// Sent messages that a later task sent again before they were delivered. They count for that task.
    #[serde(skip_serializing_if = "Option::is_none")]
    messages_taken_over: Option<u64>,
    /// Sent messages that wait for an attempt, also when the task has finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    messages_waiting: Option<u64>,
    /// Payloads removed so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    messages_purged: Option<u64>,
    /// Id of the last processed attempt or message.
    position: &'a str,
    /// Cause of the failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

/// Status of a task.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BackgroundTaskStatus {
    Running,
    Finished,
    Failed,
}

/// What a task does.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub(crate) enum BackgroundTaskType {
    /// Sends failed messages again.
    #[serde(rename = "endpoint.recover")]
    Recover,
    /// Sends the messages that the endpoint has no attempt of.
    #[serde(rename = "endpoint.replay")]
    Replay,
    /// Sends messages again, delivered or not.
    #[serde(rename = "endpoint.bulk-replay")]
    BulkReplay,
    /// Removes payloads.
    #[serde(rename = "application.purge_content")]
    PurgeContent,
}

/// Task types of official clients that this provider does not have. The list of their tasks is empty.
const OTHER_TYPES: [&str; 4] = ["application.stats", "message.broadcast", "sdk.generate", "event-type.aggregate"];

/// The filter of the list of tasks.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct TaskListFilter {
    /// Only tasks with this status.
    status: Option<BackgroundTaskStatus>,
    /// Only tasks of this type.
    #[param(value_type = Option<BackgroundTaskType>)]
    task: Option<String>,
}

impl From<TaskStatus> for BackgroundTaskStatus {
    fn from(status: TaskStatus) -> Self {
        match status {
            TaskStatus::Running => Self::Running,
            TaskStatus::Finished => Self::Finished,
            TaskStatus::Failed => Self::Failed,
        }
    }
}

impl From<BackgroundTaskStatus> for TaskStatus {
    fn from(status: BackgroundTaskStatus) -> Self {
        match status {
            BackgroundTaskStatus::Running => Self::Running,
            BackgroundTaskStatus::Finished => Self::Finished,
            BackgroundTaskStatus::Failed => Self::Failed,
        }
    }
}

impl From<TaskKind> for BackgroundTaskType {
    fn from(kind: TaskKind) -> Self {
        match kind {
            TaskKind::Recover => Self::Recover,
            TaskKind::ReplayMissing => Self::Replay,
            TaskKind::BulkReplay => Self::BulkReplay,
            TaskKind::PurgeContent => Self::PurgeContent,
        }
    }
}

/// The kind of a task type; none for a type of [`OTHER_TYPES`].
fn kind(name: &str) -> Result<Option<TaskKind>, ApiError> {
    match name {
        "endpoint.recover" => Ok(Some(TaskKind::Recover)),
        "endpoint.replay" => Ok(Some(TaskKind::ReplayMissing)),
        "endpoint.bulk-replay" => Ok(Some(TaskKind::BulkReplay)),
        "application.purge_content" => Ok(Some(TaskKind::PurgeContent)),
        other if OTHER_TYPES.contains(&other) => Ok(None),
        _ => Err(ApiError::at(
            ["query", "task"],
            "must be endpoint.recover, endpoint.replay, endpoint.bulk-replay or application.purge_content",
        )),
    }
}

fn view(task: &BackgroundTask) -> BackgroundTaskOut<'_> {
    let (sends, progress) = (task.kind != TaskKind::PurgeContent, &task.progress);
    let (found, ended) = (progress.found, progress.ended);
    BackgroundTaskOut {
        id: &task.id,
        status: task.status.into(),
        task: task.kind.into(),
        data: BackgroundTaskData {
            app_id: &task.application,
            endpoint_id: sends.then_some(&*task.endpoint),
            since: response::time(task.selection.since),
            until: response::time(task.selection.until),
            messages_found: sends.then_some(found),
            messages_sent: sends.then_some(progress.enqueued),
            messages_delivered: sends.then_some(ended.delivered),
            messages_failed: sends.then_some(ended.exhausted),
            messages_cancelled: sends.then_some(ended.skipped + ended.cancelled),
            messages_taken_over: sends.then_some(progress.taken_over),
            messages_waiting: sends.then_some(progress.waiting()),
            messages_purged: (!sends).then_some(found),
            position: &progress.position,
            error: task.error.as_deref(),
        },
        updated_at: response::time(task.updated_at),
    }
}

/// The task as JSON.
pub(crate) fn render(task: &BackgroundTask) -> String {
    response::text(&view(task))
}

/// Lists the account's background tasks of the last 90 days, newest first by default.
#[utoipa::path(get, path = "/background-task", operation_id = "v1.background-task.list", tag = "Background Task",
    params(ListQuery, TaskListFilter),
    responses(
        (status = 200, description = "A page of background tasks.", body = ListResponse<BackgroundTaskOut<'_>>),
    ))]
pub(crate) async fn list(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    QueryParams(page): QueryParams<ListQuery>,
    QueryParams(filter): QueryParams<TaskListFilter>,
) -> Result<Response, ApiError> {
    let page = page.page(CursorKey::Id(ids::TASK))?;
    let kind = match filter.task.as_deref().map(kind).transpose()? {
        None => None,
        Some(Some(kind)) => Some(kind),
        Some(None) => {
            let none = ListPage { data: Vec::new(), iterator: None, prev_iterator: None, done: true };
            return Ok(response::list(&none, view));
        }
    };
    let filter = TaskFilter { status: filter.status.map(Into::into), kind };
    Ok(response::list(&provider.list_background_tasks(&caller, filter, &page).await?, view))
}

/// Returns a background task.
#[utoipa::path(get, path = "/background-task/{task_id}", operation_id = "v1.background-task.get",
    tag = "Background Task",
    params(("task_id" = String, Path, description = "Id of the background task, `qtask_…`")),
    responses(
        (status = 200, description = "The background task.", body = BackgroundTaskOut<'_>),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn get(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([task]): PathParams<1>,
) -> Result<Response, ApiError> {
    Ok(response::ok(&view(&provider.background_task(&caller, &task).await?)))
}
