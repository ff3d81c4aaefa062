//! The IP address of the client, directly or behind trusted reverse proxies.

use std::net::IpAddr;

use http::request::Parts;
use ipnet::IpNet;

/// Header to which each reverse proxy appends the address of its peer.
const FORWARDED_FOR: &str = "x-forwarded-for";
/// Maximum number of proxies in a chain.
const HOPS_MAX: usize = 16;

/// The peer address of the connection. [`crate::serve::serve`] adds it to the extensions of every request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer(pub IpAddr);

/// The address of the client: the peer of the connection or, if the peer is a trusted proxy, the last address in
/// `X-Forwarded-For` that is not a trusted proxy. None for a request without a connection (in tests).
pub fn resolve(parts: &Parts, trusted_proxies: &[IpNet]) -> Option<IpAddr> {
    let Peer(peer) = *parts.extensions.get::<Peer>()?;
    let is_trusted = |address: IpAddr| trusted_proxies.iter().any(|net| net.contains(&address.to_canonical()));
    if !is_trusted(peer) {
        return Some(peer);
    }
    let values = parts.headers.get_all(FORWARDED_FOR).iter().filter_map(|value| value.to_str().ok());
    let named: Vec<&str> = values.flat_map(|value| value.split(',')).map(str::trim).collect();
    // Stop at a malformed entry: the client may have written everything before it.
    let mut farthest = peer;
    for address in named.iter().rev().take(HOPS_MAX).map_while(|text| text.parse::<IpAddr>().ok()) {
        farthest = address;
        if !is_trusted(address) {
            break;
        }
    }
    Some(farthest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_trusted_proxies_may_name_the_client() {
        let trusted = ["10.0.0.0/8".parse().unwrap(), "127.0.0.1/32".parse().unwrap()];
        for (peer, forwarded, expected) in [
            ("192.0.2.9", &["198.51.100.1"][..], "192.0.2.9"),
            ("127.0.0.1", &[], "127.0.0.1"),
            ("127.0.0.1", &["198.51.100.1"], "198.51.100.1"),
            ("::ffff:127.0.0.1", &["198.51.100.1"], "198.51.100.1"),
            ("127.0.0.1", &["1.1.1.1, 198.51.100.1, 10.2.3.4"], "198.51.100.1"),
            ("127.0.0.1", &["1.1.1.1", "198.51.100.1"], "198.51.100.1"),
            ("127.0.0.1", &["198.51.100.1, unknown, 10.2.3.4"], "10.2.3.4"),
            ("127.0.0.1", &["10.2.3.4"], "10.2.3.4"),
        ] {
            let mut request = http::Request::new(());
            request.extensions_mut().insert(Peer(peer.parse().unwrap()));
            for value in forwarded {
                request.headers_mut().append(FORWARDED_FOR, value.parse().unwrap());
            }
            let client = resolve(&request.into_parts().0, &trusted);
            assert_eq!(client, Some(expected.parse().unwrap()), "{peer} for {forwarded:?}");
        }
        assert_eq!(resolve(&http::Request::new(()).into_parts().0, &trusted), None);
    }
}
