//! The error type of the handlers: an error of a use case, as the error page that a visitor sees, in the language of the request.

use kit_design::error_page::ErrorPage;
use platform_core::PlatformError;
use platform_core::saleroom::SaleroomRefusal;
use platform_core::users::Refusal;
use platform_words::Words;

kit_design::page_error!(PlatformError, error_page);

fn error_page(error: PlatformError) -> ErrorPage {
    let words = Words::of_request();
    match error {
        PlatformError::NotFound(_) | PlatformError::Forbidden(_) => ErrorPage::not_found(),
        PlatformError::ListenersFull { .. } => ErrorPage::full(words.of("error-full-title"), words.of("error-full"), 5),
        PlatformError::Unavailable(_) => ErrorPage::unavailable(&error.full_message()),
        PlatformError::Identity(Refusal::TooManyAttempts { retry_after, .. }) => {
            ErrorPage::too_many(words.of("error-attempts-title"), words.of("error-attempts"), retry_after)
        }
        PlatformError::Saleroom(refusal) => ErrorPage::conflict(saleroom_words(words, &refusal)),
        PlatformError::Rejected(_) | PlatformError::Taken(_) | PlatformError::Busy => {
            ErrorPage::conflict(words.of("error-changed"))
        }
        error => ErrorPage::failed(&error.full_message()),
    }
}

/// A refusal that the page of its form does not show.
fn saleroom_words(words: Words, refusal: &SaleroomRefusal) -> String {
    match refusal {
        SaleroomRefusal::AccountsClosed => words.of("error-accounts-closed").into_owned(),
        SaleroomRefusal::TooManyWatched { maximum } => words.fill("error-watched", "maximum", maximum),
        SaleroomRefusal::SaleOver => words.of("register-over").into_owned(),
        SaleroomRefusal::RegistrationRequired => words.of("refused-unregistered").into_owned(),
        SaleroomRefusal::LinkVoid
        | SaleroomRefusal::MailUnavailable
        | SaleroomRefusal::TooManyMails { .. }
        | SaleroomRefusal::ConditionsChanged { .. }
        | SaleroomRefusal::PriceMoved { .. }
        | SaleroomRefusal::AlreadyLeading
        | SaleroomRefusal::LinkLost
        | SaleroomRefusal::RatesMoved
        | SaleroomRefusal::OfferOver
        | SaleroomRefusal::OfferChanged
        | SaleroomRefusal::OfferWithdrawn
        | SaleroomRefusal::OfferAnswered { .. }
        | SaleroomRefusal::SiteNotListed
        | SaleroomRefusal::GrantVoid => words.of("error-changed").into_owned(),
    }
}
