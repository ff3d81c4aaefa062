//! Recovering failed messages and replaying missing ones to an endpoint, with the progress of these tasks.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use provider_core::model::{BackgroundTask, Endpoint, TaskKind, TaskStatus};
use provider_core::{Created, ReplayInput, ids};

use super::form;
use super::head::{Head, Tab};
use crate::page_error::PageError;
use crate::portal::labels::{self, StatusBadge, number};
use crate::portal::notice;
use crate::portal::session::{PathParams, Permissions, Section, Session};
use kit_design::error_page::ErrorPage;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, FormFields, QueryFields, SubmittedForm};
use kit_design::form_field::{Choice, FormField};
use kit_design::frame::{Frame, render_page, render_page_as};
use kit_design::relative_time::RelativeTime;

/// Tasks that the page lists.
const TASKS_MAX: usize = 20;
/// Lengths of the time range that the form offers, in hours.
const SPANS: &[(i64, &str)] = &[
    (1, "the last hour"),
    (6, "the last 6 hours"),
    (24, "the last 24 hours"),
    (72, "the last 3 days"),
    (168, "the last 7 days"),
    (336, "the last 14 days"),
];
const SPAN_DEFAULT: &str = "24";

#[derive(Template)]
#[template(path = "portal/endpoints/replay.html")]
struct ReplayPage {
    frame: Frame,
    head: Head,
    may: Permissions,
    what: FormField,
    range: [FormField; 3],
    errors: ErrorSummary,
    tasks: Vec<Task>,
    /// The figures of a task still change.
    is_live: bool,
}

struct Task {
    id: String,
    /// How the deliveries of its messages ended; none before it sent one.
    results: Option<String>,
    what: &'static str,
    status: StatusBadge,
    found: String,
    sent: String,
    percent: i64,
    is_running: bool,
    error: String,
    since: RelativeTime,
    started: RelativeTime,
}

impl Task {
    fn new(task: &BackgroundTask, now: Timestamp) -> Self {
        Self {
            what: match task.kind {
                TaskKind::Recover => "Failed messages",
                TaskKind::ReplayMissing => "Missing messages",
                TaskKind::BulkReplay => "All messages",
                TaskKind::PurgeContent => "Removal of payloads",
            },
            id: task.id.to_string(),
            results: (task.progress.enqueued > 0).then(|| labels::delivery_results(&task.progress)),
            status: StatusBadge::of_task(task),
            found: number(task.progress.found),
            sent: number(task.progress.enqueued),
            percent: percent(task),
            is_running: task.status == TaskStatus::Running,
            error: task.error.clone().filter(|_| !task.is_stopped()).unwrap_or_default(),
            since: RelativeTime::new(task.selection.since, now),
            started: RelativeTime::new(task.created_at, now),
        }
    }
}

/// How much of its time range a task has processed, in percent.
fn percent(task: &BackgroundTask) -> i64 {
    let prefix = if task.kind == TaskKind::Recover { ids::ATTEMPT } else { ids::MESSAGE };
    let (since, until) = (task.selection.since, task.selection.until);
    let Some(position) = ids::timestamp_of(&task.progress.position, prefix) else { return 0 };
    let (done, all) = (position.duration_since(since).as_millis(), until.duration_since(since).as_millis().max(1));
    i64::try_from(done * 100 / all).unwrap_or(0).clamp(0, 100)
}

impl ReplayPage {
    async fn new(session: &Session, endpoint: &Endpoint) -> Result<Self, PageError> {
        let (provider, now) = (session.provider(), session.portal.now());
        let tasks = provider.endpoint_tasks(&session.caller, session.app(), &endpoint.id, TASKS_MAX).await?;
        Ok(Self {
            frame: session.frame("Replay", Section::Endpoints),
            head: Head::new(session, endpoint, Tab::Replay),
            may: session.permissions(),
            what: what_field("failed"),
            range: range_fields(SPAN_DEFAULT, "", ""),
            errors: ErrorSummary::default(),
            is_live: tasks.iter().any(labels::is_live),
            tasks: tasks.iter().map(|task| Task::new(task, now)).collect(),
        })
    }
}

