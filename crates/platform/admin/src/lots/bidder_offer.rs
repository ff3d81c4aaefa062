//! Offers a lot that did not sell to one bidder with an account, and withdraws the offer.

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use jiff::Timestamp;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, FormFields, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::frame::render_page_as;
use platform_core::port::OfferOutcome;
use platform_core::sales::items::lot_offers::{NewLotOffer, OFFER_VALID, OfferOfLot, OfferState};
use platform_core::{PlatformError, Scope};
use platform_rules::Item;
use uuid::Uuid;

use super::sold_form::SoldForm;
use super::{lot, offer};
use crate::admin::Admin;
use crate::form_page::{FormPage, not_found};
use crate::page_error::PageError;
use crate::results::WayBack;
use crate::sale::Sale;
use crate::sale::unusual::{self, UnusualAmount};
use crate::session::{PathIds, Section, Session};

/// An offer in a list.
pub(crate) struct OfferRow {
    pub(crate) id: Uuid,
    pub(crate) item: Uuid,
    pub(crate) lot_number: String,
    pub(crate) paddle: String,
    pub(crate) amount: String,
    pub(crate) until: String,
    pub(crate) state: String,
    /// The class of the state's colour.
    pub(crate) kind: &'static str,
    pub(crate) is_open: bool,
    /// The offer can be withdrawn by this user.
    pub(crate) can_withdraw: bool,
}

impl OfferRow {
    pub(crate) fn of(session: &Session, sale: &Sale, found: OfferOfLot) -> Self {
        let OfferOfLot { offer, state, paddle, lot_number } = found;
        let (words, kind) = match state {
            OfferState::Open => ("Waits for the bidder", "wait"),
            OfferState::Ended(OfferOutcome::Accepted) => ("Accepted", "good"),
            OfferState::Ended(OfferOutcome::Declined) => ("Declined", "bad"),
            OfferState::Ended(OfferOutcome::Withdrawn) => ("Withdrawn", "off"),
            OfferState::Ended(OfferOutcome::Lapsed) | OfferState::Over => ("Ended without an answer", "off"),
        };
        let at = offer.ended.as_ref().filter(|_| state != OfferState::Ended(OfferOutcome::Lapsed));
        let is_open = state == OfferState::Open;
        Self {
            id: offer.uuid,
            item: offer.item,
            lot_number,
            paddle: paddle.unwrap_or_else(|| "erased".to_owned()),
            amount: sale.currency.show(offer.amount),
            until: sale.zone.show(offer.until),
            state: at.map_or_else(|| words.to_owned(), |end| format!("{words} {}", sale.zone.show(end.at))),
            kind,
            is_open,
            can_withdraw: is_open && session.may(Scope::AuctionsWrite),
        }
    }
}

/// The offers of a lot, the latest first.
pub(super) async fn of_lot(session: &Session, sale: &Sale, item: &Item) -> Result<Vec<OfferRow>, PageError> {
    let found = session.platform().offers_of_lot(&session.caller, item.uuid).await?;
    Ok(found.into_iter().map(|found| OfferRow::of(session, sale, found)).collect())
}

/// True when the lot can be offered to a bidder.
pub(super) fn is_possible(sale: &Sale, item: &Item, offers: &[OfferRow]) -> bool {
    offer::is_possible(sale, item) && offers.iter().all(|offer| !offer.is_open)
}

/// The form.
pub(super) async fn page(session: Session, PathIds([auction, item]): PathIds<2>) -> Result<Response, PageError> {
    let (sale, item) = lot::load(&session, auction, item).await?;
    let until = session.now() + OFFER_VALID;
    // Whole minutes, as people choose them.
    let until = Timestamp::from_second(until.as_second() / 60 * 60).unwrap_or(until);
    let until = form_urlencoded::Serializer::new(String::new()).append_pair("until", &sale.zone.field(until)).finish();
    let form = FormFields::of_query(&until).unwrap_or_default();
    show(&session, &sale, &item, (&form, &FieldErrors::default()), (None, StatusCode::OK))
}

/// Makes the offer, or shows the form again with its errors.
pub(super) async fn make(
    session: Session,
    State(admin): State<Admin>,
    PathIds([auction, item]): PathIds<2>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let (sale, item) = lot::load(&session, auction, item).await?;
    let (mut errors, mut asked) = (FieldErrors::default(), None);
    let amount = sale.currency.parse(form.text("amount")).map_err(|wrong| errors.add("amount", wrong)).ok();
    let until = match sale.zone.parse(form.text("until"), None) {
        Ok(Some(until)) => Some(until),
        Ok(None) => {
            errors.add("until", "is empty: choose a date and time");
            None
        }
        Err(wrong) => {
            errors.add("until", wrong);
            None
        }
    };
    if let (Some(amount), Some(until)) = (amount, until) {
        let buyer = form.text("buyer").to_owned();
        let id = Uuid::try_parse(form.text("id")).unwrap_or_else(|_| session.platform().new_offer_id());
        let new = NewLotOffer { id, buyer, amount, until, unusual_amount: unusual::is_confirmed(&form, amount) };
        let version = form.text("version").parse().ok();
        match session.platform().offer_lot(&session.caller, item.uuid, &new, version).await {
            Ok(_) => {
                let path = sale.path(&format!("/lots/{}?done=offered#offers", item.uuid));
                return Ok(admin.redirect(&path).into_response());
            }
            Err(PlatformError::Taken(_)) => {
                errors.add("", "The lot has an open offer. Withdraw it first, or wait for the answer.");
            }
            Err(error) => {
                let tried = (&item, new.buyer.as_str(), amount);
                asked = offer::add_error(&session, &sale, tried, error, &mut errors).await?;
            }
        }
    }
    let (sale, item) = lot::load(&session, auction, item.uuid).await?;
    show(&session, &sale, &item, (&form, &errors), (asked, StatusCode::UNPROCESSABLE_ENTITY))
}

