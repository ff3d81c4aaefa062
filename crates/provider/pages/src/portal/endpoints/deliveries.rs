//! The attempts at one endpoint, with the statistics of the last 24 hours.

use std::collections::HashMap;

use askama::Template;
use axum::response::Response;
use http::request::Parts;
use jiff::{SignedDuration, Timestamp};
use provider_core::model::{Attempt, AttemptStatus, Endpoint, Id, Message};
use provider_core::port::AttemptFilter;
use provider_core::{HistoryQuery, HistoryRequest, ids};

use super::head::{Head, Tab};
use super::list::{EndpointDay, endpoint_day};
use crate::alert_recipients::span;
use crate::endpoints::hold::{self, HoldNotice};
use crate::live::{self, COUNTED_MAX, OpenList};
use crate::ordering::{self, Banner};
use crate::page_error::PageError;
use crate::portal::causes;
use crate::portal::labels::{self, StatusBadge};
use crate::portal::notice;
use crate::portal::pager::pager;
use crate::portal::session::{PathParams, Permissions, Section, Session};
use kit_design::error_page::ErrorPage;
use kit_design::fields::QueryFields;
use kit_design::frame::{Frame, render_page};
use kit_design::pager::Pager;
use kit_design::relative_time::RelativeTime;

/// Attempts on one page.
const LIMIT: &str = "25";

#[derive(Template)]
#[template(path = "portal/endpoints/deliveries.html")]
struct DeliveriesPage {
    frame: Frame,
    head: Head,
    may: Permissions,
    day: Option<EndpointDay>,
    trouble: Option<Trouble>,
    /// How long attempts fail before the endpoint is disabled.
    disable_after: String,
    held: Option<HoldNotice>,
    blocked: Option<Banner>,
    throttle: Option<Throttle>,
    /// `success`, `fail` or empty.
    wanted: String,
    rows: Vec<Row>,
    /// Path and filter of this list, for the pager.
    list_path: String,
    filter: String,
    /// Query string of the stream of live updates; empty on other pages than the first.
    tail: String,
    pager: Pager,
}

/// Why the endpoint fails or is disabled, and what to do.
struct Trouble {
    /// When the first attempt of this run of failures failed; none when the endpoint was disabled by a person.
    failing_since: Option<RelativeTime>,
    cause: String,
    step: String,
    /// Path of the signature check, after a 400.
    verify: Option<String>,
    last: Option<RelativeTime>,
}

impl Trouble {
    /// The cause is that of the latest failed attempt on the page.
    fn of(endpoint: &Endpoint, attempts: &[Attempt], base: &str, now: Timestamp) -> Option<Self> {
        if !endpoint.disabled && endpoint.failing_since.is_none() {
            return None;
        }
        let failed = attempts.iter().find(|attempt| attempt.status == AttemptStatus::Fail);
        let (cause, step) = failed.map(causes::of_attempt).unwrap_or_default();
        let verify = failed.and_then(|attempt| causes::verify_path(base, attempt));
        Some(Self {
            failing_since: endpoint.failing_since.map(|at| RelativeTime::new(at, now)),
            cause,
            step,
            verify,
            last: failed.map(|attempt| RelativeTime::new(attempt.at, now)),
        })
    }
}

/// The throttle of an endpoint, with its real rate.
struct Throttle {
    limit: String,
    rate: String,
    waiting: String,
}

struct Row {
    status: StatusBadge,
    event_type: String,
    message: String,
    attempt: String,
    code: String,
    duration: String,
    is_manual: bool,
    at: RelativeTime,
}

impl Row {
    fn new(session: &Session, attempt: &Attempt, messages: &HashMap<Id, Message>) -> Self {
        let event_type = messages.get(&attempt.message).map(|message| message.event_type.to_string());
        Self {
            status: attempt.into(),
            event_type: event_type.unwrap_or_default(),
            message: attempt.message.to_string(),
            attempt: attempt.id.to_string(),
            code: labels::status_code(attempt.response_status_code),
            duration: labels::duration(attempt.response_duration_ms),
            is_manual: labels::is_manual(attempt.trigger),
            at: RelativeTime::new(attempt.at, session.portal.now()),
        }
    }
}

