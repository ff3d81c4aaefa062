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

    fn is_of<B>(&self, request: &http::Request<B>) -> bool {
        let headers = request.headers().get_all(HOST).iter().map(|host| host.to_str().unwrap_or_default());
        let mut named =
            request.uri().authority().map(http::uri::Authority::as_str).into_iter().chain(headers).peekable();
        named.peek().is_some() && named.all(|named| self.is(named))
    }

    fn is(&self, authority: &str) -> bool {
        let Ok(authority) = authority.parse::<http::uri::Authority>() else { return false };
        let port = authority.port_u16().filter(|port| *port != self.usual_port);
        authority.host().eq_ignore_ascii_case(&self.name) && port == self.port && !authority.as_str().contains('@')
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
            ("", false),
        ] {
            assert_eq!(host.is(authority), expected, "{authority}");
        }
        let secure = OneHost::of("https://bid.example.com/");
        assert!(secure.is("bid.example.com") && secure.is("bid.example.com:443"));
        assert!(!secure.is("bid.example.com:80") && !secure.is("example.com"));
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
