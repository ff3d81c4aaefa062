//! Which clerks have to do with which webcasts.

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use platform_core::Platform;
use uuid::Uuid;

use crate::errors::{ApiError, Problem};
use crate::extract::{ListQuery, QueryRequest};
use crate::models::{AuctionView, ClerkToChooseView, ClerkView, List};
use crate::response;

/// Lists the clerks of a webcast, in order of their UUID. Only for the platform's own staff. Scope `auctions:write`.
#[utoipa::path(get, path = "/auctions/{uuid}/clerks", tag = "clerks", params(("uuid" = Uuid, Path), ListQuery),
    responses((status = 200, body = List<ClerkView>), (status = 404, body = Problem)))]
pub(crate) async fn list(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<ListQuery>,
) -> Result<Response, ApiError> {
    let page = request.query.page::<Uuid>()?;
    let clerks = platform.clerks(&request.caller, uuid, page.with_lookahead()).await?;
    Ok(response::list(clerks, page, |(_, user)| user.uuid, |clerk| ClerkView::from(clerk)))
}

/// Assigns a person with the role clerk to a webcast that is not ARCHIVED: they give its commands and see its desk and its bidders from now on. Doing it
/// again changes nothing. 100 at most (409 `too_many_clerks`); others than clerks are not assigned (409 `not_a_clerk`). Only for the
/// platform's own staff. Scope `auctions:write`.
#[utoipa::path(put, path = "/auctions/{uuid}/clerks/{user}", tag = "clerks",
    params(("uuid" = Uuid, Path), ("user" = Uuid, Path)),
    responses((status = 200, body = ClerkView), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn assign(
    State(platform): State<Platform>,
    Path((uuid, user)): Path<(Uuid, Uuid)>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    let clerk = platform.assign_clerk(&request.caller, uuid, user).await?;
    Ok(response::ok(&ClerkView::from(&clerk)))
}

/// Takes a clerk off a webcast: every node refuses their next command. Doing it again changes nothing. Only for the platform's own
/// staff. Scope `auctions:write`.
#[utoipa::path(delete, path = "/auctions/{uuid}/clerks/{user}", operation_id = "take_off", tag = "clerks",
    params(("uuid" = Uuid, Path), ("user" = Uuid, Path)),
    responses((status = 204, description = "They are no clerk of this webcast."), (status = 404, body = Problem)))]
pub(crate) async fn unassign(
    State(platform): State<Platform>,
    Path((uuid, user)): Path<(Uuid, Uuid)>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    platform.unassign_clerk(&request.caller, uuid, user).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Lists the people who can be assigned to webcasts: users with the role clerk who can sign in, in order of creation. Only for the
/// platform's own staff. Scope `auctions:write`.
#[utoipa::path(get, path = "/clerks", operation_id = "to_choose", tag = "clerks", params(ListQuery),
    responses((status = 200, body = List<ClerkToChooseView>)))]
pub(crate) async fn list_assignable(
    State(platform): State<Platform>,
    request: QueryRequest<ListQuery>,
) -> Result<Response, ApiError> {
    let page = request.query.page::<Uuid>()?;
    let users = platform.users_with_clerk_role(&request.caller, page.with_lookahead()).await?;
    Ok(response::list(users, page, |user| user.uuid, |user| ClerkToChooseView::from(user)))
}

/// Lists the webcasts that the person who asks is assigned to as a clerk, without ARCHIVED ones, in order of creation. Who needs
/// no assignment has none.
#[utoipa::path(get, path = "/me/webcasts", operation_id = "own", tag = "me", params(ListQuery),
    responses((status = 200, body = List<AuctionView>)))]
pub(crate) async fn list_my_webcasts(
    State(platform): State<Platform>,
    request: QueryRequest<ListQuery>,
) -> Result<Response, ApiError> {
    let page = request.query.page::<Uuid>()?;
    let auctions = platform.own_webcasts(&request.caller, page.with_lookahead()).await?;
    super::auctions::page_of(&platform, auctions, page).await
}
