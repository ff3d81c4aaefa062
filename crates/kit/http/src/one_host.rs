//! The one host that a surface of pages answers. Its pages and cookies belong to that host, and no other name makes another
//! origin with the same pages.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use http::header::HOST;
use url::Url;

/// Host and port of the public address, as the header `Host` has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneHost {
    name: String,
    /// None for the usual port of the scheme.
    port: Option<u16>,
    usual_port: u16,
}

impl OneHost {
    /// That of a public address, which the configuration has checked.
    pub fn of(public_url: &str) -> Self {
        let url = Url::parse(public_url).ok();
        let usual_port = if url.as_ref().is_some_and(|url| url.scheme() == "https") { 443 } else { 80 };
        let name = url.as_ref().and_then(Url::host_str).unwrap_or_default().to_lowercase();
        Self { name, port: url.as_ref().and_then(Url::port), usual_port }
    }

    /// The host name of a request with the port of the public address, in lower case; the name of another host, too. None when the
    /// request names no host, different ones, or another port.
    pub fn named<B>(&self, request: &http::Request<B>) -> Option<String> {
        let headers = request.headers().get_all(HOST).iter().map(|host| host.to_str().unwrap_or_default());
        let mut named = request.uri().authority().map(http::uri::Authority::as_str).into_iter().chain(headers);
        let first = self.name_in(named.next()?)?;
        named.all(|other| self.name_in(other).as_ref() == Some(&first)).then_some(first)
    }

    /// Whether a host name in lower case is the one of the public address.
    pub fn is_name(&self, name: &str) -> bool {
        !name.is_empty() && name == self.name
    }

    fn is_of<B>(&self, request: &http::Request<B>) -> bool {
        self.named(request).is_some_and(|name| self.is_name(&name))
    }

    fn name_in(&self, authority: &str) -> Option<String> {
        let authority = authority.parse::<http::uri::Authority>().ok()?;
        let port = match authority.as_str().strip_prefix(authority.host())? {
            "" => None,
            after => Some(after.strip_prefix(':')?.parse::<u16>().ok()?),
        };
        (port.filter(|port| *port != self.usual_port) == self.port).then(|| authority.host().to_ascii_lowercase())
    }
}

/// Middleware: 404 for a request with another host. HTTP/2 names the host in the address; a request that also has a header `Host`
/// must have the same host there, because a proxy may follow either.
pub async fn require(State(host): State<OneHost>, request: Request, next: Next) -> Response {
    if host.is_of(&request) {
        next.run(request).await
    } else {
        (StatusCode::NOT_FOUND, "This server has no page under this name.\n").into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_address_has_one_host() {
        let host = OneHost::of("http://Saleroom.localhost:8073");
        for (authority, expected) in [
            ("saleroom.localhost:8073", true),
            ("SALEROOM.localhost:8073", true),
            ("saleroom.localhost", false),
            ("saleroom.localhost:80", false),
            ("localhost:8073", false),
            ("user@saleroom.localhost:8073", false),
            ("saleroom.localhost.:8073", false),
            ("saleroom.localhost:8073x", false),
            ("saleroom.localhost:73609", false),
            ("saleroom.localhost:", false),
            ("", false),
        ] {
            let is_own = host.name_in(authority).is_some_and(|name| host.is_name(&name));
            assert_eq!(is_own, expected, "{authority}");
        }
        let secure = OneHost::of("https://bid.example.com/");
        let is_own = |authority: &str| secure.name_in(authority).is_some_and(|name| secure.is_name(&name));
        assert!(is_own("bid.example.com") && is_own("bid.example.com:443"));
        assert!(!is_own("bid.example.com:80") && !is_own("example.com"));
        assert_eq!(secure.name_in("Own.example.com:443").as_deref(), Some("own.example.com"));
        assert_eq!(secure.name_in("own.example.com:8443"), None);
    }

    #[test]
    fn every_host_that_a_request_names_is_the_one() {
        let one = OneHost::of("http://saleroom.localhost:8073");
        let (own, other) = ("saleroom.localhost:8073", "evil.example");
        for (address, hosts, expected) in [
            ("/hartley-sons", &[own][..], true),
            ("/hartley-sons", &[other], false),
            ("/hartley-sons", &[own, other], false),
            ("/hartley-sons", &[], false),
            ("http://saleroom.localhost:8073/hartley-sons", &[], true),
            ("http://saleroom.localhost:8073/hartley-sons", &[own], true),
            ("http://saleroom.localhost:8073/hartley-sons", &[other], false),
            ("http://evil.example/hartley-sons", &[own], false),
        ] {
            let mut request = http::Request::builder().uri(address);
            for host in hosts {
                request = request.header(HOST, *host);
            }
            assert_eq!(one.is_of(&request.body(()).unwrap()), expected, "{address} {hosts:?}");
        }
    }
}
