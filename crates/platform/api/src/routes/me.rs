//! The signed-in user: their data, password and second factor.

use axum::extract::State;
use axum::response::Response;
use kit_runtime::vault::Secret;
use platform_core::Platform;
use platform_core::port::User;
use platform_core::users::{Enrolled, RecoveryCodes};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::errors::{ApiError, Problem};
use crate::extract::{Post, QueryRequest};
use crate::models::{EnrolledView, MeView, RecoveryCodesView, SessionView, UserView, scopes_of};
use crate::response;

/// Get the signed-in user
///
/// With the current session and the scopes of the role. Only for users, not for API keys.
#[utoipa::path(
    get, path = "/me", tag = "me",
    responses((status = 200, description = "The user, the session and its scopes.", body = MeView)),
)]
pub(crate) async fn get(State(platform): State<Platform>, request: QueryRequest<()>) -> Result<Response, ApiError> {
    let (user, session) = platform.me(&request.caller).await?;
    let recovery_codes_left = platform.own_recovery_codes(&request.caller).await?;
    let session = SessionView::of(&session, request.caller.session);
    let view = MeView { scopes: scopes_of(&user), user: UserView::from(&user), session, recovery_codes_left };
    Ok(response::ok(&view))
}

/// The old and the new password.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PasswordChangeIn {
    /// The present password.
    old: String,
    /// The new password: at least 12 characters; not a common password, and not the e-mail address.
    new: String,
}

/// Change my password
///
/// Ends the user's other sessions. Only for users, not for API keys. Errors: 403 `password_refused` if `old` is
/// wrong; 429 `too_many_attempts`.
#[utoipa::path(
    post, path = "/me/password", tag = "me", request_body = PasswordChangeIn,
    responses(
        (status = 200, description = "The user.", body = UserView),
        (status = 403, body = Problem), (status = 409, body = Problem), (status = 422, body = Problem),
        (status = 429, body = Problem),
    ),
)]
pub(crate) async fn change_password(
    State(platform): State<Platform>,
    post: Post<PasswordChangeIn>,
) -> Result<Response, ApiError> {
    let (post, body) = post.with_request_hash_of(&["own password"]).map(Ok)?;
    let (old, new) = (Secret::new(body.old.into_bytes()), Secret::new(body.new.into_bytes()).into());
    let outcome = platform.change_own_password(&post.caller, &old, &new, post.idempotent(200, &render)).await?;
    Ok(response::outcome(outcome, 200, render, |_| None))
}

/// The user's password.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PasswordIn {
    /// The present password.
    password: String,
}

/// Create a second factor
///
/// Creates the secret of a second factor (TOTP, RFC 6238: SHA-1, 6 digits, 30 seconds) for the signed-in user.
/// Sign-ins need a code only after the factor is confirmed; until then a new call replaces the secret. Only for
/// users, not for API keys. Errors: 403 `password_refused`; 409 `second_factor_on`; 429 `too_many_attempts`.
#[utoipa::path(
    post, path = "/me/second-factor", tag = "me", request_body = PasswordIn,
    responses(
        (status = 201, description = "The secret of the second factor, shown this once.", body = EnrolledView),
        (status = 403, body = Problem), (status = 409, body = Problem), (status = 429, body = Problem),
    ),
)]
pub(crate) async fn enroll(State(platform): State<Platform>, post: Post<PasswordIn>) -> Result<Response, ApiError> {
    let (post, body) = post.with_request_hash_of(&["second factor"]).map(Ok)?;
    let password = Secret::new(body.password.into_bytes());
    let render = |enrolled: &Enrolled| response::body(&EnrolledView::from(enrolled));
    let outcome = platform.enroll_second_factor(&post.caller, &password, post.idempotent(201, &render)).await?;
    Ok(response::outcome(outcome, 201, render, |_| None))
}

/// A code of the second factor.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CodeIn {
    /// Six digits of the authenticator; to turn the factor off, also a recovery code.
    code: String,
}

/// Confirm a second factor
///
/// Turns the second factor on with a code of it, ends the user's other sessions, and returns recovery codes. Only for
/// users, not for API keys. Errors: 403 `code_refused`; 409 `second_factor_off`, `second_factor_on`; 429
/// `too_many_attempts`.
#[utoipa::path(
    post, path = "/me/second-factor/confirm", tag = "me", request_body = CodeIn,
    responses(
        (status = 200, description = "The recovery codes, shown this once.", body = RecoveryCodesView),
        (status = 403, body = Problem), (status = 409, body = Problem), (status = 429, body = Problem),
    ),
)]
pub(crate) async fn confirm(State(platform): State<Platform>, post: Post<CodeIn>) -> Result<Response, ApiError> {
    let render = |made: &RecoveryCodes| response::body(&RecoveryCodesView::from(made));
    let idempotent = post.idempotent(200, &render);
    let outcome = platform.confirm_second_factor(&post.caller, &post.body.code, idempotent).await?;
    Ok(response::outcome(outcome, 200, render, |_| None))
}

/// Turn my second factor off
///
/// With a code of it or a recovery code. Only for users, not for API keys. Errors: 403 `code_refused`; 409
/// `second_factor_off`; 429 `too_many_attempts`.
#[utoipa::path(
    post, path = "/me/second-factor/off", tag = "me", request_body = CodeIn,
    responses(
        (status = 200, description = "The user, without a second factor.", body = UserView),
        (status = 403, body = Problem), (status = 409, body = Problem), (status = 429, body = Problem),
    ),
)]
pub(crate) async fn turn_off(State(platform): State<Platform>, post: Post<CodeIn>) -> Result<Response, ApiError> {
    let idempotent = post.idempotent(200, &render);
    let outcome = platform.turn_off_own_second_factor(&post.caller, &post.body.code, idempotent).await?;
    Ok(response::outcome(outcome, 200, render, |_| None))
}

fn render(user: &User) -> String {
    response::body(&UserView::from(user))
}
