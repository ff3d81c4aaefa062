//! Addresses to listen on: an IP address or a host name, with a port. The loader resolves a host name.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};

use serde::{Deserialize as _, Deserializer, de};

/// The address of a text such as `127.0.0.1:8080` or `localhost:8080`. Of several addresses of a host name it is the
/// first IPv4 address, because the defaults and the examples use IPv4.
pub(crate) fn resolve(text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let parts = text.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse::<u16>().ok()?)));
    let Some((host, port)) = parts.filter(|(host, _)| !host.is_empty() && !host.contains(':')) else {
        return Err("it is not a host and a port".to_owned());
    };
    let found: Vec<SocketAddr> = match (host, port).to_socket_addrs() {
        Ok(found) => found.collect(),
        Err(error) => return Err(format!("the host name {host} can't be resolved: {error}")),
    };
    let preferred = found.iter().find(|address| address.is_ipv4()).or(found.first());
    preferred.copied().ok_or_else(|| format!("the host name {host} has no address"))
}

/// The addresses at which a listening socket certainly is this process: its own, or loopback if it listens on all.
pub(crate) fn local_addresses(listen: SocketAddr) -> Vec<SocketAddr> {
    match listen.ip() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => vec![(Ipv4Addr::LOCALHOST, listen.port()).into()],
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => {
            vec![(Ipv4Addr::LOCALHOST, listen.port()).into(), (Ipv6Addr::LOCALHOST, listen.port()).into()]
        }
        _ => vec![listen],
    }
}

/// The base URL at which this machine reaches a listening socket.
pub(crate) fn local_url(listen: SocketAddr) -> String {
    let address = local_addresses(listen).first().copied().unwrap_or(listen);
    format!("http://{address}")
}

/// For serde.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SocketAddr, D::Error> {
    resolve(&String::deserialize(deserializer)?).map_err(de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_an_ip_address_or_a_host_name_with_a_port() {
        for (text, address) in [
            ("127.0.0.1:8080", "127.0.0.1:8080"),
            ("localhost:8080", "127.0.0.1:8080"),
            ("[::1]:0", "[::1]:0"),
            ("0.0.0.0:80", "0.0.0.0:80"),
        ] {
            assert_eq!(resolve(text), Ok(address.parse().unwrap()), "{text}");
        }
        for text in ["8080", ":8080", "::1:8080", "localhost", "localhost:http", "localhost:70000", ""] {
            assert_eq!(resolve(text), Err("it is not a host and a port".to_owned()), "{text}");
        }
        assert!(resolve("no-such-host.invalid:80").unwrap_err().contains("no-such-host.invalid can't be resolved"));
    }

    #[test]
    fn a_server_that_listens_on_all_interfaces_is_reached_on_loopback() {
        assert_eq!(local_url("0.0.0.0:8071".parse().unwrap()), "http://127.0.0.1:8071");
        assert_eq!(local_url("[::]:8071".parse().unwrap()), "http://127.0.0.1:8071");
        assert_eq!(local_url("10.0.0.5:8071".parse().unwrap()), "http://10.0.0.5:8071");
    }
}
