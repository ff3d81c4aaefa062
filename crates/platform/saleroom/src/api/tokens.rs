//! Tokens for web sites of a house: the token and revocation endpoints (RFC 6749, RFC 7009), and the document in which standard clients
//! look the addresses up (RFC 8414).
//!
//! A site is a public client: it keeps no secret. Its `client_id` is its origin, and the verifier of RFC 7636 shows that it asked for
//! the code.

use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse as _, Response};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, StatusCode};
use kit_design::fields::FormFields;
use kit_runtime::vault::Secret;
use platform_core::PlatformError;
use platform_core::saleroom::{ACCESS_VALID, CodeRedemption, SaleroomRefusal, SiteTokens};
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use super::errors::{ApiError, Problem};
use super::requests::AtHouse;
use super::sales::ok;

const FORM: &str = "application/x-www-form-urlencoded";

/// What a site sends for tokens.
#[derive(ToSchema)]
#[schema(as = TokenRequest)]
#[expect(dead_code, reason = "a schema only")]
pub(super) struct TokenIn {
    /// `authorization_code` for a code, `refresh_token` for the next tokens.
    #[schema(example = "authorization_code")]
    grant_type: String,
    /// The origin of the site.
    #[schema(example = "https://www.example.com")]
    client_id: String,
    /// The code.
    code: Option<String>,
    /// The address to which the bidder came back with the code.
    redirect_uri: Option<String>,
    /// The verifier of the challenge.
    code_verifier: Option<String>,
    /// The refresh token.
    refresh_token: Option<String>,
}

/// Tokens of a site.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Tokens)]
pub(super) struct TokensView {
    /// For the header `Authorization: Bearer`.
    #[schema(example = "lwa_…")]
    access_token: String,
    /// Always `Bearer`.
    #[schema(example = "Bearer")]
    token_type: &'static str,
    /// Seconds until the access token ends.
    #[schema(example = 3_600)]
    expires_in: u64,
    /// For the next tokens, once.
    #[schema(example = "lwr_…")]
    refresh_token: String,
}

/// What a site sends to end its access.
#[derive(ToSchema)]
#[schema(as = RevocationRequest)]
#[expect(dead_code, reason = "a schema only")]
pub(super) struct RevocationIn {
    /// The origin of the site.
    #[schema(example = "https://www.example.com")]
    client_id: String,
    /// One of its tokens.
    token: String,
}

/// An error of RFC 6749, section 5.2.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TokenError)]
pub(super) struct TokenError {
    /// `invalid_request`, `invalid_client`, `invalid_grant` or `unsupported_grant_type`.
    #[schema(example = "invalid_grant")]
    error: &'static str,
    /// For people.
    error_description: String,
}

impl TokenError {
    fn respond(error: &'static str, description: impl Into<String>) -> Response {
        let body = Self { error, error_description: description.into() };
        kit_http::json::response(StatusCode::BAD_REQUEST, kit_http::json::text(&body))
    }
}

/// Get tokens for a code, or the next tokens
///
/// A code works once within 60 seconds, for the site, address and verifier that it was asked with; a second use ends the tokens of the
/// first. A refresh token works once; a second use ends all tokens that came of the same consent, and so does the end of 30 days.
#[utoipa::path(
    post, path = "/token", tag = "tokens", params(("house" = String, Path)),
    request_body(content = TokenIn, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The tokens.", body = TokensView),
        (status = 400, description = "Why there are none.", body = TokenError), (status = 404, body = Problem),
    ),
)]
pub(super) async fn token(at: AtHouse<0>, request: Request) -> Result<Response, ApiError> {
    let form = match form(&at, request).await? {
        Ok(form) => form,
        Err(refusal) => return Ok(refusal),
    };
    let required = ["code", "redirect_uri", "code_verifier"];
    let (platform, origin) = (at.platform(), form.text("client_id"));
    let tokens = match form.text("grant_type") {
        "authorization_code" => {
            if let Some(missing) = required.into_iter().find(|name| form.text(name).is_empty()) {
                return Ok(TokenError::respond("invalid_request", format!("{missing} is missing")));
            }
            let [code, redirect, verifier] = required.map(|name| form.text(name));
            platform.redeem_site_code(at.saleroom(), &CodeRedemption { origin, code, redirect, verifier }).await
        }
        "refresh_token" => platform.refresh_site_tokens(at.saleroom(), origin, form.text("refresh_token")).await,
        "" => return Ok(TokenError::respond("invalid_request", "grant_type is missing")),
        _ => return Ok(TokenError::respond("unsupported_grant_type", "use authorization_code or refresh_token")),
    };
    match tokens {
        Ok(tokens) => Ok(ok(&TokensView::of(&tokens))),
        Err(PlatformError::Saleroom(refusal @ (SaleroomRefusal::GrantVoid | SaleroomRefusal::AccountsClosed))) => {
            Ok(TokenError::respond("invalid_grant", refusal.to_string()))
        }
        Err(error) => Err(error.into()),
    }
}

