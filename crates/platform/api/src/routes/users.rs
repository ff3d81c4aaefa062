//! People, as administrators see them.

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_runtime::vault::Secret;
use platform_core::people::{NewUser, UserPatch, UserWithPassword};
use platform_core::port::User;
use platform_core::{Platform, Role};
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::errors::{ApiError, Problem};
use crate::extract::{ListQuery, Post, QueryRequest};
use crate::extract_models::no_null;
use crate::models::{List, SessionView, UserView, UserWithPasswordView};
use crate::response;

/// A user to be.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct UserIn {
    /// Unique, in whatever case.
    email: String,
    /// `administrator`, `operator`, `clerk`, `support` or `viewer`; not more than who asks.
    role: String,
    /// 12 characters at least; one is made without it.
    password: Option<String>,
}

/// Creates a user. A password that is made is shown this once, and again only to the same `Idempotency-Key`. Scope `users:write`.
#[utoipa::path(post, path = "/users", tag = "users", request_body = UserIn,
    responses((status = 201, body = UserWithPasswordView), (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn create(State(platform): State<Platform>, post: Post<UserIn>) -> Result<Response, ApiError> {
    let (post, UserIn { email, role, password }) = post.map(Ok)?;
    let post = post.with_request_hash_of(&["user", &email, &role]);
    let role = role_named(&role)?;
    let new = NewUser { email, role, password: password.map(|password| Secret::new(password.into_bytes())) };
    let render = |made: &UserWithPassword| response::body(&UserWithPasswordView::from(made));
    let tag = |made: &UserWithPassword| response::tag(made.user.version);
    let answering = post.answering_tagged(201, &render, &tag);
    let outcome = platform.create_user(&post.caller, new, answering).await?;
    Ok(response::outcome_tagged(outcome, 201, render, tag))
}

fn role_named(name: &str) -> Result<Role, ApiError> {
    Role::parse(name).ok_or_else(|| {
        let known = Role::ALL.map(Role::name).join(", ");
        ApiError::invalid("/role", format!("there is no role {name:?}; there are {known}"))
    })
}

/// Lists users in order of creation, disabled ones too. Scope `users:read` or `users:write`.
#[utoipa::path(get, path = "/users", tag = "users", params(ListQuery),
    responses((status = 200, body = List<UserView>)))]
pub(crate) async fn list(
    State(platform): State<Platform>,
    request: QueryRequest<ListQuery>,
) -> Result<Response, ApiError> {
    let page = request.query.page::<Uuid>()?;
    let users = platform.users(&request.caller, page.with_lookahead()).await?;
    Ok(response::list(users, page, |user| user.uuid, |user| UserView::from(user)))
}

/// Gives a user. Scope `users:read` or `users:write`.
#[utoipa::path(get, path = "/users/{uuid}", tag = "users", params(("uuid" = Uuid, Path)),
    responses((status = 200, body = UserView), (status = 404, body = Problem)))]
pub(crate) async fn get(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    let user = platform.user(&request.caller, uuid).await?;
    Ok(response::versioned(&UserView::from(&user), user.version))
}

/// What is to be different; what is not named stays.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct UserPatchIn {
    /// `administrator`, `operator`, `clerk`, `support` or `viewer`; not more than who asks.
    #[serde(default, deserialize_with = "no_null")]
    role: Option<String>,
    /// True: they can't sign in. False: they can again.
    #[serde(default, deserialize_with = "no_null")]
    disabled: Option<bool>,
}

/// Gives a user another role, disables or enables them; that ends their sessions. The last administrator stays one (409
/// `last_administrator`). Needs `If-Match`. Scope `users:write`.
#[utoipa::path(patch, path = "/users/{uuid}", tag = "users", params(("uuid" = Uuid, Path)), request_body = UserPatchIn,
    responses((status = 200, body = UserView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 412, body = Problem), (status = 422, body = Problem), (status = 428, body = Problem)))]
