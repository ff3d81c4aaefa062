//! Middleware of every operation: it finds the house of the path, counts the request, knows the bidder by the access token, and lets
//! pages of the house's listed sites read the response.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequestParts as _, RawPathParams, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, CONTENT_SECURITY_POLICY,
    HeaderValue, ORIGIN, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::request::Parts;
use http::{HeaderMap, HeaderName, Method, StatusCode};
use kit_http::bearer::BearerError;
use kit_http::rate_limit::{RateLimitDecision, RateLimits};
use platform_core::saleroom::{Saleroom, SiteBidder};
use uuid::Uuid;

use super::errors::ApiError;
use crate::hosts;
use crate::site::SaleroomSite;

/// Seconds in which the quotas count.
const WINDOW_S: u32 = 60;
/// Requests for one account.
const OF_ACCOUNT_MAX: u32 = 240;
/// Requests without a token that works, from one address: everyone in a saleroom may share it.
const OF_ADDRESS_MAX: u32 = 6_000;
/// Seconds after which a closed saleroom may be asked again.
const CLOSED_RETRY_S: u64 = 600;

const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, PUT, DELETE");
const HEADERS: HeaderValue =
    HeaderValue::from_static("authorization, content-type, idempotency-key, last-event-id, traceparent");
const EXPOSED: HeaderValue =
    HeaderValue::from_static("ratelimit, ratelimit-policy, retry-after, www-authenticate, x-request-id");
/// A response that is opened as a page runs nothing and shows nothing of other sites.
const POLICY: HeaderValue = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'; sandbox");
const PREFLIGHT_S: HeaderValue = HeaderValue::from_static("7200");
const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// State of the middleware.
#[derive(Clone)]
pub(super) struct ApiGuard {
    site: SaleroomSite,
    of_account: Arc<RateLimits<Uuid>>,
    of_address: Arc<RateLimits<IpAddr>>,
}

impl ApiGuard {
    pub(super) fn new(site: SaleroomSite) -> Self {
        Self {
            site,
            of_account: Arc::new(RateLimits::new("account", OF_ACCOUNT_MAX, WINDOW_S)),
            of_address: Arc::new(RateLimits::new("address", OF_ADDRESS_MAX, WINDOW_S)),
        }
    }
}

/// The house that a request asks, and for whom: an extension of requests.
#[derive(Clone)]
pub(super) struct Asked {
    pub(super) saleroom: Arc<Saleroom>,
    /// The bidder whose site sent the request.
    pub(super) bidder: Option<Arc<SiteBidder>>,
    /// The origin of the page that sent the request, as its browser says.
    pub(super) origin: Option<String>,
    pub(super) address: Option<IpAddr>,
}

/// Passes a request on with what it [asks](Asked), or refuses it.
pub(super) async fn guard(State(state): State<ApiGuard>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let origin = parts.headers.get(ORIGIN).and_then(|origin| origin.to_str().ok()).map(str::to_owned);
    let mut listed = None;
    let mut response = match house(&state.site, &mut parts).await {
        Err(error) => error.into_response(),
        Ok(saleroom) => {
            listed = origin.as_deref().filter(|origin| saleroom.site(origin).is_some()).map(str::to_owned);
            match preflight(&parts, listed.is_some()) {
                Some(answer) => answer,
                None => answer(&state, saleroom, origin, (parts, body), next).await,
            }
        }
    };
    let headers = response.headers_mut();
    if let Some(origin) = listed.and_then(|origin| HeaderValue::try_from(origin).ok()) {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    }
    headers.append(VARY, HeaderValue::from_static("origin"));
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CROSS_ORIGIN_RESOURCE_POLICY, HeaderValue::from_static("cross-origin"));
    response
}

