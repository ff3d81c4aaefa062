//! Pages of the application's messages: see [`crate::messages`].

use askama::Template;
use axum::response::{Redirect, Response};
use http::request::Parts;
use kit_design::error_page::ErrorPage;
use kit_design::fields::{FormFields, QueryFields, SubmittedForm};
use kit_design::frame::{Frame, render_page};
use provider_core::ids;

use super::notice;
use super::session::{PathParams, Section, Session};
use crate::live::{self, OpenList};
use crate::messages::Place;
use crate::messages::detail::{self, MessageRights, MessageView, SignedView};
use crate::messages::list::{self, MessageList};
use crate::page_error::PageError;

#[derive(Template)]
#[template(path = "portal/messages.html")]
struct MessagesPage {
    frame: Frame,
    list: MessageList,
}

#[derive(Template)]
#[template(path = "portal/message.html")]
struct MessagePage {
    frame: Frame,
    message: MessageView,
}

#[derive(Template)]
#[template(path = "portal/signed_request.html")]
struct SignedPage {
    frame: Frame,
    signed: SignedView,
}

impl Session {
    pub(super) fn place(&self) -> Place<'_> {
        Place {
            provider: self.provider(),
            caller: &self.caller,
            now: self.portal.now(),
            base: self.portal.site().base.clone(),
            application: Some(&self.application),
        }
    }
}

/// The list of messages that match the filters.
pub(super) async fn list(session: Session, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let list = list::list(&session.place(), &query).await?;
    render_page(&MessagesPage { frame: session.frame("Messages", Section::Messages), list })
}

/// One message with its attempts.
pub(super) async fn detail(
    session: Session,
    PathParams([message]): PathParams<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let may = session.permissions();
    let may = MessageRights { send: may.send, sign: may.manage };
    let message = detail::view(&session.place(), session.app(), &message, &query, may).await?;
    let frame = session.frame("Message", Section::Messages).with_notice(notice::from_query(&query));
    render_page(&MessagePage { frame, message })
}

/// The payload as a file, unchanged.
pub(super) async fn payload(session: Session, PathParams([message]): PathParams<1>) -> Result<Response, PageError> {
    detail::payload_file(session.provider().message(&session.caller, session.app(), &message).await?)
}

/// The response of an attempt as a file.
pub(super) async fn response(
    session: Session,
    PathParams([message, attempt]): PathParams<2>,
) -> Result<Response, PageError> {
    detail::response_file(session.provider().attempt(&session.caller, session.app(), &message, &attempt).await?)
}

/// The request that would deliver the message to an endpoint now, signed.
pub(super) async fn sign(
    session: Session,
    PathParams([message]): PathParams<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let signed = detail::signed(&session.place(), session.app(), &message, form.text("endpoint")).await?;
    render_page(&SignedPage { frame: session.frame("Signed request", Section::Messages), signed })
}

/// Resends the message to an endpoint.
pub(super) async fn resend(
    session: Session,
    PathParams([message]): PathParams<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Redirect, PageError> {
    let endpoint = form.text("endpoint");
    session.provider().resend(&session.caller, session.app(), &message, endpoint, None, String::new).await?;
    Ok(session.portal.redirect(&format!("/messages/{message}?done=resent")))
}

/// A list of messages that is open, with its filters.
struct OpenMessages {
    session: Session,
    query: FormFields,
    after: String,
}

impl OpenList for OpenMessages {
    async fn count(&self) -> Option<usize> {
        list::count_newer(&self.session.place(), &self.query, &self.after).await.ok()
    }

    async fn may_go_on(&self) -> bool {
        self.session.provider().token_goes_on(&self.session.caller).await.unwrap_or(false)
    }
}

/// `GET /messages/live?after={message}` with the filters of the list: the number of newer messages that match.
pub(super) async fn live(
    session: Session,
    parts: Parts,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let after = query.text("after").to_owned();
    if !ids::is_id(&after, ids::MESSAGE) {
        return Err(ErrorPage::bad_request("The parameter \"after\" must be the id of a message.").into());
    }
    let (clock, slot) = (session.portal.clock().clone(), session.stream_slot(&parts));
    Ok(live::stream(OpenMessages { session, query, after }, clock, slot))
}
