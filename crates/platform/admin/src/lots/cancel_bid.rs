//! Cancels a bid, with a reason.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page_as};
use platform_rules::Item;
use uuid::Uuid;

use super::lot;
use crate::admin::Admin;
use crate::form_page::reason_field;
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::{labels, refusal};
use crate::session::{PathIds, Section, Session};

#[derive(Template)]
#[template(path = "lots/cancel_bid.html")]
struct CancelPage {
    frame: Frame,
    sale_title: String,
    sale_path: String,
    path: String,
    bid: Uuid,
    lot_number: String,
    version: i64,
    leads: String,
    reason: FormField,
    errors: ErrorSummary,
}

/// The page that asks for a reason.
pub(super) async fn page(session: Session, PathIds([auction, item, bid]): PathIds<3>) -> Result<Response, PageError> {
    let (sale, item) = lot::load(&session, auction, item).await?;
    show(&session, &sale, &item, bid, ("", &FieldErrors::default()), StatusCode::OK)
}

/// Cancels the bid, or shows the page again with why it is not possible.
pub(super) async fn cancel(
    session: Session,
    State(admin): State<Admin>,
    PathIds([auction, item, bid]): PathIds<3>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let (sale, item) = lot::load(&session, auction, item).await?;
    let (reason, version) = (form.text("reason"), form.text("version").parse().ok());
    match session.platform().cancel_bid(&session.caller, (item.uuid, bid), reason, version, None).await {
        Ok(_) => Ok(admin.redirect(&sale.path(&format!("/lots/{}?done=bid-cancelled", item.uuid))).into_response()),
        Err(error) => {
            let mut errors = FieldErrors::default();
            refusal::add_to(&mut errors, error)?;
            let (sale, item) = lot::load(&session, auction, item.uuid).await?;
            show(&session, &sale, &item, bid, (reason, &errors), StatusCode::CONFLICT)
        }
    }
}

fn show(
    session: &Session,
    sale: &Sale,
    item: &Item,
    bid: Uuid,
    (reason, errors): (&str, &FieldErrors),
    status: StatusCode,
) -> Result<Response, PageError> {
    let leads = item.standing.as_ref().filter(|standing| standing.bid == bid);
    let leads = leads.map(|standing| {
        format!("It leads now: {} at {}.", labels::bidder(standing), sale.currency.exact(standing.amount))
    });
    let reason = reason_field(reason).required().with(errors);
    let page = CancelPage {
        frame: session.frame(format!("Cancel a bid on lot {}", item.lot_number), Section::Auctions),
        sale_title: sale.title(),
        sale_path: sale.path(""),
        path: sale.path(&format!("/lots/{}", item.uuid)),
        bid,
        lot_number: item.lot_number.clone(),
        version: item.version,
        leads: leads.unwrap_or_default(),
        errors: ErrorSummary::of_fields(errors, [&reason]),
        reason,
    };
    render_page_as(status, &page)
}
