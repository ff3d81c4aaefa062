//! Bids that a bidder sends from the page of a lot. Every one is answered in words, on the page of the lot.

use axum::response::{IntoResponse as _, Redirect, Response};
use contract::ItemStatus;
use http::StatusCode;
use jiff::Timestamp;
use kit_design::fields::{FormFields, SubmittedForm};
use platform_core::PlatformError;
use platform_core::port::Language;
use platform_core::saleroom::{BidForm, SaleroomBid, SaleroomRefusal, SaleroomSale};
use platform_rules::Rejection;
use platform_words::{Currency, Words, key};

use crate::account::sign_in_first;
use crate::bid_box::{Answer, Asked, LotStanding, Wish};
use crate::house::House;
use crate::lot;
use crate::lot_words::{rates_of, with_charges};
use crate::page_error::PageError;

/// Characters of the key of a form.
const KEY_CHARS_MAX: usize = 80;

/// A bid that arrived later than this is answered without the time.
const LATE_SHOWN_MS_MAX: i128 = 60_000;

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
    let received_at = house.platform().now();
    let own = format!("{}/sales/{auction}/lots/{item}", house.path());
    let Some(bidder) = &house.bidder else { return Ok(sign_in_first(&house.path(), &own)) };
    let sale = house.platform().saleroom_sale(&house.saleroom, auction).await?;
    let words = house.words;
    let currency = words.currency(&sale.auction);
    let form_key = form.text("key");
    let Some(kind) = Kind::of(&form).filter(|_| !form_key.is_empty() && form_key.len() <= KEY_CHARS_MAX) else {
        return Ok(Redirect::to(&own).into_response());
    };
    if kind == Kind::Withdraw {
        let answer = match house.platform().withdraw_commission_bid(&house.saleroom, bidder, (auction, item)).await {
            Ok(()) => Answer { words: words.of("bid-withdrawn").into_owned(), is_placed: true, kind: "info" },
            Err(error) => Answer { words: refusal(words, error, &currency, 0)?, is_placed: false, kind: "bad" },
        };
        return lot::shown(&house, &sale, Wish { answer, ..Wish::default() }, StatusCode::OK).await;
    }
    let is_confirmed = form.text("confirmed") == "yes";
    // A maximum is typed, as people write amounts; the amounts of buttons are minor units.
    let typed = form.text("amount");
    let amount = match kind {
        Kind::Max if !is_confirmed => currency.parse_in_words(typed),
        _ => typed.parse::<i64>().map_err(|_| words.of("amount-none").into_owned()),
    };
    let amount = match amount {
        Ok(amount) => amount,
        Err(fault) => {
            let wish = Wish { typed: (typed.to_owned(), fault), ..Wish::default() };
            return lot::shown(&house, &sale, wish, StatusCode::UNPROCESSABLE_ENTITY).await;
        }
    };
    if !is_confirmed {
        let wish = Wish { asks: Some(asked(words, &sale, kind, amount)), ..Wish::default() };
        return lot::shown(&house, &sale, wish, StatusCode::OK).await;
    }
    // Rates can change until the sale has its first bid. A typed maximum has no total beside it before it is asked for again.
    let rates = rates_of(form.text("rates"));
    let form = BidForm { key: form_key, rates: Some(rates) };
    let placed = match kind {
        Kind::Next | Kind::Max => {
            let bid = if kind == Kind::Next { SaleroomBid::Next(amount) } else { SaleroomBid::UpTo(amount) };
            let placed = house.platform().bid_in_saleroom(&house.saleroom, bidder, (auction, item), bid, form).await;
            placed.map(|placed| match placed.is_repeated {
                true => (words.fill("bid-received", "amount", currency.show(amount)), "info", false),
                false => match LotStanding::of(words, &placed.own, &placed.sale, &currency) {
                    Some(LotStanding { words, kind }) => (words, kind, true),
                    None => (words.fill("bid-sent", "amount", currency.show(amount)), "info", true),
                },
            })
        }
        Kind::Buy | Kind::Withdraw => {
            let bought =
                house.platform().buy_now_in_saleroom(&house.saleroom, bidder, (auction, item), amount, form).await;
            bought.map(|()| (words.fill("bid-bought", "amount", currency.show(amount)), "good", true))
        }
    };
    let have_rates_moved = matches!(placed, Err(PlatformError::Saleroom(SaleroomRefusal::RatesMoved)));
    let (words, kind, is_placed, status) = match placed {
        Ok((words, kind, is_placed)) => (words, kind, is_placed, StatusCode::OK),
        Err(error) => {
            let late = lateness(&house, &error, received_at).await;
            let refused = refusal(words, error, &currency, amount)?;
            (late.unwrap_or(refused), "bad", false, StatusCode::CONFLICT)
        }
    };
    let wish = Wish { answer: Answer { words, is_placed, kind }, ..Wish::default() };
    let sale = if have_rates_moved { house.platform().saleroom_sale(&house.saleroom, auction).await? } else { sale };
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

