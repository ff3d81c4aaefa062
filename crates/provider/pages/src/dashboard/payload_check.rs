//! The payload check: what becomes of messages whose payload does not match the schema of its event type.

use askama::Template;
use axum::Router;
use axum::response::{IntoResponse as _, Response};
use kit_design::error_page::ErrorPage;
use kit_design::fields::{QueryFields, SubmittedForm};
use kit_design::form_field::{self, FormField};
use kit_design::frame::{Frame, render_page};
use kit_design::relative_time::RelativeTime;
use kit_http::page_routes::form;
use provider_core::model::PayloadCheck;
use provider_core::model::Role;

use super::Dashboard;
use super::access::Page;
use super::outcomes;
use super::rights::Rights;
use super::session::{DashboardSession, Section};
use crate::page_error::PageError;
use crate::portal::labels::number;

pub(super) const PAGES: &[Page] = &[("GET", "/payload-check", Role::Viewer), ("POST", "/payload-check", Role::Admin)];

pub(super) fn router() -> Router<Dashboard> {
    Router::new().route("/payload-check", form(page, save))
}

#[derive(Template)]
#[template(path = "dashboard/payload_check.html")]
struct PayloadCheckPage {
    frame: Frame,
    may: Rights,
    choices: Vec<Choice>,
    warned: String,
    rejected: String,
    findings: Vec<Finding>,
}

struct Choice {
    name: &'static str,
    title: &'static str,
    text: &'static str,
    is_chosen: bool,
}

struct Finding {
    event_type: String,
    version: String,
    rule: String,
    messages: String,
    at: RelativeTime,
}

impl PayloadCheckPage {
    fn field(&self) -> FormField {
        let choice = |own: &Choice| form_field::Choice::new(own.name, own.title, own.is_chosen).hint(own.text);
        FormField::radios("check", "A message that does not match", self.choices.iter().map(choice).collect())
    }
}

/// The page.
async fn page(session: DashboardSession, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let provider = session.provider();
    let counts = provider.payload_counts(&session.caller);
    let findings = provider.payload_findings(&session.caller).into_iter().map(|finding| Finding {
        event_type: finding.event_type,
        version: finding.version,
        rule: finding.rule,
        messages: number(finding.messages),
        at: RelativeTime::new(finding.at, session.now()),
    });
    let choice = |check: PayloadCheck| {
        let (title, text) = words(check);
        Choice { name: check.name(), title, text, is_chosen: check == session.account.settings.payload_check }
    };
    render_page(&PayloadCheckPage {
        frame: session.frame("Payload check", Section::PayloadCheck).with_notice(outcomes::from_query(&query)),
        may: Rights::of(&session),
        choices: PayloadCheck::ALL.map(choice).into(),
        warned: number(counts.warned),
        rejected: number(counts.rejected),
        findings: findings.collect(),
    })
}

fn words(check: PayloadCheck) -> (&'static str, &'static str) {
    match check {
        PayloadCheck::Off => ("Off", "Every JSON object is accepted and delivered."),
        PayloadCheck::Warn => {
            ("Warn", "A message that does not match is accepted and delivered. It is counted and listed below.")
        }
        PayloadCheck::Reject => (
            "Reject",
            "A message that does not match is refused with 422, which names each fault. It is not delivered.",
        ),
    }
}

async fn save(session: DashboardSession, SubmittedForm(form): SubmittedForm) -> Result<Response, PageError> {
    let Some(check) = PayloadCheck::parse(form.text("check")) else {
        return Err(ErrorPage::bad_request("The payload check must be off, warn or reject.").into());
    };
    let mut account = session.account.clone();
    account.settings.payload_check = check;
    session.provider().update_account(account).await?;
    Ok(session.dashboard.redirect("/payload-check?done=payload-check-saved").into_response())
}
