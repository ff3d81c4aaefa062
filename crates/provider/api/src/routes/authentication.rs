//! Access of an account's customers to their own application: magic links and application tokens.

use std::collections::BTreeSet;

use axum::extract::State;
use axum::response::Response;
use provider_core::model::Capability;
use provider_core::{PortalAccessInput, Provider, Scope};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::applications::ApplicationIn;
use crate::errors::{ApiError, HttpErrorOut};
use crate::extract::{Auth, JsonBody, PathParams};
use crate::response;
use crate::schema_types::Session;

/// The requested access.
/// An unknown field is refused with 422, because ignoring a misspelt restriction would grant more access.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AppPortalAccessIn {
    /// Creates the application if none has the uid of the path. Its `uid` must be the one in the path.
    application: Option<ApplicationIn>,
    /// `true` restricts the token to reading everything but secrets. `capabilities` is more precise.
    read_only: Option<bool>,
    /// Capabilities of the token, with `ViewBase` among them. Without this field the token has all.
    #[schema(value_type = Option<Vec<AppPortalCapability>>, min_items = 1)]
    capabilities: Option<BTreeSet<AppPortalCapability>>,
    /// Feature flags of the token, at most 25. It sees an event type with flags only if it has one of them.
    #[schema(value_type = Option<Vec<String>>, max_items = 25)]
    feature_flags: Option<BTreeSet<String>>,
    /// Lifetime of the token in seconds: 1 hour to 7 days. The default is 7 days.
    #[schema(minimum = 3600, maximum = 604800)]
    expiry: Option<i64>,
    /// The caller's own name for the session. The tokens of one session can be ended together.
    #[schema(min_length = 1, max_length = 64, pattern = "^[a-zA-Z0-9@_-]+$")]
    session_id: Option<String>,
}

/// What a token may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, ToSchema)]
pub(crate) enum AppPortalCapability {
    /// Read everything of the application but secrets.
    ViewBase,
    /// Read secrets.
    ViewEndpointSecret,
    /// Read and rotate secrets.
    ManageEndpointSecret,
    /// Accepted without effect: the provider has no transformations.
    ManageTransformations,
    /// Send examples, resend, recover and replay messages.
    CreateAttempts,
    /// Create, change and delete endpoints, secrets included.
    ManageEndpoint,
}

/// Access to the App Portal of one application.
#[derive(Serialize, ToSchema)]
pub(crate) struct AppPortalAccessOut {
    /// Magic link to the App Portal. Its fragment is `#key=` and the base64 of `{"appId", "token"}`.
    #[schema(format = "uri", min_length = 1, max_length = 65536)]
    url: String,
    /// The token, which is also a bearer token for this API. It is returned only once.
    token: String,
}

/// The tokens to end, and when.
/// An unknown field is refused with 422, because ignoring a misspelt selection would end all tokens.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ApplicationTokenExpireIn {
    /// Seconds until the tokens end: 0 to 259,200. The default is 0.
    #[schema(minimum = 0, maximum = 259200)]
    expiry: Option<i64>,
    /// Only tokens of these sessions. Without this field, all tokens of the application.
    #[schema(value_type = Option<Vec<Session>>, max_items = 1000)]
    session_ids: Option<Vec<String>>,
}

/// The account and application of the caller's key or token.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WhoamiOut<'a> {
    /// Id of the account, `org_…`.
    env_id: &'a str,
    /// Id of the application, if the caller uses the token of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    app_id: Option<&'a str>,
    /// Always `RegionalAuthToken`: an API key or token of this server.
    permission_source: &'static str,
    /// Session that the token was created for.
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
}

impl From<AppPortalCapability> for Capability {
    fn from(capability: AppPortalCapability) -> Self {
        match capability {
            AppPortalCapability::ViewBase => Self::ViewBase,
            AppPortalCapability::ViewEndpointSecret => Self::ViewEndpointSecret,
            AppPortalCapability::ManageEndpointSecret => Self::ManageEndpointSecret,
            AppPortalCapability::ManageTransformations => Self::ManageTransformations,
            AppPortalCapability::CreateAttempts => Self::CreateAttempts,
            AppPortalCapability::ManageEndpoint => Self::ManageEndpoint,
        }
    }
}

