//! One application: its identifier, its endpoints, and what failed lately.

use askama::Template;
use axum::response::Response;
use kit_design::fields::QueryFields;
use kit_design::frame::{Frame, render_page};
use kit_design::relative_time::RelativeTime;
use provider_core::EndpointSearch;
use provider_core::model::counts::CountSpan;
use provider_core::model::{Application, Attempt, AttemptStatus};
use provider_core::page::PageRequest;
use provider_core::port::{EndpointState, FoundEndpoint};

use super::list::failure_rate;
use super::portal_links::{self, PortalLinks};
use crate::dashboard::outcomes;
use crate::dashboard::rights::Rights;
use crate::dashboard::session::{DashboardSession, PathParams, Section};
use crate::endpoints::failures::FailureClasses;
use crate::endpoints::list::{self, EndpointList, ListPlace};
use crate::page_error::PageError;
use crate::portal::causes;

/// Failing endpoints whose latest attempts the page shows.
const FAILING_MAX: usize = 10;
/// Attempts of each failing endpoint.
const ATTEMPTS_EACH: usize = 3;

#[derive(Template)]
#[template(path = "dashboard/applications/detail.html")]
struct ApplicationPage {
    frame: Frame,
    may: Rights,
    id: String,
    name: String,
    uid: Option<String>,
    throttle_rate: Option<u16>,
    created: RelativeTime,
    last_message: Option<RelativeTime>,
    failure_rate: Option<String>,
    endpoints: EndpointList,
    /// Why attempts failed in the last 24 hours.
    classes: Option<FailureClasses>,
    failures: Vec<Failure>,
    /// Addresses that receive alerts of this application.
    contacts: String,
    portal_links: PortalLinks,
}

struct Failure {
    at: RelativeTime,
    url: String,
    message: String,
    attempt: String,
    cause: String,
}

/// The page.
pub(super) async fn page(
    session: DashboardSession,
    PathParams([id]): PathParams<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let (provider, now) = (session.provider(), session.now());
    let application = provider.application(&session.caller, &id).await?;
    let overview = provider.application_overviews(&session.caller, std::slice::from_ref(&application)).await?;
    let overview = overview.into_iter().next();
    let figures = overview.as_ref().map(|overview| &overview.figures);
    let path = format!("/applications/{}", application.id);
    let of = ListPlace { place: session.place(), application: Some(&application.id), path, anchor: "#endpoints" };
    let endpoints = list::list(of, &query).await?;
    let failures = failures(&session, &application).await?;
    let contacts = provider.alert_recipients(&session.caller, Some(&application.id)).await?;
    let contacts: Vec<String> = contacts.into_iter().map(|recipient| recipient.address).collect();
    render_page(&ApplicationPage {
        frame: session.frame(&application.name, Section::Applications).with_notice(outcomes::from_query(&query)),
        may: Rights::of(&session),
        id: application.id.to_string(),
        name: application.name.clone(),
        uid: application.uid.clone(),
        throttle_rate: application.throttle_rate,
        created: RelativeTime::new(application.created_at, now),
        last_message: figures.and_then(|figures| figures.last_message_at).map(|at| RelativeTime::new(at, now)),
        failure_rate: overview.as_ref().and_then(|overview| failure_rate(overview.day.attempts)),
        endpoints,
        classes: overview.as_ref().and_then(|overview| {
            let filter = [("application", &*application.id)];
            FailureClasses::new(&session.place(), &overview.day, CountSpan::DAY, &filter)
        }),
        failures,
        contacts: contacts.join(", "),
        portal_links: portal_links::newest(&session, &application.id).await?,
    })
}

/// The latest attempts of the endpoints that fail the longest, newest first.
async fn failures(session: &DashboardSession, application: &Application) -> Result<Vec<Failure>, PageError> {
    let search =
        EndpointSearch { state: Some(EndpointState::Failing), limit: FAILING_MAX, ..EndpointSearch::default() };
    let failing = session.provider().search_endpoints(&session.caller, Some(&application.id), &search).await?;
    let mut attempts: Vec<Attempt> = Vec::new();
    let page = PageRequest::first(ATTEMPTS_EACH);
    for FoundEndpoint { endpoint, .. } in failing.rows {
        let provider = session.provider();
        let latest = provider.list_attempts_at_endpoint(&session.caller, &application.id, &endpoint.id, &page);
        attempts.extend(latest.await?.data.into_iter().filter(|attempt| attempt.status == AttemptStatus::Fail));
    }
    attempts.sort_by(|one, other| other.id.cmp(&one.id));
    let failure = |attempt: Attempt| Failure {
        at: RelativeTime::new(attempt.at, session.now()),
        cause: causes::of_attempt(&attempt).0,
        message: attempt.message.to_string(),
        attempt: attempt.id.to_string(),
        url: attempt.url,
    };
    Ok(attempts.into_iter().map(failure).collect())
}
