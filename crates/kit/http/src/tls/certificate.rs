//! One certificate with its chain and key, as files have it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use rustls::client::verify_server_name;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::ParsedCertificate;
use rustls::sign::CertifiedKey;
use x509_cert::der::Decode as _;

/// Names of the files in a folder: chain and key.
const PAIRS: [(&str, &str); 2] = [("fullchain.pem", "privkey.pem"), ("tls.crt", "tls.key")];

/// Bytes of the largest file: many times a chain with its key.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// A certificate with its chain and its key.
#[derive(Debug)]
pub struct Certificate {
    key: Arc<CertifiedKey>,
    not_before: Timestamp,
    not_after: Timestamp,
}

/// Why a certificate can't be used.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// A folder has none of the known pairs of files.
    #[error("{} has neither fullchain.pem and privkey.pem nor tls.crt and tls.key, and no folder with them", .0.display())]
    NoPair(PathBuf),
    /// A file can't be read.
    #[error("{} can't be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A file has no certificate, or a malformed one.
    #[error("{} has no certificate in PEM (-----BEGIN CERTIFICATE-----) that can be read", .0.display())]
    NoCertificate(PathBuf),
    /// A file has no private key, or one that can't be used.
    #[error("{} has no private key in PEM (-----BEGIN PRIVATE KEY-----) that can be used", .0.display())]
    NoKey(PathBuf),
    /// The key is that of another certificate.
    #[error("the private key in {} is not that of the certificate", .0.display())]
    OtherKey(PathBuf),
    /// The certificate has ended.
    #[error("the certificate ended at {0}")]
    Ended(Timestamp),
    /// The certificate begins in the future.
    #[error("the certificate is valid from {0}")]
    NotYetValid(Timestamp),
}

/// The places with certificates at a path of the configuration: the path itself, or, for a folder of folders, those of its folders
/// that have a pair of files, by name.
pub(super) fn places_in(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() || has_pair(path) {
        return vec![path.to_owned()];
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|folder| has_pair(folder)).collect();
    folders.sort();
    // Reading the folder itself says what it lacks.
    if folders.is_empty() { vec![path.to_owned()] } else { folders }
}

fn has_pair(folder: &Path) -> bool {
    PAIRS.iter().any(|(chain, key)| folder.join(chain).exists() && folder.join(key).exists())
}

impl Certificate {
    /// Reads a PEM file with chain and key, or a folder with a pair of files.
    pub(super) fn read(place: &Path) -> Result<Self, CertificateError> {
        let (chain_file, key_file) = files_of(place)?;
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(&read(&chain_file)?)
            .collect::<Result<_, _>>()
            .map_err(|_| CertificateError::NoCertificate(chain_file.clone()))?;
        let leaf = chain.first().and_then(|leaf| x509_cert::Certificate::from_der(leaf).ok());
        let leaf = leaf.ok_or_else(|| CertificateError::NoCertificate(chain_file.clone()))?;
        let unusable = || CertificateError::NoKey(key_file.clone());
        let key = PrivateKeyDer::from_pem_slice(&read(&key_file)?).map_err(|_| unusable())?;
        let key = rustls::crypto::ring::sign::any_supported_type(&key).map_err(|_| unusable())?;
        let key = CertifiedKey::new(chain, key);
        key.keys_match().map_err(|_| CertificateError::OtherKey(key_file))?;
        let time = |time: x509_cert::time::Time| {
            Timestamp::try_from(time.to_system_time()).map_err(|_| CertificateError::NoCertificate(chain_file.clone()))
        };
        let validity = leaf.tbs_certificate.validity;
        Ok(Self { key: Arc::new(key), not_before: time(validity.not_before)?, not_after: time(validity.not_after)? })
    }

    /// The end of its validity.
    pub fn not_after(&self) -> Timestamp {
        self.not_after
    }

    /// Whether it is for a host name or an IP address.
    pub fn is_for(&self, name: &ServerName<'_>) -> bool {
        let leaf = self.key.cert.first().and_then(|leaf| ParsedCertificate::try_from(leaf).ok());
        leaf.is_some_and(|leaf| verify_server_name(&leaf, name).is_ok())
    }

    /// Errors: `Ended`, `NotYetValid`.
    pub fn require_valid(&self, now: Timestamp) -> Result<(), CertificateError> {
        if now >= self.not_after {
            return Err(CertificateError::Ended(self.not_after));
        }
        if now < self.not_before {
            return Err(CertificateError::NotYetValid(self.not_before));
        }
        Ok(())
    }

    pub(super) fn key(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.key)
    }

    /// Whether both have the same chain. Then they have the same key, too.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.key.cert == other.key.cert
    }
}

fn files_of(place: &Path) -> Result<(PathBuf, PathBuf), CertificateError> {
    if !place.is_dir() {
        return Ok((place.to_owned(), place.to_owned()));
    }
    let pairs = PAIRS.map(|(chain, key)| (place.join(chain), place.join(key)));
    let found = pairs.into_iter().find(|(chain, key)| chain.exists() && key.exists());
    found.ok_or_else(|| CertificateError::NoPair(place.to_owned()))
}

/// Reads a file of at most [`FILE_BYTES_MAX`]. A pipe in its place would block the reader for ever.
fn read(path: &Path) -> Result<Vec<u8>, CertificateError> {
    let unreadable = |source| CertificateError::Unreadable { path: path.to_owned(), source };
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() || metadata.len() > FILE_BYTES_MAX {
        let why = format!("it is not a file of at most {FILE_BYTES_MAX} bytes");
        return Err(unreadable(std::io::Error::new(std::io::ErrorKind::InvalidData, why)));
    }
    std::fs::read(path).map_err(unreadable)
}
