//! The limit of a bidder in a sale: what of it is used, and the form that asks the house for a higher one.

use axum::response::{IntoResponse as _, Redirect, Response};
use http::StatusCode;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, FormFields, SubmittedForm};
use kit_design::form_field::FormField;
use platform_core::PlatformError;
use platform_core::port::Registration;
use platform_core::saleroom::{LIMIT_WORDS_CHARS_MAX, OwnLimit};
use platform_core::users::Refusal;
use platform_words::{Currency, Words};

use crate::account::sign_in_first;
use crate::faults::translated;
use crate::house::House;
use crate::page_error::PageError;
use crate::register;

/// The limit of a bidder in words, with the form that asks for a higher one.
pub(crate) struct LimitBox {
    /// The limit, and what of it is used.
    pub(crate) words: String,
    /// The request that waits, or why the last one was declined; empty otherwise.
    pub(crate) request: String,
    /// The fields of the form; none while a request waits.
    pub(crate) fields: Vec<FormField>,
    pub(crate) errors: ErrorSummary,
}

/// The limit and what of it is used, in one line.
pub(crate) fn sentence(words: Words, limit: &OwnLimit, currency: &Currency) -> String {
    let amount = words.fill("register-limit", "amount", currency.show(limit.limit));
    format!("{amount} {}", words.fill("limit-used", "used", currency.show(limit.used)))
}

/// The request in words: what waits, or why it was declined.
pub(crate) fn request_words(words: Words, limit: &OwnLimit, currency: &Currency) -> String {
    let Some(request) = &limit.request else { return String::new() };
    match &request.decision {
        None => words.fill("limit-waits", "amount", currency.show(request.amount)),
        Some(decision) => {
            let reason = decision.reason.as_deref();
            reason.map(|reason| words.fill("limit-refused", "reason", reason)).unwrap_or_default()
        }
    }
}

impl LimitBox {
    pub(crate) fn of(words: Words, limit: &OwnLimit, currency: &Currency, tried: (&FormFields, &FieldErrors)) -> Self {
        let (typed, errors) = tried;
        let fields = match limit.can_ask {
            false => Vec::new(),
            true => vec![
                FormField::text("amount", words.of("limit-amount"), typed.text("amount")).with(errors).required(),
                FormField::text("words", words.of("limit-words"), typed.text("words"))
                    .chars_max(LIMIT_WORDS_CHARS_MAX)
                    .with(errors)
                    .optional(),
            ],
        };
        Self {
            words: sentence(words, limit, currency),
            request: request_words(words, limit, currency),
            errors: ErrorSummary::beside(&fields).heading(words.of("limit-not-asked")),
            fields,
        }
    }
}

/// Asks the house for a higher limit.
pub(crate) async fn ask(house: House<1>, SubmittedForm(typed): SubmittedForm) -> Result<Response, PageError> {
    let [auction] = house.ids;
    let own = format!("{}/sales/{auction}/register", house.path());
    let Some(bidder) = &house.bidder else { return Ok(sign_in_first(&house.path(), &own)) };
    let words = house.words;
    let sale = house.platform().saleroom_sale(&house.saleroom, auction).await?;
    let currency = words.currency(&sale.auction);
    let registration: Option<Registration> = house.platform().own_registration(bidder, auction).await?;
    let mut errors = FieldErrors::default();
    let mut status = StatusCode::UNPROCESSABLE_ENTITY;
    match currency.parse_in_words(typed.text("amount")) {
        Err(fault) => errors.add("amount", fault),
        Ok(amount) => {
            let wanted = (amount, typed.text("words"));
            match house.platform().ask_for_limit(&house.saleroom, bidder, auction, wanted).await {
                // A second press finds the request of the first.
                Ok(()) | Err(PlatformError::Taken(_)) => {
                    return Ok(Redirect::to(&format!("{own}#limit")).into_response());
                }
                Err(PlatformError::Invalid(problems)) => {
                    let limit = registration.as_ref().and_then(|own| own.limit).unwrap_or_default();
                    for problem in problems {
                        match problem.pointer.as_str() {
                            "/amount" => errors.add("amount", words.fill("limit-low", "amount", currency.show(limit))),
                            _ => errors.add("words", translated(words, &problem.message)),
                        }
                    }
                }
                Err(PlatformError::Identity(Refusal::TooManyAttempts { .. })) => {
                    status = StatusCode::TOO_MANY_REQUESTS;
                    errors.add("amount", words.of("limit-often"));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
    register::refused_limit(&house, &sale, registration.as_ref(), (&typed, &errors), status).await
}
