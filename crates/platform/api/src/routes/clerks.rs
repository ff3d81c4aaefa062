//! The clerks who are assigned to webcasts.

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use platform_core::Platform;
use uuid::Uuid;

use crate::errors::{ApiError, Problem};
use crate::extract::QueryRequest;
use crate::models::{AuctionView, ClerkToChooseView, ClerkView, List};
use crate::pagination::ListQuery;
use crate::response;

/// List the clerks of a webcast
///
/// In order of their UUIDs. Only for the platform's own staff; scope `auctions:write`.
#[utoipa::path(
    get, path = "/auctions/{uuid}/clerks", tag = "clerks",
    params(("uuid" = Uuid, Path), ListQuery),
    responses(
        (status = 200, description = "A page of clerks in order of their UUIDs.", body = List<ClerkView>),
        (status = 404, body = Problem),
    ),
)]
pub(crate) async fn list(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<ListQuery>,
) -> Result<Response, ApiError> {
    let page = request.query.page::<Uuid>()?;
    let clerks = platform.clerks(&request.caller, uuid, page.with_lookahead()).await?;
    Ok(response::list(clerks, page, |(_, user)| user.id, |clerk| ClerkView::from(clerk)))
}

/// Assign a clerk to a webcast
///
/// The user must have the role clerk (409 `not_a_clerk`), and the webcast must not be ARCHIVED (409
/// `auction_closed`). From then on the clerk may send its commands and read its desk and its bidders. A repeated call
/// changes nothing. A webcast has at most 100 clerks (409 `too_many_clerks`). Only for the platform's own staff;
/// scope `auctions:write`.
#[utoipa::path(
    put, path = "/auctions/{uuid}/clerks/{user}", tag = "clerks",
    params(("uuid" = Uuid, Path), ("user" = Uuid, Path)),
    responses(
        (status = 200, description = "The assigned clerk.", body = ClerkView),
        (status = 404, body = Problem), (status = 409, body = Problem),
    ),
)]
pub(crate) async fn assign(
    State(platform): State<Platform>,
    Path((uuid, user)): Path<(Uuid, Uuid)>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    let clerk = platform.assign_clerk(&request.caller, uuid, user).await?;
    Ok(response::ok(&ClerkView::from(&clerk)))
}

/// Remove a clerk from a webcast
///
/// Every node rejects the clerk's next command. A repeated call changes nothing. Only for the platform's own staff;
/// scope `auctions:write`.
#[utoipa::path(
    delete, path = "/auctions/{uuid}/clerks/{user}", operation_id = "take_off", tag = "clerks",
    params(("uuid" = Uuid, Path), ("user" = Uuid, Path)),
    responses(
        (status = 204, description = "No content. The user is not a clerk of this webcast."),
        (status = 404, body = Problem),
    ),
)]
pub(crate) async fn unassign(
    State(platform): State<Platform>,
    Path((uuid, user)): Path<(Uuid, Uuid)>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    platform.unassign_clerk(&request.caller, uuid, user).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// List the users who can be assigned as clerks
///
/// Users with the role clerk who are not disabled, in order of creation. Only for the platform's own staff; scope
/// `auctions:write`.
#[utoipa::path(
    get, path = "/clerks", operation_id = "to_choose", tag = "clerks",
    params(ListQuery),
    responses((status = 200, description = "A page of users in order of creation.", body = List<ClerkToChooseView>)),
)]
pub(crate) async fn list_assignable(
    State(platform): State<Platform>,
    request: QueryRequest<ListQuery>,
) -> Result<Response, ApiError> {
    let page = request.query.page::<Uuid>()?;
    let users = platform.users_with_clerk_role(&request.caller, page.with_lookahead()).await?;
    Ok(response::list(users, page, |user| user.id, |user| ClerkToChooseView::from(user)))
}

/// List my webcasts
///
/// The webcasts that the signed-in clerk is assigned to, without ARCHIVED ones, in order of creation. The list of an
/// administrator or operator is empty, because they need no assignment. Only for users, not for API keys.
#[utoipa::path(
    get, path = "/me/webcasts", operation_id = "own", tag = "me",
    params(ListQuery),
    responses((status = 200, description = "A page of webcasts in order of creation.", body = List<AuctionView>)),
)]
pub(crate) async fn list_my_webcasts(
    State(platform): State<Platform>,
    request: QueryRequest<ListQuery>,
) -> Result<Response, ApiError> {
    let page = request.query.page::<Uuid>()?;
    let auctions = platform.own_webcasts(&request.caller, page.with_lookahead()).await?;
    super::auctions::page_of(&platform, auctions, page).await
}
