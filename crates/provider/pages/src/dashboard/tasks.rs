//! Background tasks of the account: recoveries, replays and removals of payloads, with their progress and outcome.

use askama::Template;
use axum::Router;
use axum::response::Response;
use kit_design::fields::QueryFields;
use kit_design::frame::{Frame, render_page};
use kit_design::pager::Pager;
use kit_design::relative_time::RelativeTime;
use kit_http::page_routes::get;
use provider_core::model::Role;
use provider_core::model::{BackgroundTask, TaskKind, TaskStatus};
use provider_core::page::{CursorKey, PageQuery, PageRequest};
use provider_core::port::TaskFilter;
use provider_core::{ProviderError, ids};

use super::Dashboard;
use super::access::Page;
use super::session::{DashboardSession, PathParams, Section};
use crate::page_error::PageError;
use crate::portal::labels::{self, StatusBadge, number};
use crate::portal::pager::pager;

pub(super) const PAGES: &[Page] = &[("GET", "/tasks", Role::Viewer), ("GET", "/tasks/{task}", Role::Viewer)];

pub(super) fn router() -> Router<Dashboard> {
    Router::new().route("/tasks", get(list)).route("/tasks/{task}", get(detail))
}

/// Statuses that the list is filtered by, as name and words.
const STATUSES: [(Option<TaskStatus>, &str); 4] = [
    (None, "All"),
    (Some(TaskStatus::Running), "Running"),
    (Some(TaskStatus::Finished), "Finished"),
    (Some(TaskStatus::Failed), "Failed or stopped"),
];

#[derive(Template)]
#[template(path = "dashboard/tasks.html")]
struct TasksPage {
    frame: Frame,
    /// Query, words, and whether it is the current one.
    filters: Vec<(String, &'static str, bool)>,
    is_filtered: bool,
    /// The figures of a task still change.
    is_live: bool,
    rows: Vec<Row>,
    list_path: &'static str,
    filter: String,
    pager: Pager,
}

struct Row {
    id: String,
    kind: &'static str,
    status: StatusBadge,
    application: String,
    application_name: String,
    found: String,
    enqueued: String,
    /// How the deliveries of its messages ended; none before it sent one.
    results: Option<String>,
    started: RelativeTime,
    updated: RelativeTime,
    error: Option<String>,
}

async fn list(session: DashboardSession, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let status = STATUSES.iter().filter_map(|(status, _)| *status).find(|status| status.name() == query.text("status"));
    let requested = query.non_empty("iterator");
    let request = PageQuery { limit: None, iterator: requested, order: None };
    let request = PageRequest::parse(request, CursorKey::Id(ids::TASK))?;
    let filter = TaskFilter { status, ..TaskFilter::default() };
    let found = session.provider().list_background_tasks(&session.caller, filter, &request).await?;
    let mut rows = Vec::with_capacity(found.data.len());
    for task in &found.data {
        rows.push(row(&session, task).await?);
    }
    let query_of =
        |status: Option<TaskStatus>| status.map_or(String::new(), |status| format!("?status={}", status.name()));
    render_page(&TasksPage {
        frame: session.frame("Background tasks", Section::Tasks),
        filters: STATUSES.map(|(own, words)| (query_of(own), words, own == status)).to_vec(),
        is_filtered: status.is_some(),
        is_live: found.data.iter().any(labels::is_live),
        rows,
        list_path: "/tasks",
        filter: status.map_or(String::new(), |status| format!("status={}&", status.name())),
        pager: pager(&found, requested),
    })
}

async fn row(session: &DashboardSession, task: &BackgroundTask) -> Result<Row, PageError> {
    let application = match session.provider().application(&session.caller, &task.application).await {
        Ok(application) => application.name,
        Err(ProviderError::NotFound) => "A deleted application".to_owned(),
        Err(error) => return Err(error.into()),
    };
    Ok(Row {
        id: task.id.to_string(),
        kind: kind(task.kind),
        status: StatusBadge::of_task(task),
        application: task.application.to_string(),
        application_name: application,
        found: number(task.progress.found),
        enqueued: number(task.progress.enqueued),
        results: (task.progress.enqueued > 0).then(|| labels::delivery_results(&task.progress)),
        started: RelativeTime::new(task.created_at, session.now()),
        updated: RelativeTime::new(task.updated_at, session.now()),
        error: task.error.clone().filter(|_| !task.is_stopped()),
    })
}

fn kind(kind: TaskKind) -> &'static str {
    match kind {
        TaskKind::Recover => "Recover failed messages",
        TaskKind::ReplayMissing => "Replay missing messages",
        TaskKind::BulkReplay => "Replay messages",
        TaskKind::PurgeContent => "Remove payloads",
    }
}

#[derive(Template)]
#[template(path = "dashboard/task.html")]
struct TaskPage {
    frame: Frame,
    row: Row,
    is_live: bool,
    /// Address of the endpoint; none when the task has none or it was deleted.
    endpoint: Option<String>,
    endpoint_id: String,
    since: RelativeTime,
    until: RelativeTime,
    event_types: String,
    /// How the deliveries of the messages ended, in words.
    outcome: String,
}

async fn detail(session: DashboardSession, PathParams([id]): PathParams<1>) -> Result<Response, PageError> {
    let provider = session.provider();
    let task = provider.background_task(&session.caller, &id).await?;
    let endpoint = match provider.endpoint(&session.caller, &task.application, &task.endpoint).await {
        Ok(endpoint) => Some(endpoint.url),
        Err(ProviderError::NotFound) => None,
        Err(error) => return Err(error.into()),
    };
    let row = row(&session, &task).await?;
    render_page(&TaskPage {
        frame: session.frame(kind(task.kind), Section::Tasks),
        is_live: labels::is_live(&task),
        outcome: outcome(&task),
        endpoint,
        endpoint_id: task.endpoint.to_string(),
        since: RelativeTime::new(task.selection.since, session.now()),
        until: RelativeTime::new(task.selection.until, session.now()),
        event_types: task.selection.event_types.map_or_else(|| "All".to_owned(), |names| names.join(", ")),
        row,
    })
}

fn outcome(task: &BackgroundTask) -> String {
    let found = number(task.progress.found);
    let results = labels::delivery_results(&task.progress);
    let others = task.progress.found.saturating_sub(task.progress.enqueued);
    match (task.kind, task.status) {
        (TaskKind::PurgeContent, TaskStatus::Running) => format!("{found} payloads removed so far."),
        (TaskKind::PurgeContent, _) => format!("{found} payloads removed."),
        (_, TaskStatus::Running) => format!("{found} messages found so far. {results}."),
        _ if task.progress.found == 0 => "No message matched.".to_owned(),
        _ if others == 0 => format!("{results}."),
        _ => format!("{results}. {} others were due or under way anyway.", number(others)),
    }
}
