//! The one host that the saleroom answers. Its pages and cookies belong to that host, and no other name makes another origin
//! with the same pages.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use http::header::HOST;
use url::Url;

/// Host and port of the public address, as the header `Host` has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Host {
    name: String,
    /// None for the usual port of the scheme.
    port: Option<u16>,
    usual_port: u16,
}

impl Host {
    /// That of a public address, which the configuration has checked.
    pub(crate) fn of(public_url: &str) -> Self {
        let url = Url::parse(public_url).ok();
        let usual_port = if url.as_ref().is_some_and(|url| url.scheme() == "https") { 443 } else { 80 };
        let name = url.as_ref().and_then(Url::host_str).unwrap_or_default().to_lowercase();
        Self { name, port: url.as_ref().and_then(Url::port), usual_port }
    }

    fn is(&self, authority: &str) -> bool {
        let Ok(authority) = authority.parse::<http::uri::Authority>() else { return false };
        let port = authority.port_u16().filter(|port| *port != self.usual_port);
        authority.host().eq_ignore_ascii_case(&self.name) && port == self.port && !authority.as_str().contains('@')
    }
}

/// 404 for a request with another host.
pub(crate) async fn require(State(host): State<Host>, request: Request, next: Next) -> Response {
    let header = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    // HTTP/2 names the host in the address.
    let named = request.uri().authority().map(http::uri::Authority::as_str).or(header);
    if named.is_some_and(|named| host.is(named)) {
        next.run(request).await
    } else {
        (StatusCode::NOT_FOUND, "This server has no page under this name.\n").into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_saleroom_has_one_host() {
        let host = Host::of("http://Saleroom.localhost:8073");
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
        let secure = Host::of("https://bid.example.com/");
        assert!(secure.is("bid.example.com") && secure.is("bid.example.com:443"));
        assert!(!secure.is("bid.example.com:80") && !secure.is("example.com"));
    }
}
