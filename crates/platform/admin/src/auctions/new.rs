//! Creates an auction as a draft.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, QueryFields, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page_as};
use platform_core::Scope;

use super::form::Entered;
use crate::admin::Admin;
use crate::page_error::PageError;
use crate::sale::refusal;
use crate::session::{Section, Session};

#[derive(Template)]
#[template(path = "auctions/new.html")]
struct NewPage {
    frame: Frame,
    has_owners: bool,
    may_add_owners: bool,
    fields: Vec<FormField>,
    more: Vec<FormField>,
    is_sandbox: bool,
    errors: ErrorSummary,
    is_more_open: bool,
}

/// The form.
pub(super) async fn page(session: Session, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let mut entered = Entered::empty();
    entered.auctioneer = query.text("auctioneer").to_owned();
    show(&session, &entered, &FieldErrors::default(), StatusCode::OK).await
}

/// Creates the auction, or shows the form again with what is wrong.
pub(super) async fn create(
    session: Session,
    State(admin): State<Admin>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let entered = Entered::of_form(&form);
    let mut errors = FieldErrors::default();
    let new = entered.new_auction(&mut errors);
    refusal::add_problems(&mut errors, session.platform().problems_of_new_auction(&new));
    if errors.is_empty() {
        match session.platform().create_auction(&session.caller, &new, None).await {
            Ok(outcome) => {
                let uuid = outcome.fresh()?.auction.uuid;
                return Ok(admin.redirect(&format!("/auctions/{uuid}?done=created")).into_response());
            }
            Err(error) => refusal::add_to(&mut errors, error)?,
        }
    }
    show(&session, &entered, &errors, StatusCode::UNPROCESSABLE_ENTITY).await
}

async fn show(
    session: &Session,
    entered: &Entered,
    errors: &FieldErrors,
    status: StatusCode,
) -> Result<Response, PageError> {
    let owners = super::owners::owner_choices(session, &entered.auctioneer).await?;
    let has_owners = !owners.is_empty();
    let fields = entered.main_fields(Some(owners), errors);
    let more = entered.more_fields(true, errors);
    let page = NewPage {
        frame: session.frame("Create auction", Section::Auctions),
        has_owners,
        may_add_owners: session.may(Scope::CustomersWrite),
        errors: ErrorSummary::of_fields(errors, fields.iter().chain(&more)),
        is_more_open: more.iter().any(|field| !field.fault_text().is_empty()),
        fields,
        more,
        is_sandbox: entered.is_sandbox(),
    };
    render_page_as(status, &page)
}
