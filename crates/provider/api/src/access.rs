//! Which credential opens which route: the one place where it says so.
//!
//! An API key of an account opens every route. The token of an application opens those that are listed here, for its own
//! application only, as far as its capabilities go. A route that is not listed is for API keys alone, so a new one is closed
//! to tokens until somebody opens it here. Asked by [`crate::extract::Auth`], before a handler sees the request.

use axum::RequestPartsExt as _;
use axum::extract::{MatchedPath, RawPathParams};
use http::Method;
use http::request::Parts;
use provider_core::model::Capability;
use provider_core::model::Capability::{
    CreateAttempts, ManageEndpoint, ManageEndpointSecret, ViewBase, ViewEndpointSecret,
};
use provider_core::{Caller, Provider, ProviderError, Scope};

use crate::errors::ApiError;

/// Parameter of a path that names an application.
const APPLICATION: &str = "app_id";

/// What a token needs for a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    /// To be a good token.
    Nothing,
    /// To be for the application of the path, if there is one, and to have this.
    Token(Capability),
    /// It is not for tokens.
    ApiKey,
}

/// What tokens may open, below `/api/v1`.
const ROUTES: &[(&str, &str, Needs)] = &[
    ("GET", "/app/{app_id}", Needs::Token(ViewBase)),
    ("GET", "/event-type", Needs::Token(ViewBase)),
    ("GET", "/event-type/{event_type_name}", Needs::Token(ViewBase)),
    // Endpoints.
    ("GET", "/app/{app_id}/endpoint", Needs::Token(ViewBase)),
    ("POST", "/app/{app_id}/endpoint", Needs::Token(ManageEndpoint)),
    ("GET", "/app/{app_id}/endpoint/{endpoint_id}", Needs::Token(ViewBase)),
    ("PUT", "/app/{app_id}/endpoint/{endpoint_id}", Needs::Token(ManageEndpoint)),
    ("PATCH", "/app/{app_id}/endpoint/{endpoint_id}", Needs::Token(ManageEndpoint)),
    ("DELETE", "/app/{app_id}/endpoint/{endpoint_id}", Needs::Token(ManageEndpoint)),
    ("GET", "/app/{app_id}/endpoint/{endpoint_id}/headers", Needs::Token(ManageEndpoint)),
    ("PUT", "/app/{app_id}/endpoint/{endpoint_id}/headers", Needs::Token(ManageEndpoint)),
    ("PATCH", "/app/{app_id}/endpoint/{endpoint_id}/headers", Needs::Token(ManageEndpoint)),
    ("GET", "/app/{app_id}/endpoint/{endpoint_id}/secret", Needs::Token(ViewEndpointSecret)),
    ("POST", "/app/{app_id}/endpoint/{endpoint_id}/secret/rotate", Needs::Token(ManageEndpointSecret)),
    ("GET", "/app/{app_id}/endpoint/{endpoint_id}/stats", Needs::Token(ViewBase)),
    ("GET", "/app/{app_id}/endpoint/{endpoint_id}/attempt-stats", Needs::Token(ViewBase)),
    // Messages and attempts.
    ("GET", "/app/{app_id}/msg", Needs::Token(ViewBase)),
    ("GET", "/app/{app_id}/msg/{msg_id}", Needs::Token(ViewBase)),
    ("GET", "/app/{app_id}/msg/{msg_id}/endpoint", Needs::Token(ViewBase)),
    ("GET", "/app/{app_id}/msg/{msg_id}/attempt/{attempt_id}", Needs::Token(ViewBase)),
    ("GET", "/app/{app_id}/attempt/msg/{msg_id}", Needs::Token(ViewBase)),
    ("GET", "/app/{app_id}/attempt/endpoint/{endpoint_id}", Needs::Token(ViewBase)),
    ("GET", "/app/{app_id}/endpoint/{endpoint_id}/msg", Needs::Token(ViewBase)),
    ("POST", "/app/{app_id}/msg/{msg_id}/endpoint/{endpoint_id}/resend", Needs::Token(CreateAttempts)),
    ("POST", "/app/{app_id}/endpoint/{endpoint_id}/recover", Needs::Token(CreateAttempts)),
    ("POST", "/app/{app_id}/endpoint/{endpoint_id}/replay-missing", Needs::Token(CreateAttempts)),
    ("POST", "/app/{app_id}/endpoint/{endpoint_id}/send-example", Needs::Token(CreateAttempts)),
    // Of whose application a task is, is asked when it is known.
    ("GET", "/background-task/{task_id}", Needs::Token(ViewBase)),
    // What waits for the message before it.
    ("GET", "/app/{app_id}/endpoint/{endpoint_id}/blocked-key", Needs::Token(ViewBase)),
    ("POST", "/app/{app_id}/endpoint/{endpoint_id}/blocked-key/skip", Needs::Token(ManageEndpoint)),
    // The token itself.
    ("POST", "/auth/logout", Needs::Nothing),
    ("GET", "/auth/whoami", Needs::Nothing),
];

