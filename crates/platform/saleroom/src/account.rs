//! A bidder's account at the house: opened by a link that was mailed, signed in to with a password.

mod details;
mod export;
mod person;
mod sign_in;
mod sign_up;

use axum::Router;
use axum::response::{AppendHeaders, IntoResponse as _, Redirect, Response};
use http::header::SET_COOKIE;
use kit_design::error_page::ErrorPage;
use kit_design::fields::FieldErrors;
use kit_design::site::own_path;
use kit_http::page_routes::{form, post};
use kit_runtime::vault::Secret;
use platform_core::saleroom::BidderSignedIn;
use platform_core::{PlatformError, Problem};
use platform_words::{Words, address_fields};

use crate::faults::translated;
use crate::house::House;
use crate::page_error::PageError;
use crate::site::SaleroomSite;

/// Seconds for which a browser keeps the token of a device: 400 days, which is the most that browsers allow.
const DEVICE_S: i64 = 400 * 24 * 3_600;

pub(crate) fn router() -> Router<SaleroomSite> {
    Router::new()
        .route("/{house}/sign-in", form(sign_in::page, sign_in::sign_in))
        .route("/{house}/sign-out", post(sign_in::sign_out))
        .route("/{house}/sign-up", form(sign_up::page, sign_up::mail_link))
        .route("/{house}/sign-up/account", form(sign_up::account_page, sign_up::open_account))
        .route("/{house}/account", form(details::page, details::save))
        .route("/{house}/account/export", post(export::file))
        .route("/{house}/account/delete", form(details::delete_page, details::delete))
}

/// The path below the saleroom that follows a sign-in: one of this house, or its list of bids.
pub(crate) fn next_path(house: &House<0>, wanted: &str) -> String {
    let own = own_path(wanted);
    let path = house.path();
    let is_of_house = own == path || own.starts_with(&format!("{path}/")) || own.starts_with(&format!("{path}?"));
    // A path with dots or other spellings in its segments may lead to another house.
    let (before_query, _) = own.split_once('?').unwrap_or((own, ""));
    let is_plain = !before_query.contains(['%', '\\']) && !before_query.contains("/.") && !before_query.contains("//");
    if is_of_house && is_plain && !own.contains("/sign-") { own.to_owned() } else { format!("{path}/my-bids") }
}

/// The response to a sign-in: both cookies, and the page that follows.
fn begin(house: &House<0>, signed_in: &BidderSignedIn, next: &str) -> Result<Response, PageError> {
    let seconds = signed_in.session.expires_at.duration_since(signed_in.session.created_at).as_secs();
    let text = |secret: &Secret| secret.expose_str().unwrap_or_default().to_owned();
    let session = house.session_cookie().set(&text(&signed_in.token), seconds).ok_or_else(ErrorPage::internal)?;
    let device = house.device_cookie().set(&text(&signed_in.device_token), DEVICE_S).ok_or_else(ErrorPage::internal)?;
    Ok((AppendHeaders([(SET_COOKIE, session), (SET_COOKIE, device)]), Redirect::to(next)).into_response())
}

/// The page on which a visitor signs in and comes back to this one.
pub(crate) fn sign_in_first(path: &str, next: &str) -> Response {
    Redirect::to(&format!("{path}/sign-in?{}", next_query(next))).into_response()
}

/// The query that names the page to come back to.
pub(crate) fn next_query(next: &str) -> String {
    form_urlencoded::Serializer::new(String::new()).append_pair("next", next).finish()
}

/// The problems of an input at their fields; any other error is passed on.
fn field_errors(words: Words, error: PlatformError) -> Result<FieldErrors, PageError> {
    let PlatformError::Invalid(problems) = error else { return Err(error.into()) };
    let mut errors = FieldErrors::default();
    let name_of = |pointer: &str| {
        let address = address_fields::POINTERS.iter().find(|(known, _)| *known == pointer);
        address.map_or_else(|| pointer.trim_start_matches('/').to_owned(), |(_, name)| (*name).to_owned())
    };
    errors.add_found(
        problems.into_iter().map(|Problem { pointer, message }| (name_of(&pointer), translated(words, &message))),
    );
    Ok(errors)
}

fn secret(text: &str) -> Secret {
    Secret::new(text.as_bytes().to_vec())
}

/// Whole minutes until a time, at least one.
fn minutes(until: std::time::Duration) -> u64 {
    until.as_secs().div_ceil(60).max(1)
}