impl TryFrom<AppPortalAccessIn> for PortalAccessInput {
    type Error = ApiError;

    fn try_from(body: AppPortalAccessIn) -> Result<Self, ApiError> {
        let named = body.capabilities.map(|named| named.into_iter().map(Into::into).collect());
        Ok(PortalAccessInput {
            application: body.application.map(ApplicationIn::inline).transpose()?,
            // If both fields are given, the more restrictive one counts.
            capabilities: if body.read_only == Some(true) { Some([Capability::ViewBase].into()) } else { named },
            feature_flags: body.feature_flags.unwrap_or_default(),
            expiry_seconds: body.expiry,
            session_id: body.session_id,
        })
    }
}

/// Creates a magic link to an application's App Portal, with a token. Each call creates another one, also with the same
/// idempotency key, because the provider stores no response that contains a secret.
#[utoipa::path(post, path = "/auth/app-portal-access/{app_id}", operation_id = "v1.authentication.app-portal-access",
    tag = "Authentication",
    params(("app_id" = String, Path, description = "Id or uid")), request_body = AppPortalAccessIn,
    responses(
        (status = 200, description = "The magic link and its token.", body = AppPortalAccessOut),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn app_portal_access(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application]): PathParams<1>,
    sent: JsonBody<AppPortalAccessIn>,
) -> Result<Response, ApiError> {
    let access = provider.create_portal_access(&caller, &application, sent.body.try_into()?).await?;
    Ok(response::ok(&AppPortalAccessOut { url: access.url, token: access.token }))
}

/// Creates a magic link for older clients, which send no body.
pub(crate) async fn dashboard_access(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application]): PathParams<1>,
) -> Result<Response, ApiError> {
    let access = provider.create_portal_access(&caller, &application, PortalAccessInput::default()).await?;
    Ok(response::ok(&AppPortalAccessOut { url: access.url, token: access.token }))
}

/// Ends tokens of an application: all, or those of the given sessions.
#[utoipa::path(post, path = "/auth/app/{app_id}/expire-all", operation_id = "v1.authentication.expire-all",
    tag = "Authentication",
    params(("app_id" = String, Path, description = "Id or uid")), request_body = ApplicationTokenExpireIn,
    responses(
        (status = 204, description = "No content."),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn expire_all(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application]): PathParams<1>,
    sent: JsonBody<ApplicationTokenExpireIn>,
) -> Result<Response, ApiError> {
    let ApplicationTokenExpireIn { expiry, session_ids } = sent.body;
    provider.end_app_tokens(&caller, &application, session_ids, expiry).await?;
    Ok(response::no_content())
}

/// Ends the token of the request. 403 for an API key.
#[utoipa::path(post, path = "/auth/logout", operation_id = "v1.authentication.logout", tag = "Authentication",
    responses((status = 204, description = "No content.")))]
pub(crate) async fn logout(State(provider): State<Provider>, Auth(caller): Auth) -> Result<Response, ApiError> {
    provider.log_out(&caller).await?;
    Ok(response::no_content())
}

/// Returns the account and application of the request's key or token.
#[utoipa::path(get, path = "/auth/whoami", operation_id = "v1.authentication.whoami", tag = "Authentication",
    responses(
        (status = 200, description = "The account and application of the key or token.", body = WhoamiOut<'_>),
    ))]
pub(crate) async fn whoami(Auth(caller): Auth) -> Response {
    let token = match &caller.scope {
        Scope::Account => None,
        Scope::Application(token) => Some(token),
    };
    response::ok(&WhoamiOut {
        env_id: &caller.account,
        app_id: token.map(|token| &*token.application),
        permission_source: "RegionalAuthToken",
        session_id: token.and_then(|token| token.session_id.as_deref()),
    })
}