pub(crate) async fn change(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<UserPatchIn>,
) -> Result<Response, ApiError> {
    let role = post.body.role.as_deref().map(role_named).transpose()?;
    let patch = UserPatch { role, disabled: post.body.disabled };
    let user = platform.change_user(&post.caller, uuid, Some(post.required_version()?), patch).await?;
    Ok(response::versioned(&UserView::from(&user), user.version))
}

/// Removes a user who has never signed in. Others are disabled instead (409 `has_signed_in`): the log may name them. Scope
/// `users:write`.
#[utoipa::path(delete, path = "/users/{uuid}", tag = "users", params(("uuid" = Uuid, Path)),
    responses((status = 204, description = "There is no such user any more."), (status = 404, body = Problem),
        (status = 409, body = Problem)))]
pub(crate) async fn remove(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    platform.remove_user(&request.caller, uuid).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// A password for somebody.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PasswordResetIn {
    /// 12 characters at least; one is made without it.
    password: Option<String>,
}

/// Gives a user another password, ends their sessions, and lets them try to sign in at once. A password that is made is shown this
/// once, and again only to the same `Idempotency-Key`. Scope `users:write`.
#[utoipa::path(post, path = "/users/{uuid}/password", tag = "users", params(("uuid" = Uuid, Path)),
    request_body = PasswordResetIn,
    responses((status = 200, body = UserWithPasswordView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 422, body = Problem)))]
pub(crate) async fn reset_password(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<PasswordResetIn>,
) -> Result<Response, ApiError> {
    let (post, body) = post.with_request_hash_of(&["password", &uuid.to_string()]).map(Ok)?;
    let password = body.password.map(|password| Secret::new(password.into_bytes()));
    let render = |made: &UserWithPassword| response::body(&UserWithPasswordView::from(made));
    let tag = |made: &UserWithPassword| response::tag(made.user.version);
    let answering = post.answering_tagged(200, &render, &tag);
    let outcome = platform.reset_password(&post.caller, uuid, password, answering).await?;
    Ok(response::outcome_tagged(outcome, 200, render, tag))
}

/// Nothing is needed.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Nothing {}

/// Turns a user's second factor off, for who has lost the authenticator and the recovery codes. Scope `users:write`.
#[utoipa::path(post, path = "/users/{uuid}/second-factor/off", tag = "users", params(("uuid" = Uuid, Path)),
    request_body = Nothing,
    responses((status = 200, body = UserView), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn turn_off_second_factor(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<Nothing>,
) -> Result<Response, ApiError> {
    let render = |user: &User| response::body(&UserView::from(user));
    let tag = |user: &User| response::tag(user.version);
    let answering = post.answering_tagged(200, &render, &tag);
    let outcome = platform.turn_off_second_factor(&post.caller, uuid, answering).await?;
    Ok(response::outcome_tagged(outcome, 200, render, tag))
}

/// Lists a user's sessions in order of creation. Scope `users:read` or `users:write`.
#[utoipa::path(get, path = "/users/{uuid}/sessions", tag = "users", params(("uuid" = Uuid, Path), ListQuery),
    responses((status = 200, body = List<SessionView>), (status = 404, body = Problem)))]
pub(crate) async fn sessions(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<ListQuery>,
) -> Result<Response, ApiError> {
    let page = request.query.page::<Uuid>()?;
    let sessions = platform.sessions_of(&request.caller, uuid, page.with_lookahead()).await?;
    let view = |session: &_| SessionView::of(session, request.caller.session);
    Ok(response::list(sessions, page, |session| session.uuid, view))
}

/// Ends all sessions of a user. Scope `users:write`.
#[utoipa::path(delete, path = "/users/{uuid}/sessions", tag = "users", params(("uuid" = Uuid, Path)),
    responses((status = 204, description = "They are over."), (status = 404, body = Problem)))]
pub(crate) async fn end_sessions(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    platform.end_sessions_of(&request.caller, uuid).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
