//! Connecting a customer with one button: the steps that remain, and where they ended.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::frame::{Frame, render_page_as};
use platform_core::customers::connections::{SetUp, SetUpStep};
use platform_core::port::Customer;

use crate::page_error::PageError;
use crate::session::{PathIds, Section, Session};

/// The page after a step failed.
#[derive(Template)]
#[template(path = "customers/set_up.html")]
struct SetUpPage {
    frame: Frame,
    name: String,
    /// Address of the customer's page.
    path: String,
    steps: Vec<StepRow>,
}

/// A step, and what became of it.
struct StepRow {
    words: &'static str,
    /// Class and word of its state.
    state: (&'static str, &'static str),
    /// The cause, if it failed.
    cause: String,
}

impl StepRow {
    fn is_done(&self) -> bool {
        self.state.0 == "good"
    }
}

/// Connects the customer, or goes on where an earlier attempt ended.
pub(super) async fn run(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Response, PageError> {
    let customer = session.platform().customer(&session.caller, uuid).await?;
    let done = session.platform().set_up_connection(&session.caller, uuid).await?;
    answer(&session, &customer, done)
}

/// The customer's page, or the steps with the one that failed.
pub(super) fn answer(session: &Session, customer: &Customer, done: SetUp) -> Result<Response, PageError> {
    let path = format!("/customers/{}", customer.uuid);
    let Some((failed, cause)) = done.failed else {
        return Ok(session.admin.redirect(&format!("{path}?done=customer-connected")).into_response());
    };
    let mut is_reached = true;
    let steps = SetUpStep::ALL.into_iter().map(|step| {
        let is_failed = step == failed;
        let state = match (is_failed, is_reached) {
            (true, _) => ("bad", "Failed"),
            (false, true) => ("good", "Done"),
            (false, false) => ("", "Not begun"),
        };
        is_reached &= !is_failed;
        StepRow { words: words(step), state, cause: if is_failed { cause.clone() } else { String::new() } }
    });
    let page = SetUpPage {
        steps: steps.collect(),
        frame: session.frame("Connect customer", Section::Customers),
        name: customer.name.clone(),
        path: format!("{}{path}", session.admin.site().base),
    };
    render_page_as(StatusCode::BAD_GATEWAY, &page)
}

fn words(step: SetUpStep) -> &'static str {
    match step {
        SetUpStep::Account => "Open the account and make its API key",
        SetUpStep::Application => "Create the application",
        SetUpStep::EventTypes => "Register both event types",
        SetUpStep::Test => "Test the connection",
    }
}
