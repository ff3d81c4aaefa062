//! Trying an endpoint out with an example of an event type.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use provider_core::model::Endpoint;

use super::form;
use super::head::{Head, Tab};
use crate::portal::event_type_choices;
use crate::portal::session::{PathParams, Section, Session};
use crate::shared::error_page::ErrorPage;
use crate::shared::fields::{QueryFields, SubmittedForm};
use crate::shared::frame::{Frame, render_page_as};

/// The event type that there always is an example of.
const PING: &str = "svix.ping";

#[derive(Template)]
#[template(path = "portal/endpoints/example.html")]
struct ExamplePage {
    frame: Frame,
    head: Head,
    is_disabled: bool,
    names: Vec<String>,
    chosen: String,
    faults: Vec<String>,
}

impl ExamplePage {
    async fn new(session: &Session, endpoint: &Endpoint, chosen: &str) -> Result<Self, ErrorPage> {
        let (event_types, _) = event_type_choices::all(session).await?;
        let names = event_types.into_iter().filter(|event_type| event_type.schemas.is_some());
        let mut names: Vec<String> = names.map(|event_type| event_type.name).filter(|name| name != PING).collect();
        names.push(PING.to_owned());
        // What a link asks for is offered, whether or not there is an example of it: the answer says so.
        if !chosen.is_empty() && !names.iter().any(|name| name == chosen) {
            names.push(chosen.to_owned());
        }
        Ok(Self {
            frame: session.frame("Send an example", Section::Endpoints),
            head: Head::new(session, endpoint, Tab::Example),
            is_disabled: endpoint.disabled,
            names,
            chosen: chosen.to_owned(),
            faults: Vec::new(),
        })
    }
}

/// The form.
pub(in crate::portal) async fn page(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, ErrorPage> {
    let endpoint = session.endpoint(&endpoint).await?;
    render_page_as(StatusCode::OK, &ExamplePage::new(&session, &endpoint, query.text("eventType")).await?)
}

/// Sends it, and shows the message.
pub(in crate::portal) async fn send(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, ErrorPage> {
    let (provider, event_type) = (session.provider(), form.text("eventType"));
    let sent = provider.send_example(&session.caller, session.app(), &endpoint, event_type, None, None);
    match sent.await {
        Ok(message) => Ok(session.portal.redirect(&format!("/messages/{}?done=sent", message.id)).into_response()),
        Err(error) => {
            let (status, faults) = form::faults(error)?;
            let endpoint = session.endpoint(&endpoint).await?;
            let mut page = ExamplePage::new(&session, &endpoint, event_type).await?;
            page.faults = faults.remaining(&[]);
            render_page_as(status, &page)
        }
    }
}
