//! Where a request came from.

use std::net::IpAddr;

use http::request::Parts;
use ipnet::IpNet;

/// Header in which reverse proxies name whom they pass on, the nearest last.
const FORWARDED_FOR: &str = "x-forwarded-for";
/// Proxies in a row that are looked through.
const HOPS_MAX: usize = 16;

/// The other end of the request's connection. [`crate::serve::serve`] puts it into every request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer(pub IpAddr);

/// The address that a request came from: the other end of the connection or, when that is a proxy that is trusted, the
/// last address before it that is not. None when the request came over no connection.
pub fn resolve(parts: &Parts, trusted_proxies: &[IpNet]) -> Option<IpAddr> {
    let Peer(peer) = *parts.extensions.get::<Peer>()?;
    let is_trusted = |address: IpAddr| trusted_proxies.iter().any(|net| net.contains(&address.to_canonical()));
    if !is_trusted(peer) {
        return Some(peer);
    }
    let values = parts.headers.get_all(FORWARDED_FOR).iter().filter_map(|value| value.to_str().ok());
    let named: Vec<&str> = values.flat_map(|value| value.split(',')).map(str::trim).collect();
    // What is no address ends the way back: beyond it anybody may have written what stands there.
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
    fn only_trusted_proxies_are_believed() {
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
            let found = resolve(&request.into_parts().0, &trusted);
            assert_eq!(found, Some(expected.parse().unwrap()), "{peer} for {forwarded:?}");
        }
        assert_eq!(resolve(&http::Request::new(()).into_parts().0, &trusted), None);
    }
}
