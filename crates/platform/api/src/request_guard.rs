//! Middleware before every operation: it authenticates the caller, counts the request against the key's quota, checks
//! the access that the operation requires, and validates the path. It runs before the body is read.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::header::RETRY_AFTER;
use http::{HeaderMap, HeaderValue};
use kit_http::rate_limit::RateLimits;
use platform_core::{Caller, Platform, PlatformError};
use uuid::Uuid;

use crate::errors::ApiError;
use crate::operations::{self, Access};

/// Window of the quota, in seconds.
const WINDOW_S: u32 = 60;
/// Name of the policy in the `RateLimit` headers.
const POLICY: &str = "key";

/// State of the middleware.
#[derive(Clone)]
pub(crate) struct RequestGuard {
    platform: Platform,
    limits: Option<Arc<RateLimits<Uuid>>>,
}

impl RequestGuard {
    pub(crate) fn new(platform: Platform) -> Self {
        let quota = platform.config().key_requests_per_min_max;
        let limits = (quota > 0).then(|| Arc::new(RateLimits::new(POLICY, quota, WINDOW_S)));
        Self { platform, limits }
    }
}

/// Passes a request with its [`Caller`] on to the operation, or refuses it.
pub(crate) async fn guard(
    State(state): State<RequestGuard>,
    matched: MatchedPath,
    mut request: Request,
    next: Next,
) -> Response {
    let access = match operations::access(request.method(), matched.as_str()) {
        Some(Access::Public) => return next.run(request).await,
        // Another method of the path: the route refuses it. An operation that is missing from the list finds no caller.
        None => return next.run(request).await,
        Some(access) => access,
    };
    let caller = match caller(request.headers(), matched.as_str(), &state.platform).await {
        Ok(caller) => caller,
        Err(error) => return error.into_response(),
    };
    let verdict = state.limits.as_ref().map(|limits| (limits, limits.count(caller.id, since_epoch(&state.platform))));
    let refusal = match verdict {
        Some((_, verdict)) if !verdict.allowed => Some(too_many(verdict.retry_after_s)),
        _ => refusal(access, &caller, matched.as_str(), request.uri().path()).map(ApiError::into_response),
    };
    let mut response = match refusal {
        Some(refusal) => refusal,
        None => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
    };
    if let Some((limits, verdict)) = verdict {
        limits.write_headers(verdict, response.headers_mut());
    }
    response
}

/// The caller of the operation with this path. A user who has to choose another password may only do that.
async fn caller(headers: &HeaderMap, path: &str, platform: &Platform) -> Result<Caller, ApiError> {
    let key = kit_http::bearer::token(headers)?;
    Ok(match path.strip_prefix(operations::PREFIX) {
        Some(operations::OWN_PASSWORD) => platform.authenticate_for_new_password(key).await?,
        _ => platform.authenticate(key).await?,
    })
}

fn refusal(access: Access, caller: &Caller, template: &str, path: &str) -> Option<ApiError> {
    let checked = access.check(caller).map_err(ApiError::from);
    checked.and_then(|()| check_path(template, path)).err()
}

/// Validates the parameters in the path: 400 if one is not a UUID, 404 if one is not a possible id.
fn check_path(template: &str, path: &str) -> Result<(), ApiError> {
    for (name, value) in template.split('/').zip(path.split('/')) {
        let fits = match name {
            "{uuid}" | "{bid}" | "{registration}" | "{user}" => Uuid::try_parse(value).is_ok(),
            // No record can have this id.
            "{id}" if value.parse::<i64>().is_err() => return Err(PlatformError::NotFound("record").into()),
            _ => true,
        };
        if !fits {
            let name = name.trim_matches(['{', '}']);
            return Err(ApiError::bad_request(
                "path_invalid",
                format!("{name} in the path must be a UUID, not {value:?}"),
            ));
        }
    }
    Ok(())
}

fn too_many(retry_after_s: u64) -> Response {
    let mut response = ApiError::rate_limited(retry_after_s).into_response();
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(retry_after_s));
    response
}

fn since_epoch(platform: &Platform) -> Duration {
    Duration::try_from(platform.now().as_duration()).unwrap_or_default()
}
