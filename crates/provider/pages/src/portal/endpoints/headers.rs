//! Custom headers of an endpoint, which every delivery carries.

use std::collections::BTreeMap;

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use provider_core::headers::custom_headers::is_sensitive;
use provider_core::model::Endpoint;

use super::form;
use super::head::{Head, Tab};
use crate::page_error::PageError;
use crate::portal::notice;
use crate::portal::session::{PathParams, Section, Session};
use kit_design::fields::{QueryFields, SubmittedForm};
use kit_design::frame::{Frame, render_page_as};

#[derive(Template)]
#[template(path = "portal/endpoints/headers.html")]
struct HeadersPage {
    frame: Frame,
    head: Head,
    rows: Vec<Header>,
    name: String,
    value: String,
    errors: Vec<String>,
}

struct Header {
    name: String,
    /// None for a sensitive header, whose value is never shown.
    value: Option<String>,
}

impl HeadersPage {
    async fn new(session: &Session, endpoint: &Endpoint) -> Result<Self, PageError> {
        let headers = session.provider().endpoint_headers(&session.caller, session.app(), &endpoint.id).await?;
        let row = |(name, value): (String, String)| Header { value: (!is_sensitive(&name)).then_some(value), name };
        Ok(Self {
            frame: session.frame("Headers of an endpoint", Section::Endpoints),
            head: Head::new(session, endpoint, Tab::Headers),
            rows: headers.into_iter().map(row).collect(),
            name: String::new(),
            value: String::new(),
            errors: Vec::new(),
        })
    }
}

/// The list of headers, with a form to set one.
pub(in crate::portal) async fn page(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let endpoint = session.endpoint(&endpoint).await?;
    let mut page = HeadersPage::new(&session, &endpoint).await?;
    page.frame.notice = notice::from_query(&query);
    render_page_as(StatusCode::OK, &page)
}

/// Sets a header, or shows the form again with its errors.
pub(in crate::portal) async fn set(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let (name, value) = (form.text("name").to_owned(), form.text("value").to_owned());
    let changes = BTreeMap::from([(name.clone(), Some(value.clone()))]);
    let changed = session.provider().patch_endpoint_headers(&session.caller, session.app(), &endpoint, &changes);
    let Err(error) = changed.await else {
        let path = format!("/endpoints/{endpoint}/headers?done=header-set");
        return Ok(session.portal.redirect(&path).into_response());
    };
    let (status, errors) = form::errors(error)?;
    let endpoint = session.endpoint(&endpoint).await?;
    let mut page = HeadersPage::new(&session, &endpoint).await?;
    page.errors = errors.remaining(&[]);
    // The value of a sensitive header is never shown, not even after an error.
    page.value = if is_sensitive(&name) { String::new() } else { value };
    page.name = name;
    render_page_as(status, &page)
}

/// Removes a header.
pub(in crate::portal) async fn remove(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let changes = BTreeMap::from([(form.text("name").to_owned(), None)]);
    session.provider().patch_endpoint_headers(&session.caller, session.app(), &endpoint, &changes).await?;
    Ok(session.portal.redirect(&format!("/endpoints/{endpoint}/headers?done=header-removed")).into_response())
}
