//! Settings of a relying party, and the rules for an issuer's address.

use kit_outbound::RootCertStore;
use kit_runtime::vault::Secret;
use url::{Host, Url};

/// Path of the discovery document below the issuer's address (OpenID Connect Discovery 1.0, section 4).
pub(crate) const DISCOVERY_PATH: &str = "/.well-known/openid-configuration";

/// The settings of one relying party.
#[derive(Debug, Clone)]
pub struct OpenIdSettings {
    /// The issuer, exactly as its discovery document and its tokens name it.
    pub issuer: String,
    /// Id of the client at the issuer.
    pub client_id: String,
    /// Secret of the client; none for a public client, which has the code verifier (PKCE) only.
    pub client_secret: Option<Secret>,
    /// Address at which the issuer sends browsers back. It is registered at the issuer.
    pub redirect_uri: String,
    /// Scopes to ask for, without `openid`, which is always asked for.
    pub scopes: Vec<String>,
    /// Name of the claim with the person's groups: a list of texts, or one text.
    pub groups_claim: String,
    /// What people call the issuer. Empty: the issuer's host.
    pub name: String,
    /// Trusted certificate authorities in addition to the public ones.
    pub extra_roots: RootCertStore,
}

impl OpenIdSettings {
    /// What people call the issuer.
    pub fn shown_name(&self) -> String {
        if !self.name.is_empty() {
            return self.name.clone();
        }
        let host = Url::parse(&self.issuer).ok().and_then(|url| url.host_str().map(str::to_owned));
        host.unwrap_or_else(|| self.issuer.clone())
    }

    pub(crate) fn discovery_url(&self) -> String {
        format!("{}{DISCOVERY_PATH}", self.issuer.trim_end_matches('/'))
    }
}

/// Why an address can't be an issuer's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IssuerFault {
    /// It is no URL with a host, or one with a query, a fragment or a login.
    #[error("it is not an https URL without query, fragment, user name and password")]
    Malformed,
    /// Plain HTTP is for an issuer on the same machine only, because the answers decide who is signed in.
    #[error("it begins with http, which is allowed for an issuer on this machine only")]
    PlainHttp,
}

/// Checks the address of an issuer.
pub fn check_issuer(issuer: &str) -> Result<(), IssuerFault> {
    let url = Url::parse(issuer).map_err(|_| IssuerFault::Malformed)?;
    if url.query().is_some() || url.fragment().is_some() {
        return Err(IssuerFault::Malformed);
    }
    check_url(&url)
}

/// Checks the address of an issuer, or one in its discovery document.
pub(crate) fn check_url(url: &Url) -> Result<(), IssuerFault> {
    let has_login = !url.username().is_empty() || url.password().is_some();
    let is_here = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => return Err(IssuerFault::Malformed),
    };
    match url.scheme() {
        _ if has_login => Err(IssuerFault::Malformed),
        "https" => Ok(()),
        "http" if is_here => Ok(()),
        "http" => Err(IssuerFault::PlainHttp),
        _ => Err(IssuerFault::Malformed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issuer_has_tls_unless_it_is_on_this_machine() {
        for (issuer, checked) in [
            ("https://id.example.com", Ok(())),
            ("https://id.example.com/realms/house", Ok(())),
            ("http://127.0.0.1:9000", Ok(())),
            ("http://[::1]:9000", Ok(())),
            ("http://localhost:9000", Ok(())),
            ("http://id.example.com", Err(IssuerFault::PlainHttp)),
            ("http://10.0.0.5", Err(IssuerFault::PlainHttp)),
            ("https://id.example.com/?realm=house", Err(IssuerFault::Malformed)),
            ("https://id.example.com/#house", Err(IssuerFault::Malformed)),
            ("https://ann:secret@id.example.com", Err(IssuerFault::Malformed)),
            ("id.example.com", Err(IssuerFault::Malformed)),
            ("ftp://id.example.com", Err(IssuerFault::Malformed)),
        ] {
            assert_eq!(check_issuer(issuer), checked, "{issuer}");
        }
    }
}
