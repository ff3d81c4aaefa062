//! Changing an endpoint.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use provider_core::model::Endpoint;

use super::form::{EndpointForm, FormPart};
use super::head::{Head, Tab};
use super::url_verdict::UrlVerdict;
use crate::page_error::PageError;
use crate::portal::notice;
use crate::portal::session::{PathParams, Section, Session};
use kit_design::fields::{FieldErrors, QueryFields, SubmittedForm};
use kit_design::frame::{Frame, render_page_as};

#[derive(Template)]
#[template(path = "portal/endpoints/settings.html")]
struct SettingsPage {
    frame: Frame,
    head: Head,
    id: String,
    form: FormPart,
}

impl SettingsPage {
    async fn new(
        session: &Session,
        endpoint: &Endpoint,
        typed: EndpointForm,
        errors: FieldErrors,
    ) -> Result<Self, PageError> {
        Ok(Self {
            frame: session.frame("Settings of an endpoint", Section::Endpoints),
            head: Head::new(session, endpoint, Tab::Settings),
            id: endpoint.id.to_string(),
            form: FormPart::new(session, &format!("/endpoints/{}/settings", endpoint.id), typed, errors).await?,
        })
    }
}

/// The form with the endpoint's settings.
pub(in crate::portal) async fn page(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let endpoint = session.endpoint(&endpoint).await?;
    let mut page = SettingsPage::new(&session, &endpoint, EndpointForm::of(&endpoint), FieldErrors::default()).await?;
    page.frame = page.frame.with_notice(notice::from_query(&query));
    render_page_as(StatusCode::OK, &page)
}

/// Changes the endpoint, or shows the form again with its errors.
pub(in crate::portal) async fn save(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let endpoint = session.endpoint(&endpoint).await?;
    let typed = EndpointForm::read(&form);
    let patch = typed.patch(&endpoint);
    let changed = session.provider().patch_endpoint(&session.caller, session.app(), &endpoint.id, patch);
    let Err(error) = changed.await else {
        let path = format!("/endpoints/{}/settings?done=saved", endpoint.id);
        return Ok(session.portal.redirect(&path).into_response());
    };
    let (status, errors) = typed.errors(error)?;
    render_page_as(status, &SettingsPage::new(&session, &endpoint, typed, errors).await?)
}

/// The form again with what a look at the typed address found, or only that for the script.
pub(in crate::portal) async fn check_url(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let endpoint = session.endpoint(&endpoint).await?;
    let typed = EndpointForm::read(&form);
    let verdict = UrlVerdict::look(&session, &format!("/endpoints/{}/settings", endpoint.id), typed.url()).await?;
    if form.text("part") == "verdict" {
        return render_page_as(StatusCode::OK, &verdict);
    }
    let page = SettingsPage::new(&session, &endpoint, typed, FieldErrors::default()).await?;
    let form = page.form.with_verdict(&verdict);
    render_page_as(StatusCode::OK, &SettingsPage { form, ..page })
}
