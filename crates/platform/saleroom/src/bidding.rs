//! Bids that a bidder sends from the page of a lot. Every one is answered in words, on the page of the lot.

use axum::response::{IntoResponse as _, Redirect, Response};
use http::StatusCode;
use kit_design::fields::{FormFields, SubmittedForm};
use platform_core::PlatformError;
use platform_core::saleroom::{SaleroomBid, SaleroomRefusal, SaleroomSale};
use platform_rules::Rejection;
use platform_words::Currency;

use crate::account::sign_in_first;
use crate::bid_box::{Answer, Asked, LotStanding, Wish};
use crate::house::House;
use crate::lot;
use crate::lot_words::with_charges;
use crate::page_error::PageError;

/// Characters of the key of a form.
const KEY_CHARS_MAX: usize = 80;

/// What a form bids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Next,
    Max,
    Buy,
    /// Withdraws the commission bid.
    Withdraw,
}

impl Kind {
    fn of(form: &FormFields) -> Option<Self> {
        match form.text("kind") {
            "next" => Some(Self::Next),
            "max" => Some(Self::Max),
            "buy" => Some(Self::Buy),
            "withdraw" => Some(Self::Withdraw),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Next => "next",
            Self::Max => "max",
            Self::Buy => "buy",
            Self::Withdraw => "withdraw",
        }
    }
}

/// Asks for a second press, or places the bid.
pub(crate) async fn bid(house: House<2>, SubmittedForm(form): SubmittedForm) -> Result<Response, PageError> {
    let [auction, item] = house.ids;
    let own = format!("{}/sales/{auction}/lots/{item}", house.path());
    let Some(bidder) = &house.bidder else { return Ok(sign_in_first(&house.path(), &own)) };
    let sale = house.platform().saleroom_sale(&house.saleroom, auction).await?;
    let currency = Currency::of(&sale.auction);
    let key = form.text("key");
    let Some(kind) = Kind::of(&form).filter(|_| !key.is_empty() && key.len() <= KEY_CHARS_MAX) else {
        return Ok(Redirect::to(&own).into_response());
    };
    if kind == Kind::Withdraw {
        let answer = match house.platform().withdraw_commission_bid(&house.saleroom, bidder, (auction, item)).await {
            Ok(()) => Answer { words: "Your commission bid is withdrawn.".to_owned(), is_placed: true, kind: "info" },
            Err(error) => Answer { words: refusal(error, &currency, 0)?, is_placed: false, kind: "bad" },
        };
        return lot::shown(&house, &sale, Wish { answer, ..Wish::default() }, StatusCode::OK).await;
    }
    let is_confirmed = form.text("confirmed") == "yes";
    // A maximum is typed, as people write amounts; the amounts of buttons are minor units.
    let typed = form.text("amount");
    let amount = match kind {
        Kind::Max if !is_confirmed => currency.parse(typed),
        _ => typed.parse::<i64>().map_err(|_| "is not an amount".to_owned()),
    };
    let amount = match amount {
        Ok(amount) => amount,
        Err(fault) => {
            let wish = Wish { typed: (typed.to_owned(), fault), ..Wish::default() };
            return lot::shown(&house, &sale, wish, StatusCode::UNPROCESSABLE_ENTITY).await;
        }
    };
    if !is_confirmed {
        let wish = Wish { asks: Some(asked(&sale, kind, amount)), ..Wish::default() };
        return lot::shown(&house, &sale, wish, StatusCode::OK).await;
    }
    let placed = match kind {
        Kind::Next | Kind::Max => {
            let bid = if kind == Kind::Next { SaleroomBid::Next(amount) } else { SaleroomBid::UpTo(amount) };
            let placed = house.platform().bid_in_saleroom(&house.saleroom, bidder, (auction, item), bid, key).await;
            placed.map(|placed| match placed.is_repeated {
                true => (format!("Already received: {}.", currency.show(amount)), "info", false),
                false => match LotStanding::of(&placed.own, &placed.sale, &currency) {
                    Some(LotStanding { words, kind }) => (words, kind, true),
                    None => (format!("Sent {}.", currency.show(amount)), "info", true),
                },
            })
        }
        Kind::Buy | Kind::Withdraw => {
            let bought =
                house.platform().buy_now_in_saleroom(&house.saleroom, bidder, (auction, item), amount, key).await;
            bought.map(|()| (format!("✓ Bought for {}.", currency.show(amount)), "good", true))
        }
    };
    let (words, kind, is_placed, status) = match placed {
        Ok((words, kind, is_placed)) => (words, kind, is_placed, StatusCode::OK),
        Err(error) => (refusal(error, &currency, amount)?, "bad", false, StatusCode::CONFLICT),
    };
    let wish = Wish { answer: Answer { words, is_placed, kind }, ..Wish::default() };
    lot::shown(&house, &sale, wish, status).await
}

