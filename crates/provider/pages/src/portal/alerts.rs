//! Alerts by e-mail to the application's contacts, and the page that confirms an address.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::fields::{QueryFields, SubmittedForm, UnauthenticatedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page, render_page_as};
use provider_core::ProviderError;

use super::Portal;
use super::session::{Section, Session};
use crate::alert_recipients::{NOTICES, Outcome, Recipients, Viewer};
use crate::dashboard::form_errors::{form_errors, notice};
use crate::page_error::PageError;

const PATH: &str = "/alerts";

#[derive(Template)]
#[template(path = "portal/alerts.html")]
struct AlertsPage {
    frame: Frame,
    list: Recipients,
}

#[derive(Template)]
#[template(path = "portal/alerts_confirm.html")]
struct ConfirmPage {
    frame: Frame,
    code: String,
    fault: &'static str,
    /// The address that was just confirmed.
    confirmed: Option<String>,
}

fn viewer(session: &Session) -> Viewer<'_> {
    Viewer {
        provider: session.provider(),
        caller: &session.caller,
        application: Some(session.app()),
        base: &session.portal.site().base,
        path: PATH,
        now: session.portal.now(),
        may_change: session.permissions().manage,
        has_dashboard: false,
    }
}

/// The application's contacts.
pub(super) async fn page(session: Session, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let list = Recipients::load(viewer(&session)).await?;
    let frame = session.frame("Alerts", Section::Alerts).with_notice(notice(&query, NOTICES));
    render_page(&AlertsPage { frame, list })
}

/// Adds, confirms or removes an address.
pub(super) async fn submit(session: Session, SubmittedForm(form): SubmittedForm) -> Result<Response, PageError> {
    session.check_form(&form)?;
    match Recipients::submit(viewer(&session), &form, form_errors).await? {
        Outcome::Done(done) => Ok(session.portal.redirect(&format!("{PATH}?done={done}")).into_response()),
        Outcome::Refused(status, list) => {
            render_page_as(status, &AlertsPage { frame: session.frame("Alerts", Section::Alerts), list: *list })
        }
    }
}

fn confirm_frame(portal: &Portal) -> Frame {
    let site = portal.site();
    Frame::signed_out("Confirm address", site, site.name)
}

/// What the link in the mail opens. Mail scanners open links, so only the button confirms.
pub(super) async fn confirm_page(
    State(portal): State<Portal>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let code = query.text("code").to_owned();
    render_page(&ConfirmPage { frame: confirm_frame(&portal), code, fault: "", confirmed: None })
}

/// Confirms the address that the code was sent to.
pub(super) async fn confirm(
    State(portal): State<Portal>,
    UnauthenticatedForm(form): UnauthenticatedForm,
) -> Result<Response, PageError> {
    let code = form.text("code").to_owned();
    let frame = confirm_frame(&portal);
    match portal.provider().confirm_alert_recipient(&code).await {
        Ok(recipient) => {
            let confirmed = Some(recipient.address);
            render_page(&ConfirmPage { frame, code, fault: "", confirmed })
        }
        Err(ProviderError::NotFound) => {
            let fault = "No address has this code, or it is older than 24 hours. Have a new one sent.";
            render_page_as(StatusCode::UNPROCESSABLE_ENTITY, &ConfirmPage { frame, code, fault, confirmed: None })
        }
        Err(error) => Err(error.into()),
    }
}
