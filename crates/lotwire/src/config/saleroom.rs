//! The settings of the saleroom: its port, and its one host.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use super::{Config, Role, listen_address};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Saleroom {
    #[serde(deserialize_with = "listen_address::deserialize")]
    pub(crate) listen: SocketAddr,
    pub(crate) public_url: String,
}

impl Default for Saleroom {
    fn default() -> Self {
        Saleroom { listen: SocketAddr::from(([127, 0, 0, 1], 8073)), public_url: String::new() }
    }
}

impl Config {
    /// The saleroom has a host of its own: what a page of one site could read or send, it could on every site of its host.
    pub(super) fn check_saleroom(&self) -> Option<String> {
        if !self.opens_saleroom() {
            return None;
        }
        let host = |url: &str| url::Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
        let own = host(&self.saleroom.public_url)?;
        let others = [Role::Platform, Role::Provider].map(|role| (role, self.public_url(role)));
        let (role, _) = others.into_iter().find(|(_, url)| host(url).is_some_and(|other| other == own))?;
        let name = role.name();
        Some(format!("saleroom.public_url: it has the host of the {name}, {own}: the saleroom needs one of its own"))
    }

    /// The platform of this process answers the port of the saleroom.
    pub(crate) fn opens_saleroom(&self) -> bool {
        self.runs(Role::Platform) && !self.saleroom.public_url.is_empty()
    }
}
