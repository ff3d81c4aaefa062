//! Validation of endpoint URLs. The provider calls it when a customer creates or changes an endpoint.

use std::net::{IpAddr, Ipv4Addr};

use http::Uri;
use url::{Host, Url};

const URL_CHARS_MAX: usize = 2048;
/// Maximum lengths of a host name and of each label (RFC 1035).
const NAME_CHARS_MAX: usize = 253;
const LABEL_CHARS_MAX: usize = 63;
/// Names of the local machine in common hosts files.
const LOCAL_NAMES: [&str; 5] = ["localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback", "loopback"];
/// Names of the metadata services of clouds, and their address.
const METADATA_NAMES: [&str; 5] =
    ["metadata.google.internal", "metadata.goog", "metadata", "instance-data", "instance-data.ec2.internal"];
const METADATA: Ipv4Addr = Ipv4Addr::new(169, 254, 169, 254);

/// A URL that requests can be sent to: `http` or `https`, with a host and without credentials. It may have a fragment,
/// which is kept and never sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointUrl {
    url: Url,
    uri: Uri,
}

/// Why a text is not a valid endpoint URL. Customers see the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// No text, or only blanks.
    #[error("the address is empty: enter one that begins with https://, such as https://example.com/webhooks")]
    Empty,
    /// More than 2048 characters.
    #[error("the address is longer than {URL_CHARS_MAX} characters")]
    TooLong,
    /// Not a URL, or one with white space, control characters or backslashes, which parsers treat differently.
    #[error("the address is not a valid URL")]
    Malformed,
    /// The host name is too long, or one of its labels is empty or too long.
    #[error("the host must have at most {NAME_CHARS_MAX} characters, and 1 to {LABEL_CHARS_MAX} between two dots")]
    Host,
    /// Another scheme than `http` and `https`.
    #[error("the address must begin with http:// or https://")]
    Scheme,
    /// `user:password@`.
    #[error("the address must not contain a user name or password")]
    Credentials,
    /// `#…`, which is never sent.
    #[error("the address must not contain a fragment (#)")]
    Fragment,
    /// Port 0.
    #[error("the address must not have port 0")]
    Port,
}

impl UrlError {
    /// Stable name of the error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Empty => "url_empty",
            Self::TooLong => "url_too_long",
            Self::Malformed => "url_malformed",
            Self::Host => "url_host",
            Self::Scheme => "url_scheme",
            Self::Credentials => "url_credentials",
            Self::Fragment => "url_fragment",
            Self::Port => "url_port",
        }
    }
}

/// Parses an endpoint URL. It does not check whether the host may be reached: see
/// [`crate::AddressPolicy::check_literal`].
pub fn parse_endpoint_url(text: &str) -> Result<EndpointUrl, UrlError> {
    if text.trim().is_empty() {
        return Err(UrlError::Empty);
    }
    if text.chars().count() > URL_CHARS_MAX {
        return Err(UrlError::TooLong);
    }
    let odd = |c: char| c.is_whitespace() || c.is_control() || c == '\\';
    if text.contains(odd) {
        return Err(UrlError::Malformed);
    }
    let (scheme, rest) = text.split_once("://").ok_or(UrlError::Scheme)?;
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return Err(UrlError::Scheme);
    }
    // The URL standard skips additional slashes here, where other parsers see an empty host.
    if rest.starts_with('/') {
        return Err(UrlError::Malformed);
    }
    let url = Url::parse(text).map_err(|_| UrlError::Malformed)?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err(UrlError::Credentials);
    }
    if url.port() == Some(0) {
        return Err(UrlError::Port);
    }
    if let Some(Host::Domain(name)) = url.host() {
        check_name(name)?;
    }
    let sent = url.as_str().split('#').next().unwrap_or_default();
    let uri = sent.parse().map_err(|_| UrlError::Malformed)?;
    Ok(EndpointUrl { url, uri })
}

/// Parses the base address of a server, to which paths are added: an endpoint URL without a fragment.
pub fn parse_server_url(text: &str) -> Result<EndpointUrl, UrlError> {
    let url = parse_endpoint_url(text)?;
    if url.url.fragment().is_some() { Err(UrlError::Fragment) } else { Ok(url) }
}

/// Checks the lengths of a host name and of its labels. A trailing dot is ignored.
fn check_name(name: &str) -> Result<(), UrlError> {
    let name = name.strip_suffix('.').unwrap_or(name);
    let is_good = |label: &str| (1..=LABEL_CHARS_MAX).contains(&label.len());
    if name.len() <= NAME_CHARS_MAX && name.split('.').all(is_good) { Ok(()) } else { Err(UrlError::Host) }
}

impl EndpointUrl {
    /// The URL in the canonical form that is stored and sent: host in lower case, international names in ASCII, IPv4
    /// addresses in dotted decimal. With the fragment, if it has one.
    pub fn as_str(&self) -> &str {
        self.url.as_str()
    }

