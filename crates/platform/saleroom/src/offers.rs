//! Offers of the house: a lot that did not sell, which the bidder accepts or declines on the page of the lot.

use axum::response::{IntoResponse as _, Redirect, Response};
use http::StatusCode;
use kit_design::fields::SubmittedForm;
use platform_core::PlatformError;
use platform_core::port::{LotOffer, OfferOutcome};
use platform_core::saleroom::{OfferAnswer, SaleroomLot, SaleroomRefusal};
use platform_core::sales::items::lot_offers::OfferState;
use platform_rules::{Auction, Rejection};
use platform_words::{Words, key};
use uuid::Uuid;

use crate::account::sign_in_first;
use crate::bid_box::{Answer, Wish};
use crate::bidding;
use crate::house::House;
use crate::lot;
use crate::lot_words::with_charges;
use crate::page_error::PageError;

/// An answer that the bidder has to press again for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    Accept,
    Decline,
}

/// An open offer with its forms, in the bid box.
pub(crate) struct OfferForms {
    pub(crate) id: Uuid,
    /// What the bidder sees, and sends with the answer: the version of the lot, and the price with premium and taxes in minor units.
    pub(crate) seen: (i64, i64),
    /// Such as `The house offers you lot 12 at £480. £624 with premium and taxes. Answer before Fri 4 Dec 2026, 19:00 GMT.`
    pub(crate) words: String,
    /// The price, and the price with premium and taxes; empty when they add nothing.
    pub(crate) amount: String,
    pub(crate) total: String,
    /// The answer that waits for a second press; none before the first.
    pub(crate) asks: Option<Ask>,
}

impl OfferForms {
    pub(crate) fn of(words: Words, auction: &Auction, lot: &SaleroomLot, offer: &LotOffer, asks: Option<Ask>) -> Self {
        Self {
            id: offer.uuid,
            seen: (lot.sale.version, auction.charges.on(offer.amount).total),
            words: sentence(words, auction, &lot.lot_number, offer),
            amount: words.currency(auction).show(offer.amount),
            total: with_charges(words, auction, offer.amount),
            asks,
        }
    }

    /// A first press asked whether to buy.
    pub(crate) fn asks_to_buy(&self) -> bool {
        self.asks == Some(Ask::Accept)
    }
}

/// Why an offer can't be answered any more; none for one that can.
pub(crate) fn ended(state: OfferState) -> Option<&'static str> {
    match state {
        OfferState::Open => None,
        OfferState::Ended(OfferOutcome::Withdrawn) => Some(key("offer-withdrawn")),
        OfferState::Ended(OfferOutcome::Declined) => Some(key("offer-declined")),
        OfferState::Ended(OfferOutcome::Accepted | OfferOutcome::Lapsed) | OfferState::Over => Some(key("offer-over")),
    }
}

/// The offer in words.
pub(crate) fn sentence(words: Words, auction: &Auction, lot_number: &str, offer: &LotOffer) -> String {
    let amount = words.currency(auction).show(offer.amount);
    let total = with_charges(words, auction, offer.amount);
    in_words(words, (lot_number, amount, total), words.zone(auction).show(offer.until))
}

/// The sentences about an offer. The total is empty where premium and taxes add nothing.
pub(crate) fn in_words(words: Words, (lot_number, amount, total): (&str, String, String), until: String) -> String {
    let lot = words.with("offer-lot", [("lot", lot_number.into()), ("amount", amount.into())]);
    let total = if total.is_empty() { String::new() } else { format!(" {total}.") };
    format!("{lot}{total} {}", words.fill("offer-until", "time", until))
}

/// Asks for a second press, or answers the offer.
pub(crate) async fn answer(house: House<2>, SubmittedForm(form): SubmittedForm) -> Result<Response, PageError> {
    let [auction, item] = house.ids;
    let own = format!("{}/sales/{auction}/lots/{item}", house.path());
    let Some(bidder) = &house.bidder else { return Ok(sign_in_first(&house.path(), &own)) };
    let ask = match form.text("answer") {
        "accept" => Ask::Accept,
        "decline" => Ask::Decline,
        _ => return Ok(Redirect::to(&own).into_response()),
    };
    let Ok(offer) = Uuid::try_parse(form.text("offer")) else { return Ok(Redirect::to(&own).into_response()) };
    let sale = house.platform().saleroom_sale(&house.saleroom, auction).await?;
    if form.text("confirmed") != "yes" {
        let wish = Wish { offer: Some(ask), ..Wish::default() };
        return lot::shown(&house, &sale, wish, StatusCode::OK).await;
    }
    // A form without what the bidder saw is answered as one that saw something else.
    let seen = |name: &str| form.text(name).parse().unwrap_or(-1);
    let answer = match ask {
        Ask::Accept => OfferAnswer::Accept { lot_version: seen("lotVersion"), total: seen("total") },
        Ask::Decline => OfferAnswer::Decline,
    };
    let words = house.words;
    let currency = words.currency(&sale.auction);
    let answered = house.platform().answer_offer(&house.saleroom, bidder, (auction, item), offer, answer).await;
    let (answer, status) = match answered {
        Ok(offer) => {
            let (words, kind) = match ask {
                Ask::Accept => (words.fill("offer-accepted", "amount", currency.show(offer.amount)), "good"),
                Ask::Decline => (words.of("offer-declined").into_owned(), "info"),
            };
            (Answer { words, is_placed: true, kind }, StatusCode::OK)
        }
        Err(error) => {
            let words = match refusal(&error) {
                Some(message) => words.of(message).into_owned(),
                None => bidding::refusal(words, error, &currency, 0)?,
            };
            (Answer { words, is_placed: false, kind: "bad" }, StatusCode::CONFLICT)
        }
    };
    // The sale can have changed since it was read.
    let sale = house.platform().saleroom_sale(&house.saleroom, auction).await?;
    lot::shown(&house, &sale, Wish { answer, ..Wish::default() }, status).await
}

/// Why an answer was refused; none for a refusal that is worded as that of a bid.
fn refusal(error: &PlatformError) -> Option<&'static str> {
    match error {
        PlatformError::Saleroom(SaleroomRefusal::OfferOver) => Some(key("offer-over")),
        PlatformError::Saleroom(SaleroomRefusal::OfferChanged) => Some(key("offer-changed")),
        PlatformError::Saleroom(SaleroomRefusal::OfferWithdrawn) => Some(key("offer-withdrawn")),
        PlatformError::Saleroom(SaleroomRefusal::OfferAnswered { outcome: OfferOutcome::Accepted }) => {
            Some(key("offer-accepted-before"))
        }
        PlatformError::Saleroom(SaleroomRefusal::OfferAnswered { .. }) => Some(key("offer-declined-before")),
        PlatformError::Rejected(
            Rejection::SpendingLimitReached { .. }
            | Rejection::BidderSuspended
            | Rejection::BidderNotApproved
            | Rejection::VendorBarred,
        ) => None,
        PlatformError::Rejected(Rejection::ItemsFollowing) | PlatformError::Busy => Some(key("offer-busy")),
        PlatformError::Rejected(_) => Some(key("offer-over")),
        _ => None,
    }
}