/// Whether the caller may do what the request asks. 404 when it is about another application than the token's, as if that
/// was not there; 403 when it is beyond what the token may do.
pub(crate) async fn check(parts: &mut Parts, provider: &Provider, caller: &Caller) -> Result<(), ApiError> {
    if caller.scope == Scope::Account {
        return Ok(());
    }
    let path = parts.extensions.get::<MatchedPath>().map_or("", MatchedPath::as_str);
    let capability = match needs(&parts.method, path) {
        Needs::Nothing => return Ok(()),
        Needs::Token(capability) => capability,
        Needs::ApiKey => {
            return Err(forbidden("this takes an API key of the account, not the token of an application"));
        }
    };
    let params = parts.extract::<RawPathParams>().await.map_err(|error| ApiError::at(["path"], error.body_text()))?;
    for (_, application) in params.iter().filter(|(name, _)| *name == APPLICATION) {
        if !provider.can_access(caller, application).await? {
            return Err(ProviderError::NotFound.into());
        }
    }
    if caller.has(capability) { Ok(()) } else { Err(forbidden("the token does not have the capability for this")) }
}

fn forbidden(text: &'static str) -> ApiError {
    ProviderError::Forbidden(text).into()
}

fn needs(method: &Method, path: &str) -> Needs {
    // A HEAD is answered like its GET.
    let method = if method == Method::HEAD { &Method::GET } else { method };
    let path = path.strip_prefix("/api/v1").unwrap_or_default();
    let listed = ROUTES.iter().find(|(of, at, _)| *of == method.as_str() && *at == path);
    listed.map_or(Needs::ApiKey, |(.., needs)| *needs)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn what_is_not_listed_is_for_api_keys() {
        for (method, path, expected) in [
            (Method::GET, "/api/v1/app/{app_id}", Needs::Token(ViewBase)),
            (Method::HEAD, "/api/v1/app/{app_id}", Needs::Token(ViewBase)),
            (Method::DELETE, "/api/v1/app/{app_id}", Needs::ApiKey),
            (Method::GET, "/api/v1/app", Needs::ApiKey),
            (Method::POST, "/api/v1/app/{app_id}/msg", Needs::ApiKey),
            (Method::GET, "/api/v1/new", Needs::ApiKey),
            (Method::GET, "/app/{app_id}", Needs::ApiKey),
            (Method::GET, "", Needs::ApiKey),
        ] {
            assert_eq!(needs(&method, path), expected, "{method} {path}");
        }
    }

    #[test]
    fn each_route_is_listed_once_and_what_only_reads_needs_no_right_to_change() {
        let routes: BTreeSet<_> = ROUTES.iter().map(|(method, path, _)| (method, path)).collect();
        assert_eq!(routes.len(), ROUTES.len());
        for (method, path, needs) in ROUTES {
            assert!(*method == "GET" || *needs != Needs::Token(ViewBase), "{method} {path} changes something");
        }
    }
}
