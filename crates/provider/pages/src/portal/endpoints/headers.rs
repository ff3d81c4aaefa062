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
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{QueryFields, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page_as};

#[derive(Template)]
#[template(path = "portal/endpoints/headers.html")]
struct HeadersPage {
    frame: Frame,
    head: Head,
    rows: Vec<Header>,
    fields: [FormField; 2],
    errors: ErrorSummary,
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
            fields: fields("", ""),
            errors: ErrorSummary::default(),
        })
    }
}

/// Name and value of a header.
fn fields(name: &str, value: &str) -> [FormField; 2] {
    let name = FormField::text("name", "Name", name).chars_max(256).required();
    let value = FormField::text("value", "Value", value).chars_max(4_096);
    [name, value].map(|field| field.attribute("spellcheck", "false"))
}

/// The list of headers, with a form to set one.
pub(in crate::portal) async fn page(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let endpoint = session.endpoint(&endpoint).await?;
    let mut page = HeadersPage::new(&session, &endpoint).await?;
    page.frame = page.frame.with_notice(notice::from_query(&query));
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
    // The provider names the header that it refuses, not which of its two fields is wrong.
    let errors = errors.renamed("headers", "name");
    // The value of a sensitive header is never shown, not even after an error.
    let shown = if is_sensitive(&name) { "" } else { &value };
    page.fields = fields(&name, shown).map(|field| field.with(&errors));
    page.errors = ErrorSummary::of_fields(&errors, &page.fields);
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