fn show(
    session: &Session,
    sale: &Sale,
    item: &Item,
    (values, errors): (&FormFields, &FieldErrors),
    (asked, status): (Option<UnusualAmount>, StatusCode),
) -> Result<Response, PageError> {
    let mut fields = vec![
        FormField::text("buyer", "Paddle of the bidder", values.text("buyer"))
            .required()
            .hint("An approved registration of this auction, whose bidder has an account."),
        FormField::text("amount", format!("Hammer price, {}", sale.currency.code()), values.text("amount")).required(),
        FormField::time("until", format!("Answer before, {}", sale.zone.name()), values.text("until"))
            .required()
            .hint("From 15 minutes to 30 days from now."),
    ];
    fields.extend(asked.map(|asked| asked.field_of_offer()));
    let mut page = SoldForm::new(session, (sale, item), &WayBack::default(), ("bidder-offer", "Offer to a bidder"));
    page.id = Some(session.platform().new_offer_id());
    page.consequences = vec![
        "The bidder receives a notice with the price, premium and taxes, and answers in the saleroom.".to_owned(),
        "If the bidder accepts, the lot is sold at once, and the sale is announced.".to_owned(),
        "You can withdraw the offer until the bidder answers.".to_owned(),
    ];
    page.fields = fields.into_iter().map(|field| field.with(errors)).collect();
    page.errors = ErrorSummary::of_fields(errors, &page.fields);
    render_page_as(status, &page)
}

/// The page that asks whether to withdraw an offer.
pub(super) async fn withdraw_page(
    session: Session,
    PathIds([auction, item, offer]): PathIds<3>,
) -> Result<Response, PageError> {
    let (sale, item) = lot::load(&session, auction, item).await?;
    let found = of_lot(&session, &sale, &item).await?.into_iter().find(|found| found.id == offer);
    let found = found.ok_or_else(not_found)?;
    let lot_path = sale.path(&format!("/lots/{}", item.uuid));
    let title = format!("Withdraw offer: lot {}", item.lot_number);
    let page = FormPage::new(
        session.frame(title, Section::Auctions),
        (lot_path.clone(), format!("Lot {}", item.lot_number)),
        format!("{lot_path}/bidder-offer/{offer}/withdraw"),
    )
    .intro(format!("Paddle {}, {}, until {}. {}.", found.paddle, found.amount, found.until, found.state));
    if !found.is_open {
        return page.hindered_by("The offer has ended.").open();
    }
    page.causes("The bidder can't accept it any more. The lot does not change.").destroys("Withdraw offer").open()
}

/// Withdraws an offer.
pub(super) async fn withdraw(
    session: Session,
    State(admin): State<Admin>,
    PathIds([auction, item, offer]): PathIds<3>,
) -> Result<Response, PageError> {
    let (sale, item) = lot::load(&session, auction, item).await?;
    let is_withdrawn = session.platform().withdraw_offer(&session.caller, (item.uuid, offer)).await?;
    let done = if is_withdrawn { "offer-withdrawn" } else { "offer-ended" };
    Ok(admin.redirect(&sale.path(&format!("/lots/{}?done={done}#offers", item.uuid))).into_response())
}

/// What a change of lots does to the offers that are open, in one sentence; none without an open offer.
pub(crate) fn ending(offers: &[OfferRow]) -> Option<String> {
    let open: Vec<&OfferRow> = offers.iter().filter(|offer| offer.is_open).collect();
    let told = "The bidder can't accept any more, and gets no notice of it.";
    match open.as_slice() {
        [] => None,
        [offer] => Some(format!(
            "The open offer of lot {} to paddle {} ({}, until {}) ends. {told}",
            offer.lot_number, offer.paddle, offer.amount, offer.until
        )),
        offers => Some(format!(
            "{} open offers end: lots {}. The bidders can't accept any more, and get no notice of it.",
            offers.len(),
            offers.iter().map(|offer| offer.lot_number.as_str()).collect::<Vec<_>>().join(", ")
        )),
    }
}

/// The open offers of a sale with the latest answers, in words for its first page.
pub(crate) async fn of_sale(session: &Session, sale: &Sale) -> Result<Vec<OfferRow>, PageError> {
    let found = session.platform().offers_of_sale(&session.caller, sale.auction.uuid).await?;
    let mut rows: Vec<OfferRow> = found.into_iter().map(|found| OfferRow::of(session, sale, found)).collect();
    // The open ones first.
    rows.sort_by_key(|row| !row.is_open);
    Ok(rows)
}
