//! The list of applications: those with failing endpoints first.

use std::collections::HashSet;

use askama::Template;
use axum::response::Response;
use kit_design::fields::QueryFields;
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page};
use kit_design::pager::Pager;
use kit_design::relative_time::RelativeTime;
use provider_core::model::counts::AttemptCounts;
use provider_core::model::{Application, Id};
use provider_core::page::{CursorKey, PageQuery, PageRequest};
use provider_core::{ApplicationOverview, ListPage, ids};

use crate::dashboard::outcomes;
use crate::dashboard::rights::Rights;
use crate::dashboard::session::{DashboardSession, Section};
use crate::page_error::PageError;
use crate::portal::labels::{DeliveryFigures, number};
use crate::portal::pager::pager;

/// Applications of a page.
const LIMIT: &str = "25";
/// Failing endpoints that are looked at for the applications that come first.
const FAILING_MAX: usize = 100;

#[derive(Template)]
#[template(path = "dashboard/applications/list.html")]
struct ApplicationsPage {
    frame: Frame,
    may: Rights,
    search: String,
    rows: Vec<Row>,
    list_path: &'static str,
    filter: String,
    pager: Pager,
}

struct Row {
    id: String,
    name: String,
    uid: Option<String>,
    endpoints: String,
    failing: u64,
    last_message: Option<RelativeTime>,
    /// Share of failed attempts of the last 24 hours; none without attempts.
    failure_rate: Option<String>,
    is_bad: bool,
}

/// The list; `q` searches names and identifiers.
pub(super) async fn page(session: DashboardSession, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let (search, requested) = (query.text("q"), query.non_empty("iterator"));
    let request = PageQuery { limit: Some(LIMIT), iterator: requested, order: None };
    let request = PageRequest::parse(request, CursorKey::Id(ids::APPLICATION))?;
    let provider = session.provider();
    let found = if search.is_empty() {
        provider.list_applications(&session.caller, &[], &request).await?
    } else {
        provider.search_applications(&session.caller, search, &request).await?
    };
    let applications = failing_first(&session, &found, search.is_empty(), requested.is_none()).await?;
    let overviews = provider.application_overviews(&session.caller, &applications).await?;
    let mut rows: Vec<_> = applications.iter().zip(overviews).collect();
    rows.sort_by_key(|(_, overview)| overview.figures.failing == 0);
    render_page(&ApplicationsPage {
        frame: session.frame("Applications", Section::Applications).with_notice(outcomes::from_query(&query)),
        may: Rights::of(&session),
        rows: rows.into_iter().map(|(application, overview)| row(&session, application, &overview)).collect(),
        list_path: "/applications",
        filter: filter(search),
        search: search.to_owned(),
        pager: pager(&found, requested),
    })
}

/// The page's applications. Without a search the first page also begins with those that have failing endpoints, wherever
/// they are in the list, and the other pages leave these out.
async fn failing_first(
    session: &DashboardSession,
    found: &ListPage<Application>,
    is_whole_list: bool,
    is_first_page: bool,
) -> Result<Vec<Application>, PageError> {
    if !is_whole_list {
        return Ok(found.data.clone());
    }
    let mut seen: HashSet<Id> = HashSet::new();
    let failing = session.provider().failing_endpoints(&session.caller, FAILING_MAX).await?;
    let failing = failing.into_iter().map(|(application, _)| application);
    let failing: Vec<_> = failing.filter(|application| seen.insert(application.id.clone())).collect();
    let others = found.data.iter().filter(|application| !seen.contains(&application.id)).cloned();
    Ok(if is_first_page { failing.into_iter().chain(others).collect() } else { others.collect() })
}

fn row(session: &DashboardSession, application: &Application, overview: &ApplicationOverview) -> Row {
    let ApplicationOverview { figures, day } = overview;
    Row {
        id: application.id.to_string(),
        name: application.name.clone(),
        uid: application.uid.clone(),
        endpoints: number(figures.endpoints),
        failing: figures.failing,
        last_message: figures.last_message_at.map(|at| RelativeTime::new(at, session.now())),
        is_bad: DeliveryFigures::from(*day).kind == "bad",
        failure_rate: failure_rate(day.attempts),
    }
}

/// The share of attempts that failed, rounded up: 0 % means that none failed.
pub(in crate::dashboard) fn failure_rate(AttemptCounts { success, fail, .. }: AttemptCounts) -> Option<String> {
    let attempts = success + fail;
    Some(match (attempts > 0).then(|| (fail * 1_000).div_ceil(attempts))? {
        0 => "0 %".to_owned(),
        1_000 => "100 %".to_owned(),
        rate => format!("{}.{} %", rate / 10, rate % 10),
    })
}

fn filter(search: &str) -> String {
    if search.is_empty() {
        return String::new();
    }
    let mut query = form_urlencoded::Serializer::new(String::new());
    format!("{}&", query.append_pair("q", search).finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_rate_of_zero_means_that_no_attempt_failed() {
        for (success, fail, rate) in [
            (0, 0, None),
            (5, 0, Some("0 %")),
            (0, 5, Some("100 %")),
            (99_999, 1, Some("0.1 %")),
            (75, 25, Some("25.0 %")),
        ] {
            let attempts = AttemptCounts { success, fail, cancelled: 0 };
            assert_eq!(failure_rate(attempts).as_deref(), rate, "{success} {fail}");
        }
    }
}
