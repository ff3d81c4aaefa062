//! TLS to the server, compatible with libpq: which servers are trusted by `sslmode` and the certificate files.
//!
//! The default of `sslmode` is `prefer`: it protects against eavesdropping if the server offers TLS, and connects
//! without TLS if not. Only `verify-full` protects against an attacker who can change the traffic. Unlike libpq, this
//! module reads no files of a home directory and no environment variables.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::url::{RootCertificates, TlsMode, TlsParameters};

/// Maximum size of a certificate file.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// ALPN protocol of direct TLS (`sslnegotiation=direct`).
const PROTOCOL: &[u8] = b"postgresql";

/// The effective mode and the TLS configuration for it. Errors name the parameter and say what to do.
pub(super) fn configure(parameters: &TlsParameters) -> Result<(TlsMode, ClientConfig), String> {
    let mode = mode(parameters)?;
    let provider = ring::default_provider();
    let algorithms = provider.signature_verification_algorithms;
    let verifier = match mode {
        TlsMode::Disable | TlsMode::Prefer | TlsMode::Require => Verifier { algorithms, trust: None },
        TlsMode::VerifyCa => Verifier { algorithms, trust: Some((trusted(parameters, mode)?, HostNameCheck::Any)) },
        TlsMode::VerifyFull => {
            Verifier { algorithms, trust: Some((trusted(parameters, mode)?, HostNameCheck::MustMatch)) }
        }
    };
    let builder = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let mut config = match (&parameters.certificate, &parameters.key) {
        (None, None) => builder.with_no_client_auth(),
        (Some(certificate), Some(key)) => {
            let chain = certificates("sslcert", certificate)?;
            let unusable = |error: &dyn std::fmt::Display| {
                format!(
                    "sslkey: {} can't be used as the key of sslcert, in PEM and without a passphrase: {error}",
                    key.display()
                )
            };
            let key = PrivateKeyDer::from_pem_slice(&read("sslkey", key)?).map_err(|error| unusable(&error))?;
            builder.with_client_auth_cert(chain, key).map_err(|error| unusable(&error))?
        }
        _ => return Err("sslcert and sslkey belong together: give both, or neither".to_owned()),
    };
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    Ok((mode, config))
}

/// The effective mode, as in libpq: `require` with `sslrootcert` means `verify-ca`, and `sslrootcert=system` alone
/// means `verify-full`. Combinations without effect are rejected.
fn mode(parameters: &TlsParameters) -> Result<TlsMode, String> {
    match (parameters.mode, &parameters.roots) {
        (None, None) => Ok(TlsMode::Prefer),
        (None, Some(RootCertificates::System)) => Ok(TlsMode::VerifyFull),
        (Some(mode), Some(RootCertificates::System)) if mode < TlsMode::VerifyFull => Err(format!(
            "sslrootcert=system with sslmode={}: public authorities issue certificates to anyone, so the host name \
             must be checked as well; use sslmode=verify-full",
            mode.as_str()
        )),
        (Some(TlsMode::Require), Some(RootCertificates::File(_))) => Ok(TlsMode::VerifyCa),
        (None | Some(TlsMode::Disable | TlsMode::Prefer), Some(RootCertificates::File(_))) => Err(format!(
            "sslrootcert has no effect: sslmode={} trusts any server; use sslmode=verify-full",
            parameters.mode.unwrap_or(TlsMode::Prefer).as_str()
        )),
        (Some(mode), _) => Ok(mode),
    }
}

fn trusted(parameters: &TlsParameters, mode: TlsMode) -> Result<Trust, String> {
    let certificates = match &parameters.roots {
        Some(RootCertificates::File(path)) => certificates("sslrootcert", path)?,
        Some(RootCertificates::System) => system_certificates()?,
        None => {
            return Err(format!(
                "sslmode={} needs sslrootcert: a PEM file with the server's authority, or `system` for the \
                 authorities of this system",
                mode.as_str()
            ));
        }
    };
    let mut roots = RootCertStore::empty();
    if matches!(parameters.roots, Some(RootCertificates::System)) {
        // Unreadable certificates of the system are skipped: the operator can't fix them.
        roots.add_parsable_certificates(certificates);
        return Ok(Trust { roots, own: Vec::new() });
    }
    for certificate in &certificates {
        roots
            .add(certificate.clone())
            .map_err(|error| format!("sslrootcert: a certificate in it can't be used: {error}"))?;
    }
    Ok(Trust { roots, own: certificates })
}

fn system_certificates() -> Result<Vec<CertificateDer<'static>>, String> {
    let found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        return Err(
            "sslrootcert=system: this system has no trusted authorities; install the package ca-certificates, or \
             name a PEM file"
                .to_owned(),
        );
    }
    Ok(found.certs)
}