fn asked(words: Words, sale: &SaleroomSale, kind: Kind, amount: i64) -> Asked {
    let message = match kind {
        Kind::Next => key("bid-confirm"),
        Kind::Max => key("bid-confirm-maximum"),
        Kind::Buy | Kind::Withdraw => key("bid-confirm-buy"),
    };
    Asked {
        kind: kind.name(),
        amount,
        words: words.fill(message, "amount", words.currency(&sale.auction).show(amount)),
        total: with_charges(words, &sale.auction, amount),
    }
}

/// How late a bid for a lot of a timed auction arrived, in words; none for another refusal, and long after the end.
async fn lateness(house: &House<2>, error: &PlatformError, received_at: Timestamp) -> Option<String> {
    let ended_at = match error {
        PlatformError::Rejected(Rejection::ItemEnded { ended_at }) => *ended_at,
        PlatformError::Rejected(Rejection::ItemNotLive { .. }) => {
            let [auction, item] = house.ids;
            let lot = house.platform().saleroom_lot(&house.saleroom, (auction, item)).await.ok()?.lot;
            lot.sale.effective_end_time.filter(|_| matches!(lot.sale.status, ItemStatus::Sold | ItemStatus::Unsold))?
        }
        _ => return None,
    };
    let late_ms = received_at.duration_since(ended_at).as_millis();
    if !(0..LATE_SHOWN_MS_MAX).contains(&late_ms) {
        return None;
    }
    tracing::info!(late_ms, lot = %house.ids[1], "a bid arrived after the end of its lot");
    Some(house.words.fill("refused-late", "seconds", tenths(house.words, late_ms)))
}

/// Seconds with one decimal, rounded up: no late bid arrived 0.0 s late.
fn tenths(words: Words, ms: i128) -> String {
    let tenths = (ms + 99) / 100;
    let mark = if words.language() == Language::English { '.' } else { ',' };
    format!("{}{mark}{}", tenths.max(1) / 10, tenths.max(1) % 10)
}

/// Why a bid was not placed, in words that say what to do next. Errors that no bidder can do anything about are passed on.
pub(crate) fn refusal(
    words: Words,
    error: PlatformError,
    currency: &Currency,
    amount: i64,
) -> Result<String, PageError> {
    let (amount, show) = (currency.show(amount), |amount: i64| currency.show(amount));
    let message = match error {
        PlatformError::Saleroom(refusal) => match refusal {
            SaleroomRefusal::RatesMoved => key("bid-rates-moved"),
            SaleroomRefusal::PriceMoved { minimum, is_equal: true } => {
                let next = show(minimum);
                return Ok(words.with("refused-equal", [("amount", amount.into()), ("next", next.into())]));
            }
            SaleroomRefusal::PriceMoved { minimum, is_equal: false } => {
                return Ok(words.fill("refused-moved", "next", show(minimum)));
            }
            SaleroomRefusal::AlreadyLeading => key("refused-leading"),
            SaleroomRefusal::LinkLost => key("live-link-lost"),
            SaleroomRefusal::RegistrationRequired => key("refused-unregistered"),
            refusal => return Err(PlatformError::Saleroom(refusal).into()),
        },
        PlatformError::Rejected(rejection) => match rejection {
            Rejection::BidTooLow { minimum } => {
                let least = show(minimum);
                return Ok(words.with("refused-low", [("amount", amount.into()), ("least", least.into())]));
            }
            Rejection::BidTooHigh { maximum } => {
                let most = show(maximum);
                return Ok(words.with("refused-high", [("amount", amount.into()), ("most", most.into())]));
            }
            Rejection::MaximumNotRaised => return Ok(words.fill("refused-maximum", "amount", amount)),
            Rejection::SpendingLimitReached { limit, committed, .. } => {
                let (limit, committed) = (show(limit), show(committed));
                return Ok(words.with("refused-limit", [("limit", limit.into()), ("committed", committed.into())]));
            }
            Rejection::AlreadyLeading => key("refused-leads"),
            Rejection::RingPaused => key("refused-paused"),
            Rejection::ItemEnded { .. } | Rejection::ItemNotLive { .. } => key("refused-ended"),
            Rejection::AuctionNotStarted { .. } | Rejection::AuctionNotLive { .. } => key("refused-closed"),
            Rejection::VendorBarred => key("refused-own-lot"),
            Rejection::BidderSuspended | Rejection::BidderNotApproved => key("refused-suspended"),
            Rejection::ItemInRing => key("refused-in-ring"),
            Rejection::NotInRing => key("refused-not-in-ring"),
            Rejection::NoCommission => key("refused-no-commission"),
            Rejection::NoBuyNow | Rejection::BuyNowOver { .. } => key("refused-no-buy-now"),
            _ => key("refused-busy"),
        },
        PlatformError::IdempotencyMismatch => key("refused-other-amount"),
        PlatformError::Busy => key("refused-busy"),
        error => return Err(error.into()),
    };
    Ok(words.of(message).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_have_one_decimal_and_are_never_none() {
        for (ms, shown) in [(0, "0.1"), (1, "0.1"), (400, "0.4"), (401, "0.5"), (59_999, "60.0")] {
            assert_eq!(tenths(Words::default(), ms), shown, "{ms} ms");
        }
        assert_eq!(tenths(Words::in_language(Language::German), 1_300), "1,3");
    }
}
