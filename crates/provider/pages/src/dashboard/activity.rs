//! The activity log of the account: who changed what.

use askama::Template;
use axum::Router;
use axum::response::Response;
use http::request::Parts;
use kit_design::error_page::ErrorPage;
use kit_design::fields::QueryFields;
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page};
use kit_design::relative_time::RelativeTime;
use kit_http::page_routes::get;
use provider_core::activity::{Action, ActivityQuery, TASK_VALUE};
use provider_core::model::Role;
use provider_core::model::{ActivityEntry, ActorKind};
use provider_core::{ProviderError, ids};

use super::Dashboard;
use super::access::Page;
use super::session::{DashboardSession, Section};
use crate::live::{self, COUNTED_MAX, OpenList};
use crate::page_error::PageError;
use crate::portal::labels;

pub(super) const PAGES: &[Page] = &[("GET", "/activity", Role::Viewer), ("GET", "/activity/live", Role::Viewer)];

pub(super) fn router() -> Router<Dashboard> {
    Router::new().route("/activity", get(page)).route("/activity/live", get(live))
}

#[derive(Template)]
#[template(path = "dashboard/activity.html")]
struct ActivityPage {
    frame: Frame,
    rows: Vec<Row>,
    text: String,
    /// Query string of the page with older entries.
    older: Option<String>,
    /// Query string of the first page.
    newest: String,
    /// The page does not begin with the newest entry.
    is_later_page: bool,
    /// Query string of the stream of live updates; empty on other pages than the first.
    tail: String,
}

struct Row {
    time: RelativeTime,
    actor: String,
    actor_kind: &'static str,
    /// The id of a key or link, which tells those of one name apart.
    actor_id: Option<String>,
    words: String,
    subject: String,
    subject_name: String,
    /// Name of a changed value, and the value before and after.
    values: Vec<Value>,
    task: Option<Task>,
}

/// A background task that an entry names, with its figures.
struct Task {
    id: String,
    /// Messages that it enqueued; none when the task was deleted since.
    messages: Option<String>,
}

impl Task {
    /// Reads the task of an entry with these values.
    async fn of(session: &DashboardSession, values: &[Value]) -> Result<Option<Self>, PageError> {
        let Some(id) = values.iter().find(|value| value.name == TASK_VALUE).and_then(|value| value.after.clone())
        else {
            return Ok(None);
        };
        let messages = match session.provider().background_task(&session.caller, &id).await {
            Ok(task) if task.progress.enqueued == 0 => Some("0".to_owned()),
            Ok(task) => {
                let enqueued = labels::number(task.progress.enqueued);
                Some(format!("{enqueued} ({})", labels::delivery_results(&task.progress)))
            }
            Err(ProviderError::NotFound) => None,
            Err(error) => return Err(error.into()),
        };
        Ok(Some(Self { id, messages }))
    }
}

struct Value {
    name: String,
    before: Option<String>,
    after: Option<String>,
}

impl Value {
    /// Characters of a value from which on the page folds it, such as a schema.
    const FOLDED_CHARS_MIN: usize = 200;

    fn chars(&self) -> usize {
        [&self.before, &self.after].into_iter().flatten().map(|text| text.chars().count()).sum()
    }

    fn is_folded(&self) -> bool {
        self.chars() >= Self::FOLDED_CHARS_MIN
    }
}

impl Row {
    async fn of(session: &DashboardSession, entry: &ActivityEntry) -> Result<Self, PageError> {
        let mut row = Self::new(entry, session.now());
        row.task = Task::of(session, &row.values).await?;
        if row.task.is_some() {
            row.values.retain(|value| value.name != TASK_VALUE);
        }
        Ok(row)
    }

