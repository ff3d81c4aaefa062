//! The address filter: the IP addresses to which requests may be sent.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use crate::url::EndpointUrl;

/// Decides about IP addresses, not names: the connector checks every address before it connects.
#[derive(Debug, Clone)]
pub struct AddressPolicy {
    reach: Reach,
    allow_subnets: Vec<IpNet>,
}

#[derive(Debug, Clone, Copy)]
enum Reach {
    Any,
    PublicOnly,
}

/// A refused address. The text names the kind of address but not the address, so that a customer can't learn what a
/// name resolves to in the operator's network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("its address is {kind}, and requests to such addresses are not allowed")]
pub struct AddressRefused {
    /// The address, for the operator's log.
    pub address: IpAddr,
    /// What kind of address it is, e.g. `private`.
    pub kind: &'static str,
}

impl AddressPolicy {
    /// Allows addresses of the public internet and those in `allow_subnets`: for addresses from customers.
    ///
    /// An IPv4-mapped IPv6 address counts as its IPv4 address. If `allow_subnets` contains the NAT64 prefix
    /// `64:ff9b::/96`, the embedded IPv4 address must be allowed too.
    pub fn public_only(allow_subnets: Vec<IpNet>) -> Self {
        Self { reach: Reach::PublicOnly, allow_subnets }
    }

    /// Allows every address: for addresses from the operator's configuration.
    pub fn any() -> Self {
        Self { reach: Reach::Any, allow_subnets: Vec::new() }
    }

    /// Checks an address before the client connects to it.
    pub fn check(&self, address: IpAddr) -> Result<(), AddressRefused> {
        let canonical = address.to_canonical();
        let allowed = |ip: IpAddr| self.allow_subnets.iter().any(|subnet| subnet.contains(&ip));
        let refused = match (self.reach, canonical) {
            (Reach::Any, _) => None,
            (_, IpAddr::V6(ip)) if allowed(canonical) => match nat64_target(ip) {
                Some(target) if !allowed(target.into()) => refused_v4(target),
                _ => None,
            },
            _ if allowed(canonical) => None,
            (_, IpAddr::V4(ip)) => refused_v4(ip),
            (_, IpAddr::V6(ip)) => refused_v6(ip),
        };
        match refused {
            Some(kind) => Err(AddressRefused { address, kind }),
            None => Ok(()),
        }
    }

    /// Checks a URL whose host is an IP address, `localhost` or the name of a cloud's metadata service, without
    /// resolving a name. The addresses of other names are checked at each connection.
    pub fn check_literal(&self, url: &EndpointUrl) -> Result<(), AddressRefused> {
        match url.literal_address() {
            Some(address) => self.check(address),
            None => Ok(()),
        }
    }
}

const REFUSED_V4: &[(Ipv4Net, &str)] = &[
    (v4(0, 0, 0, 0, 8), "unspecified or of this network"),
    (v4(10, 0, 0, 0, 8), "private"),
    (v4(100, 64, 0, 0, 10), "shared by a carrier (CGNAT)"),
    (v4(127, 0, 0, 0, 8), "loopback"),
    // The metadata service of a cloud, in the public range.
    (v4(168, 63, 129, 16, 32), "a cloud's metadata service"),
    (v4(169, 254, 0, 0, 16), "link-local"),
    (v4(172, 16, 0, 0, 12), "private"),
    (v4(192, 0, 0, 0, 24), "reserved for protocols"),
    (v4(192, 0, 2, 0, 24), "for documentation"),
    (v4(192, 88, 99, 0, 24), "a 6to4 relay"),
    (v4(192, 168, 0, 0, 16), "private"),
    (v4(198, 18, 0, 0, 15), "for benchmarking"),
    (v4(198, 51, 100, 0, 24), "for documentation"),
    (v4(203, 0, 113, 0, 24), "for documentation"),
    (v4(224, 0, 0, 0, 4), "multicast"),
    (v4(255, 255, 255, 255, 32), "broadcast"),
    (v4(240, 0, 0, 0, 4), "reserved"),
];

/// Ranges inside and outside of 2000::/3, the only public range of IPv6. The first match names the kind.
const REFUSED_V6: &[(Ipv6Net, &str)] = &[
    (v6([0, 0, 0, 0, 0, 0, 0, 0], 128), "unspecified"),
    (v6([0, 0, 0, 0, 0, 0, 0, 1], 128), "loopback"),
    (v6([0, 0, 0, 0, 0, 0, 0, 0], 96), "IPv4-compatible"),
    (v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96), "NAT64"),
    (v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48), "NAT64"),
    (v6([0x100, 0, 0, 0, 0, 0, 0, 0], 64), "discarded"),
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 32), "Teredo"),
    (v6([0x2001, 2, 0, 0, 0, 0, 0, 0], 48), "for benchmarking"),
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23), "reserved for protocols"),
    (v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32), "for documentation"),
    (v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16), "6to4"),
    (v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20), "for documentation"),
    (v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7), "private (unique local)"),
    (v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10), "link-local"),
    (v6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10), "site-local"),
    (v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8), "multicast"),
];