/// The choice of messages.
fn what_field(chosen: &str) -> FormField {
    let choices = vec![
        Choice::new("failed", "Failed messages", chosen != "missing")
            .hint("Messages whose attempts failed and that were not delivered later; at most 14 days old."),
        Choice::new("missing", "Missing messages", chosen == "missing").hint(
            "Messages that match the endpoint's filters and have no attempt, for example because it was disabled or \
             did not exist yet.",
        ),
    ];
    FormField::radios("what", "Messages", choices)
}

/// Fields of the time range.
fn range_fields(span: &str, since: &str, until: &str) -> [FormField; 3] {
    let spans = SPANS.iter().map(|(hours, words)| Choice::of(hours.to_string(), *words, span));
    let time = |name, label, value: &str| FormField::text(name, label, value).kind("datetime-local", "off").optional();
    [
        FormField::select("hours", "Time range", spans.collect()),
        time("since", "Or since, in UTC", since),
        time("until", "Until, in UTC", until),
    ]
}

/// The form and the list of tasks.
pub(in crate::portal) async fn page(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let endpoint = session.endpoint(&endpoint).await?;
    let mut page = ReplayPage::new(&session, &endpoint).await?;
    page.frame = page.frame.with_notice(notice::from_query(&query));
    render_page_as(StatusCode::OK, &page)
}

#[derive(Template)]
#[template(path = "portal/endpoints/replay_confirm.html")]
struct ConfirmPage {
    frame: Frame,
    head: Head,
    messages: String,
    what: String,
    hours: String,
    since: RelativeTime,
    /// The start and the end of the range as the form sends them.
    at: String,
    until: String,
    /// How long it takes at the endpoint's throttle rate.
    duration: Option<String>,
}

/// The number of messages that a task would send, with the button that starts it.
pub(in crate::portal) async fn confirm(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let (kind, _) = kind(query.text("what"))?;
    let now = session.portal.now();
    let endpoint = session.endpoint(&endpoint).await?;
    let (status, errors) = match time_range(&query, now) {
        Err(errors) => (StatusCode::UNPROCESSABLE_ENTITY, errors),
        Ok((since, until)) => {
            let input = ReplayInput::time_range(kind, since, until);
            match session.provider().count_replay(&session.caller, session.app(), &endpoint.id, input).await {
                Ok(messages) => {
                    return render_page(&ConfirmPage {
                        frame: session.frame("Send messages again", Section::Endpoints),
                        head: Head::new(&session, &endpoint, Tab::Replay),
                        messages: number(messages),
                        what: query.text("what").to_owned(),
                        hours: query.text("hours").to_owned(),
                        since: RelativeTime::new(since, now),
                        until: query.text("until").to_owned(),
                        duration: endpoint.throttle_rate.map(|rate| duration(messages, rate)),
                        at: since.to_zoned(TimeZone::UTC).strftime("%Y-%m-%dT%H:%M:%S").to_string(),
                    });
                }
                Err(error) => {
                    let (status, mut errors) = form::errors(error)?;
                    if !errors.of("since").is_empty() {
                        errors.replace("since", too_far(since, now));
                    }
                    (status, errors)
                }
            }
        }
    };
    refused(ReplayPage::new(&session, &endpoint).await?, &query, status, &errors)
}

/// How long this many messages take at this rate, in words.
fn duration(messages: u64, per_second: u16) -> String {
    match messages / u64::from(per_second.max(1)) {
        seconds @ 0..120 => format!("{} s", seconds.max(1)),
        seconds @ 120..7_200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3_600),
    }
}

/// The form again, with its errors and the entered values.
fn refused(
    mut page: ReplayPage,
    form: &FormFields,
    status: StatusCode,
    errors: &FieldErrors,
) -> Result<Response, PageError> {
    page.what = what_field(form.text("what"));
    let range = range_fields(form.text("hours"), form.text("since"), form.text("until"));
    page.range = range.map(|field| field.with(errors));
    page.errors = ErrorSummary::of_fields(errors, &page.range).heading("Nothing was sent");
    render_page_as(status, &page)
}

/// What the field `what` asks for, and the notice after the start.
fn kind(what: &str) -> Result<(TaskKind, &'static str), PageError> {
    match what {
        "failed" => Ok((TaskKind::Recover, "recovering")),
        "missing" => Ok((TaskKind::ReplayMissing, "replaying")),
        _ => Err(ErrorPage::bad_request("The field \"what\" must be \"failed\" or \"missing\".").into()),
    }
}