    fn new(entry: &ActivityEntry, now: jiff::Timestamp) -> Self {
        let action = Action::parse(&entry.action);
        Self {
            time: RelativeTime::new(entry.at, now),
            actor: entry.actor_name.clone(),
            actor_kind: match entry.actor_kind {
                ActorKind::User => "User",
                ActorKind::ApiKey => "API key",
                ActorKind::PortalLink => "App Portal link",
                ActorKind::Operator => "Operator of the server",
            },
            actor_id: matches!(entry.actor_kind, ActorKind::ApiKey | ActorKind::PortalLink)
                .then(|| entry.actor.to_string()),
            // A newer version of the server may have written an action that this one does not know.
            words: action.map_or_else(|| entry.action.clone(), |action| action.words().to_owned()),
            subject: entry.subject.clone(),
            subject_name: entry.subject_name.clone(),
            values: values(&entry.before, &entry.after),
            task: None,
        }
    }
}

/// The values of both texts, each a line `name: value`, by name in the order of the texts.
fn values(before: &str, after: &str) -> Vec<Value> {
    let lines = |text: &str| -> Vec<(String, String)> {
        let pairs = text.lines().filter_map(|line| line.split_once(": "));
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    };
    let mut values: Vec<Value> = Vec::new();
    for (name, value) in lines(before) {
        values.push(Value { name, before: Some(value), after: None });
    }
    for (name, value) in lines(after) {
        match values.iter_mut().find(|known| known.name == name) {
            Some(known) => known.after = Some(value),
            None => values.push(Value { name, before: None, after: Some(value) }),
        }
    }
    values
}

/// The entries, newest first.
async fn page(session: DashboardSession, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let (text, before) = (query.text("q"), query.non_empty("before"));
    let found = session.provider().activity(&session.caller, ActivityQuery { text, before }).await?;
    let now = session.now();
    let page_query = |before: Option<&str>| {
        let mut query = form_urlencoded::Serializer::new(String::new());
        if !text.is_empty() {
            query.append_pair("q", text);
        }
        query.extend_pairs(before.map(|before| ("before", before))).finish()
    };
    let older = found.older.map(|before| page_query(Some(&before)));
    let mut rows = Vec::with_capacity(found.entries.len());
    for entry in &found.entries {
        rows.push(Row::of(&session, entry).await?);
    }
    render_page(&ActivityPage {
        frame: session.frame("Activity", Section::Activity),
        rows,
        text: text.to_owned(),
        older,
        newest: page_query(None),
        is_later_page: before.is_some(),
        tail: match (before, found.entries.first()) {
            (Some(_), _) => String::new(),
            (None, first) => {
                let newest = first.map_or_else(|| ids::lowest_id_at(ids::ACTIVITY, now), |entry| entry.id.to_string());
                form_urlencoded::Serializer::new(String::new())
                    .append_pair("q", text)
                    .append_pair("after", &newest)
                    .finish()
            }
        },
    })
}

/// The log that is open, with its search.
struct OpenActivity {
    session: DashboardSession,
    text: String,
    after: String,
}

impl OpenList for OpenActivity {
    async fn count(&self) -> Option<usize> {
        let DashboardSession { caller, .. } = &self.session;
        self.session.provider().newer_activity(caller, &self.text, &self.after, COUNTED_MAX).await.ok()
    }

    async fn may_go_on(&self) -> bool {
        self.session.goes_on().await
    }
}

/// `GET /activity/live?after={entry}&q={text}`: the number of newer entries that contain the text.
async fn live(session: DashboardSession, parts: Parts, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let (text, after) = (query.text("q").to_owned(), query.text("after").to_owned());
    if !ids::is_id(&after, ids::ACTIVITY) {
        return Err(ErrorPage::bad_request("The parameter \"after\" must be the id of an entry.").into());
    }
    let (clock, slot) = (session.dashboard.clock().clone(), session.stream_slot(&parts));
    Ok(live::stream(OpenActivity { session, text, after }, clock, slot))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_before_and_after_stand_side_by_side() {
        let found = values("name: A\nuid: u", "name: B: C\nstate: enabled");
        let shown: Vec<_> =
            found.iter().map(|value| (value.name.as_str(), value.before.as_deref(), value.after.as_deref())).collect();
        assert_eq!(
            shown,
            [("name", Some("A"), Some("B: C")), ("uid", Some("u"), None), ("state", None, Some("enabled"))]
        );
    }
}