/// End a site's access
///
/// Ends all tokens that came of the same consent. A token that is unknown succeeds, too.
#[utoipa::path(
    post, path = "/revoke", tag = "tokens", params(("house" = String, Path)),
    request_body(content = RevocationIn, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The tokens have ended."),
        (status = 400, description = "Why the request can't be read.", body = TokenError), (status = 404, body = Problem),
    ),
)]
pub(super) async fn revoke(at: AtHouse<0>, request: Request) -> Result<Response, ApiError> {
    let form = match form(&at, request).await? {
        Ok(form) => form,
        Err(refusal) => return Ok(refusal),
    };
    if form.text("token").is_empty() {
        return Ok(TokenError::respond("invalid_request", "token is missing"));
    }
    at.platform().revoke_site_token(at.saleroom(), form.text("client_id"), form.text("token")).await?;
    Ok(StatusCode::OK.into_response())
}

/// Where standard clients find the addresses of a house.
pub(super) async fn metadata(at: AtHouse<0>) -> Response {
    ok(&json!({
        "issuer": at.address(""),
        "authorization_endpoint": at.address("/authorize"),
        "token_endpoint": at.address("/token"),
        "revocation_endpoint": at.address("/revoke"),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
        "service_documentation": at.address("/api/openapi.json"),
    }))
}

/// The fields of a site that the house lists, or the response that refuses them.
async fn form(at: &AtHouse<0>, request: Request) -> Result<Result<FormFields, Response>, ApiError> {
    let (parts, body) = request.into_parts();
    let invalid = |description: &str| Ok(Err(TokenError::respond("invalid_request", description)));
    if !is_form(&parts.headers) {
        return invalid("send the fields as application/x-www-form-urlencoded");
    }
    let bytes = read(body).await?;
    let Some(fields) = std::str::from_utf8(&bytes).ok().and_then(|text| FormFields::of_query(text).ok()) else {
        return invalid("the fields can't be read");
    };
    let names =
        ["grant_type", "client_id", "code", "redirect_uri", "code_verifier", "refresh_token", "token", "client_secret"];
    if names.iter().any(|name| fields.all(name).count() > 1) {
        return invalid("a field is there twice");
    }
    let client = fields.text("client_id");
    let is_own = at.asked.origin.as_deref().is_none_or(|origin| origin == client);
    if at.saleroom().site(client).is_none() || !is_own || !fields.text("client_secret").is_empty() {
        let description = "client_id is not the origin of a web site that the house lists, or not that of this page";
        return Ok(Err(TokenError::respond("invalid_client", description)));
    }
    Ok(Ok(fields))
}

fn is_form(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(FORM)
}

async fn read(body: Body) -> Result<Vec<u8>, ApiError> {
    Ok(kit_http::unauthenticated_body::read(body).await?.to_vec())
}

impl TokensView {
    fn of(tokens: &SiteTokens) -> Self {
        let text = |secret: &Secret| secret.expose_str().unwrap_or_default().to_owned();
        Self {
            access_token: text(&tokens.access),
            token_type: "Bearer",
            expires_in: ACCESS_VALID.as_secs(),
            refresh_token: text(&tokens.refresh),
        }
    }
}
