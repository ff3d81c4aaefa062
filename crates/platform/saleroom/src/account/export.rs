//! What the house holds of the account, as a file for the bidder.

use axum::response::{IntoResponse as _, Response};
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use platform_core::PlatformError;

use super::sign_in_first;
use crate::house::House;
use crate::page_error::PageError;

/// The file. It is a form, so that no browser fetches it before the bidder asks for it.
pub(super) async fn file(house: House<0>) -> Result<Response, PageError> {
    let Some(bidder) = &house.bidder else {
        return Ok(sign_in_first(&house.path(), &format!("{}/account", house.path())));
    };
    let export = house.platform().export_own_data(&house.saleroom, bidder).await?;
    let body = serde_json::to_string_pretty(&export)
        .map_err(|error| PlatformError::Internal(format!("the export can't be encoded: {error}")))?;
    let headers = [
        (CONTENT_TYPE, "application/json"),
        (CONTENT_DISPOSITION, "attachment; filename=\"my-data.json\""),
        (CACHE_CONTROL, "no-store"),
    ];
    Ok((headers, body).into_response())
}
