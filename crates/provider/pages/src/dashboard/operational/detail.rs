//! One operational endpoint: its settings and signing secret, and changing it.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::fields::{FieldErrors, QueryFields, SubmittedForm};
use kit_design::frame::{Frame, render_page, render_page_as};
use kit_design::relative_time::RelativeTime;
use provider_core::model::Endpoint;

use super::form::OperationalForm;
use super::list::types;
use super::new::EditPage;
use crate::dashboard::outcomes;
use crate::dashboard::rights::Rights;
use crate::dashboard::session::{DashboardSession, PathParams, Section};
use crate::page_error::PageError;
use crate::portal::labels::StatusBadge;

#[derive(Template)]
#[template(path = "dashboard/operational/detail.html")]
struct DetailPage {
    frame: Frame,
    may: Rights,
    id: String,
    url: String,
    description: String,
    status: StatusBadge,
    types: String,
    failing_since: Option<RelativeTime>,
    created: RelativeTime,
    /// The secret, after the visitor pressed the button.
    revealed: Option<String>,
}

/// The page. `revealed` is the signing secret.
pub(super) fn render(
    session: &DashboardSession,
    endpoint: &Endpoint,
    notice: Option<&'static str>,
    revealed: Option<String>,
) -> Result<Response, PageError> {
    let since = endpoint.failing_since.filter(|_| !endpoint.disabled);
    render_page(&DetailPage {
        frame: session.frame("Operational endpoint", Section::Operational).with_notice(notice),
        may: Rights::of(session),
        id: endpoint.id.to_string(),
        url: endpoint.url.clone(),
        description: endpoint.description.clone(),
        status: StatusBadge::of(endpoint),
        types: types(endpoint),
        failing_since: since.map(|at| RelativeTime::lasting(at, session.now())),
        created: RelativeTime::new(endpoint.created_at, session.now()),
        revealed,
    })
}

/// The page with the secret hidden.
pub(super) async fn page(
    session: DashboardSession,
    PathParams([id]): PathParams<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let endpoint = session.provider().operational_endpoint(&session.caller, &id).await?;
    render(&session, &endpoint, outcomes::from_query(&query), None)
}

fn edit(
    session: &DashboardSession,
    status: StatusCode,
    endpoint: &Endpoint,
    typed: &OperationalForm,
    faults: &FieldErrors,
) -> Result<Response, PageError> {
    let frame = session.frame("Edit operational endpoint", Section::Operational);
    let changed = Some((endpoint.id.to_string(), endpoint.url.clone()));
    render_page_as(
        status,
        &EditPage { frame, changed, form: typed.part(faults, &session.provider().config().request_limit()) },
    )
}

/// The form with the endpoint's values.
pub(super) async fn edit_page(
    session: DashboardSession,
    PathParams([id]): PathParams<1>,
) -> Result<Response, PageError> {
    let endpoint = session.provider().operational_endpoint(&session.caller, &id).await?;
    edit(&session, StatusCode::OK, &endpoint, &OperationalForm::of(&endpoint), &FieldErrors::default())
}

/// Saves the endpoint and shows it.
pub(super) async fn save(
    session: DashboardSession,
    PathParams([id]): PathParams<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let provider = session.provider();
    let typed = OperationalForm::read(&form);
    let before = provider.operational_endpoint(&session.caller, &id).await?;
    let input = typed.input(Some(&before));
    match provider.put_operational_endpoint(&session.caller, &before.id, input).await {
        Ok(_) => {
            let path = format!("/operational-webhooks/{}?done=operational-saved", before.id);
            Ok(session.dashboard.redirect(&path).into_response())
        }
        Err(error) => {
            let (status, faults) = typed.errors(error)?;
            edit(&session, status, &before, &typed, &faults)
        }
    }
}
