//! Records an accepted offer for a lot that was passed or ended unsold.

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use contract::{AuctionStatus, ItemStatus};
use http::StatusCode;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, FormFields, QueryFields, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::frame::render_page_as;
use platform_core::PlatformError;
use platform_core::sales::items::post_sale::PostSaleOffer;
use platform_rules::{Item, Rejection};

use super::sold_form::SoldForm;
use super::{bidder_offer, lot};
use crate::admin::Admin;
use crate::form_page::reason_field;
use crate::page_error::PageError;
use crate::results::WayBack;
use crate::sale::Sale;
use crate::sale::unusual::{self, UnusualAmount};
use crate::sale::{notified, refusal};
use crate::session::{PathIds, Session};
use crate::{buyer_words, paddles};

/// True when an offer for the lot can be recorded.
pub(crate) fn is_possible(sale: &Sale, item: &Item) -> bool {
    matches!(item.status, ItemStatus::Passed | ItemStatus::Unsold)
        && item.relisted_as.is_none()
        && sale.auction.status != AuctionStatus::Archived
}

/// The form.
pub(super) async fn page(
    session: Session,
    PathIds([auction, item]): PathIds<2>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let (sale, item) = lot::load(&session, auction, item).await?;
    show(&session, &sale, &item, (&WayBack::of(&query).fields(), &FieldErrors::default()), (None, StatusCode::OK)).await
}

/// Records the offer, or shows the form again with what is wrong.
pub(super) async fn accept(
    session: Session,
    State(admin): State<Admin>,
    PathIds([auction, item]): PathIds<2>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let (sale, item) = lot::load(&session, auction, item).await?;
    let (mut errors, mut asked) = (FieldErrors::default(), None);
    match sale.currency.parse(form.text("amount")) {
        Err(wrong) => errors.add("amount", wrong),
        Ok(amount) => {
            let (buyer, reason) = (form.text("buyer").to_owned(), form.text("reason").to_owned());
            let unusual_amount = unusual::is_confirmed(&form, amount);
            let offer = PostSaleOffer { buyer, amount, reason, unusual_amount };
            let version = form.text("version").parse().ok();
            match session.platform().accept_offer(&session.caller, item.uuid, &offer, version, None).await {
                Ok(_) => {
                    return Ok(admin.redirect(&WayBack::of(&form).path_after(&sale, &item, "offer")).into_response());
                }
                Err(error) => {
                    let tried = (&item, offer.buyer.as_str(), amount);
                    asked = add_error(&session, &sale, tried, error, &mut errors).await?;
                }
            }
        }
    }
    let (sale, item) = lot::load(&session, auction, item.uuid).await?;
    show(&session, &sale, &item, (&form, &errors), (asked, StatusCode::UNPROCESSABLE_ENTITY)).await
}

/// Adds why an offer to a paddle at an amount was not taken. Returns the amount if staff can confirm it.
pub(super) async fn add_error(
    session: &Session,
    sale: &Sale,
    (item, paddle, amount): (&Item, &str, i64),
    error: PlatformError,
    errors: &mut FieldErrors,
) -> Result<Option<UnusualAmount>, PageError> {
    if let Some(text) = paddles::proposal(session, sale.auction.uuid, paddle).await? {
        errors.add("buyer", text);
    }
    let asked = UnusualAmount::of(&error, amount, &sale.currency);
    match &asked {
        Some(asked) => errors.add("amount", asked.fault()),
        None => add_refusal(session, sale, (item, paddle), error, errors).await?,
    }
    Ok(asked)
}

/// Adds a refusal, with one about the buyer in words for staff.
async fn add_refusal(
    session: &Session,
    sale: &Sale,
    (item, paddle): (&Item, &str),
    error: PlatformError,
    errors: &mut FieldErrors,
) -> Result<(), PageError> {
    if let PlatformError::Rejected(Rejection::AlreadyRelisted { .. }) = &error {
        errors.add("", "The lot was relisted: sell the lot that took its place in the other auction.");
        return Ok(());
    }
    if let PlatformError::Rejected(rejection) = &error {
        let found = buyer_words::registration(session, sale.auction.uuid, paddle).await?;
        let (lot, money) = (format!("lot {}", item.lot_number), |minor| sale.currency.exact(minor));
        if let Some(words) = buyer_words::of(rejection, (paddle, found.as_ref()), &lot, &money) {
            errors.add("buyer", words);
            return Ok(());
        }
    }
    refusal::add_to(errors, error)
}

async fn show(
    session: &Session,
    sale: &Sale,
    item: &Item,
    (values, errors): (&FormFields, &FieldErrors),
    (asked, status): (Option<UnusualAmount>, StatusCode),
) -> Result<Response, PageError> {
    let mut fields = vec![
        FormField::text("buyer", "Paddle of the buyer", values.text("buyer"))
            .required()
            .hint("An approved registration of this auction."),
        FormField::text("amount", format!("Hammer price, {}", sale.currency.code()), values.text("amount")).required(),
        reason_field(values.text("reason")).required(),
    ];
    fields.extend(asked.map(|asked| asked.field_of_offer()));
    let reserve = item
        .reserve
        .map(|reserve| format!("The reserve is {}; an offer may lie below it.", sale.currency.exact(reserve.reveal())));
    let what = format!("one event that lot {} is sold", item.lot_number);
    let mut page = SoldForm::new(session, (sale, item), &WayBack::of(values), ("offer", "Record post-sale offer"));
    page.consequences = ["The lot is sold to this buyer at this price, and counts in the results.".to_owned()]
        .into_iter()
        .chain(reserve)
        .chain(bidder_offer::ending(&bidder_offer::of_lot(session, sale, item).await?))
        .chain([notified::words(session, sale, &what).await?])
        .collect();
    page.fields = fields.into_iter().map(|field| field.with(errors)).collect();
    page.errors = ErrorSummary::of_fields(errors, &page.fields);
    render_page_as(status, &page)
}
