//! Telephone bookings of webcasts.

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use platform_core::Platform;
use platform_core::port::TelephoneBooking;
use platform_core::ring::NewTelephoneBooking;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::errors::{ApiError, Problem};
use crate::extract::{PutRequest, QueryRequest};
use crate::models::time;
use crate::response;

/// A telephone booking.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct TelephoneBookingIn {
    /// Telephone number of digits, which may have an extension (`ext. 12`); 3 to 40 characters.
    telephone: String,
    /// The line, or the name of the member of staff who calls; at most 80 characters.
    #[serde(default)]
    line: String,
}

/// A bidder whom staff call before an item.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TelephoneBooking)]
pub(crate) struct TelephoneBookingView {
    /// UUID of the item.
    item: Uuid,
    /// Paddle of the bidder.
    paddle: String,
    /// Telephone number. It is personal data.
    telephone: String,
    /// The line, or the name of the member of staff who calls; may be empty.
    line: String,
    /// When it was entered or changed last.
    #[schema(format = DateTime)]
    changed_at: String,
    /// Who did that: `user:<uuid>`, `key:<uuid>` or `command-line`.
    changed_by: String,
}

/// Telephone bookings of a webcast.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TelephoneBookings)]
pub(crate) struct TelephoneBookingsView {
    /// The bookings, in running order; at most 5,000.
    data: Vec<TelephoneBookingView>,
}

impl From<&TelephoneBooking> for TelephoneBookingView {
    fn from(booking: &TelephoneBooking) -> Self {
        Self {
            item: booking.item,
            paddle: booking.paddle.clone(),
            telephone: booking.telephone.clone(),
            line: booking.line.clone(),
            changed_at: time(booking.changed_at),
            changed_by: booking.changed_by.clone(),
        }
    }
}

/// List telephone bookings
///
/// The bidders whom staff call before the items of a webcast, in running order. Scope `ring:write`: those who see the
/// commission book, because telephone numbers are personal data (403 `clerk_not_assigned`).
#[utoipa::path(
    get, path = "/auctions/{uuid}/telephone-bookings", operation_id = "telephone_bookings", tag = "ring",
    params(("uuid" = Uuid, Path)),
    responses(
        (status = 200, description = "The bookings in running order.", body = TelephoneBookingsView),
        (status = 404, body = Problem),
    ),
)]
pub(crate) async fn list(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    let booked = platform.telephone_bookings(&request.caller, uuid).await?;
    let data = booked.iter().map(|(_, booking)| TelephoneBookingView::from(booking)).collect();
    Ok(response::ok(&TelephoneBookingsView { data }))
}

/// Book a bidder by telephone
///
/// Enters the booking of a paddle for an item of a webcast, or changes it, until the item is sold or the sale is
/// reconciled. The paddle needs no registration: staff bid for it in the room. A repeated call changes nothing. Scope
/// `ring:write` (403 `clerk_not_assigned`). Errors: 409 `wrong_auction_kind`, `auction_closed`, `item_not_live`,
/// `bidder_suspended`.
#[utoipa::path(
    put, path = "/items/{uuid}/telephone-bookings/{paddle}", operation_id = "book_telephone", tag = "ring",
    request_body = TelephoneBookingIn, params(("uuid" = Uuid, Path), ("paddle" = String, Path)),
    responses(
        (status = 200, description = "The booking.", body = TelephoneBookingView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 422, body = Problem),
    ),
)]
pub(crate) async fn put(
    State(platform): State<Platform>,
    Path((uuid, paddle)): Path<(Uuid, String)>,
    PutRequest { caller, body }: PutRequest<TelephoneBookingIn>,
) -> Result<Response, ApiError> {
    let TelephoneBookingIn { telephone, line } = body;
    let new = NewTelephoneBooking { paddle, telephone, line };
    let (booking, _) = platform.book_telephone_bid(&caller, uuid, &new).await?;
    Ok(response::ok(&TelephoneBookingView::from(&booking)))
}

/// Withdraw a telephone booking
///
/// Scope `ring:write` (403 `clerk_not_assigned`).
#[utoipa::path(
    delete, path = "/items/{uuid}/telephone-bookings/{paddle}", operation_id = "withdraw_telephone", tag = "ring",
    params(("uuid" = Uuid, Path), ("paddle" = String, Path)),
    responses(
        (status = 204, description = "No content. The booking does not exist any more."),
        (status = 404, body = Problem), (status = 409, body = Problem),
    ),
)]
pub(crate) async fn withdraw(
    State(platform): State<Platform>,
    Path((uuid, paddle)): Path<(Uuid, String)>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    platform.withdraw_telephone_booking(&request.caller, uuid, &paddle).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
