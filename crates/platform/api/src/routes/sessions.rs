//! Signing in, sessions, and signing out.

use std::net::IpAddr;

use axum::extract::{FromRequest, Path, Request, State};
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_runtime::vault::Secret;
use platform_core::people::{SignIn, SignedIn};
use platform_core::{Answering, Platform};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::answer;
use crate::ask::{Asked, ListQuery, idempotency_key, refuse_query};
use crate::errors::{ApiError, Problem};
use crate::models::{List, SessionView, SignedInView};

/// What somebody shows to sign in.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SignInBody {
    /// E-mail address, in whatever case.
    email: String,
    password: String,
    /// The code that the authenticator shows, or a recovery code; for users with a second factor.
    code: Option<String>,
}

/// A request of whom nobody knows yet.
pub(crate) struct Stranger {
    sign_in: SignIn,
    /// The `Idempotency-Key`.
    key: Option<String>,
    /// Without the password, whose hash must not be kept; who repeats the request shows it again.
    request_hash: [u8; 32],
}

impl FromRequest<Platform> for Stranger {
    type Rejection = ApiError;

    async fn from_request(request: Request, platform: &Platform) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        let from: Option<IpAddr> = kit_http::client::address(&parts, &platform.config().people.trusted_proxies);
        let key = idempotency_key(&parts.headers)?;
        refuse_query(&parts.uri)?;
        kit_http::json::check_content_type(&parts.headers).map_err(ApiError::from)?;
        let bytes = kit_http::json::read(body).await.map_err(ApiError::from)?;
        let SignInBody { email, password, code } = kit_http::json::parse(&bytes).map_err(ApiError::from)?;
        let told = serde_json::json!(["sign in", email, code]).to_string();
        let sign_in = SignIn { email, password: Secret::new(password.into_bytes()), code, from };
        Ok(Stranger { sign_in, key, request_hash: Sha256::digest(told).into() })
    }
}

/// Signs in: begins a session of a person. The token is shown this once, and again only to the same `Idempotency-Key` with the
/// same password. It is sent like an API key, and may do what the person's role may. Needs no key.
#[utoipa::path(post, path = "/sessions", tag = "sessions", request_body = SignInBody,
    responses((status = 201, body = SignedInView), (status = 401, body = Problem), (status = 409, body = Problem),
        (status = 422, body = Problem), (status = 429, body = Problem)))]
pub(crate) async fn sign_in(State(platform): State<Platform>, stranger: Stranger) -> Result<Response, ApiError> {
    let Stranger { sign_in, key, request_hash } = stranger;
    let render = |signed_in: &SignedIn| answer::body(&SignedInView::from(signed_in));
    // Whose answer it is, is known once the password was looked at.
    let caller = Uuid::nil();
    let answering =
        key.as_deref().map(|key| Answering { caller, key, request_hash, status: 201, render: &render, tag: &|_| None });
    let outcome = platform.sign_in(&sign_in, answering).await?;
    Ok(answer::outcome(outcome, 201, render, |_| None))
}

/// Lists the sessions of the person who asks, in order of creation.
#[utoipa::path(get, path = "/sessions", tag = "sessions", params(ListQuery),
    responses((status = 200, body = List<SessionView>)))]
pub(crate) async fn list(State(platform): State<Platform>, asked: Asked<ListQuery>) -> Result<Response, ApiError> {
    let page = asked.query.page::<Uuid>()?;
    let sessions = platform.own_sessions(&asked.caller, page.more()).await?;
    let view = |session: &_| SessionView::of(session, asked.caller.session);
    Ok(answer::list(sessions, page, |session| session.uuid, view))
}

/// Ends all sessions of the person who asks, the one that asks as well.
#[utoipa::path(delete, path = "/sessions", tag = "sessions", responses((status = 204, description = "They are over.")))]
pub(crate) async fn end_all(State(platform): State<Platform>, asked: Asked<()>) -> Result<Response, ApiError> {
    platform.end_own_sessions(&asked.caller).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Ends a session (signs out): one's own or, by an administrator, anybody's. The node that is asked refuses it from this answer on,
/// others within five seconds.
#[utoipa::path(delete, path = "/sessions/{uuid}", tag = "sessions", params(("uuid" = Uuid, Path)),
    responses((status = 204, description = "It is over."), (status = 404, body = Problem)))]
pub(crate) async fn end(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    asked: Asked<()>,
) -> Result<Response, ApiError> {
    platform.end_session(&asked.caller, uuid).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
