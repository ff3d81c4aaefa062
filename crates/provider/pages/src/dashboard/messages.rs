//! Messages of all applications of the account: see [`crate::messages`]. Users send messages by hand.

mod send;

use askama::Template;
use axum::Router;
use axum::response::{Redirect, Response};
use http::request::Parts;
use kit_design::error_page::ErrorPage;
use kit_design::fields::{FormFields, QueryFields, SubmittedForm};
use kit_design::frame::{Frame, render_page};
use kit_http::page_routes::{form, get, post};
use provider_core::model::counts::CountSpan;
use provider_core::model::{Endpoint, Role};
use provider_core::{EndpointHealth, ProviderError, ids};

use super::access::Page;
use super::session::{DashboardSession, PathParams, Section};
use super::{Dashboard, ordering, outcomes};
use crate::endpoints::failures::FailureClasses;
use crate::endpoints::hold::{self, HoldNotice};
use crate::live::{self, OpenList};
use crate::messages::Place;
use crate::messages::detail::{self, MessageRights, MessageView, SignedView};
use crate::messages::list::{self, MessageList};
use crate::ordering::Banner;
use crate::page_error::PageError;

pub(super) const PAGES: &[Page] = &[
    ("GET", "/messages", Role::Viewer),
    ("GET", "/messages/live", Role::Viewer),
    ("GET", "/applications/{application}/messages/{message}", Role::Viewer),
    ("GET", "/applications/{application}/messages/{message}/payload", Role::Viewer),
    ("GET", "/applications/{application}/messages/{message}/attempts/{attempt}/response", Role::Viewer),
    ("POST", "/applications/{application}/messages/{message}/resend", Role::Member),
    ("POST", "/applications/{application}/messages/{message}/sign", Role::Member),
    ("GET", "/applications/{application}/send-message", Role::Member),
    ("POST", "/applications/{application}/send-message", Role::Member),
];

pub(super) fn router() -> Router<Dashboard> {
    Router::new()
        .route("/messages", get(page))
        .route("/messages/live", get(live))
        .route("/applications/{application}/messages/{message}", get(detail))
        .route("/applications/{application}/messages/{message}/payload", get(payload))
        .route("/applications/{application}/messages/{message}/attempts/{attempt}/response", get(response))
        .route("/applications/{application}/messages/{message}/resend", post(resend))
        .route("/applications/{application}/messages/{message}/sign", post(sign))
        .route("/applications/{application}/send-message", form(send::page, send::send))
}

#[derive(Template)]
#[template(path = "dashboard/messages/list.html")]
struct MessagesPage {
    frame: Frame,
    /// What holds back the deliveries to the endpoint of the filter.
    held: Option<HoldNotice>,
    /// Ordering keys that are blocked there.
    blocked: Option<Banner>,
    /// Why attempts there failed in the last 24 hours.
    failures: Option<FailureClasses>,
    list: MessageList,
}

#[derive(Template)]
#[template(path = "dashboard/messages/detail.html")]
struct MessagePage {
    frame: Frame,
    message: MessageView,
}

#[derive(Template)]
#[template(path = "dashboard/messages/signed_request.html")]
struct SignedPage {
    frame: Frame,
    signed: SignedView,
}

impl DashboardSession {
    pub(super) fn place(&self) -> Place<'_> {
        Place {
            provider: self.provider(),
            caller: &self.caller,
            now: self.now(),
            base: self.dashboard.site().base.clone(),
            application: None,
        }
    }
}

/// The list of messages that match the filters.
async fn page(session: DashboardSession, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let list = list::list(&session.place(), &query).await?;
    let (mut held, mut blocked, mut failures) = (None, None, None);
    if let Some(endpoint) = endpoint_of_filter(&session, &query).await? {
        let place = session.place();
        held = hold::notice(&place, &endpoint).await?;
        blocked = ordering::banner(&session, &endpoint).await?;
        let health = place.provider.endpoint_health(std::slice::from_ref(&endpoint), CountSpan::DAY).await?;
        let filter = [("application", &*endpoint.application), ("endpoint", &*endpoint.id)];
        let day = health.first().map(EndpointHealth::total).unwrap_or_default();
        failures = FailureClasses::new(&place, &day, CountSpan::DAY, &filter);
    }
    render_page(&MessagesPage { frame: session.frame("Messages", Section::Messages), held, blocked, failures, list })
}

/// The endpoint that the list is filtered by, if it exists.
async fn endpoint_of_filter(session: &DashboardSession, query: &FormFields) -> Result<Option<Endpoint>, PageError> {
    let (Some(application), Some(endpoint)) = (query.non_empty("application"), query.non_empty("endpoint")) else {
        return Ok(None);
    };
    match session.provider().endpoint(&session.caller, application, endpoint).await {
        Ok(endpoint) => Ok(Some(endpoint)),
        Err(ProviderError::NotFound) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// One message with its attempts.
async fn detail(
    session: DashboardSession,
    PathParams([application, message]): PathParams<2>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let is_member = session.may(Role::Member);
    let may = MessageRights { send: is_member, sign: is_member };
    let message = detail::view(&session.place(), &application, &message, &query, may).await?;
    let frame = session.frame("Message", Section::Messages).with_notice(outcomes::from_query(&query));
    render_page(&MessagePage { frame, message })
}

/// The payload as a file, unchanged.
async fn payload(
    session: DashboardSession,
    PathParams([application, message]): PathParams<2>,
) -> Result<Response, PageError> {
    detail::payload_file(session.provider().message(&session.caller, &application, &message).await?)
}

/// The response of an attempt as a file.
async fn response(
    session: DashboardSession,
    PathParams([application, message, attempt]): PathParams<3>,
) -> Result<Response, PageError> {
    detail::response_file(session.provider().attempt(&session.caller, &application, &message, &attempt).await?)
}

/// The request that would deliver the message to an endpoint now, signed.
async fn sign(
    session: DashboardSession,
    PathParams([application, message]): PathParams<2>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let signed = detail::signed(&session.place(), &application, &message, form.text("endpoint")).await?;
    render_page(&SignedPage { frame: session.frame("Signed request", Section::Messages), signed })
}

/// Resends the message to an endpoint.
async fn resend(
    session: DashboardSession,
    PathParams([application, message]): PathParams<2>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Redirect, PageError> {
    let endpoint = form.text("endpoint");
    session.provider().resend(&session.caller, &application, &message, endpoint, None, String::new).await?;
    Ok(session.dashboard.redirect(&format!("/applications/{application}/messages/{message}?done=resent")))
}

/// A list of messages that is open, with its filters.
struct OpenMessages {
    session: DashboardSession,
    query: FormFields,
    after: String,
}

impl OpenList for OpenMessages {
    async fn count(&self) -> Option<usize> {
        list::count_newer(&self.session.place(), &self.query, &self.after).await.ok()
    }

    async fn may_go_on(&self) -> bool {
        self.session.goes_on().await
    }
}

/// `GET /messages/live?after={message}` with the filters of the list: the number of newer messages that match.
async fn live(session: DashboardSession, parts: Parts, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let after = query.text("after").to_owned();
    if !ids::is_id(&after, ids::MESSAGE) {
        return Err(ErrorPage::bad_request("The parameter \"after\" must be the id of a message.").into());
    }
    let (clock, slot) = (session.dashboard.clock().clone(), session.stream_slot(&parts));
    Ok(live::stream(OpenMessages { session, query, after }, clock, slot))
}
