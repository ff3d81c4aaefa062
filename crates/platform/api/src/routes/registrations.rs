//! Bidders registered for an auction.

use axum::extract::{Path, State};
use axum::response::Response;
use platform_core::Platform;
use platform_core::bidders::{NewRegistration, RegistrationDecision, RegistrationPatch};
use platform_core::port::{Registration, RegistrationStatus};
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::errors::{ApiError, Problem};
use crate::extract::{Post, QueryRequest};
use crate::extract_models::{no_null, or_null};
use crate::list_filters::RegistrationListQuery;
use crate::models::{List, RegistrationView};
use crate::response;

/// A registration to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RegistrationIn {
    /// 1 to 64 characters, unique in the auction; without it the next number is assigned.
    paddle: Option<String>,
    /// 1 to 200 characters.
    name: String,
    /// The person or firm behind it, as you know them; registered once in an auction. Vendors are told by it.
    party: Option<Uuid>,
    email: Option<String>,
    /// What the bidder may spend in this auction, minor units.
    #[schema(minimum = 0)]
    limit: Option<i64>,
    /// For whoever runs the sale; 1 to 1,000 characters.
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
    found.ok_or_else(|| ApiError::invalid("/status", "is none of pending, approved, refused, suspended"))
}

/// Registers a bidder for an auction that is not ARCHIVED. Scope `bidders:write`.
#[utoipa::path(post, path = "/auctions/{uuid}/registrations", tag = "bidders", params(("uuid" = Uuid, Path)),
    request_body = RegistrationIn,
    responses((status = 201, body = RegistrationView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 422, body = Problem)))]
pub(crate) async fn create(
    State(platform): State<Platform>,
    Path(auction): Path<Uuid>,
    post: Post<RegistrationIn>,
) -> Result<Response, ApiError> {
    let (post, entry) = post.map(RegistrationIn::read)?;
    let tag = |registration: &Registration| response::tag(registration.version);
    let answering = post.answering_tagged(201, &render, &tag);
    let outcome = platform.register_bidder(&post.caller, auction, &entry, answering).await?;
    Ok(response::outcome_tagged(outcome, 201, render, tag))
}

/// Lists the registrations of an auction in the order in which they were entered, narrowed to those that meet all that is asked
/// for. Scope `bidders:read`.
#[utoipa::path(get, path = "/auctions/{uuid}/registrations", tag = "bidders",
    params(("uuid" = Uuid, Path), RegistrationListQuery),
    responses((status = 200, body = List<RegistrationView>), (status = 404, body = Problem)))]
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

/// Gives a registration. Scope `bidders:read`.
#[utoipa::path(get, path = "/auctions/{uuid}/registrations/{registration}", tag = "bidders",
    params(("uuid" = Uuid, Path), ("registration" = Uuid, Path)),
    responses((status = 200, body = RegistrationView), (status = 404, body = Problem)))]
pub(crate) async fn get(
    State(platform): State<Platform>,
    Path(named): Path<(Uuid, Uuid)>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    let registration = platform.registration(&request.caller, named).await?;
    let view = view_of(platform.has_final_bidders(&request.caller, named.0).await?);
    Ok(response::versioned(&view(&registration), registration.version))
}

/// What is to be another way. What is absent stays; null takes away what may be absent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RegistrationPatchIn {
    /// 1 to 64 characters, unique in the auction; while nobody has bid by it or by the one that is there (409 `paddle_has_bid`).
    #[serde(default, deserialize_with = "no_null")]
    #[schema(value_type = String, required = false)]
    paddle: Option<String>,
    /// 1 to 200 characters. Can't be taken away.
    #[serde(default, deserialize_with = "no_null")]
    #[schema(value_type = String, required = false)]
    name: Option<String>,
    /// Registered once in an auction.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<Uuid>)]
    party: Option<Option<Uuid>>,
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<String>)]
    email: Option<Option<String>>,
    /// Holds for the bids that come; null for no limit.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<i64>, minimum = 0)]
    limit: Option<Option<i64>>,
    /// 1 to 1,000 characters.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<String>)]
    note: Option<Option<String>>,
}

/// Changes a registration: its paddle until the bidder has bid, the rest until the auction is ARCHIVED. `If-Match` is heeded when it
/// is sent. Scope `bidders:write`.
#[utoipa::path(patch, path = "/auctions/{uuid}/registrations/{registration}", tag = "bidders",
    params(("uuid" = Uuid, Path), ("registration" = Uuid, Path), ("If-Match" = Option<String>, Header)),
    request_body = RegistrationPatchIn,
    responses((status = 200, body = RegistrationView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 412, body = Problem), (status = 422, body = Problem)))]
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

/// The status wanted, and why.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RegistrationStatusIn {
    /// `approved`, `refused` or `suspended`; a suspension ends with `approved`.
    status: String,
    /// Needed for a refusal and a suspension; at most 500 characters.
    reason: Option<String>,
}

/// Approves, refuses or suspends a bidder, or lets them bid again, until the auction is ARCHIVED. Bids that stand go on standing. Needs `If-Match`. Scope
/// `bidders:write`.
#[utoipa::path(post, path = "/auctions/{uuid}/registrations/{registration}/status", tag = "bidders",
    params(("uuid" = Uuid, Path), ("registration" = Uuid, Path), ("If-Match" = String, Header)),
    request_body = RegistrationStatusIn,
    responses((status = 200, body = RegistrationView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 412, body = Problem), (status = 422, body = Problem), (status = 428, body = Problem)))]
pub(crate) async fn change_status(
    State(platform): State<Platform>,
    Path(named): Path<(Uuid, Uuid)>,
    post: Post<RegistrationStatusIn>,
) -> Result<Response, ApiError> {
    let step = RegistrationDecision { to: status_named(&post.body.status)?, reason: post.body.reason.clone() };
    let seen = post.required_version()?;
    let tag = |registration: &Registration| response::tag(registration.version);
    let answering = post.answering_tagged(200, &render, &tag);
    let outcome = platform.change_registration_status(&post.caller, named, &step, Some(seen), answering).await?;
    Ok(response::outcome_tagged(outcome, 200, render, tag))
}

fn view_of(is_final: bool) -> fn(&Registration) -> RegistrationView {
    if is_final { RegistrationView::of_archived } else { |registration| RegistrationView::from(registration) }
}

fn render(registration: &Registration) -> String {
    response::body(&RegistrationView::from(registration))
}
