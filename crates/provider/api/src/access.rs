//! Authorisation: which routes an API key with scopes and an application token may call.
//!
//! An API key without scopes may call every route; `key_scope` says which scope a route requires of another key. An
//! application token may call the routes of this list, for its own application only and with the listed capability. A
//! route that is not listed requires an API key, so a new route is closed to tokens by default. The extractor of the caller
//! runs [`check`] before the handler.

use axum::RequestPartsExt as _;
use axum::extract::{MatchedPath, RawPathParams};
use http::Method;
use http::request::Parts;
use provider_core::model::Capability::{
    CreateAttempts, ManageEndpoint, ManageEndpointSecret, ViewBase, ViewEndpointSecret,
};
use provider_core::model::{Capability, KeyScope};
use provider_core::{Caller, Provider, ProviderError, Scope};

use crate::errors::ApiError;

/// Parameter of a path that names an application.
const APPLICATION: &str = "app_id";

/// What a route requires of the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    /// Any valid token.
    Nothing,
    /// A token for the application of the path, if the path has one, with this capability.
    Token(Capability),
    /// An API key.
    ApiKey,
}

/// The routes that tokens may call, below `/api/v1`.
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
    // The use case checks the application of the task.
    ("GET", "/background-task/{task_id}", Needs::Token(ViewBase)),
    // Blocked ordering keys.
    ("GET", "/app/{app_id}/endpoint/{endpoint_id}/blocked-key", Needs::Token(ViewBase)),
    ("POST", "/app/{app_id}/endpoint/{endpoint_id}/blocked-key/skip", Needs::Token(ManageEndpoint)),
    ("POST", "/app/{app_id}/endpoint/{endpoint_id}/blocked-key/retry", Needs::Token(CreateAttempts)),
    // The token itself.
    ("POST", "/auth/logout", Needs::Nothing),
    ("GET", "/auth/whoami", Needs::Nothing),
];

/// Checks that the caller may make the request. 404 for another application than the token's, as for one that does not
/// exist; 403 if the token lacks the capability.
pub(crate) async fn check(parts: &mut Parts, provider: &Provider, caller: &Caller) -> Result<(), ApiError> {
    let path = parts.extensions.get::<MatchedPath>().map_or("", MatchedPath::as_str);
    if caller.scope == Scope::Account {
        return match key_scope(&parts.method, path) {
            Some(scope) if !caller.has_key_scope(scope) => Err(forbidden(missing_scope(scope))),
            _ => Ok(()),
        };
    }
    let capability = match needs(&parts.method, path) {
        Needs::Nothing => return Ok(()),
        Needs::Token(capability) => capability,
        Needs::ApiKey => {
            return Err(forbidden(
                "this operation requires an API key of the account; the token of an application is not enough",
            ));
        }
    };
    let params = parts.extract::<RawPathParams>().await.map_err(|error| ApiError::at(["path"], error.body_text()))?;
    for (_, application) in params.iter().filter(|(name, _)| *name == APPLICATION) {
        if !provider.can_access(caller, application).await? {
            return Err(ProviderError::NotFound.into());
        }
    }
    if caller.has(capability) { Ok(()) } else { Err(forbidden("the token lacks the capability for this operation")) }
}

/// The last part of the path of each POST that needs another scope than [`KeyScope::Configure`].
const POSTS: &[(&str, KeyScope)] = &[
    ("msg", KeyScope::Send),
    // Checks a payload before it is sent.
    ("active", KeyScope::Send),
    ("resend", KeyScope::Resend),
    ("recover", KeyScope::Resend),
    ("replay-missing", KeyScope::Resend),
    ("bulk-replay", KeyScope::Resend),
    ("send-example", KeyScope::Resend),
    ("expire-all", KeyScope::Portal),
];

