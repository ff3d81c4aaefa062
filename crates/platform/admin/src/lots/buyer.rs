//! Names the buyer of a lot that was sold in the room, or changes the buyer with the price kept.

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::fields::{FieldErrors, FormFields, SubmittedForm};
use kit_design::frame::render_page_as;
use platform_core::PlatformError;
use platform_core::sales::items::buyer::NamedBuyer;
use platform_rules::item::ConfirmedBuyer;
use platform_rules::{Item, Rejection};

use super::lot;
use super::sold_form::SoldForm;
use crate::admin::Admin;
use crate::auctions::field::Field;
use crate::auctions::list::Choice;
use crate::auctions::sale::Sale;
use crate::auctions::{labels, refusal};
use crate::paddles;
use crate::page_error::PageError;
use crate::session::{PathIds, Session};

/// Value of the field that confirms a buyer without an approved registration, or above a limit.
const CONFIRMED: &str = "yes";

/// The form.
pub(super) async fn page(session: Session, PathIds([auction, item]): PathIds<2>) -> Result<Response, PageError> {
    let (sale, item) = lot::load(&session, auction, item).await?;
    show(&session, &sale, &item, (&FormFields::default(), &FieldErrors::default()), (false, StatusCode::OK))
}

/// Changes the buyer, or shows the form again with what is wrong.
pub(super) async fn change(
    session: Session,
    State(admin): State<Admin>,
    PathIds([auction, item]): PathIds<2>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let (sale, item) = lot::load(&session, auction, item).await?;
    let (version, reason) = (form.text("version").parse().ok(), form.non_empty("reason").map(str::to_owned));
    let is_confirmed = form.text("confirmed") == CONFIRMED;
    let confirmed = ConfirmedBuyer { not_approved: is_confirmed, over_limit: is_confirmed };
    let buyer = NamedBuyer { paddle: form.text("buyer").to_owned(), reason, confirmed };
    match session.platform().change_buyer(&session.caller, item.uuid, &buyer, version, None).await {
        Ok(_) => Ok(admin.redirect(&sale.path(&format!("/lots/{}?done=buyer", item.uuid))).into_response()),
        Err(error) => {
            let mut errors = FieldErrors::default();
            let can_be_confirmed = matches!(
                error,
                PlatformError::Rejected(Rejection::BidderNotApproved | Rejection::SpendingLimitReached)
            );
            if can_be_confirmed && let Some(text) = paddles::proposal(&session, auction, &buyer.paddle).await? {
                errors.add("buyer", text);
            }
            refusal::add_to(&mut errors, error)?;
            let (sale, item) = lot::load(&session, auction, item.uuid).await?;
            let asks = can_be_confirmed || is_confirmed;
            show(&session, &sale, &item, (&form, &errors), (asks, StatusCode::UNPROCESSABLE_ENTITY))
        }
    }
}

fn show(
    session: &Session,
    sale: &Sale,
    item: &Item,
    (values, errors): (&FormFields, &FieldErrors),
    (asks, status): (bool, StatusCode),
) -> Result<Response, PageError> {
    let mut fields = vec![Field::text("buyer", "Paddle of the buyer", values.text("buyer")).required()];
    if !item.is_buyer_open() {
        fields.push(Field::reason(values.text("reason")).required());
    } else if asks {
        fields.push(Field::reason(values.text("reason")));
    }
    if asks {
        let choices = [("", "Not confirmed"), (CONFIRMED, "Without an approved registration, or above the limit")];
        let choices = choices.map(|(value, words)| Choice::new(value, words, values.text("confirmed")));
        let hint =
            "A paddle without a registration is registered and named later. A price above the limit needs a reason.";
        fields.push(Field::select("confirmed", "Confirm this buyer", choices.into()).hint(hint));
    }
    let now = item.standing.as_ref().map(|standing| {
        format!("Now: {} at {}. The price stays.", labels::bidder(standing), sale.currency.exact(standing.amount))
    });
    let no_event = "No event is sent: the lot stays sold. The log keeps both buyers.".to_owned();
    let mut page = SoldForm::new(session, sale, item, "buyer", "Record buyer");
    page.consequences = now.into_iter().chain([no_event]).collect();
    page.fields = fields.into_iter().map(|field| field.with(errors)).collect();
    page.faults = errors.remaining(&["buyer", "reason", "confirmed"]);
    render_page_as(status, &page)
}
