//! Limits the connections of one client address, so that one client can't use up the connections of the server.
//!
//! An IPv6 client usually has a network of its own, so the addresses of one /64 count together.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

use ipnet::IpNet;

/// The bits of an IPv6 address that name its network.
const NETWORK_BITS: u32 = 64;

/// The number of open connections of each client that has any.
type OpenConnections = Arc<Mutex<HashMap<IpAddr, usize>>>;

/// Counts the open connections of each address.
#[derive(Debug)]
pub(crate) struct ConnectionsPerAddress {
    connections_max: usize,
    unlimited: Vec<IpNet>,
    open: OpenConnections,
}

/// A counted connection. Dropping it releases its place.
#[derive(Debug)]
pub(crate) struct CountedConnection {
    /// None for an address without a limit.
    counted: Option<(IpAddr, OpenConnections)>,
}

impl ConnectionsPerAddress {
    /// At most `connections_max` of each address; any number of the addresses in `unlimited`.
    pub(crate) fn new(connections_max: usize, unlimited: Vec<IpNet>) -> Self {
        Self { connections_max, unlimited, open: Arc::default() }
    }

    /// Counts a connection; none when its address has too many. `own` is the server's address on this connection: a
    /// connection from the machine to itself has no limit.
    pub(crate) fn admit(&self, peer: IpAddr, own: Option<IpAddr>) -> Option<CountedConnection> {
        let peer = peer.to_canonical();
        if own.is_some_and(|own| own.to_canonical() == peer) || self.unlimited.iter().any(|net| net.contains(&peer)) {
            return Some(CountedConnection { counted: None });
        }
        let client = client_of(peer);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let connections = open.entry(client).or_default();
        if *connections >= self.connections_max {
            return None;
        }
        *connections += 1;
        Some(CountedConnection { counted: Some((client, Arc::clone(&self.open))) })
    }
}

impl Drop for CountedConnection {
    fn drop(&mut self) {
        let Some((client, open)) = &self.counted else { return };
        let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(connections) = open.get_mut(client) {
            *connections = connections.saturating_sub(1);
            if *connections == 0 {
                open.remove(client);
            }
        }
    }
}

/// The IPv4 address, or the network of the IPv6 address.
fn client_of(peer: IpAddr) -> IpAddr {
    match peer {
        IpAddr::V4(_) => peer,
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> NETWORK_BITS << NETWORK_BITS).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn an_address_or_an_ipv6_network_has_a_number_of_connections() {
        let connections = ConnectionsPerAddress::new(1, Vec::new());
        let admitted = |peer| connections.admit(ip(peer), None);
        let _v4 = admitted("192.0.2.1").unwrap();
        let v6 = admitted("2001:db8:0:1::1").unwrap();
        for refused in ["192.0.2.1", "::ffff:192.0.2.1", "2001:db8:0:1::1", "2001:db8:0:1:ffff::2"] {
            assert!(admitted(refused).is_none(), "{refused}");
        }
        for other in ["192.0.2.2", "2001:db8:0:2::1"] {
            assert!(admitted(other).is_some(), "{other}");
        }
        drop(v6);
        assert!(admitted("2001:db8:0:1::3").is_some());
        assert_eq!(connections.open.lock().unwrap().len(), 1, "an address without a connection takes no memory");
    }

    #[test]
    fn unlimited_networks_and_the_machine_itself_have_no_limit() {
        let connections = ConnectionsPerAddress::new(0, vec!["10.0.0.0/8".parse().unwrap()]);
        for (peer, own, is_admitted) in [
            ("10.1.2.3", "192.0.2.9", true),
            ("::ffff:10.1.2.3", "192.0.2.9", true),
            ("192.0.2.9", "192.0.2.9", true),
            ("::ffff:192.0.2.9", "192.0.2.9", true),
            ("192.0.2.1", "192.0.2.9", false),
        ] {
            assert_eq!(connections.admit(ip(peer), Some(ip(own))).is_some(), is_admitted, "{peer}");
        }
    }
}
