//! The settings of the saleroom: its port, and its one host.

use std::net::SocketAddr;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use super::{Config, Role, listen_address};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Saleroom {
    #[serde(deserialize_with = "listen_address::deserialize")]
    pub(crate) listen: SocketAddr,
    pub(crate) tls_listen: String,
    pub(crate) public_url: String,
    pub(crate) push_networks: Vec<IpNet>,
    pub(crate) dns_servers: Vec<SocketAddr>,
}

impl Default for Saleroom {
    fn default() -> Self {
        Saleroom {
            listen: SocketAddr::from(([127, 0, 0, 1], 8073)),
            tls_listen: String::new(),
            public_url: String::new(),
            push_networks: Vec::new(),
            dns_servers: Vec::new(),
        }
    }
}

impl Saleroom {
    /// The address on which the server listens now. A public URL with port 0 gets its port.
    pub(crate) fn take_address(&mut self, listen: SocketAddr) {
        self.listen = listen;
        if let Ok(mut url) = url::Url::parse(&self.public_url)
            && url.port() == Some(0)
            && url.set_port(Some(listen.port())).is_ok()
        {
            self.public_url = url.to_string();
        }
    }
}

impl Config {
    /// Why the salerooms of this process are closed whatever houses choose, and what to do; none when they can be open.
    pub(crate) fn saleroom_hindrance(&self) -> Option<&'static str> {
        let is_closed = self.opens_saleroom() && self.mail.smtp_url.is_empty();
        is_closed.then_some("closed, because bidders sign up by mail and there is no mail server: set mail.smtp_url")
    }

    /// Refuses a saleroom with the host of the platform or the provider. A browser sends cookies to every port of a host.
    pub(super) fn check_saleroom(&self) -> Option<String> {
        if !self.opens_saleroom() {
            return None;
        }
        let host = |url: &str| url::Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
        let own = host(&self.saleroom.public_url)?;
        let others = [Role::Platform, Role::Provider].map(|role| (role, self.public_url(role)));
        let (role, _) = others.into_iter().find(|(_, url)| host(url).is_some_and(|other| other == own))?;
        let name = role.name();
        Some(format!(
            "saleroom.public_url: it has the host of the {name}, {own}: choose a host that no other part of the server has"
        ))
    }

    /// Base URL of the salerooms, without the slash at its end; empty without one.
    pub(crate) fn saleroom_url(&self) -> String {
        self.saleroom.public_url.trim_end_matches('/').to_owned()
    }

    /// The platform of this process answers the port of the saleroom.
    pub(crate) fn opens_saleroom(&self) -> bool {
        self.runs(Role::Platform) && !self.saleroom.public_url.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_url_with_port_0_gets_the_port_on_which_the_server_listens() {
        let listen = SocketAddr::from(([127, 0, 0, 1], 4_321));
        for (before, after) in [
            ("http://saleroom.localhost:0", "http://saleroom.localhost:4321/"),
            ("http://saleroom.localhost:8073", "http://saleroom.localhost:8073"),
            ("https://bid.example.com", "https://bid.example.com"),
        ] {
            let mut saleroom = Saleroom { public_url: before.to_owned(), ..Saleroom::default() };
            saleroom.take_address(listen);
            assert_eq!((saleroom.public_url.as_str(), saleroom.listen), (after, listen));
        }
    }
}
