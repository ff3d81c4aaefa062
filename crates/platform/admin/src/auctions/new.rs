//! Creates an auction as a draft.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::fields::{FieldErrors, QueryFields, SubmittedForm};
use kit_design::frame::{Frame, render_page_as};
use platform_core::Scope;

use super::field::Field;
use super::form::Entered;
use super::list::Choice;
use super::refusal;
use crate::admin::Admin;
use crate::page_error::PageError;
use crate::session::{Section, Session};

#[derive(Template)]
#[template(path = "auctions/new.html")]
struct NewPage {
    frame: Frame,
    has_owners: bool,
    may_add_owners: bool,
    fields: Vec<Field>,
    more: Vec<Field>,
    is_sandbox: bool,
    faults: Vec<String>,
    is_more_open: bool,
}

const SHOWN: &[&str] = &[
    "auctioneer",
    "kind",
    "title",
    "currency",
    "timeZone",
    "startsAt",
    "endsAt",
    "staggerSeconds",
    "staggerItems",
    "extensionSeconds",
    "registration",
    "internetBids",
    "premium",
    "hammerTax",
    "premiumTax",
    "increments",
];
const MORE: &[&str] =
    &["staggerSeconds", "staggerItems", "extensionSeconds", "premium", "hammerTax", "premiumTax", "increments"];

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
    if let Some(new) = entered.new_auction(&mut errors) {
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
    let owners = Choice::owners(session, &entered.auctioneer).await?;
    let page = NewPage {
        frame: session.frame("Create auction", Section::Auctions),
        has_owners: !owners.is_empty(),
        may_add_owners: session.may(Scope::CustomersWrite),
        fields: entered.main_fields(Some(owners), errors),
        more: entered.more_fields(true, errors),
        is_sandbox: entered.is_sandbox(),
        faults: errors.remaining(SHOWN),
        is_more_open: MORE.iter().any(|field| !errors.of(field).is_empty()),
    };
    render_page_as(status, &page)
}