/// The scope that a route requires of an API key. None for what every key may ask: who it is.
/// A route that changes something requires [`KeyScope::Configure`] unless it is listed.
fn key_scope(method: &Method, path: &str) -> Option<KeyScope> {
    let path = path.strip_prefix("/api/v1").unwrap_or(path).trim_end_matches('/');
    let last = path.rsplit('/').next().unwrap_or_default();
    if matches!(path, "/auth/whoami" | "/auth/logout") {
        return None;
    }
    if *method == Method::GET || *method == Method::HEAD {
        let is_secret = matches!(last, "secret" | "headers");
        return Some(if is_secret { KeyScope::Configure } else { KeyScope::Read });
    }
    if *method != Method::POST {
        return Some(KeyScope::Configure);
    }
    if path.starts_with("/auth/app-portal-access/") || path.starts_with("/auth/dashboard-access/") {
        return Some(KeyScope::Portal);
    }
    let listed = POSTS.iter().find(|(listed, _)| *listed == last);
    Some(listed.map_or(KeyScope::Configure, |(_, scope)| *scope))
}

fn missing_scope(scope: KeyScope) -> &'static str {
    match scope {
        KeyScope::Read => "this operation requires an API key with the scope \"read\"",
        KeyScope::Send => "this operation requires an API key with the scope \"send\"",
        KeyScope::Resend => "this operation requires an API key with the scope \"resend\"",
        KeyScope::Configure => "this operation requires an API key with the scope \"configure\"",
        KeyScope::Portal => "this operation requires an API key with the scope \"portal\"",
    }
}

fn forbidden(text: &'static str) -> ApiError {
    ProviderError::Forbidden(text).into()
}

fn needs(method: &Method, path: &str) -> Needs {
    // A HEAD request requires what the GET request requires.
    let method = if method == Method::HEAD { &Method::GET } else { method };
    let path = path.strip_prefix("/api/v1").unwrap_or_default();
    let listed =
        ROUTES.iter().find(|(listed_method, listed_path, _)| *listed_method == method.as_str() && *listed_path == path);
    listed.map_or(Needs::ApiKey, |(.., needs)| *needs)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_route_that_is_not_listed_requires_an_api_key() {
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
    fn each_operation_requires_a_scope_of_a_key() {
        let (_, document) = crate::routes::all();
        let mut scopes = std::collections::BTreeMap::<&str, Vec<String>>::new();
        for (path, item) in &document.paths.paths {
            let methods = [
                (Method::GET, &item.get),
                (Method::POST, &item.post),
                (Method::PUT, &item.put),
                (Method::PATCH, &item.patch),
                (Method::DELETE, &item.delete),
            ];
            for (method, operation) in methods {
                if operation.is_some() {
                    let scope = key_scope(&method, path).map_or("none", KeyScope::name);
                    let path = path.strip_prefix("/api/v1").unwrap_or_default();
                    scopes.entry(scope).or_default().push(format!("{method} {path}"));
                }
            }
        }
        let of = |scope: &str| scopes.get(scope).cloned().unwrap_or_default();
        assert_eq!(of("none"), ["POST /auth/logout", "GET /auth/whoami"]);
        assert_eq!(of("send"), ["POST /app/{app_id}/msg", "POST /app/{app_id}/msg/precheck/active"]);
        assert_eq!(
            of("resend"),
            [
                "POST /app/{app_id}/endpoint/{endpoint_id}/bulk-replay",
                "POST /app/{app_id}/endpoint/{endpoint_id}/recover",
                "POST /app/{app_id}/endpoint/{endpoint_id}/replay-missing",
                "POST /app/{app_id}/endpoint/{endpoint_id}/send-example",
                "POST /app/{app_id}/msg/{msg_id}/endpoint/{endpoint_id}/resend",
            ]
        );
        assert_eq!(of("portal"), ["POST /auth/app-portal-access/{app_id}", "POST /auth/app/{app_id}/expire-all"]);
        assert!(of("read").iter().all(|route| route.starts_with("GET ") && !route.ends_with("/secret")));
        let secrets = of("configure").into_iter().filter(|route| route.starts_with("GET "));
        assert!(secrets.clone().all(|route| route.ends_with("/secret") || route.ends_with("/headers")));
        assert_eq!(secrets.count(), 4);
    }

    #[test]
    fn each_route_is_listed_once_and_a_change_requires_more_than_reading() {
        let routes: BTreeSet<_> = ROUTES.iter().map(|(method, path, _)| (method, path)).collect();
        assert_eq!(routes.len(), ROUTES.len());
        for (method, path, needs) in ROUTES {
            assert!(*method == "GET" || *needs != Needs::Token(ViewBase), "{method} {path} changes something");
        }
    }
}
