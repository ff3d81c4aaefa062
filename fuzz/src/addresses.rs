//! Targets for endpoint URLs and for the filter of IP addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use kit_outbound::AddressPolicy;
use kit_outbound::url::parse_endpoint_url;

/// Parses a text as an endpoint URL. An accepted URL parses back to itself, and the URL that the filter checks has the
/// same host as the URI that the client connects to.
pub fn endpoint_url(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(url) = parse_endpoint_url(text) else { return };
    assert_eq!(parse_endpoint_url(url.as_str()).as_ref(), Ok(&url), "{text:?}");
    let uri = url.uri();
    assert_eq!(uri.host(), Some(url.host()), "{text:?}");
    assert!(matches!(uri.scheme_str(), Some("http" | "https")), "{text:?}");
    assert!(!uri.authority().is_some_and(|authority| authority.as_str().contains('@')), "{text:?}");
    assert_ne!(uri.port_u16(), Some(0), "{text:?}");
    // The parser recognises every host that the standard library reads as an IP address.
    if let Ok(ip) = url.host().trim_matches(['[', ']']).parse::<IpAddr>() {
        assert_eq!(url.literal_address(), Some(ip), "{text:?}");
    }
    let policy = AddressPolicy::public_only(Vec::new());
    if let (Some(ip), Ok(())) = (url.literal_address(), policy.check_literal(&url)) {
        assert_public(ip);
    }
}

/// Checks an IP address of four or sixteen bytes against the address filter.
pub fn addresses(data: &[u8]) {
    let ip: IpAddr = if let Ok(bytes) = <[u8; 4]>::try_from(data) {
        Ipv4Addr::from(bytes).into()
    } else if let Some(bytes) = data.first_chunk::<16>() {
        Ipv6Addr::from(*bytes).into()
    } else {
        return;
    };
    if AddressPolicy::public_only(Vec::new()).check(ip).is_ok() {
        assert_public(ip);
    }
    assert!(AddressPolicy::any().check(ip).is_ok());
    // An explicitly allowed address passes, unless it embeds an IPv4 address (NAT64, 64:ff9b::/32).
    let allow = vec![ip.to_canonical().into()];
    let embeds_ipv4 = matches!(ip, IpAddr::V6(ip) if ip.segments()[..2] == [0x64, 0xff9b]);
    assert!(embeds_ipv4 || AddressPolicy::public_only(allow).check(ip).is_ok());
}

/// Asserts that an address is public, by rules written independently of the filter's tables.
fn assert_public(ip: IpAddr) {
    match ip {
        IpAddr::V4(ip) => assert_public_v4(ip),
        IpAddr::V6(ip) => {
            if let Some(mapped) = ip.to_ipv4_mapped() {
                return assert_public_v4(mapped);
            }
            assert!(!ip.is_loopback() && !ip.is_unspecified() && !ip.is_multicast(), "{ip}");
            assert!(!ip.is_unique_local() && !ip.is_unicast_link_local(), "{ip}");
            let first = ip.segments()[0];
            assert!((0x2000..=0x3fff).contains(&first), "{ip} is outside 2000::/3");
            assert!(first != 0x2002, "{ip} is 6to4");
            assert!(ip.segments()[..2] != [0x2001, 0] && ip.segments()[..2] != [0x2001, 0xdb8], "{ip}");
        }
    }
}

fn assert_public_v4(ip: Ipv4Addr) {
    let [a, b, ..] = ip.octets();
    assert!(!ip.is_private() && !ip.is_loopback() && !ip.is_link_local() && !ip.is_broadcast(), "{ip}");
    assert!(!ip.is_documentation() && !ip.is_multicast() && !ip.is_unspecified(), "{ip}");
    assert!(a != 0 && a < 240, "{ip}");
    assert!(!(a == 100 && (64..128).contains(&b)), "{ip} is shared address space (RFC 6598)");
    assert!(!(a == 198 && (18..20).contains(&b)), "{ip} is reserved for benchmarks (RFC 2544)");
}