/// The list of attempts, newest first.
pub(in crate::portal) async fn page(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let provider = session.provider();
    let endpoint = session.endpoint(&endpoint).await?;
    let requested = query.non_empty("iterator");
    let part = HistoryQuery { limit: Some(LIMIT), iterator: requested, ..HistoryQuery::default() };
    let part = HistoryRequest::parse(part, ids::ATTEMPT)?;
    let wanted = query.text("status");
    let filter = AttemptFilter { status: status(wanted)?, ..AttemptFilter::default() };
    let found = provider.find_attempts_at_endpoint(&session.caller, session.app(), &endpoint.id, filter, part).await?;
    let messages = provider.messages_of(&found.data).await?;
    let head = Head::new(&session, &endpoint, Tab::Deliveries);
    let day = endpoint_day(&session, &endpoint).await?;
    let is_first = requested.is_none() && wanted != "success";
    render_page(&DeliveriesPage {
        frame: session.frame("Deliveries to an endpoint", Section::Endpoints).with_notice(notice::from_query(&query)),
        may: session.permissions(),
        disable_after: span(session.provider().config().disable_after),
        trouble: Trouble::of(&endpoint, &found.data, &session.portal.site().base, session.portal.now())
            .filter(|_| is_first),
        held: hold::notice(&session.place(), &endpoint).await?,
        blocked: ordering::banner(&session.ordering_place(&endpoint)).await?,
        throttle: throttle(&session, &endpoint, day.as_ref()).await?,
        day,
        wanted: wanted.to_owned(),
        rows: found.data.iter().map(|attempt| Row::new(&session, attempt, &messages)).collect(),
        list_path: format!("/endpoints/{}", endpoint.id),
        filter: if wanted.is_empty() { String::new() } else { format!("status={wanted}&") },
        tail: match requested {
            None => {
                let newest = found.data.first().map(|attempt| attempt.id.to_string());
                let newest = newest.unwrap_or_else(|| ids::lowest_id_at(ids::ATTEMPT, session.portal.now()));
                format!("status={wanted}&after={newest}")
            }
            Some(_) => String::new(),
        },
        pager: pager(&found, requested),
        head,
    })
}

/// A list of attempts that is open, with its filter.
struct OpenDeliveries {
    session: Session,
    endpoint: Id,
    filter: AttemptFilter,
    after: String,
}

impl OpenList for OpenDeliveries {
    async fn count(&self) -> Option<usize> {
        let (limit, iterator) = (COUNTED_MAX.to_string(), format!("-{}", self.after));
        let query = HistoryQuery { limit: Some(&limit), iterator: Some(&iterator), ..HistoryQuery::default() };
        let part = HistoryRequest::parse(query, ids::ATTEMPT).ok()?;
        let Session { caller, portal, .. } = &self.session;
        let (app, filter) = (self.session.app(), self.filter.clone());
        let found = portal.provider().find_attempts_at_endpoint(caller, app, &self.endpoint, filter, part).await;
        found.ok().map(|found| found.data.len())
    }

    async fn may_go_on(&self) -> bool {
        self.session.provider().token_goes_on(&self.session.caller).await.unwrap_or(false)
    }
}

/// `GET /endpoints/{endpoint}/live?after={attempt}&status={status}`: the number of newer attempts with this status.
pub(in crate::portal) async fn live(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
    parts: Parts,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let endpoint = session.endpoint(&endpoint).await?.id;
    let filter = AttemptFilter { status: status(query.text("status"))?, ..AttemptFilter::default() };
    let after = query.text("after").to_owned();
    if !ids::is_id(&after, ids::ATTEMPT) {
        return Err(ErrorPage::bad_request("The parameter \"after\" must be the id of an attempt.").into());
    }
    let (clock, slot) = (session.portal.clock().clone(), session.stream_slot(&parts));
    Ok(live::stream(OpenDeliveries { session, endpoint, filter, after }, clock, slot))
}

/// The throttle, if the endpoint has one, and the attempts of the last minute.
async fn throttle(
    session: &Session,
    endpoint: &Endpoint,
    day: Option<&EndpointDay>,
) -> Result<Option<Throttle>, PageError> {
    let (Some(limit), Some(day)) = (endpoint.throttle_rate, day) else { return Ok(None) };
    let now = session.portal.now();
    let minute = now - SignedDuration::from_mins(1)..now;
    let made = session.provider().attempts_at(endpoint, &minute).await?;
    let attempts = made.success + made.fail;
    Ok(Some(Throttle {
        limit: labels::number(limit.into()),
        rate: format!("{}.{}", attempts / 60, attempts % 60 / 6),
        waiting: day.waiting.clone(),
    }))
}

fn status(name: &str) -> Result<Option<AttemptStatus>, PageError> {
    match name {
        "" => Ok(None),
        "success" => Ok(Some(AttemptStatus::Success)),
        "fail" => Ok(Some(AttemptStatus::Fail)),
        _ => Err(ErrorPage::bad_request("The filter \"status\" must be \"success\" or \"fail\", or empty.").into()),
    }
}
