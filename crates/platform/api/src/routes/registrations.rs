//! Registrations of bidders for an auction.

use axum::extract::{Path, State};
use axum::response::Response;
use platform_core::Platform;
use platform_core::bidders::{NewRegistration, RegistrationDecision, RegistrationPatch};
use platform_core::port::{Registration, RegistrationStatus};
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::body_fields::{no_null, or_null};
use crate::errors::{ApiError, Problem};
use crate::extract::{Post, QueryRequest};
use crate::list_filters::RegistrationListQuery;
use crate::models::{List, RegistrationView};
use crate::response;

/// A new registration.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RegistrationIn {
    /// Paddle, unique in the auction; 1 to 64 characters. Default: the next number.
    paddle: Option<String>,
    /// Name of the bidder; 1 to 200 characters. Default: none, the bidder is named later.
    name: Option<String>,
    /// UUID of the person or firm that bids, assigned by you; unique in the auction. A party can't bid on items whose
    /// `vendor` it is.
    party: Option<Uuid>,
    /// E-mail address.
    email: Option<String>,
    /// Spending limit in this auction, in minor units. Default: no limit.
    #[schema(minimum = 0)]
    limit: Option<i64>,
    /// Note for the staff of the sale; 1 to 1,000 characters.
    note: Option<String>,
    /// `pending` (default) or `approved`.
    status: Option<String>,
}

impl RegistrationIn {
    fn read(self) -> Result<NewRegistration, ApiError> {
        let Self { paddle, name, party, email, limit, note, status } = self;
        let status = status.as_deref().map_or(Ok(RegistrationStatus::Pending), status_named)?;
        Ok(NewRegistration { paddle, party, name, email, limit, note, status })
    }
}

fn status_named(name: &str) -> Result<RegistrationStatus, ApiError> {
    let found = RegistrationStatus::ALL.into_iter().find(|status| status.as_str() == name);
    found.ok_or_else(|| ApiError::invalid("/status", "must be pending, approved, refused or suspended"))
}

/// Register a bidder
///
/// For an auction that is not ARCHIVED. Scope `bidders:write`. Errors: 409 `taken` if the paddle or the party is
/// already registered; `paddle_has_bid`, `vendor_has_bid`, `auction_closed`.
#[utoipa::path(
    post, path = "/auctions/{uuid}/registrations", tag = "bidders", request_body = RegistrationIn,
    params(("uuid" = Uuid, Path)),
    responses(
        (status = 201, description = "The new registration.", body = RegistrationView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 422, body = Problem),
    ),
)]
pub(crate) async fn create(
    State(platform): State<Platform>,
    Path(auction): Path<Uuid>,
    post: Post<RegistrationIn>,
) -> Result<Response, ApiError> {
    let (post, entry) = post.map(RegistrationIn::read)?;
    let tag = |registration: &Registration| response::tag(registration.version);
    let idempotent = post.idempotent_tagged(201, &render, &tag);
    let outcome = platform.register_bidder(&post.caller, auction, &entry, idempotent).await?;
    Ok(response::outcome_tagged(outcome, 201, render, tag))
}

/// List registrations
///
/// In order of creation, filtered by the given parameters; a registration must match all of them. Scope
/// `bidders:read`.
#[utoipa::path(
    get, path = "/auctions/{uuid}/registrations", tag = "bidders",
    params(("uuid" = Uuid, Path), RegistrationListQuery),
    responses(
        (status = 200, description = "A page of registrations in order of creation.", body = List<RegistrationView>),
        (status = 404, body = Problem),
    ),
)]
pub(crate) async fn list(
    State(platform): State<Platform>,
    Path(auction): Path<Uuid>,
    request: QueryRequest<RegistrationListQuery>,
) -> Result<Response, ApiError> {
    let (wanted, page) = request.query.read()?;
    let rows = platform.list_registrations(&request.caller, auction, &wanted, page.with_lookahead()).await?;
    let view = view_of(platform.has_final_bidders(&request.caller, auction).await?);
    Ok(response::list(rows, page, |row| row.uuid, view))
}

/// Get a registration
///
/// Scope `bidders:read`.
#[utoipa::path(
    get, path = "/auctions/{uuid}/registrations/{registration}", tag = "bidders",
    params(("uuid" = Uuid, Path), ("registration" = Uuid, Path)),
    responses(
        (status = 200, description = "The registration.", body = RegistrationView),
        (status = 404, body = Problem),
    ),
)]
pub(crate) async fn get(
    State(platform): State<Platform>,
    Path(named): Path<(Uuid, Uuid)>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    let registration = platform.registration(&request.caller, named).await?;
    let view = view_of(platform.has_final_bidders(&request.caller, named.0).await?);
    Ok(response::versioned(&view(&registration), registration.version))
}

