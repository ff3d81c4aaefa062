//! Ordering keys whose first message blocks those behind it, retrying and skipping that message: see [`crate::ordering`].

use askama::Template;
use axum::response::{IntoResponse as _, Redirect, Response};
use provider_core::model::Endpoint;

use super::head::{Head, Tab};
use crate::ordering::{self, BlockedKeys, OrderingPlace, OrderingRights, SkipQuestion};
use crate::page_error::PageError;
use crate::portal::notice;
use crate::portal::session::{PathParams, Permissions, Section, Session};
use kit_design::fields::{QueryFields, SubmittedForm};
use kit_design::frame::{Frame, render_page};

#[derive(Template)]
#[template(path = "portal/endpoints/ordering.html")]
struct OrderingPage {
    frame: Frame,
    head: Head,
    list: BlockedKeys,
}

#[derive(Template)]
#[template(path = "portal/endpoints/skip.html")]
struct SkipPage {
    frame: Frame,
    head: Head,
    question: SkipQuestion,
}

impl Session {
    pub(super) fn ordering_place<'a>(&'a self, endpoint: &'a Endpoint) -> OrderingPlace<'a> {
        let Permissions { manage, send, .. } = self.permissions();
        OrderingPlace { place: self.place(), endpoint, may: OrderingRights { retry: send, skip: manage } }
    }
}

/// The list of blocked keys.
pub(in crate::portal) async fn page(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let endpoint = session.endpoint(&endpoint).await?;
    let list = ordering::list(&session.ordering_place(&endpoint), &query).await?;
    render_page(&OrderingPage {
        frame: session.frame("Ordering", Section::Endpoints).with_notice(notice::from_query(&query)),
        head: Head::new(&session, &endpoint, Tab::Ordering),
        list,
    })
}

/// The question before a message is skipped; the list when the message does not block its key any more.
pub(in crate::portal) async fn question(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let endpoint = session.endpoint(&endpoint).await?;
    let place = session.ordering_place(&endpoint);
    let Some(question) = ordering::question(&place, &query).await? else {
        return Ok(session.portal.redirect(&format!("{}?done=unblocked", place.path())).into_response());
    };
    let head = Head::new(&session, &endpoint, Tab::Ordering);
    render_page(&SkipPage { frame: session.frame("Skip message", Section::Endpoints), head, question })
}

/// Cancels the delivery that blocks a key.
pub(in crate::portal) async fn skip(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Redirect, PageError> {
    let endpoint = session.endpoint(&endpoint).await?;
    let path = ordering::skip(&session.ordering_place(&endpoint), &form).await?;
    Ok(session.portal.redirect(&path))
}

/// Retries the delivery that blocks a key.
pub(in crate::portal) async fn retry(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Redirect, PageError> {
    let endpoint = session.endpoint(&endpoint).await?;
    let path = ordering::retry(&session.ordering_place(&endpoint), &form).await?;
    Ok(session.portal.redirect(&path))
}
