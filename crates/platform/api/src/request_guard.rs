//! What happens to every request before its operation sees it: who asks, if they may ask so often, if they may ask for this,
//! and if the address can be one of ours. Nothing of the body has been read by then.

use std::sync::Arc;

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

/// Seconds in which a key has its quota.
const WINDOW_S: u32 = 60;
/// The policy's name in the headers.
const POLICY: &str = "key";

/// What stands before the operations.
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

/// Lets a request through to its operation, with its [`Caller`], or answers it.
pub(crate) async fn guard(
    State(state): State<RequestGuard>,
    matched: MatchedPath,
    mut request: Request,
    next: Next,
) -> Response {
    let access = match operations::access(request.method(), matched.as_str()) {
        Some(Access::Public) => return next.run(request).await,
        // Another method, which the route refuses; an operation that nobody listed finds no caller.
        None => return next.run(request).await,
        Some(access) => access,
    };
    let caller = match caller(request.headers(), &state.platform).await {
        Ok(caller) => caller,
        Err(error) => return error.into_response(),
    };
    let verdict = state.limits.as_ref().map(|limits| (limits, limits.count(caller.id, now_ns(&state.platform))));
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

async fn caller(headers: &HeaderMap, platform: &Platform) -> Result<Caller, ApiError> {
    let key = kit_http::bearer::token(headers).ok_or_else(ApiError::unauthenticated)?;
    Ok(platform.authenticate(key).await?)
}

fn refusal(access: Access, caller: &Caller, template: &str, path: &str) -> Option<ApiError> {
    let checked = access.check(caller).map_err(ApiError::from);
    checked.and_then(|()| check_path(template, path)).err()
}

/// 400 when a part of the address can't be what it stands for, 404 when it is a number that nothing can have; told as every
/// other error is.
fn check_path(template: &str, path: &str) -> Result<(), ApiError> {
    for (name, is) in template.split('/').zip(path.split('/')) {
        let fits = match name {
            "{uuid}" | "{bid}" | "{registration}" | "{user}" => Uuid::try_parse(is).is_ok(),
            // The id of nothing, like a number that was not given out.
            "{id}" if is.parse::<i64>().is_err() => return Err(PlatformError::NotFound("record").into()),
            _ => true,
        };
        if !fits {
            let name = name.trim_matches(['{', '}']);
            return Err(ApiError::bad_request("path_invalid", format!("{name} in the address must be a UUID")));
        }
    }
    Ok(())
}

fn too_many(retry_after_s: u64) -> Response {
    let mut response = ApiError::rate_limited(retry_after_s).into_response();
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(retry_after_s));
    response
}

fn now_ns(platform: &Platform) -> u64 {
    u64::try_from(platform.now().as_nanosecond()).unwrap_or_default()
}
