//! Browsers that show notices (the Push API): a browser is added or removed by the script of the page.

use axum::response::{IntoResponse as _, Redirect, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use kit_design::fields::SubmittedForm;
use platform_core::notices::PushKeys;

use crate::house::{House, OpenHouse};
use crate::page_error::PageError;

/// The script that shows a notice while no page is open.
const WORKER: &str = include_str!("worker.js");

/// `POST /{house}/push`: `endpoint`, and the keys `p256dh` and `auth` in base64url. 204, or 422 for what no browser sends.
pub(super) async fn add(house: House<0>, SubmittedForm(form): SubmittedForm) -> Result<Response, PageError> {
    let Some(bidder) = &house.bidder else { return Ok(StatusCode::UNAUTHORIZED.into_response()) };
    let bytes = |name: &str| URL_SAFE_NO_PAD.decode(form.text(name).trim_end_matches('=')).unwrap_or_default();
    let keys = PushKeys { endpoint: form.text("endpoint").to_owned(), key: bytes("p256dh"), auth: bytes("auth") };
    match house.platform().add_push_browser(bidder, keys).await {
        Ok(()) => Ok(StatusCode::NO_CONTENT.into_response()),
        Err(platform_core::PlatformError::Invalid(_)) => Ok(StatusCode::UNPROCESSABLE_ENTITY.into_response()),
        Err(error) => Err(error.into()),
    }
}

/// `POST /{house}/push/remove`: `endpoint`, or `all=yes` from the page. 204, or back to the page.
pub(super) async fn remove(house: House<0>, SubmittedForm(form): SubmittedForm) -> Result<Response, PageError> {
    let Some(bidder) = &house.bidder else { return Ok(StatusCode::UNAUTHORIZED.into_response()) };
    if form.text("all") == "yes" {
        house.platform().remove_push_browsers(bidder).await?;
        return Ok(Redirect::to(&format!("{}/account/notices?done=saved", house.path())).into_response());
    }
    house.platform().remove_push_browser(bidder, form.text("endpoint")).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// `GET /{house}/push/worker.js`. It is below the house, so that each house has a worker of its own.
pub(super) async fn worker(_house: OpenHouse<0>) -> Response {
    ([(CONTENT_TYPE, "text/javascript; charset=utf-8"), (CACHE_CONTROL, "no-cache")], WORKER).into_response()
}
