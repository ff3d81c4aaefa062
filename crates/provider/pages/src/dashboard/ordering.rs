//! Blocked ordering keys of an endpoint: see [`crate::ordering`].

use askama::Template;
use axum::Router;
use axum::response::{IntoResponse as _, Redirect, Response};
use kit_design::fields::{QueryFields, SubmittedForm};
use kit_design::frame::{Frame, render_page};
use kit_http::page_routes::{form, get, post};
use provider_core::model::{Endpoint, Role};

use super::access::Page;
use super::session::{DashboardSession, PathParams, Section};
use super::{Dashboard, outcomes};
use crate::ordering::{self, Banner, BlockedKeys, OrderingPlace, OrderingRights, SkipQuestion};
use crate::page_error::PageError;

pub(super) const PAGES: &[Page] = &[
    ("GET", "/applications/{application}/endpoints/{endpoint}/ordering", Role::Viewer),
    ("POST", "/applications/{application}/endpoints/{endpoint}/ordering", Role::Member),
    ("GET", "/applications/{application}/endpoints/{endpoint}/ordering/skip", Role::Member),
    ("POST", "/applications/{application}/endpoints/{endpoint}/ordering/retry", Role::Member),
];

pub(super) fn router() -> Router<Dashboard> {
    Router::new()
        .route("/applications/{application}/endpoints/{endpoint}/ordering", form(page, skip))
        .route("/applications/{application}/endpoints/{endpoint}/ordering/skip", get(question))
        .route("/applications/{application}/endpoints/{endpoint}/ordering/retry", post(retry))
}

#[derive(Template)]
#[template(path = "dashboard/ordering.html")]
struct OrderingPage {
    frame: Frame,
    crumbs: Crumbs,
    list: BlockedKeys,
}

#[derive(Template)]
#[template(path = "dashboard/skip.html")]
struct SkipPage {
    frame: Frame,
    crumbs: Crumbs,
    question: SkipQuestion,
}

/// The endpoint, for the head of a page.
struct Crumbs {
    application: String,
    id: String,
    url: String,
}

impl From<&Endpoint> for Crumbs {
    fn from(endpoint: &Endpoint) -> Self {
        let Endpoint { application, id, url, .. } = endpoint;
        Self { application: application.to_string(), id: id.to_string(), url: url.clone() }
    }
}

impl DashboardSession {
    fn ordering_place<'a>(&'a self, endpoint: &'a Endpoint) -> OrderingPlace<'a> {
        let is_member = self.may(Role::Member);
        OrderingPlace { place: self.place(), endpoint, may: OrderingRights { retry: is_member, skip: is_member } }
    }

    async fn endpoint(&self, [application, endpoint]: &[String; 2]) -> Result<Endpoint, PageError> {
        Ok(self.provider().endpoint(&self.caller, application, endpoint).await?)
    }
}

/// The banner of an endpoint.
pub(super) async fn banner(session: &DashboardSession, endpoint: &Endpoint) -> Result<Option<Banner>, PageError> {
    ordering::banner(&session.ordering_place(endpoint)).await
}

/// The list of blocked keys.
async fn page(
    session: DashboardSession,
    PathParams(path): PathParams<2>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let endpoint = session.endpoint(&path).await?;
    let list = ordering::list(&session.ordering_place(&endpoint), &query).await?;
    let frame = session.frame("Ordering", Section::Endpoints).with_notice(outcomes::from_query(&query));
    render_page(&OrderingPage { frame, crumbs: Crumbs::from(&endpoint), list })
}

/// The question before a message is skipped; the list when the message does not block its key any more.
async fn question(
    session: DashboardSession,
    PathParams(path): PathParams<2>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let endpoint = session.endpoint(&path).await?;
    let place = session.ordering_place(&endpoint);
    let Some(question) = ordering::question(&place, &query).await? else {
        return Ok(session.dashboard.redirect(&format!("{}?done=unblocked", place.path())).into_response());
    };
    let frame = session.frame("Skip message", Section::Endpoints);
    render_page(&SkipPage { frame, crumbs: Crumbs::from(&endpoint), question })
}

/// Cancels the delivery that blocks a key.
async fn skip(
    session: DashboardSession,
    PathParams(path): PathParams<2>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Redirect, PageError> {
    let endpoint = session.endpoint(&path).await?;
    let path = ordering::skip(&session.ordering_place(&endpoint), &form).await?;
    Ok(session.dashboard.redirect(&path))
}

/// Retries the delivery that blocks a key.
async fn retry(
    session: DashboardSession,
    PathParams(path): PathParams<2>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Redirect, PageError> {
    let endpoint = session.endpoint(&path).await?;
    let path = ordering::retry(&session.ordering_place(&endpoint), &form).await?;
    Ok(session.dashboard.redirect(&path))
}
