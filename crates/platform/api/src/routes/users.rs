//! Users, managed by administrators.

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_runtime::vault::Secret;
use platform_core::port::User;
use platform_core::users::{NewUser, PasswordReset, ScreenLinksToEnd, UserPatch, UserWithPassword};
use platform_core::{Platform, Role};
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::body_fields::no_null;
use crate::errors::{ApiError, Problem};
use crate::extract::{Post, QueryRequest};
use crate::models::{ChangedUserView, List, SessionView, UserView, UserWithPasswordView};
use crate::pagination::ListQuery;
use crate::response;

/// A new user.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct UserIn {
    /// E-mail address, unique; upper and lower case are equal.
    email: String,
    /// What people call the user, at most 100 characters. Invisible characters, those that change the direction of text, and `@`
    /// are refused.
    #[serde(default)]
    name: Option<String>,
    /// `administrator`, `operator`, `clerk`, `support` or `viewer`; not above the caller's own role.
    role: String,
    /// At least 12 characters; not a common password, and not the e-mail address. Without it, the server makes a password.
    password: Option<String>,
    /// True: the user has to choose another password with `POST /me/password` before anything else.
    #[serde(default)]
    require_new_password: bool,
}

/// Create a user
///
/// Without `password`, the server makes one. The response shows it this once; only a repeated request with the same
/// `Idempotency-Key` shows it again. Scope `users:write`. Errors: 409 `taken` if another user has this e-mail
/// address.
#[utoipa::path(
    post, path = "/users", tag = "users", request_body = UserIn,
    responses(
        (
            status = 201, description = "The new user, with the password if the server made it.",
            body = UserWithPasswordView,
        ),
        (status = 409, body = Problem), (status = 422, body = Problem),
    ),
)]
pub(crate) async fn create(State(platform): State<Platform>, post: Post<UserIn>) -> Result<Response, ApiError> {
    let (post, UserIn { email, name, role, password, require_new_password }) = post.map(Ok)?;
    let require = require_new_password.to_string();
    let mut hashed = vec!["user", &email, &role, &require];
    hashed.extend(name.as_deref());
    let post = post.with_request_hash_of(&hashed);
    let role = role_named(&role)?;
    let password = password.map(|password| Secret::new(password.into_bytes()));
    let new = NewUser { email, name, role, password, must_change_password: require_new_password };
    let render = |made: &UserWithPassword| response::body(&UserWithPasswordView::from(made));
    let tag = |made: &UserWithPassword| response::tag(made.user.version);
    let idempotent = post.idempotent_tagged(201, &render, &tag);
    let outcome = platform.create_user(&post.caller, new, idempotent).await?;
    Ok(response::outcome_tagged(outcome, 201, render, tag))
}

fn role_named(name: &str) -> Result<Role, ApiError> {
    Role::parse(name).ok_or_else(|| {
        let known = Role::ALL.map(Role::name).join(", ");
        ApiError::invalid("/role", format!("{name:?} is not a role; send one of {known}"))
    })
}

/// List users
///
/// In order of creation. The list contains disabled users. Scope `users:read` or `users:write`.
#[utoipa::path(
    get, path = "/users", tag = "users",
    params(ListQuery),
    responses((status = 200, description = "A page of users in order of creation.", body = List<UserView>)),
)]
pub(crate) async fn list(
    State(platform): State<Platform>,
    request: QueryRequest<ListQuery>,
) -> Result<Response, ApiError> {
    let page = request.query.page::<Uuid>()?;
    let users = platform.users(&request.caller, page.with_lookahead()).await?;
    Ok(response::list(users, page, |user| user.id, |user| UserView::from(user)))
}

/// Get a user
///
/// Scope `users:read` or `users:write`.
#[utoipa::path(
    get, path = "/users/{uuid}", tag = "users",
    params(("uuid" = Uuid, Path)),
    responses((status = 200, description = "The user.", body = UserView), (status = 404, body = Problem)),
)]
pub(crate) async fn get(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    let user = platform.user(&request.caller, uuid).await?;
    Ok(response::versioned(&UserView::from(&user), user.version))
}

/// A patch of a user: an absent field stays.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct UserPatchIn {
    /// `administrator`, `operator`, `clerk`, `support` or `viewer`; not above the caller's own role.
    #[serde(default, deserialize_with = "no_null")]
    role: Option<String>,
    /// True: the user can't sign in. False: they can.
    #[serde(default, deserialize_with = "no_null")]
    disabled: Option<bool>,
    /// What becomes of links to room screens and speaker's views that the user made, if the user may do less afterwards:
    /// `replace` (default) or `end`.
    #[serde(default, deserialize_with = "no_null")]
    screen_links: Option<String>,
}