fn certificates(parameter: &str, path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let pem = read(parameter, path)?;
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    let all = all.map_err(|error| format!("{parameter}: {} can't be read as PEM: {error}", path.display()))?;
    if all.is_empty() {
        return Err(format!("{parameter}: {} holds no certificate (-----BEGIN CERTIFICATE-----)", path.display()));
    }
    Ok(all)
}

fn read(parameter: &str, path: &Path) -> Result<Vec<u8>, String> {
    let unreadable = |error: std::io::Error| format!("{parameter}: can't read {}: {error}", path.display());
    let mut content = Vec::new();
    File::open(path).map_err(unreadable)?.take(FILE_BYTES_MAX).read_to_end(&mut content).map_err(unreadable)?;
    Ok(content)
}

/// The trusted certificates.
#[derive(Debug)]
struct Trust {
    roots: RootCertStore,
    /// Certificates that are trusted directly, such as a self-signed certificate of the server.
    own: Vec<CertificateDer<'static>>,
}

/// Whether the host name is checked.
#[derive(Debug, PartialEq, Eq)]
enum HostNameCheck {
    Any,
    /// The certificate must be for the host in the URL.
    MustMatch,
}

/// Verifies the server. Without `trust` it accepts any certificate, but checks that the server has the private key:
/// channel binding ties the password to the certificate, and an attacker can copy a certificate without its key.
#[derive(Debug)]
struct Verifier {
    algorithms: WebPkiSupportedAlgorithms,
    trust: Option<(Trust, HostNameCheck)>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some((trust, names)) = &self.trust else { return Ok(ServerCertVerified::assertion()) };
        let certificate = ParsedCertificate::try_from(end_entity)?;
        let signed = verify_server_cert_signed_by_trust_anchor(
            &certificate,
            &trust.roots,
            intermediates,
            now,
            self.algorithms.all,
        );
        match signed {
            // The example of PostgreSQL's manual uses a CA certificate as the server's certificate and copies it to the
            // clients. rustls reports this error after all other checks, which include the validity period.
            Err(error) if is_ca_used_as_end_entity(&error) && trust.own.iter().any(|own| own == end_entity) => {}
            signed => signed?,
        }
        if *names == HostNameCheck::MustMatch {
            verify_server_name(&certificate, server_name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// True for the error that a server presented a CA certificate. rustls has no variant for it.
pub(super) fn is_ca_used_as_end_entity(error: &Error) -> bool {
    let Error::InvalidCertificate(CertificateError::Other(other)) = error else { return false };
    format!("{other:?}").contains("CaUsedAsEndEntity")
}

#[cfg(test)]
mod tests {
    use rustls::crypto::ring::sign::any_supported_type;
    use rustls::server::{ClientHello, ResolvesServerCert};
    use rustls::sign::CertifiedKey;
    use rustls::{ClientConnection, ServerConfig, ServerConnection};
    use testkit::certificates::{Identity, Validity, self_signed};

    use super::*;

    /// Presents this certificate.
    #[derive(Debug)]
    struct Presents(Arc<CertifiedKey>);

    impl ResolvesServerCert for Presents {
        fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
            Some(Arc::clone(&self.0))
        }
    }

    /// A handshake between a client that trusts any server and a server whose key does not match its certificate.
    fn handshake(
        certificate: &Identity,
        key: &Identity,
        version: &'static rustls::SupportedProtocolVersion,
    ) -> Result<(), Error> {
        let certificate = CertificateDer::from_pem_slice(certificate.certificate.as_bytes()).unwrap();
        let key = PrivateKeyDer::from_pem_slice(key.key.as_bytes()).unwrap();
        let certified = CertifiedKey::new(vec![certificate], any_supported_type(&key).unwrap());
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[version])
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(Presents(Arc::new(certified))));
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        let parameters = TlsParameters { mode: Some(TlsMode::Require), ..TlsParameters::default() };
        let (_, client) = configure(&parameters).unwrap();
        let mut client = ClientConnection::new(Arc::new(client), "localhost".try_into().unwrap()).unwrap();
        let mut server = ServerConnection::new(Arc::new(config)).unwrap();
        while client.is_handshaking() {
            let mut bytes = Vec::new();
            client.write_tls(&mut bytes).unwrap();
            server.read_tls(&mut bytes.as_slice()).unwrap();
            server.process_new_packets()?;
            bytes.clear();
            server.write_tls(&mut bytes).unwrap();
            client.read_tls(&mut bytes.as_slice()).unwrap();
            client.process_new_packets()?;
        }
        Ok(())
    }

    #[test]
    fn a_server_with_a_copied_certificate_and_without_its_key_is_rejected() {
        let identity = || self_signed(&["localhost"], Validity::Now).unwrap();
        let (server, impostor) = (identity(), identity());
        for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
            handshake(&server, &server, version).unwrap();
            let refused = handshake(&server, &impostor, version).unwrap_err();
            assert!(matches!(refused, Error::InvalidCertificate(CertificateError::BadSignature)), "{refused}");
        }
    }
}
