//! Alerts by e-mail: the addresses of the account, and the contacts of one application.

use askama::Template;
use axum::Router;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::fields::{QueryFields, SubmittedForm};
use kit_design::frame::{Frame, render_page_as};
use kit_http::page_routes::form;
use provider_core::model::Application;
use provider_core::model::Role;

use super::Dashboard;
use super::access::Page;
use super::form_errors::{form_errors, notice};
use super::session::{DashboardSession, PathParams, Section};
use crate::alert_recipients::{NOTICES, Outcome, Recipients, Viewer};
use crate::page_error::PageError;

pub(super) const PAGES: &[Page] = &[
    ("GET", "/alerts", Role::Viewer),
    ("POST", "/alerts", Role::Member),
    ("GET", "/applications/{application}/alerts", Role::Viewer),
    ("POST", "/applications/{application}/alerts", Role::Member),
];

pub(super) fn router() -> Router<Dashboard> {
    Router::new()
        .route("/alerts", form(page, submit))
        .route("/applications/{application}/alerts", form(contacts_page, submit_contacts))
}

#[derive(Template)]
#[template(path = "dashboard/alerts/page.html")]
struct AlertsPage {
    frame: Frame,
    list: Recipients,
}

#[derive(Template)]
#[template(path = "dashboard/alerts/contacts.html")]
struct ContactsPage {
    frame: Frame,
    id: String,
    name: String,
    list: Recipients,
}

const PATH: &str = "/alerts";

fn path_of(application: &Application) -> String {
    format!("/applications/{}{PATH}", application.id)
}

fn viewer<'a>(session: &'a DashboardSession, application: Option<&'a Application>, path: &'a str) -> Viewer<'a> {
    Viewer {
        provider: session.provider(),
        caller: &session.caller,
        application: application.map(|application| &*application.id),
        base: &session.dashboard.site().base,
        path,
        now: session.now(),
        may_change: session.may(Role::Member),
        has_dashboard: true,
    }
}

/// The addresses of the account.
async fn page(session: DashboardSession, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let list = Recipients::load(viewer(&session, None, PATH)).await?;
    show(&session, StatusCode::OK, list, notice(&query, NOTICES))
}

fn show(
    session: &DashboardSession,
    status: StatusCode,
    list: Recipients,
    notice: Option<&'static str>,
) -> Result<Response, PageError> {
    let frame = session.frame("Alerts", Section::Alerts).with_notice(notice);
    render_page_as(status, &AlertsPage { frame, list })
}

async fn submit(session: DashboardSession, SubmittedForm(form): SubmittedForm) -> Result<Response, PageError> {
    match Recipients::submit(viewer(&session, None, PATH), &form, form_errors).await? {
        Outcome::Done(done) => Ok(session.dashboard.redirect(&format!("{PATH}?done={done}")).into_response()),
        Outcome::Refused(status, list) => show(&session, status, *list, None),
    }
}

/// The contacts of an application.
async fn contacts_page(
    session: DashboardSession,
    PathParams([id]): PathParams<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let application = session.provider().application(&session.caller, &id).await?;
    let path = path_of(&application);
    let list = Recipients::load(viewer(&session, Some(&application), &path)).await?;
    show_contacts(&session, StatusCode::OK, &application, list, notice(&query, NOTICES))
}

fn show_contacts(
    session: &DashboardSession,
    status: StatusCode,
    application: &Application,
    list: Recipients,
    notice: Option<&'static str>,
) -> Result<Response, PageError> {
    let (id, name) = (application.id.to_string(), application.name.clone());
    let title = format!("Alert contacts of {name}");
    let frame = session.frame(title, Section::Applications).with_notice(notice);
    render_page_as(status, &ContactsPage { frame, id, name, list })
}

async fn submit_contacts(
    session: DashboardSession,
    PathParams([id]): PathParams<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let application = session.provider().application(&session.caller, &id).await?;
    let path = path_of(&application);
    match Recipients::submit(viewer(&session, Some(&application), &path), &form, form_errors).await? {
        Outcome::Done(done) => Ok(session.dashboard.redirect(&format!("{path}?done={done}")).into_response()),
        Outcome::Refused(status, list) => show_contacts(&session, status, &application, *list, None),
    }
}
