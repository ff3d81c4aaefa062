//! Settings of TLS by the server itself.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use kit_http::tls::{CertificateError, Certificates};
use serde::{Deserialize, Serialize};

use super::{Config, Role, listen_address, refusal};

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Tls {
    pub(crate) certificates: Vec<PathBuf>,
}

/// A port with TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TlsPort {
    /// The section of its settings.
    pub(crate) section: &'static str,
    /// Where it listens, as the configuration has it.
    pub(crate) listen: String,
    /// Base URL at which people reach it; empty for a saleroom without one.
    pub(crate) public_url: String,
    /// This process answers it.
    pub(crate) is_used: bool,
}

impl Config {
    /// The ports that listen with TLS.
    pub(crate) fn tls_ports(&self) -> Vec<TlsPort> {
        let of_role = |role: Role, listen: &String| TlsPort {
            section: role.name(),
            listen: listen.clone(),
            public_url: self.public_url(role),
            is_used: self.runs(role),
        };
        let saleroom = TlsPort {
            section: "saleroom",
            listen: self.saleroom.tls_listen.clone(),
            public_url: self.saleroom_url(),
            is_used: self.opens_saleroom(),
        };
        let platform = of_role(Role::Platform, &self.platform.tls_listen);
        let ports = [platform, of_role(Role::Provider, &self.provider.tls_listen), saleroom];
        ports.into_iter().filter(|port| !port.listen.is_empty()).collect()
    }

    /// The port with TLS of a section that this process answers, if it has one.
    pub(crate) fn tls_port(&self, section: &str) -> Option<TlsPort> {
        self.tls_ports().into_iter().find(|port| port.section == section && port.is_used)
    }

    /// Reads the certificates; none when this process has no port with TLS.
    pub(crate) fn certificates(&self, now: Timestamp) -> Result<Option<Arc<Certificates>>, CertificateError> {
        let is_needed = self.tls_ports().iter().any(|port| port.is_used);
        is_needed.then(|| Certificates::load(&self.tls.certificates, now)).transpose()
    }

    pub(super) fn check_tls(&self) -> Vec<String> {
        let mut mistakes = Vec::new();
        for TlsPort { section: path, listen, public_url, .. } in self.tls_ports() {
            if let Some(mistake) = refusal(&format!("{path}.tls_listen"), listen_address::resolve(&listen)) {
                mistakes.push(mistake);
                continue;
            }
            if self.tls.certificates.is_empty() {
                mistakes.push(format!("tls.certificates: a certificate is needed with {path}.tls_listen"));
            }
            // Cookies and the links of pages depend on it.
            if !public_url.starts_with("https://") {
                mistakes.push(format!("{path}.public_url: it begins with https when {path}.tls_listen is set"));
            }
        }
        for place in &self.tls.certificates {
            let loaded = Certificates::load(std::slice::from_ref(place), Timestamp::MIN);
            mistakes.extend(refusal("tls.certificates", loaded));
        }
        mistakes
    }

    /// Two settings with one address: only one of them could listen.
    pub(super) fn check_addresses(&self) -> Vec<String> {
        let of = |path: &'static str, text: &str| (path, listen_address::resolve(text).ok());
        let mut addresses = vec![of("metrics.listen", &self.metrics.listen)];
        if self.runs(Role::Platform) {
            addresses.push(("platform.listen", Some(self.platform.listen)));
            addresses.push(of("platform.tls_listen", &self.platform.tls_listen));
            if self.opens_saleroom() {
                addresses.push(("saleroom.listen", Some(self.saleroom.listen)));
                addresses.push(of("saleroom.tls_listen", &self.saleroom.tls_listen));
            }
        }
        if self.runs(Role::Provider) {
            addresses.push(("provider.listen", Some(self.provider.listen)));
            addresses.push(of("provider.tls_listen", &self.provider.tls_listen));
        }
        let mut first = HashMap::<SocketAddr, &str>::new();
        let mut mistakes = Vec::new();
        for (path, address) in addresses {
            let Some(address) = address.filter(|address| address.port() != 0) else { continue };
            if let Some(other) = first.insert(address, path) {
                mistakes.push(format!("{other} and {path} have the same address, {address}"));
            }
        }
        mistakes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tls_needs_a_certificate_an_https_url_and_an_address() {
        let mut config = Config::default();
        config.platform.tls_listen = "0.0.0.0".to_owned();
        let mistakes = config.check_tls();
        assert!(mistakes.len() == 1 && mistakes[0].starts_with("platform.tls_listen"), "{mistakes:?}");
        config.platform.tls_listen = "0.0.0.0:443".to_owned();
        let mistakes = config.check_tls();
        assert_eq!(mistakes.len(), 2, "{mistakes:?}");
        for (mistake, path) in mistakes.iter().zip(["tls.certificates", "platform.public_url"]) {
            assert!(mistake.starts_with(path), "{mistakes:?}");
        }
        config.tls.certificates = vec!["/nowhere".into()];
        config.platform.public_url = "https://auctions.example.com".to_owned();
        let mistakes = config.check_tls();
        assert!(mistakes.len() == 1 && mistakes[0].contains("/nowhere can't be read"), "{mistakes:?}");
    }

    #[test]
    fn the_port_of_salerooms_has_tls_like_the_others() {
        let mut config = Config::default();
        config.saleroom.tls_listen = "127.0.0.1:8443".to_owned();
        let mistakes = config.check_tls();
        assert!(
            mistakes.len() == 2 && mistakes[1].starts_with("saleroom.public_url: it begins with https"),
            "{mistakes:?}"
        );
        assert_eq!(config.tls_port("saleroom"), None, "there is no saleroom");
        config.saleroom.public_url = "https://bid.example.com".to_owned();
        assert_eq!(config.check_tls().len(), 1, "no certificate");
        assert_eq!(config.tls_port("saleroom").map(|port| port.listen).as_deref(), Some("127.0.0.1:8443"));
        config.provider.tls_listen = "127.0.0.1:8443".to_owned();
        let both = "saleroom.tls_listen and provider.tls_listen have the same address, 127.0.0.1:8443";
        assert_eq!(config.check_addresses(), [both]);
    }

    #[test]
    fn two_ports_with_one_address_are_a_mistake() {
        let mut config = Config::default();
        assert!(config.check_addresses().is_empty());
        config.metrics.listen = "127.0.0.1:8080".to_owned();
        config.provider.tls_listen = config.provider.listen.to_string();
        let mistakes = config.check_addresses();
        let expected = [
            "metrics.listen and platform.listen have the same address, 127.0.0.1:8080",
            "provider.listen and provider.tls_listen have the same address, 127.0.0.1:8071",
        ];
        assert_eq!(mistakes, expected);
        config.provider.listen.set_port(0);
        config.roles = vec![Role::Provider];
        assert!(config.check_addresses().is_empty());
    }
}
