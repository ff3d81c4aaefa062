//! Headers that an endpoint asks for with every delivery.

use std::collections::BTreeMap;

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use provider_core::headers::is_sensitive;
use provider_core::model::Endpoint;

use super::form;
use super::head::{Head, Tab};
use crate::portal::notice;
use crate::portal::session::{PathParams, Section, Session};
use crate::shared::error_page::ErrorPage;
use crate::shared::fields::{QueryFields, SubmittedForm};
use crate::shared::frame::{Frame, render_page_as};

#[derive(Template)]
#[template(path = "portal/endpoints/headers.html")]
struct HeadersPage {
    frame: Frame,
    head: Head,
    rows: Vec<Header>,
    name: String,
    value: String,
    faults: Vec<String>,
}

struct Header {
    name: String,
    /// None when it is not shown again.
    value: Option<String>,
}

impl HeadersPage {
    async fn new(session: &Session, endpoint: &Endpoint) -> Result<Self, ErrorPage> {
        let headers = session.provider().endpoint_headers(&session.caller, session.app(), &endpoint.id).await?;
        let row = |(name, value): (String, String)| Header { value: (!is_sensitive(&name)).then_some(value), name };
        Ok(Self {
            frame: session.frame("Headers of an endpoint", Section::Endpoints),
            head: Head::new(session, endpoint, Tab::Headers),
            rows: headers.into_iter().map(row).collect(),
            name: String::new(),
            value: String::new(),
            faults: Vec::new(),
        })
    }
}

/// The headers.
pub(in crate::portal) async fn page(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, ErrorPage> {
    let endpoint = session.endpoint(&endpoint).await?;
    let mut page = HeadersPage::new(&session, &endpoint).await?;
    page.frame.notice = notice::from_query(&query);
    render_page_as(StatusCode::OK, &page)
}

/// Sets one, or says what is wrong with it.
pub(in crate::portal) async fn set(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, ErrorPage> {
    let (name, value) = (form.text("name").to_owned(), form.text("value").to_owned());
    let changes = BTreeMap::from([(name.clone(), Some(value.clone()))]);
    let changed = session.provider().patch_endpoint_headers(&session.caller, session.app(), &endpoint, &changes);
    let Err(error) = changed.await else {
        let path = format!("/endpoints/{endpoint}/headers?done=header-set");
        return Ok(session.portal.redirect(&path).into_response());
    };
    let (status, faults) = form::faults(error)?;
    let endpoint = session.endpoint(&endpoint).await?;
    let mut page = HeadersPage::new(&session, &endpoint).await?;
    page.faults = faults.remaining(&[]);
    // A value that is never shown again is not shown now either.
    page.value = if is_sensitive(&name) { String::new() } else { value };
    page.name = name;
    render_page_as(status, &page)
}

/// Removes one.
pub(in crate::portal) async fn remove(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, ErrorPage> {
    let changes = BTreeMap::from([(form.text("name").to_owned(), None)]);
    session.provider().patch_endpoint_headers(&session.caller, session.app(), &endpoint, &changes).await?;
    Ok(session.portal.redirect(&format!("/endpoints/{endpoint}/headers?done=header-removed")).into_response())
}
