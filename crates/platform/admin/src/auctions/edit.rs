//! Edits an auction's fields.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page_as};
use platform_core::sales::auctions::edit::{AuctionPatch, problems};

use super::form::Entered;
use crate::admin::Admin;
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::refusal;
use crate::sale::writable;
use crate::session::{PathIds, Section, Session};

#[derive(Template)]
#[template(path = "auctions/edit.html")]
struct EditPage {
    frame: Frame,
    title: String,
    path: String,
    version: i64,
    fields: Vec<FormField>,
    errors: ErrorSummary,
}

/// The form.
pub(super) async fn page(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Response, PageError> {
    let sale = writable(&session, uuid).await?;
    let entered = Entered::of_auction(&sale.auction);
    show(&session, &sale, &entered, &FieldErrors::default(), StatusCode::OK)
}

/// Saves the fields, or shows the form again with what is wrong.
pub(super) async fn save(
    session: Session,
    State(admin): State<Admin>,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let sale = writable(&session, uuid).await?;
    let entered = Entered::of_form(&form);
    let mut errors = FieldErrors::default();
    let edit = entered.edit(&sale.auction, &mut errors);
    refusal::add_problems(&mut errors, problems(&sale.auction, &edit));
    if errors.is_empty() {
        let patch = AuctionPatch { edit, address: None };
        let version = form.text("version").parse().ok();
        match session.platform().change_auction(&session.caller, uuid, &patch, version).await {
            Ok(_) => return Ok(admin.redirect(&sale.path("?done=saved")).into_response()),
            Err(error) => refusal::add_to(&mut errors, error)?,
        }
    }
    show(&session, &sale, &entered, &errors, StatusCode::UNPROCESSABLE_ENTITY)
}

fn show(
    session: &Session,
    sale: &Sale,
    entered: &Entered,
    errors: &FieldErrors,
    status: StatusCode,
) -> Result<Response, PageError> {
    let mut fields = entered.main_fields(None, errors);
    fields.extend(entered.more_fields(false, errors));
    let page = EditPage {
        frame: session.frame(format!("Edit · {}", sale.title()), Section::Auctions),
        title: sale.title(),
        path: sale.path(""),
        version: sale.auction.version,
        errors: ErrorSummary::of_fields(errors, &fields),
        fields,
    };
    render_page_as(status, &page)
}
