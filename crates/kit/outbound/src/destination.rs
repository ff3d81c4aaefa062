//! The destination of requests, parsed once.

use std::str::FromStr;
use std::sync::Arc;

use http::uri::{Authority, InvalidUri};
use http::{HeaderValue, Uri};

use crate::error::TransportError;

/// An `http` or `https` address with a host and without credentials, and the owner of the requests to it. It is parsed
/// once for all requests; clones share it.
///
/// A connection carries only requests of one owner. If a server leaves bytes of a response on a connection, no other
/// owner reads them as the response to its own request. A destination that is parsed from text has the owner `""`.
///
/// An address of another form is accepted too, and every request to it fails with [`TransportError::Invalid`].
#[derive(Debug, Clone)]
pub struct Destination(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    uri: Uri,
    target: Result<Target, &'static str>,
}

/// The parsed form of an address.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) origin: Origin,
    /// Path and query, which a request has after the method.
    pub(crate) uri: Uri,
    /// The `host` header. The port is omitted when it is the default of the scheme.
    pub(crate) host: HeaderValue,
}

/// The other end of a connection, and whose requests the connection carries. Hosts in different letter case count as
/// different, which costs only an additional connection.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Origin {
    pub(crate) tls: bool,
    /// As in the URL, with an IPv6 address in brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) owner: Box<str>,
}

impl Destination {
    /// The address, for requests of this owner: the account or customer that chose the address and may read the
    /// responses.
    pub fn new(uri: Uri, owner: &str) -> Self {
        Self(Arc::new(Inner { target: Target::new(&uri, owner), uri }))
    }

    /// The whole address.
    pub fn uri(&self) -> &Uri {
        &self.0.uri
    }

    /// The parsed address. The error says why no request can be sent to it.
    pub(crate) fn target(&self) -> Result<&Target, TransportError> {
        self.0.target.as_ref().map_err(|fault| TransportError::Invalid(fault))
    }
}

/// The address, for requests of the program itself. Requests for an account or a customer need [`Destination::new`].
impl From<Uri> for Destination {
    fn from(uri: Uri) -> Self {
        Self::new(uri, "")
    }
}

impl FromStr for Destination {
    type Err = InvalidUri;

    fn from_str(text: &str) -> Result<Self, InvalidUri> {
        text.parse::<Uri>().map(Self::from)
    }
}

impl Target {
    fn new(uri: &Uri, owner: &str) -> Result<Self, &'static str> {
        let tls = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err("the address must begin with http:// or https://"),
        };
        let authority = uri.authority().filter(|authority| !authority.host().is_empty());
        let authority = authority.ok_or("the address has no host")?;
        let usual_port = if tls { 443 } else { 80 };
        let (host, port) = host_and_port(authority)?;
        let port = port.unwrap_or(usual_port);
        let shown_port = if port == usual_port { String::new() } else { format!(":{port}") };
        let (path, mark, query) = (uri.path(), if uri.query().is_some() { "?" } else { "" }, uri.query().unwrap_or(""));
        Ok(Self {
            origin: Origin { tls, host: host.to_owned(), port, owner: owner.into() },
            uri: format!("{path}{mark}{query}").parse().map_err(|_| "the path of the address is not valid")?,
            host: HeaderValue::try_from(format!("{host}{shown_port}")).map_err(|_| "the host is not valid")?,
        })
    }
}

fn host_and_port(authority: &Authority) -> Result<(&str, Option<u16>), &'static str> {
    let (host, port) = (authority.host(), authority.port());
    // The authority must consist of the host and a numeric port: no credentials and no other port.
    let port_chars = port.as_ref().map_or(0, |port| port.as_str().len() + 1);
    if authority.as_str().len() != host.len() + port_chars {
        return Err("the address has credentials or a port that is not valid");
    }
    Ok((host, port.map(|port| port.as_u16())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(uri: &str) -> Destination {
        uri.parse().unwrap()
    }

    #[test]
    fn an_address_gives_the_request_target_and_the_host_header() {
        for (uri, path, host) in [
            ("http://host", "/", "host"),
            ("http://host:80/a", "/a", "host"),
            ("https://host:443/a", "/a", "host"),
            ("http://host:443/a%20b?c=/d", "/a%20b?c=/d", "host:443"),
            ("https://Host:80?", "/?", "Host:80"),
            ("https://[::1]:8443/?q", "/?q", "[::1]:8443"),
            ("https://[::1]/", "/", "[::1]"),
        ] {
            let to = to(uri);
            let target = to.target().unwrap();
            assert_eq!((target.uri.to_string().as_str(), target.host.to_str().unwrap()), (path, host), "{uri}");
        }
    }

    #[test]
    fn addresses_with_the_same_scheme_host_port_and_owner_share_connections() {
        let origin = |uri| to(uri).target().unwrap().origin.clone();
        assert_eq!(origin("http://host:81/a?b"), origin("http://host:81/c"));
        assert_eq!(
            (origin("http://host:80/"), origin("https://host/")),
            (origin("http://host/"), origin("https://host:443"))
        );
        for other in ["https://host:81/", "http://host:82/", "http://other:81/"] {
            assert_ne!(origin("http://host:81/"), origin(other), "{other}");
        }
        let owned = |owner| Destination::new(Uri::from_static("http://host/"), owner).target().unwrap().origin.clone();
        assert_eq!((owned("a"), owned("")), (owned("a"), origin("http://host/")));
        assert_ne!(owned("a"), owned("b"));
    }

    #[test]
    fn a_malformed_address_is_rejected() {
        for uri in
            ["/path", "host:80", "ftp://host/", "http://user@host/", "http://user:word@host:81/", "http://host:x/"]
        {
            assert!(uri.parse::<Destination>().is_ok_and(|to| to.target().is_err()), "{uri}");
        }
    }
}