/// A JSON merge patch of a registration: an absent field stays, null clears an optional one.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RegistrationPatchIn {
    /// Paddle, unique in the auction; 1 to 64 characters. Locked once a bid names the old or the new paddle (409
    /// `paddle_has_bid`).
    #[serde(default, deserialize_with = "no_null")]
    #[schema(value_type = String, required = false)]
    paddle: Option<String>,
    /// Name of the bidder; 1 to 200 characters. It can't be cleared.
    #[serde(default, deserialize_with = "no_null")]
    #[schema(value_type = String, required = false)]
    name: Option<String>,
    /// UUID of the person or firm that bids; unique in the auction.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<Uuid>)]
    party: Option<Option<Uuid>>,
    /// E-mail address.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<String>)]
    email: Option<Option<String>>,
    /// Spending limit for later bids, in minor units; null for no limit.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<i64>, minimum = 0)]
    limit: Option<Option<i64>>,
    /// Note for the staff of the sale; 1 to 1,000 characters.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<String>)]
    note: Option<Option<String>>,
}

/// Change a registration
///
/// An absent field stays, null clears an optional one. The paddle can change until a bid names it, the other fields
/// until the auction is ARCHIVED. Accepts `If-Match`: if the version has changed, the server does nothing (412
/// `precondition_failed`). Scope `bidders:write`. Errors: 409 `taken`, `paddle_has_bid`, `vendor_has_bid`,
/// `auction_closed`.
#[utoipa::path(
    patch, path = "/auctions/{uuid}/registrations/{registration}", tag = "bidders", request_body = RegistrationPatchIn,
    params(("uuid" = Uuid, Path), ("registration" = Uuid, Path), ("If-Match" = Option<String>, Header)),
    responses(
        (status = 200, description = "The registration after the change.", body = RegistrationView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 422, body = Problem),
    ),
)]
pub(crate) async fn change(
    State(platform): State<Platform>,
    Path(named): Path<(Uuid, Uuid)>,
    post: Post<RegistrationPatchIn>,
) -> Result<Response, ApiError> {
    let (post, patch) = post.map(|body| {
        let RegistrationPatchIn { paddle, name, party, email, limit, note } = body;
        Ok(RegistrationPatch { paddle, party, name, email, limit, note })
    })?;
    let registration = platform.change_registration(&post.caller, named, &patch, post.version).await?;
    Ok(response::versioned(&RegistrationView::from(&registration), registration.version))
}

/// The new status, with its reason.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RegistrationStatusIn {
    /// `approved`, `refused` or `suspended`; `approved` also ends a suspension.
    status: String,
    /// Required for `refused` and `suspended`; at most 500 characters.
    reason: Option<String>,
}

/// Change a registration's status
///
/// Approves, declines or suspends a bidder, or ends a suspension, until the auction is ARCHIVED. The bidder's
/// standing bids stay. Requires `If-Match` (412 `precondition_failed`, 428 `precondition_required`). Scope
/// `bidders:write`. Errors: 409 `illegal_transition`, `auction_closed`; 422 `reason_required`.
#[utoipa::path(
    post, path = "/auctions/{uuid}/registrations/{registration}/status", tag = "bidders",
    request_body = RegistrationStatusIn,
    params(("uuid" = Uuid, Path), ("registration" = Uuid, Path), ("If-Match" = String, Header)),
    responses(
        (status = 200, description = "The registration after the change.", body = RegistrationView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 422, body = Problem), (status = 428, body = Problem),
    ),
)]
pub(crate) async fn change_status(
    State(platform): State<Platform>,
    Path(named): Path<(Uuid, Uuid)>,
    post: Post<RegistrationStatusIn>,
) -> Result<Response, ApiError> {
    let step = RegistrationDecision { to: status_named(&post.body.status)?, reason: post.body.reason.clone() };
    let expected = post.required_version()?;
    let tag = |registration: &Registration| response::tag(registration.version);
    let idempotent = post.idempotent_tagged(200, &render, &tag);
    let outcome = platform.change_registration_status(&post.caller, named, &step, Some(expected), idempotent).await?;
    Ok(response::outcome_tagged(outcome, 200, render, tag))
}

fn view_of(is_final: bool) -> fn(&Registration) -> RegistrationView {
    if is_final { RegistrationView::of_archived } else { |registration| RegistrationView::from(registration) }
}

fn render(registration: &Registration) -> String {
    response::body(&RegistrationView::from(registration))
}