const PUBLIC_V6: Ipv6Net = v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);
const NAT64: Ipv6Net = v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96);

fn refused_v4(ip: Ipv4Addr) -> Option<&'static str> {
    REFUSED_V4.iter().find(|(subnet, _)| subnet.contains(&ip)).map(|(_, kind)| *kind)
}

fn refused_v6(ip: Ipv6Addr) -> Option<&'static str> {
    let listed = REFUSED_V6.iter().find(|(subnet, _)| subnet.contains(&ip)).map(|(_, kind)| *kind);
    listed.or_else(|| (!PUBLIC_V6.contains(&ip)).then_some("reserved")).or_else(|| is_isatap(ip).then_some("ISATAP"))
}

/// The interface identifier of an ISATAP address embeds an IPv4 address, under any prefix.
fn is_isatap(ip: Ipv6Addr) -> bool {
    let segments = ip.segments();
    matches!(segments[4], 0 | 0x200) && segments[5] == 0x5efe
}

fn nat64_target(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let [.., a, b, c, d] = ip.octets();
    NAT64.contains(&ip).then(|| Ipv4Addr::new(a, b, c, d))
}

const fn v4(a: u8, b: u8, c: u8, d: u8, prefix_bits: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix_bits)
}

const fn v6(s: [u16; 8], prefix_bits: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]), prefix_bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(policy: &AddressPolicy, address: &str) -> Option<&'static str> {
        policy.check(address.parse().unwrap()).err().map(|refused| refused.kind)
    }

    #[test]
    fn the_first_and_last_address_of_every_refused_range_is_refused() {
        let policy = AddressPolicy::public_only(vec![]);
        for (subnet, _) in REFUSED_V4 {
            for ip in [subnet.network(), subnet.broadcast()] {
                assert!(policy.check(ip.into()).is_err(), "{ip}");
                assert!(policy.check(ip.to_ipv6_mapped().into()).is_err(), "{ip} mapped");
            }
        }
        for (subnet, _) in REFUSED_V6 {
            for ip in [subnet.network(), subnet.broadcast()] {
                assert!(policy.check(ip.into()).is_err(), "{ip}");
            }
        }
    }

    #[test]
    fn neighbours_of_refused_ranges_and_other_public_addresses_are_allowed() {
        let policy = AddressPolicy::public_only(vec![]);
        for address in [
            "1.0.0.0",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "168.63.129.15",
            "168.63.129.17",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "191.255.255.255",
            "192.0.1.0",
            "192.0.3.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "198.51.99.255",
            "198.51.101.0",
            "203.0.112.255",
            "203.0.114.0",
            "223.255.255.255",
            "8.8.8.8",
            "::ffff:8.8.8.8",
            "2001:200::1",
            "2001:db7::1",
            "2001:db9::1",
            "2003::1",
            "2606:4700::1111",
            "2a00:1450:4001::5e",
            "3ffe::1",
        ] {
            assert_eq!(kind(&policy, address), None, "{address}");
        }
    }

    #[test]
    fn an_allowed_subnet_is_reached_and_its_neighbours_are_not() {
        let policy = AddressPolicy::public_only(vec!["10.1.0.0/16".parse().unwrap(), "fd00:1::/32".parse().unwrap()]);
        for address in ["10.1.2.3", "::ffff:10.1.2.3", "fd00:1::5"] {
            assert_eq!(kind(&policy, address), None, "{address}");
        }
        for address in ["10.2.0.1", "::ffff:10.2.0.1", "::10.1.2.3", "64:ff9b::10.1.2.3", "fd00:2::5", "2002:a01:203::"]
        {
            assert!(kind(&policy, address).is_some(), "{address}");
        }
    }

    #[test]
    fn behind_an_allowed_nat64_prefix_the_ipv4_address_counts() {
        let policy =
            AddressPolicy::public_only(vec!["64:ff9b::/96".parse().unwrap(), "192.168.7.0/24".parse().unwrap()]);
        assert_eq!(kind(&policy, "64:ff9b::8.8.8.8"), None);
        assert_eq!(kind(&policy, "64:ff9b::192.168.7.1"), None);
        assert_eq!(kind(&policy, "64:ff9b::127.0.0.1"), Some("loopback"));
        assert_eq!(kind(&policy, "64:ff9b::169.254.169.254"), Some("link-local"));
    }

    #[test]
    fn a_policy_for_the_operators_addresses_allows_all() {
        for address in ["127.0.0.1", "::1", "10.0.0.1", "169.254.169.254"] {
            assert_eq!(kind(&AddressPolicy::any(), address), None);
        }
    }

    #[test]
    fn the_error_text_does_not_contain_the_address() {
        let refused = AddressPolicy::public_only(vec![]).check("10.11.12.13".parse().unwrap()).unwrap_err();
        assert_eq!(refused.to_string(), "its address is private, and requests to such addresses are not allowed");
    }
}