    /// The URL without its fragment as an [`http::Uri`], for a [`crate::Destination`].
    pub fn uri(&self) -> &Uri {
        &self.uri
    }

    /// The host name or the IP address; an IPv6 address is in brackets.
    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// The IP address of the host if it is known without a lookup: a literal address, `localhost`, or the name of a
    /// cloud's metadata service.
    pub fn literal_address(&self) -> Option<IpAddr> {
        match self.url.host()? {
            Host::Ipv4(ip) => Some(ip.into()),
            Host::Ipv6(ip) => Some(ip.into()),
            Host::Domain(name) => {
                let name = name.strip_suffix('.').unwrap_or(name);
                if METADATA_NAMES.contains(&name) {
                    return Some(METADATA.into());
                }
                let is_local = LOCAL_NAMES.contains(&name) || name.ends_with(".localhost");
                is_local.then_some(Ipv4Addr::LOCALHOST.into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_urls_are_stored_in_their_canonical_form() {
        for (text, stored) in [
            ("https://example.com", "https://example.com/"),
            ("HTTPS://Example.COM:443/Hooks?a=b%20c", "https://example.com/Hooks?a=b%20c"),
            ("http://example.com:8080/a/../b", "http://example.com:8080/b"),
            ("https://bücher.example/ü", "https://xn--bcher-kva.example/%C3%BC"),
            ("https://example.com/a|b?{x}", "https://example.com/a|b?{x}"),
            ("http://[2001:4860::8888]:81/", "http://[2001:4860::8888]:81/"),
            ("http://example.com/a@b?c@d", "http://example.com/a@b?c@d"),
            ("https://example.com./", "https://example.com./"),
        ] {
            let url = parse_endpoint_url(text).unwrap();
            assert_eq!((url.as_str(), url.uri().to_string().as_str()), (stored, stored));
            assert_eq!(parse_endpoint_url(url.as_str()).unwrap(), url, "what is stored is read back the same");
        }
    }

    #[test]
    fn a_fragment_is_kept_and_not_sent() {
        for (text, stored, sent) in [
            ("https://example.com/a?b#there", "https://example.com/a?b#there", "https://example.com/a?b"),
            ("https://example.com#", "https://example.com/#", "https://example.com/"),
        ] {
            let url = parse_endpoint_url(text).unwrap();
            assert_eq!((url.as_str(), url.uri().to_string().as_str()), (stored, sent));
            assert_eq!(parse_server_url(text), Err(UrlError::Fragment));
        }
        assert!(parse_server_url("https://example.com/a").is_ok());
    }

    #[test]
    fn invalid_urls_are_rejected_with_a_reason() {
        let long = format!("https://example.com/{}", "a".repeat(2048));
        let label = format!("https://{}.example.com/", "a".repeat(64));
        let name = format!("https://{}example.com/", "a.".repeat(122));
        for (text, error) in [
            ("", UrlError::Empty),
            (" ", UrlError::Empty),
            ("example.com", UrlError::Scheme),
            ("//example.com", UrlError::Scheme),
            ("ftp://example.com", UrlError::Scheme),
            ("file:///etc/passwd", UrlError::Scheme),
            ("gopher://127.0.0.1:6379/_INFO", UrlError::Scheme),
            ("javascript:alert(1)", UrlError::Scheme),
            ("https:example.com", UrlError::Scheme),
            ("https://", UrlError::Malformed),
            ("https:///example.com", UrlError::Malformed),
            ("https://:80/", UrlError::Malformed),
            ("https://exa mple.com", UrlError::Malformed),
            (" https://example.com", UrlError::Malformed),
            ("https://example.com\r\nX-A: b", UrlError::Malformed),
            ("https://example.com\\@evil.example", UrlError::Malformed),
            ("https://example.com:99999/", UrlError::Malformed),
            ("https://example.com:port/", UrlError::Malformed),
            ("https://[::1/", UrlError::Malformed),
            ("https://[fe80::1%25eth0]/", UrlError::Malformed),
            ("https://1.2.3.4.5/", UrlError::Malformed),
            ("https://256.1.1.1/", UrlError::Malformed),
            ("https://a%00b/", UrlError::Malformed),
            ("https://user@example.com/", UrlError::Credentials),
            ("https://user:secret@example.com/", UrlError::Credentials),
            ("https://@example.com/", UrlError::Credentials),
            ("https://:@example.com/", UrlError::Credentials),
            ("https://example.com:0/", UrlError::Port),
            (&long, UrlError::TooLong),
            (&label, UrlError::Host),
            (&name, UrlError::Host),
            ("https://example..com/", UrlError::Host),
            ("https://.example.com/", UrlError::Host),
        ] {
            assert_eq!(parse_endpoint_url(text), Err(error), "{text}");
        }
    }
}