/// Starts a task.
pub(in crate::portal) async fn start(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let provider = session.provider();
    let (kind, done) = kind(form.text("what"))?;
    let (status, errors) = match time_range(&form, session.portal.now()) {
        Err(errors) => (StatusCode::UNPROCESSABLE_ENTITY, errors),
        Ok((since, until)) => {
            let input = ReplayInput::time_range(kind, since, until);
            let started =
                provider.replay(&session.caller, session.app(), &endpoint, input, None, |_| String::new()).await;
            match started {
                Ok(Created::New(_) | Created::Existing(_) | Created::Replayed(_)) => {
                    let path = format!("/endpoints/{endpoint}/replay?done={done}");
                    return Ok(session.portal.redirect(&path).into_response());
                }
                Err(error) => {
                    let (status, mut errors) = form::errors(error)?;
                    if !errors.of("since").is_empty() {
                        errors.replace("since", too_far(since, session.portal.now()));
                    }
                    (status, errors)
                }
            }
        }
    };
    let endpoint = session.endpoint(&endpoint).await?;
    refused(ReplayPage::new(&session, &endpoint).await?, &form, status, &errors)
}

/// The error for a start that the provider refuses. The provider's text names the end of the range, which this form does
/// not have.
fn too_far(since: Timestamp, now: Timestamp) -> &'static str {
    if since < now { "must be at most 14 days ago" } else { "must not be in the future" }
}

/// Start and end of the time range: the entered times, or the chosen number of hours before now and no end.
fn time_range(form: &FormFields, now: Timestamp) -> Result<(Timestamp, Option<Timestamp>), FieldErrors> {
    let mut errors = FieldErrors::default();
    let since = match form.non_empty("since") {
        Some(text) => utc(text),
        None => {
            let hours = form.text("hours").parse::<i64>().ok();
            let hours = hours.filter(|hours| SPANS.iter().any(|(span, _)| span == hours));
            hours.map(|hours| now - SignedDuration::from_hours(hours))
        }
    };
    let until = form.non_empty("until").map(|text| utc(text).ok_or(()));
    let fault = "must be a date and time such as 2026-01-31T12:00";
    if since.is_none() {
        errors.add("since", fault);
    }
    match (since, until.transpose()) {
        (Some(since), Ok(Some(until))) if until <= since => errors.add("until", "must be after the start"),
        (Some(since), Ok(until)) => return Ok((since, until)),
        (_, Err(())) => errors.add("until", fault),
        (None, Ok(_)) => {}
    }
    Err(errors)
}

/// A time in UTC as a form sends it.
fn utc(text: &str) -> Option<Timestamp> {
    Some(text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

/// Stops a running task.
pub(in crate::portal) async fn stop(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let task = form.text("task");
    let was_running = session.provider().stop_endpoint_task(&session.caller, session.app(), &endpoint, task).await?;
    let done = if was_running { "stopped" } else { "ended" };
    Ok(session.portal.redirect(&format!("/endpoints/{endpoint}/replay?done={done}")).into_response())
}

#[cfg(test)]
mod tests {
    use provider_core::model::{Progress, Selection};

    use super::*;

    #[test]
    fn progress_is_the_processed_share_of_the_time_range() {
        let at = |text: &str| -> Timestamp { text.parse().unwrap() };
        let (since, until) = (at("2026-11-20T00:00:00Z"), at("2026-11-21T00:00:00Z"));
        for (position, expected) in [
            (ids::lowest_id_at(ids::ATTEMPT, since), 0),
            (ids::lowest_id_at(ids::ATTEMPT, at("2026-11-20T06:00:00Z")), 25),
            (ids::lowest_id_at(ids::ATTEMPT, until), 100),
            (ids::lowest_id_at(ids::ATTEMPT, at("2027-01-01T00:00:00Z")), 100),
            ("nothing".to_owned(), 0),
        ] {
            let task = BackgroundTask {
                id: "qtask_1".into(),
                account: "org_1".into(),
                kind: TaskKind::Recover,
                application: "app_1".into(),
                endpoint: "ep_1".into(),
                selection: Selection {
                    since,
                    until,
                    event_types: None,
                    channel: None,
                    tag: None,
                    status: None,
                    status_code_class: None,
                },
                status: TaskStatus::Running,
                progress: Progress::at(position.into()),
                error: None,
                created_at: since,
                updated_at: since,
            };
            assert_eq!(percent(&task), expected);
        }
    }
}
