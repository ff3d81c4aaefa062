//! Access of an account's customers to their own application (provider.md, "Keys and links").

use std::collections::BTreeSet;

use axum::extract::State;
use axum::response::Response;
use provider_core::model::Capability;
use provider_core::{PortalAccessInput, Provider, Scope};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::applications::ApplicationIn;
use crate::errors::{ApiError, HttpErrorOut, ValidationErrorOut};
use crate::extract::{Auth, JsonBody, PathParams};
use crate::response;
use crate::schema_types::Session;

/// What access is asked for.
/// A field that there is none of is refused: what was meant to give less would give more.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AppPortalAccessIn {
    /// Makes the application when there is none of the path's uid.
    application: Option<ApplicationIn>,
    /// Whether the token may only read: everything but secrets. `capabilities` says it more exactly.
    read_only: Option<bool>,
    /// What the token may do; everything without. `ViewBase` must be among them.
    #[schema(value_type = Option<Vec<AppPortalCapability>>, min_items = 1)]
    capabilities: Option<BTreeSet<AppPortalCapability>>,
    /// Event types with a feature flag are only shown with that flag. At most 25.
    #[schema(value_type = Option<Vec<String>>, max_items = 25)]
    feature_flags: Option<BTreeSet<String>>,
    /// Seconds that the token gives access: 7 days without.
    #[schema(minimum = 3600, maximum = 604800)]
    expiry: Option<i64>,
    /// Whose session it is, in your own words; tokens of one session can be ended together.
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
    /// Taken, and without effect: there are no transformations.
    ManageTransformations,
    /// Send examples, send messages again, recover.
    CreateAttempts,
    /// Make, change and delete endpoints, secrets included.
    ManageEndpoint,
}

/// Access to one application.
#[derive(Serialize, ToSchema)]
pub(crate) struct AppPortalAccessOut {
    /// Magic link to the App Portal. `#key=` is followed by the base64 of `{"appId", "token"}`.
    #[schema(format = "uri", min_length = 1, max_length = 65536)]
    url: String,
    /// The token: a bearer token for this API, shown this once.
    token: String,
}

/// Which tokens to end, and when.
/// A field that there is none of is refused: without it all would end.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ApplicationTokenExpireIn {
    /// Seconds that they are left; none without.
    #[schema(minimum = 0, maximum = 259200)]
    expiry: Option<i64>,
    /// Only those of these sessions; all without.
    #[schema(value_type = Option<Vec<Session>>, max_items = 1000)]
    session_ids: Option<Vec<String>>,
}

/// Who asks.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WhoamiOut<'a> {
    /// The account.
    env_id: &'a str,
    /// The application, for the token of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    app_id: Option<&'a str>,
    /// `RegionalAuthToken`: an API key or token of this server.
    permission_source: &'static str,
    /// The session that the token was made with.
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
            // Of two answers to one question, the one that gives less.
            capabilities: if body.read_only == Some(true) { Some([Capability::ViewBase].into()) } else { named },
            feature_flags: body.feature_flags.unwrap_or_default(),
            expiry_seconds: body.expiry,
            session_id: body.session_id,
        })
    }
}

/// Gives a magic link to an application's App Portal, and the token in it. Each call makes another, whatever its
/// idempotency key: an answer that is a secret is not kept.
#[utoipa::path(post, path = "/auth/app-portal-access/{app_id}", operation_id = "v1.authentication.app-portal-access",
    tag = "Authentication", params(("app_id" = String, Path, description = "Id or uid")),
    request_body = AppPortalAccessIn,
    responses((status = 200, body = AppPortalAccessOut), (status = 401, body = HttpErrorOut<'_>),
        (status = 404, body = HttpErrorOut<'_>), (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn app_portal_access(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application]): PathParams<1>,
    sent: JsonBody<AppPortalAccessIn>,
) -> Result<Response, ApiError> {
    let access = provider.create_portal_access(&caller, &application, sent.body.try_into()?).await?;
    Ok(response::ok(&AppPortalAccessOut { url: access.url, token: access.token }))
}

/// The same for old clients, which send no body.
pub(crate) async fn dashboard_access(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application]): PathParams<1>,
) -> Result<Response, ApiError> {
    let access = provider.create_portal_access(&caller, &application, PortalAccessInput::default()).await?;
    Ok(response::ok(&AppPortalAccessOut { url: access.url, token: access.token }))
}

/// Ends tokens of an application, all of them or those of some sessions.
#[utoipa::path(post, path = "/auth/app/{app_id}/expire-all", operation_id = "v1.authentication.expire-all",
    tag = "Authentication", params(("app_id" = String, Path, description = "Id or uid")),
    request_body = ApplicationTokenExpireIn,
    responses((status = 204), (status = 401, body = HttpErrorOut<'_>), (status = 404, body = HttpErrorOut<'_>),
        (status = 422, body = ValidationErrorOut)))]
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

/// Ends the token that this is asked with. 403 for an API key.
#[utoipa::path(post, path = "/auth/logout", operation_id = "v1.authentication.logout", tag = "Authentication",
    responses((status = 204), (status = 401, body = HttpErrorOut<'_>)))]
pub(crate) async fn logout(State(provider): State<Provider>, Auth(caller): Auth) -> Result<Response, ApiError> {
    provider.log_out(&caller).await?;
    Ok(response::no_content())
}

/// Says whose key or token this is asked with.
#[utoipa::path(get, path = "/auth/whoami", operation_id = "v1.authentication.whoami", tag = "Authentication",
    responses((status = 200, body = WhoamiOut<'_>), (status = 401, body = HttpErrorOut<'_>)))]
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
