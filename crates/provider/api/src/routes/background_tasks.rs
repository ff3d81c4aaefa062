//! Background tasks: how far they are.

use axum::extract::State;
use axum::response::Response;
use provider_core::model::{BackgroundTask, TaskKind, TaskStatus};
use provider_core::page::CursorKey;
use provider_core::port::TaskFilter;
use provider_core::{ListPage, Provider, ids};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::errors::{ApiError, HttpErrorOut, ValidationErrorOut};
use crate::extract::{self, Auth, PathParams, QueryParams};
use crate::response::{self, ListResponse};
use crate::schema_types::ListOrder;

/// A background task.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BackgroundTaskOut<'a> {
    /// `qtask_…`
    id: &'a str,
    /// Whether it goes on.
    status: BackgroundTaskStatus,
    /// What it does.
    task: BackgroundTaskType,
    /// How far it is.
    data: BackgroundTaskData<'a>,
    /// When it last got further.
    #[schema(value_type = String, format = DateTime)]
    updated_at: String,
}

/// How far a task is.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BackgroundTaskData<'a> {
    /// The application.
    app_id: &'a str,
    /// The endpoint, of those that send something.
    #[serde(skip_serializing_if = "Option::is_none")]
    endpoint_id: Option<&'a str>,
    /// Beginning of the time span.
    #[schema(value_type = String, format = DateTime)]
    since: String,
    /// End of the time span.
    #[schema(value_type = String, format = DateTime)]
    until: String,
    /// Messages selected so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    messages_found: Option<u64>,
    /// Of these, messages sent so far. The others are due or under way anyway.
    #[serde(skip_serializing_if = "Option::is_none")]
    messages_sent: Option<u64>,
    /// Payloads removed so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    messages_purged: Option<u64>,
    /// The id of the attempt or message that was looked at last.
    position: &'a str,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

/// Whether a task goes on.
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
    /// Sends what failed.
    #[serde(rename = "endpoint.recover")]
    Recover,
    /// Sends what the endpoint never had.
    #[serde(rename = "endpoint.replay")]
    Replay,
    /// Sends what the endpoint had.
    #[serde(rename = "endpoint.bulk-replay")]
    BulkReplay,
    /// Removes payloads.
    #[serde(rename = "application.purge_content")]
    PurgeContent,
}

/// Types that clients may ask for and no task of ours has: there are none of them, which is no mistake.
const OTHER_TYPES: [&str; 4] = ["application.stats", "message.broadcast", "sdk.generate", "event-type.aggregate"];

/// A slice of the list of tasks.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct TaskListQuery {
    /// Only those with this status.
    status: Option<BackgroundTaskStatus>,
    /// Only those of this type.
    #[param(value_type = Option<BackgroundTaskType>)]
    task: Option<String>,
    /// At most this many, 0 to 250; 50 without.
    #[param(value_type = Option<u16>, minimum = 0, maximum = 250)]
    limit: Option<String>,
    /// `iterator` or `prevIterator` of a page before.
    #[param(min_length = 1)]
    iterator: Option<String>,
    /// `ascending` or `descending`.
    #[param(value_type = Option<ListOrder>)]
    order: Option<String>,
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

/// None when no task of ours has this type.
fn kind(word: &str) -> Result<Option<TaskKind>, ApiError> {
    match word {
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
    let (sends, found) = (task.kind != TaskKind::PurgeContent, task.progress.found);
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
            messages_sent: sends.then_some(task.progress.enqueued),
            messages_purged: (!sends).then_some(found),
            position: &task.progress.position,
            error: task.error.as_deref(),
        },
        updated_at: response::time(task.updated_at),
    }
}

/// The task as JSON text.
pub(crate) fn render(task: &BackgroundTask) -> String {
    response::text(&view(task))
}

/// Lists the account's background tasks of the last 90 days, newest first unless asked otherwise.
#[utoipa::path(get, path = "/background-task", operation_id = "v1.background-task.list", tag = "Background Task",
    params(TaskListQuery),
    responses((status = 200, body = ListResponse<BackgroundTaskOut<'_>>), (status = 401, body = HttpErrorOut<'_>),
        (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn list(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    QueryParams(query): QueryParams<TaskListQuery>,
) -> Result<Response, ApiError> {
    let page = extract::page(&query.limit, &query.iterator, &query.order, CursorKey::Id(ids::TASK))?;
    let kind = match query.task.as_deref().map(kind).transpose()? {
        None => None,
        Some(Some(kind)) => Some(kind),
        Some(None) => {
            let none = ListPage { data: Vec::new(), iterator: None, prev_iterator: None, done: true };
            return Ok(response::list(&none, view));
        }
    };
    let filter = TaskFilter { status: query.status.map(Into::into), kind };
    Ok(response::list(&provider.list_background_tasks(&caller, filter, &page).await?, view))
}

/// Gives a background task.
#[utoipa::path(get, path = "/background-task/{task_id}", operation_id = "v1.background-task.get",
    tag = "Background Task", params(("task_id" = String, Path)),
    responses((status = 200, body = BackgroundTaskOut<'_>), (status = 401, body = HttpErrorOut<'_>),
        (status = 404, body = HttpErrorOut<'_>)))]
pub(crate) async fn get(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([task]): PathParams<1>,
) -> Result<Response, ApiError> {
    Ok(response::ok(&view(&provider.background_task(&caller, &task).await?)))
}