/// Change a user
///
/// Changes the role, disables or enables the user, and ends their sessions. If the user may do less afterwards, the same
/// change withdraws their open invitations, and replaces or ends the links of screens that they made. A replaced link goes
/// on until the new one is opened, for at most an hour: open `/admin/screens` on the screen and enter `token` of
/// `screenLinks`, which is shown this once. A caller without `ring:write` ends the links. Requires `If-Match` (412
/// `precondition_failed`, 428 `precondition_required`). Scope `users:write`. Errors: 409 `last_administrator` if no
/// administrator who can sign in would remain.
#[utoipa::path(
    patch, path = "/users/{uuid}", tag = "users", request_body = UserPatchIn,
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)),
    responses(
        (status = 200, description = "The user after the change, with the new links of screens.", body = ChangedUserView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 422, body = Problem), (status = 428, body = Problem),
    ),
)]
pub(crate) async fn change(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<UserPatchIn>,
) -> Result<Response, ApiError> {
    let role = post.body.role.as_deref().map(role_named).transpose()?;
    let screen_links_to_end = match post.body.screen_links.as_deref() {
        None | Some("replace") => ScreenLinksToEnd::Nothing,
        Some("end") => ScreenLinksToEnd::All,
        Some(_) => return Err(ApiError::invalid("/screenLinks", "is not a choice: send replace or end")),
    };
    let patch = UserPatch { role, disabled: post.body.disabled, screen_links_to_end };
    let changed = platform.change_user(&post.caller, uuid, Some(post.required_version()?), patch).await?;
    Ok(response::versioned(&ChangedUserView::from(&changed), changed.user.version))
}

/// Delete a user
///
/// Only a user who has never signed in, with the links that they made. Disable other users instead, because logs may name them (409
/// `has_signed_in`). Scope `users:write`. Errors: 409 `has_signed_in`, `last_administrator`.
#[utoipa::path(
    delete, path = "/users/{uuid}", tag = "users",
    params(("uuid" = Uuid, Path)),
    responses(
        (status = 204, description = "No content. The user is deleted."),
        (status = 404, body = Problem), (status = 409, body = Problem),
    ),
)]
pub(crate) async fn remove(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    platform.remove_user(&request.caller, uuid).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// A new password.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PasswordResetIn {
    /// At least 12 characters; not a common password, and not the e-mail address. Without it, the server makes a password.
    password: Option<String>,
    /// True: the user has to choose another password with `POST /me/password` before anything else.
    #[serde(default)]
    require_new_password: bool,
}

/// Reset a user's password
///
/// Sets a new password, ends the user's sessions, and resets the count of failed sign-ins. Without `password`, the
/// server makes one. The response shows it this once; only a repeated request with the same `Idempotency-Key` shows
/// it again. Scope `users:write`.
#[utoipa::path(
    post, path = "/users/{uuid}/password", tag = "users", request_body = PasswordResetIn,
    params(("uuid" = Uuid, Path)),
    responses(
        (
            status = 200, description = "The user, with the password if the server made it.",
            body = UserWithPasswordView,
        ),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 422, body = Problem),
    ),
)]
pub(crate) async fn reset_password(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<PasswordResetIn>,
) -> Result<Response, ApiError> {
    let (post, body) = post.map(Ok)?;
    let must_change_password = body.require_new_password;
    let post = post.with_request_hash_of(&["password", &uuid.to_string(), &must_change_password.to_string()]);
    let password = body.password.map(|password| Secret::new(password.into_bytes()));
    let render = |made: &UserWithPassword| response::body(&UserWithPasswordView::from(made));
    let tag = |made: &UserWithPassword| response::tag(made.user.version);
    let idempotent = post.idempotent_tagged(200, &render, &tag);
    let outcome = platform
        .reset_password(&post.caller, uuid, PasswordReset { password, must_change_password }, idempotent)
        .await?;
    Ok(response::outcome_tagged(outcome, 200, render, tag))
}

/// An empty object: the operation has no parameters.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Nothing {}

/// Turn a user's second factor off
///
/// For a user who has lost the authenticator and the recovery codes. Scope `users:write`. Errors: 409
/// `second_factor_off`.
#[utoipa::path(
    post, path = "/users/{uuid}/second-factor/off", tag = "users", request_body = Nothing,
    params(("uuid" = Uuid, Path)),
    responses(
        (status = 200, description = "The user, without a second factor.", body = UserView),
        (status = 404, body = Problem), (status = 409, body = Problem),
    ),
)]
pub(crate) async fn turn_off_second_factor(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<Nothing>,
) -> Result<Response, ApiError> {
    let render = |user: &User| response::body(&UserView::from(user));
    let tag = |user: &User| response::tag(user.version);
    let idempotent = post.idempotent_tagged(200, &render, &tag);
    let outcome = platform.turn_off_second_factor(&post.caller, uuid, idempotent).await?;
    Ok(response::outcome_tagged(outcome, 200, render, tag))
}

/// List a user's sessions
///
/// In order of creation. Scope `users:read` or `users:write`.
#[utoipa::path(
    get, path = "/users/{uuid}/sessions", tag = "users",
    params(("uuid" = Uuid, Path), ListQuery),
    responses(
        (status = 200, description = "A page of the user's sessions in order of creation.", body = List<SessionView>),
        (status = 404, body = Problem),
    ),
)]
pub(crate) async fn sessions(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<ListQuery>,
) -> Result<Response, ApiError> {
    let page = request.query.page::<Uuid>()?;
    let sessions = platform.sessions_of(&request.caller, uuid, page.with_lookahead()).await?;
    let view = |session: &_| SessionView::of(session, request.caller.session);
    Ok(response::list(sessions, page, |session| session.id, view))
}

/// End a user's sessions
///
/// Ends all sessions of the user. Scope `users:write`.
#[utoipa::path(
    delete, path = "/users/{uuid}/sessions", tag = "users",
    params(("uuid" = Uuid, Path)),
    responses((status = 204, description = "No content. The sessions have ended."), (status = 404, body = Problem)),
)]
pub(crate) async fn end_sessions(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    platform.end_sessions_of(&request.caller, uuid).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
