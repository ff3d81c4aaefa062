//! A temporary certificate authority, for tests of TLS.

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    date_time_ymd,
};

/// A certificate and its key, in PEM.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The certificate.
    pub certificate: String,
    /// Its private key.
    pub key: String,
}

/// A certificate authority.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: String,
}

/// The validity of a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Validity {
    /// Valid now and for years.
    Now,
    /// Expired in 2025.
    Expired,
    /// Valid from 2124 on.
    Future,
}

/// The reason why a certificate could not be created.
pub type CertificateError = rcgen::Error;

impl Authority {
    /// Creates an authority with this common name.
    pub fn new(name: &str) -> Result<Self, CertificateError> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let key = KeyPair::generate()?;
        let certificate = params.self_signed(&key)?.pem();
        Ok(Self { issuer: Issuer::new(params, key), certificate })
    }

    /// The authority's certificate, in PEM.
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// Signs a certificate for a server with these host names and IP addresses.
    pub fn server(&self, names: &[&str], validity: Validity) -> Result<Identity, CertificateError> {
        self.sign(&params_of_server(names, validity)?)
    }

    /// Signs a certificate for a client with the common name `name`.
    pub fn client(&self, name: &str) -> Result<Identity, CertificateError> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(&params)
    }

    fn sign(&self, params: &CertificateParams) -> Result<Identity, CertificateError> {
        let key = KeyPair::generate()?;
        Ok(Identity { certificate: params.signed_by(&key, &self.issuer)?.pem(), key: key.serialize_pem() })
    }
}

/// A self-signed server certificate that is also an authority, as `openssl req -x509` makes it.
pub fn self_signed(names: &[&str], validity: Validity) -> Result<Identity, CertificateError> {
    let mut params = params_of_server(names, validity)?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.extended_key_usages.clear();
    let key = KeyPair::generate()?;
    Ok(Identity { certificate: params.self_signed(&key)?.pem(), key: key.serialize_pem() })
}

fn params_of_server(names: &[&str], validity: Validity) -> Result<CertificateParams, CertificateError> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name.push(DnType::CommonName, "a server");
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let years = match validity {
        Validity::Now => None,
        Validity::Expired => Some((2024, 2025)),
        Validity::Future => Some((2124, 2125)),
    };
    if let Some((from, to)) = years {
        params.not_before = date_time_ymd(from, 1, 1);
        params.not_after = date_time_ymd(to, 1, 1);
    }
    Ok(params)
}