async fn house(site: &SaleroomSite, parts: &mut Parts) -> Result<Saleroom, ApiError> {
    if !site.platform().sends_mail() {
        let detail = "the saleroom is closed for the moment";
        let closed = ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "saleroom_closed", detail);
        return Err(closed.retry_after(CLOSED_RETRY_S));
    }
    let params = RawPathParams::from_request_parts(parts, site).await.map_err(|_| ApiError::not_found())?;
    let address = params.iter().find(|(name, _)| *name == "house").map(|(_, text)| text).unwrap_or_default();
    if !hosts::may_have(&parts.extensions, address) {
        return Err(ApiError::not_found());
    }
    Ok(site.platform().saleroom(address).await?)
}

/// The response to the question of a browser whether a page may send a request; none for any other request.
fn preflight(parts: &Parts, is_listed: bool) -> Option<Response> {
    if parts.method != Method::OPTIONS || !parts.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD) {
        return None;
    }
    let mut response = Response::new(Body::empty());
    *response.status_mut() = if is_listed { StatusCode::NO_CONTENT } else { StatusCode::FORBIDDEN };
    if is_listed {
        let headers = response.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HEADERS);
        headers.insert(ACCESS_CONTROL_MAX_AGE, PREFLIGHT_S);
    }
    Some(response)
}

async fn answer(
    state: &ApiGuard,
    saleroom: Saleroom,
    origin: Option<String>,
    (mut parts, body): (Parts, Body),
    next: Next,
) -> Response {
    let platform = state.site.platform();
    let address = kit_http::client_ip::resolve(&parts, &platform.config().trusted_proxies);
    let found = bidder(state, &saleroom, &parts.headers, origin.as_deref()).await;
    let now = Duration::try_from(platform.now().as_duration()).unwrap_or_default();
    // By account first; by address only what no token vouches for.
    let verdict = match (&found, address) {
        (Ok(Some(site)), _) => Some((state.of_account.count(site.bidder.account.id, now), true)),
        (_, Some(address)) => Some((state.of_address.count(network(address), now), false)),
        (_, None) => None,
    };
    let refused = verdict.filter(|(verdict, _)| !verdict.allowed);
    let mut response = match (refused, found) {
        (Some((verdict, _)), _) => too_many(verdict),
        (None, Err(error)) => error.into_response(),
        (None, Ok(bidder)) => {
            let asked = Asked { saleroom: Arc::new(saleroom), bidder: bidder.map(Arc::new), origin, address };
            parts.extensions.insert(asked);
            next.run(Request::from_parts(parts, body)).await
        }
    };
    match verdict {
        Some((verdict, true)) => state.of_account.write_headers(verdict, response.headers_mut()),
        Some((verdict, false)) => state.of_address.write_headers(verdict, response.headers_mut()),
        None => {}
    }
    response
}

/// The bidder of the access token; none without a token. A browser that says which page sent the request has to name the site of the
/// token.
async fn bidder(
    state: &ApiGuard,
    saleroom: &Saleroom,
    headers: &HeaderMap,
    origin: Option<&str>,
) -> Result<Option<SiteBidder>, ApiError> {
    let token = match kit_http::bearer::token(headers) {
        Ok(token) => token,
        Err(BearerError::Missing) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let found = state.site.platform().bidder_of_site_token(saleroom, token).await?;
    let own = found.filter(|found| origin.is_none_or(|origin| origin == found.origin));
    own.map(Some).ok_or_else(ApiError::unauthenticated)
}

fn too_many(verdict: RateLimitDecision) -> Response {
    let wait_s = verdict.retry_after_s;
    let detail = format!("too many requests: wait {wait_s} s, as Retry-After says, and spread the requests");
    ApiError::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", detail).retry_after(wait_s).into_response()
}

/// What shares a quota: an IPv4 address, or an IPv6 network.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => v4.into(),
            None => {
                let [a, b, c, d, ..] = v6.segments();
                Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_network_share_a_quota() {
        for (address, shares) in
            [("192.0.2.7", "192.0.2.7"), ("::ffff:192.0.2.7", "192.0.2.7"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::")]
        {
            assert_eq!(network(address.parse().unwrap()), shares.parse::<IpAddr>().unwrap());
        }
    }
}
