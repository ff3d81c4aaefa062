//! Sessions: signing in and signing out.

use std::net::IpAddr;

use axum::extract::{FromRequest, Path, Request, State};
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_runtime::vault::Secret;
use platform_core::users::{Client, SignIn, SignedIn};
use platform_core::{IdempotentRequest, Platform};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::errors::{ApiError, Problem};
use crate::extract::{QueryRequest, idempotency_key, refuse_query};
use crate::models::{List, SessionView, SignedInView};
use crate::pagination::ListQuery;
use crate::response;

/// Credentials of a user.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SignInBody {
    /// E-mail address; upper and lower case are equal.
    email: String,
    /// Password.
    password: String,
    /// A code of the authenticator, or a recovery code; for users with a second factor.
    code: Option<String>,
    /// The `deviceToken` of an earlier sign-in of this user on this device. Wrong passwords from other devices then do
    /// not delay this one. A token that is not valid is ignored.
    device_token: Option<String>,
}

/// A sign-in, before the caller is known.
pub(crate) struct SignInRequest {
    sign_in: SignIn,
    /// The `Idempotency-Key`.
    key: Option<String>,
    /// Hash of the request without the password, whose hash must not be stored. A repeated request is authenticated
    /// again.
    request_hash: [u8; 32],
}

impl FromRequest<Platform> for SignInRequest {
    type Rejection = ApiError;

    async fn from_request(request: Request, platform: &Platform) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        let from: Option<IpAddr> = kit_http::client_ip::resolve(&parts, &platform.config().trusted_proxies);
        let key = idempotency_key(&parts.headers)?;
        refuse_query(&parts.uri)?;
        kit_http::json::check_content_type(&parts.headers).map_err(ApiError::from)?;
        let bytes = kit_http::unauthenticated_body::read(body).await.map_err(ApiError::from)?;
        let SignInBody { email, password, code, device_token } =
            kit_http::json::parse(&bytes).map_err(ApiError::from)?;
        let hashed = serde_json::json!(["sign in", email, code]).to_string();
        let secret = |text: String| Secret::new(text.into_bytes());
        let device_token = device_token.map(secret);
        let client = Client { from, browser: None, device_token };
        let sign_in = SignIn { email, password: secret(password), code, client };
        Ok(SignInRequest { sign_in, key, request_hash: Sha256::digest(hashed).into() })
    }
}

/// Sign in
///
/// Starts a session of a user and returns its token, which is sent like an API key and has the scopes of the user's
/// role. The response shows the token this once; only a repeated request with the same `Idempotency-Key` and the same
/// password shows it again. Needs no key. Errors: 401 `sign_in_refused`, `code_required`, `code_refused`; 429
/// `too_many_attempts`.
#[utoipa::path(
    post, path = "/sessions", tag = "sessions", request_body = SignInBody,
    responses(
        (status = 201, description = "The session with its token.", body = SignedInView),
        (status = 401, body = Problem), (status = 409, body = Problem), (status = 422, body = Problem),
        (status = 429, body = Problem),
    ),
)]
pub(crate) async fn sign_in(State(platform): State<Platform>, request: SignInRequest) -> Result<Response, ApiError> {
    let SignInRequest { sign_in, key, request_hash } = request;
    let render = |signed_in: &SignedIn| response::body(&SignedInView::from(signed_in));
    // The user is known only after the password check, which sets the caller.
    let caller = Uuid::nil();
    let idempotent = key.as_deref().map(|key| IdempotentRequest {
        caller,
        key,
        request_hash,
        status: 201,
        render: &render,
        tag: &|_| None,
    });
    let outcome = platform.sign_in(&sign_in, idempotent).await?;
    Ok(response::outcome(outcome, 201, render, |_| None))
}

/// List my sessions
///
/// The sessions of the signed-in user, in order of creation. Only for users, not for API keys.
#[utoipa::path(
    get, path = "/sessions", tag = "sessions",
    params(ListQuery),
    responses(
        (status = 200, description = "A page of the user's sessions in order of creation.", body = List<SessionView>),
    ),
)]
pub(crate) async fn list(
    State(platform): State<Platform>,
    request: QueryRequest<ListQuery>,
) -> Result<Response, ApiError> {
    let page = request.query.page::<Uuid>()?;
    let sessions = platform.own_sessions(&request.caller, page.with_lookahead()).await?;
    let view = |session: &_| SessionView::of(session, request.caller.session);
    Ok(response::list(sessions, page, |session| session.id, view))
}

/// End all my sessions
///
/// Ends all sessions of the signed-in user, including the current one. Only for users, not for API keys.
#[utoipa::path(
    delete, path = "/sessions", tag = "sessions",
    responses((status = 204, description = "No content. The sessions have ended.")),
)]
pub(crate) async fn end_all(State(platform): State<Platform>, request: QueryRequest<()>) -> Result<Response, ApiError> {
    platform.end_own_sessions(&request.caller).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// End a session
///
/// Signs out. A user ends their own sessions; an administrator ends sessions of every user. The node that handles
/// this request rejects the token from then on, other nodes within 5 seconds. Only for users, not for API keys.
#[utoipa::path(
    delete, path = "/sessions/{uuid}", tag = "sessions",
    params(("uuid" = Uuid, Path)),
    responses((status = 204, description = "No content. The session has ended."), (status = 404, body = Problem)),
)]
pub(crate) async fn end(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    platform.end_session(&request.caller, uuid).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