/// Begins or ends watching the lot.
pub(crate) async fn watch(house: House<2>, SubmittedForm(form): SubmittedForm) -> Result<Response, PageError> {
    let [auction, item] = house.ids;
    let own = format!("{}/sales/{auction}/lots/{item}", house.path());
    let Some(bidder) = &house.bidder else { return Ok(sign_in_first(&house.path(), &own)) };
    let watches = form.text("watch") == "yes";
    house.platform().watch_lot(&house.saleroom, bidder, (auction, item), watches).await?;
    Ok(Redirect::to(&own).into_response())
}

fn asked(sale: &SaleroomSale, kind: Kind, amount: i64) -> Asked {
    let currency = Currency::of(&sale.auction);
    let shown = currency.show(amount);
    let words = match kind {
        Kind::Next => format!("Confirm {shown}"),
        Kind::Max => format!("Confirm your maximum of {shown}"),
        Kind::Buy | Kind::Withdraw => format!("Confirm: buy for {shown}"),
    };
    Asked { kind: kind.name(), amount, words, total: with_charges(&sale.auction, &currency, amount) }
}

/// Why a bid was not placed, in words that say what to do next. Errors that no bidder can do anything about are passed on.
fn refusal(error: PlatformError, currency: &Currency, amount: i64) -> Result<String, PageError> {
    let show = |amount: i64| currency.show(amount);
    Ok(match error {
        PlatformError::Saleroom(SaleroomRefusal::PriceMoved { minimum, is_equal: true }) => {
            format!("{} was bid before you. Next {}.", show(amount), show(minimum))
        }
        PlatformError::Saleroom(SaleroomRefusal::PriceMoved { minimum, is_equal: false }) => {
            format!("The price moved. Nothing was sent. Next {}.", show(minimum))
        }
        PlatformError::Saleroom(SaleroomRefusal::AlreadyLeading) => {
            "You lead already. Nothing was sent. Raise your maximum if you like.".to_owned()
        }
        PlatformError::Saleroom(SaleroomRefusal::RegistrationRequired) => {
            "You are not registered for this sale. Nothing was sent.".to_owned()
        }
        PlatformError::Rejected(Rejection::BidTooLow { minimum }) => {
            format!("{} is too low. Nothing was sent. Bid {} or more.", show(amount), show(minimum))
        }
        PlatformError::Rejected(Rejection::MaximumNotRaised) => {
            format!(
                "{} is not above your maximum, which can’t be lowered. Nothing was sent. If it was a mistake, call the house at once.",
                show(amount)
            )
        }
        PlatformError::Rejected(Rejection::SpendingLimitReached { limit, committed, .. }) => {
            let (limit, committed) = (show(limit), show(committed));
            format!(
                "Over your limit of {limit} in this sale: {committed} is taken by lots that you lead or won. Nothing was sent. Ask \
                 the house for more."
            )
        }
        PlatformError::Rejected(Rejection::AlreadyLeading) => "You lead already. Nothing was sent.".to_owned(),
        PlatformError::Rejected(Rejection::RingPaused) => "Bidding is paused. Nothing was sent.".to_owned(),
        PlatformError::Rejected(Rejection::ItemEnded { .. } | Rejection::ItemNotLive { .. }) => {
            "The lot has ended. Your bid arrived too late and does not count.".to_owned()
        }
        PlatformError::Rejected(Rejection::AuctionNotStarted { .. } | Rejection::AuctionNotLive { .. }) => {
            "Bidding is not open. Nothing was sent.".to_owned()
        }
        PlatformError::Rejected(Rejection::VendorBarred) => {
            "This lot was consigned by you, so you can’t bid on it.".to_owned()
        }
        PlatformError::Rejected(Rejection::BidderSuspended | Rejection::BidderNotApproved) => {
            "The house has suspended your paddle. Nothing was sent. Contact the house.".to_owned()
        }
        PlatformError::Rejected(Rejection::ItemInRing) => {
            "The lot is in the ring. Nothing was sent. Bid at the asking price.".to_owned()
        }
        PlatformError::Rejected(Rejection::NotInRing) => {
            "The lot is not in the ring any more. Nothing was sent.".to_owned()
        }
        PlatformError::Rejected(Rejection::NoCommission) => "You have no commission bid on this lot.".to_owned(),
        PlatformError::Rejected(Rejection::NoBuyNow | Rejection::BuyNowOver { .. }) => {
            "The lot can’t be bought at once any more. Nothing was sent.".to_owned()
        }
        PlatformError::Rejected(Rejection::BidTooHigh { maximum }) => {
            format!("{} is too high. Nothing was sent. Bid at most {}.", show(amount), show(maximum))
        }
        PlatformError::IdempotencyMismatch => {
            "This bid was sent before with another amount. Nothing was sent.".to_owned()
        }
        PlatformError::Rejected(_) | PlatformError::Busy => {
            "The bid was not placed: the lot is being changed. Try again.".to_owned()
        }
        error => return Err(error.into()),
    })
}
