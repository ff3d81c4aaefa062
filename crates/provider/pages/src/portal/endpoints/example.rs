//! Sending an example of an event type to an endpoint.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use provider_core::model::Endpoint;

use super::form;
use super::head::{Head, Tab};
use crate::page_error::PageError;
use crate::portal::event_type_choices;
use crate::portal::session::{PathParams, Section, Session};
use kit_design::fields::{QueryFields, SubmittedForm};
use kit_design::frame::{Frame, render_page_as};

/// The event type that always has an example.
const PING: &str = "svix.ping";

#[derive(Template)]
#[template(path = "portal/endpoints/example.html")]
struct ExamplePage {
    frame: Frame,
    head: Head,
    is_disabled: bool,
    names: Vec<String>,
    chosen: String,
    errors: Vec<String>,
}

impl ExamplePage {
    async fn new(session: &Session, endpoint: &Endpoint, chosen: &str) -> Result<Self, PageError> {
        let (event_types, _) = event_type_choices::all(session).await?;
        let names = event_types.into_iter().filter(|event_type| event_type.schemas.is_some());
        let mut names: Vec<String> = names.map(|event_type| event_type.name).filter(|name| name != PING).collect();
        names.push(PING.to_owned());
        // The form offers the event type of the link even without an example: the response then explains the error.
        if !chosen.is_empty() && !names.iter().any(|name| name == chosen) {
            names.push(chosen.to_owned());
        }
        Ok(Self {
            frame: session.frame("Send example", Section::Endpoints),
            head: Head::new(session, endpoint, Tab::Example),
            is_disabled: endpoint.disabled,
            names,
            chosen: chosen.to_owned(),
            errors: Vec::new(),
        })
    }
}

/// The form.
pub(in crate::portal) async fn page(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let endpoint = session.endpoint(&endpoint).await?;
    render_page_as(StatusCode::OK, &ExamplePage::new(&session, &endpoint, query.text("eventType")).await?)
}

/// Sends the example and shows the message.
pub(in crate::portal) async fn send(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let (provider, event_type) = (session.provider(), form.text("eventType"));
    let sent = provider.send_example(&session.caller, session.app(), &endpoint, event_type, None, None);
    match sent.await {
        Ok(message) => Ok(session.portal.redirect(&format!("/messages/{}?done=sent", message.id)).into_response()),
        Err(error) => {
            let (status, errors) = form::errors(error)?;
            let endpoint = session.endpoint(&endpoint).await?;
            let mut page = ExamplePage::new(&session, &endpoint, event_type).await?;
            page.errors = errors.remaining(&[]);
            render_page_as(status, &page)
        }
    }
}
