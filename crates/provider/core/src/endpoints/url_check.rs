//! Checks a URL before it is saved: its DNS records, its certificate, its redirect and its status code.
//!
//! The request is a HEAD without payload or signature. It uses the client of deliveries, which enforces the address
//! policy.
//!
//! Guarantees: a check takes at most [`DEADLINE`]; a node makes at most 16 at a time, and each application
//! at most two a second; only the status code and the redirect target of the response are returned.

use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use http::header::LOCATION;
use jiff::Timestamp;
use kit_outbound::url::parse_endpoint_url;
use kit_outbound::{Destination, Headers, Request, TransportError};
use kit_runtime::gcra::whole_seconds;
use url::Url;

use crate::caller::Caller;
use crate::error::{ProviderError, ProviderResult, Quota};
use crate::provider::Provider;

/// Maximum duration of a check.
pub const DEADLINE: Duration = Duration::from_secs(8);
const CHECKS_PER_SECOND: u32 = 2;
/// Bytes of the response that are read; they are not used.
const RESPONSE_BYTES_MAX: usize = 1_024;
const LOCATION_BYTES_MAX: usize = 2_048;

/// The result of the check of a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlCheck {
    /// The host of the address; empty when the address is not valid.
    pub host: String,
    /// Whether the connection is encrypted.
    pub is_https: bool,
    /// The IP addresses of the host.
    pub addresses: Vec<IpAddr>,
    /// When the certificate expires.
    pub certificate_ends_at: Option<Timestamp>,
    /// The address is at the provider's own server, unless a proxy passes this path to another one.
    pub is_at_provider: bool,
    /// The response of the address.
    pub finding: UrlFinding,
}

/// What an address answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UrlFinding {
    /// An endpoint can't have this URL. The reason is for the person who entered it.
    Invalid(String),
    /// The address is the provider's own API or page, so deliveries would return to the provider. Nothing was sent.
    Provider,
    /// A response with this status code.
    Answered(u16),
    /// A redirect to this address. Deliveries do not follow it.
    Redirects(String),
    /// No response.
    Failed(TransportError),
}

impl Provider {
    /// Checks a URL for an endpoint of the application. 404 (application), 429.
    pub async fn check_url(&self, caller: &Caller, application: &str, text: &str) -> ProviderResult<UrlCheck> {
        let application = self.application(caller, application).await?;
        let invalid = |host: &str, reason: String| UrlCheck {
            host: host.to_owned(),
            is_https: false,
            addresses: Vec::new(),
            certificate_ends_at: None,
            is_at_provider: false,
            finding: UrlFinding::Invalid(reason),
        };
        let url = match parse_endpoint_url(text) {
            Ok(url) => url,
            Err(error) => return Ok(invalid("", error.to_string())),
        };
        if let Err(reason) = self.config().address_policy.check(&url) {
            return Ok(invalid(url.host(), reason));
        }
        let is_https = url.uri().scheme_str() == Some("https");
        if self.config().is_own_address(url.uri()) {
            let host = url.host().to_owned();
            let (is_at_provider, finding) = (true, UrlFinding::Provider);
            return Ok(UrlCheck { is_https, is_at_provider, finding, ..invalid(&host, String::new()) });
        }
        let checks = self.url_checks();
        let wait = checks.limiters.of(&application.id).take(self.clock().monotonic(), CHECKS_PER_SECOND);
        wait.map_err(|wait| too_many(whole_seconds(wait)))?;
        let _permit = checks.permits.try_acquire().map_err(|_| too_many(Duration::from_secs(1)))?;
        let probe = checks
            .transport
            .probe(Request {
                method: Method::HEAD,
                to: Destination::new(url.uri().clone(), &application.account),
                headers: Headers::default(),
                body: Bytes::new(),
                deadline: DEADLINE,
                response_bytes_max: RESPONSE_BYTES_MAX,
            })
            .await;
        Ok(UrlCheck {
            host: url.host().to_owned(),
            is_https,
            is_at_provider: self.config().is_at_own_server(url.uri()),
            addresses: probe.addresses,
            certificate_ends_at: probe.certificate_ends_at,
            finding: match probe.outcome {
                Err(error) => UrlFinding::Failed(error),
                Ok(response) if response.status.is_redirection() => {
                    let location = response.headers.get(LOCATION).and_then(|location| location.to_str().ok());
                    match location.and_then(|location| target(url.as_str(), location)) {
                        Some(target) => UrlFinding::Redirects(target),
                        None => UrlFinding::Answered(response.status.as_u16()),
                    }
                }
                Ok(response) => UrlFinding::Answered(response.status.as_u16()),
            },
        })
    }
}

fn too_many(retry_after: Duration) -> ProviderError {
    ProviderError::TooManyRequests {
        detail: "too many addresses are being checked",
        retry_after,
        quota: Quota { name: "application", requests: CHECKS_PER_SECOND, window_s: 1 },
    }
}

/// The target of a redirect, if its scheme is `http` or `https`.
fn target(from: &str, location: &str) -> Option<String> {
    if location.len() > LOCATION_BYTES_MAX {
        return None;
    }
    let target = Url::parse(from).ok()?.join(location).ok()?;
    matches!(target.scheme(), "http" | "https").then(|| target.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_target_is_a_whole_http_address() {
        let from = "https://example.com/a/hook";
        assert_eq!(target(from, "/b").as_deref(), Some("https://example.com/b"));
        assert_eq!(target(from, "hook/").as_deref(), Some("https://example.com/a/hook/"));
        assert_eq!(target(from, "http://other.example").as_deref(), Some("http://other.example/"));
        for location in ["javascript:alert(1)", "data:text/html,x", "http://", &"a".repeat(3_000)] {
            assert_eq!(target(from, location), None, "{location}");
        }
    }
}
