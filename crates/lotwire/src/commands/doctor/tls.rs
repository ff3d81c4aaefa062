//! Checks the certificates of a server that speaks TLS itself: that they are valid, and for the host names of the public URLs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use kit_http::tls::{Certificate, ENDS_SOON};
use rustls::pki_types::ServerName;

use super::CheckResult;
use crate::config::{Config, TlsPort};

/// One finding for each certificate, and one for each role without a certificate. None without TLS.
pub(super) fn check(config: &Config, now: Timestamp) -> Vec<CheckResult> {
    let loaded = match config.certificates(now) {
        Ok(None) => return Vec::new(),
        Ok(Some(certificates)) => certificates,
        Err(error) => return vec![Err(error.to_string())],
    };
    let certificates = loaded.current();
    let mut findings: Vec<CheckResult> =
        certificates.iter().map(|(place, certificate)| validity(place, certificate, now)).collect();
    findings.extend(loaded.refused().into_iter().map(|(_, why)| Err(why)));
    for TlsPort { section, public_url: url, .. } in config.tls_ports().into_iter().filter(|port| port.is_used) {
        let host = url::Url::parse(&url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
        if !has_certificate(&certificates, &host) {
            findings.push(Err(missing(&host, &format!("the host of {section}.public_url"))));
        }
    }
    findings
}

/// The finding about a domain of a house that is served with TLS without a certificate for it.
pub(super) fn check_domain(config: &Config, domain: &str, now: Timestamp) -> Option<CheckResult> {
    config.tls_port("saleroom")?;
    let certificates = config.certificates(now).ok().flatten()?.current();
    (!has_certificate(&certificates, domain)).then(|| Err(missing(domain, "the domain of a house's saleroom")))
}

fn has_certificate(certificates: &[(PathBuf, Arc<Certificate>)], host: &str) -> bool {
    let name = ServerName::try_from(host.trim_matches(['[', ']'])).ok();
    let is_for = |certificate: &Certificate| name.as_ref().is_some_and(|name| certificate.is_for(name));
    certificates.iter().any(|(_, certificate)| is_for(certificate))
}

fn missing(host: &str, what: &str) -> String {
    format!("no certificate in tls.certificates is for {host}, {what}: browsers refuse the connection. Add one that is")
}

fn validity(place: &Path, certificate: &Certificate, now: Timestamp) -> CheckResult {
    let place = place.display();
    let ends = certificate.not_after();
    match certificate.require_valid(now) {
        Err(error) => {
            Err(format!("{place}: {error}, so clients refuse it. Replace it; the server reads it without a restart"))
        }
        Ok(()) if ends.duration_since(now) < ENDS_SOON => Err(format!(
            "{place}: the certificate ends at {ends}, within 14 days. Is its renewal broken? The server reads a new one \
             without a restart"
        )),
        Ok(()) => Ok(format!("{place} is valid until {ends}")),
    }
}
