//! Sealing of secrets: encryption at rest with XChaCha20-Poly1305.
//!
//! The platform seals customers' API keys, the provider signing secrets. A secret is sealed before it reaches a store
//! and opened only where it is used.
//!
//! Guarantees: a sealed secret is bound to a *context*, which names its owner and its purpose; copied to another row it
//! can't be opened. Keys can be rotated: the first key seals, and every configured key opens.

mod key;
mod key_file;
mod proof;
mod reseal;
mod sealed;
mod sentinel;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::{fmt, io};

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};

use crate::random::Random;

pub use key::{Key, KeyId};
pub use proof::{CHALLENGE_BYTES, Challenge, ProofError};
pub use reseal::ResealReport;
pub use sealed::{Sealed, Secret, same_texts};

const VERSION: &str = "v1";
const NONCE_BYTES: usize = 24;

/// Seals and opens secrets.
pub struct Vault {
    /// At least one; the first one seals.
    keys: Vec<(KeyId, XChaCha20Poly1305)>,
    /// The keys that prove, in the same order. They are derived, so that a proof says nothing about a sealed secret.
    proof_keys: Vec<proof::ProofKey>,
}

/// Why a vault can't be created or a secret can't be opened.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// The text does not have the form of [`Vault::seal`].
    #[error("the text is not a sealed secret")]
    Malformed,
    /// The secret was sealed with a key that this vault does not have.
    #[error("the secret was sealed with the key {}, which is not configured", .0.as_str())]
    UnknownKey(KeyId),
    /// The text was altered, belongs to another context, or was sealed with another key of the same id.
    #[error("the sealed secret can't be opened: it was altered, or it belongs to another record")]
    DecryptionFailed,
    /// A key is not 32 bytes in base64 or hexadecimal.
    #[error("a secret key must be 32 bytes, written in base64 or hexadecimal")]
    InvalidKey,
    /// A key id has other characters, or more of them.
    #[error("a key id is 1 to 32 ASCII letters, digits, '-' or '_'")]
    InvalidKeyId,
    /// There is no key, or two keys have the same id.
    #[error("give at least one secret key, and no key twice")]
    InvalidKeySet,
    /// Other users than the owner may read the key file.
    #[error("other users can read {} (mode {mode:03o}); run: chmod 600 {}", path.display(), path.display())]
    KeyFileExposed {
        /// The key file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The key file can't be read or created.
    #[error("can't read or create the key file {}", path.display())]
    KeyFile {
        /// The key file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl VaultError {
    /// Stable name of the error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Malformed => "sealed_malformed",
            Self::UnknownKey(_) => "sealed_unknown_key",
            Self::DecryptionFailed => "sealed_refused",
            Self::InvalidKey => "key_invalid",
            Self::InvalidKeyId => "key_id_invalid",
            Self::InvalidKeySet => "keys_invalid",
            Self::KeyFileExposed { .. } => "key_file_exposed",
            Self::KeyFile { .. } => "key_file",
        }
    }
}

impl Vault {
    /// A vault of these keys; the first one seals. Error: [`VaultError::InvalidKeySet`].
    pub fn new(keys: Vec<(KeyId, Key)>) -> Result<Self, VaultError> {
        let unique: HashSet<&KeyId> = keys.iter().map(|(id, _)| id).collect();
        if keys.is_empty() || unique.len() != keys.len() {
            return Err(VaultError::InvalidKeySet);
        }
        let proof_keys = keys.iter().map(|(_, key)| key.proof_key()).collect();
        let keys = keys.into_iter().map(|(id, key)| (id, key.cipher())).collect();
        Ok(Self { keys, proof_keys })
    }

    /// The vault of a configuration: the keys in `key` or, without them, those in the file `secret.key` in `data_dir`.
    /// If the file does not exist, it is created with a new key and is readable only by its owner.
    ///
    /// Both hold one key of 32 bytes in base64 or hexadecimal, or several with commas or white space between them. The
    /// first one seals, so a new key goes before the old ones. The id of a key is derived from the key.
    pub fn from_config(key: Option<&str>, data_dir: &Path, random: &dyn Random) -> Result<Self, VaultError> {
        match key {
            Some(text) => Self::from_text(text),
            None => {
                let (path, text) = key_file::load_or_create(data_dir, random)?;
                let invalid =
                    |error| VaultError::KeyFile { path, source: io::Error::new(io::ErrorKind::InvalidData, error) };
                Self::from_text(text.expose_str().unwrap_or_default()).map_err(invalid)
            }
        }
    }

    /// The text of the keys that [`Vault::from_config`] reads, for a copy in another place. Creates no file.
    pub fn key_text(key: Option<&str>, data_dir: &Path) -> Result<Secret, VaultError> {
        let text = match key {
            Some(text) => Secret::new(text.as_bytes().to_vec()),
            None => key_file::load(&data_dir.join(key_file::FILE_NAME))?,
        };
        Self::from_text(text.expose_str().unwrap_or_default())?;
        Ok(text)
    }

    fn from_text(text: &str) -> Result<Self, VaultError> {
        let words = text.split(|c: char| c == ',' || c.is_whitespace()).filter(|word| !word.is_empty());
        let keys: Vec<(KeyId, Key)> =
            words.map(|word| Key::parse(word).map(|key| (key.id(), key))).collect::<Result<_, _>>()?;
        if keys.is_empty() {
            return Err(VaultError::InvalidKey);
        }
        Self::new(keys)
    }

    /// Seals `plaintext` for `context`, such as `endpoint/ep_…/secret`. Opening it needs the same context.
    pub fn seal(&self, random: &dyn Random, context: &str, plaintext: &[u8]) -> Sealed {
        Self::seal_by(&self.keys[0], random, context, plaintext)
    }

    fn seal_by(
        (id, cipher): &(KeyId, XChaCha20Poly1305),
        random: &dyn Random,
        context: &str,
        plaintext: &[u8],
    ) -> Sealed {
        let mut nonce = [0; NONCE_BYTES];
        random.fill(&mut nonce);
        let aad = aad(id, context);
        let payload = Payload { msg: plaintext, aad: aad.as_bytes() };
        #[expect(clippy::expect_used, reason = "the cipher only fails beyond 256 GiB")]
        let ciphertext = cipher.encrypt(&XNonce::from(nonce), payload).expect("a secret is shorter than 256 GiB");
        let body = STANDARD_NO_PAD.encode([nonce.as_slice(), &ciphertext].concat());
        Sealed::from_text(format!("{VERSION}.{}.{body}", id.as_str()))
    }

    /// Opens a secret that was sealed for the same context. Errors: `Malformed`, `UnknownKey`, `DecryptionFailed`.
    pub fn open(&self, context: &str, sealed: &Sealed) -> Result<Secret, VaultError> {
        let (id, body) = split_sealed(sealed)?;
        let (_, cipher) = self.keys.iter().find(|(known, _)| *known == id).ok_or(VaultError::UnknownKey(id.clone()))?;
        let body = STANDARD_NO_PAD.decode(body).map_err(|_| VaultError::Malformed)?;
        let (nonce, ciphertext) = body.split_first_chunk::<NONCE_BYTES>().ok_or(VaultError::Malformed)?;
        let aad = aad(&id, context);
        let payload = Payload { msg: ciphertext, aad: aad.as_bytes() };
        let plaintext = cipher.decrypt(&XNonce::from(*nonce), payload).map_err(|_| VaultError::DecryptionFailed)?;
        Ok(Secret::new(plaintext))
    }

    /// True when another key than the first one sealed it, so that it has to be resealed after a key rotation.
    pub fn is_stale(&self, sealed: &Sealed) -> bool {
        split_sealed(sealed).is_ok_and(|(id, _)| id != self.keys[0].0)
    }
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.keys.iter().map(|(id, _)| id)).finish()
    }
}

/// The associated data also binds the version and the key id, so that neither can be replaced in the text.
fn aad(id: &KeyId, context: &str) -> String {
    format!("{VERSION}.{}.{context}", id.as_str())
}

/// Key id and base64 of a sealed text.
fn split_sealed(sealed: &Sealed) -> Result<(KeyId, &str), VaultError> {
    let mut parts = sealed.as_str().splitn(3, '.');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(VERSION), Some(id), Some(body)) => Ok((KeyId::new(id).map_err(|_| VaultError::Malformed)?, body)),
        _ => Err(VaultError::Malformed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SeededRandom;

    const CONTEXT: &str = "endpoint/ep_1/secret";

    fn key(seed: u64) -> (KeyId, Key) {
        let key = Key::generate(&SeededRandom::new(seed));
        (key.id(), key)
    }

    fn vault(seeds: &[u64]) -> Vault {
        Vault::new(seeds.iter().map(|seed| key(*seed)).collect()).unwrap()
    }

    #[test]
    fn a_secret_can_be_opened_only_in_its_own_context() {
        let (vault, random) = (vault(&[1]), SeededRandom::new(9));
        for plaintext in [b"".as_slice(), b"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", &[0xff; 5_000]] {
            let sealed = vault.seal(&random, CONTEXT, plaintext);
            assert_eq!(vault.open(CONTEXT, &sealed).unwrap().expose(), plaintext);
            assert!(matches!(vault.open("endpoint/ep_2/secret", &sealed), Err(VaultError::DecryptionFailed)));
        }
    }

    #[test]
    fn sealing_the_same_secret_twice_gives_different_texts() {
        let (vault, random) = (vault(&[1]), SeededRandom::new(9));
        assert_ne!(vault.seal(&random, CONTEXT, b"one"), vault.seal(&random, CONTEXT, b"one"));
    }

    #[test]
    fn after_a_rotation_the_new_key_seals_and_the_old_one_opens_until_it_is_removed() {
        let random = SeededRandom::new(9);
        let sealed = vault(&[1]).seal(&random, CONTEXT, b"secret");
        let rotated = vault(&[2, 1]);
        assert_eq!(rotated.open(CONTEXT, &sealed).unwrap().expose(), b"secret");
        assert!(rotated.is_stale(&sealed));
        let sealed_anew = rotated.seal(&random, CONTEXT, b"secret");
        assert!(!rotated.is_stale(&sealed_anew));
        let after = vault(&[2]);
        assert_eq!(after.open(CONTEXT, &sealed_anew).unwrap().expose(), b"secret");
        assert!(matches!(after.open(CONTEXT, &sealed), Err(VaultError::UnknownKey(id)) if id == key(1).0));
    }

    #[test]
    fn an_altered_text_cannot_be_opened() {
        let vault = vault(&[1]);
        let sealed = vault.seal(&SeededRandom::new(9), CONTEXT, b"secret").into_string();
        for at in 0..sealed.len() {
            let mut altered = sealed.clone().into_bytes();
            altered[at] = if altered[at] == b'A' { b'B' } else { b'A' };
            let altered = Sealed::from_text(String::from_utf8(altered).unwrap());
            assert!(vault.open(CONTEXT, &altered).is_err(), "{altered:?}");
        }
        for malformed in ["", "v1", "v1.x", "v1..AAAA", "v1.x.AAAA", "v2.x.AAAA", "v1.x.####"] {
            assert!(vault.open(CONTEXT, &Sealed::from_text(malformed)).is_err(), "{malformed}");
        }
    }

    #[test]
    fn a_vault_needs_at_least_one_key_and_no_key_twice() {
        assert!(matches!(Vault::new(vec![]), Err(VaultError::InvalidKeySet)));
        assert!(matches!(Vault::new(vec![key(1), key(1)]), Err(VaultError::InvalidKeySet)));
    }

    #[test]
    fn configured_keys_take_precedence_over_the_key_file() {
        let directory = tempfile::tempdir().unwrap();
        let (random, new, old) = (SeededRandom::new(9), "11".repeat(32), "22".repeat(32));
        let configured = |key: &str| Vault::from_config(Some(key), directory.path(), &random);
        let sealed = configured(&old).unwrap().seal(&random, CONTEXT, b"secret");
        let both_keys = |new: &str, old: &str| format!("{new}, {old}");
        let both = configured(&both_keys(&new, &old)).unwrap();
        assert!(both.is_stale(&sealed));
        assert_eq!(both.open(CONTEXT, &sealed).unwrap().expose(), b"secret");
        assert!(matches!(configured(" "), Err(VaultError::InvalidKey)));
        let text = Vault::key_text(Some(&both_keys(&new, &old)), directory.path()).unwrap();
        assert_eq!(text.expose_str(), Some(&*both_keys(&new, &old)));
        assert!(matches!(Vault::key_text(Some(" "), directory.path()), Err(VaultError::InvalidKey)));
        assert!(matches!(Vault::key_text(None, directory.path()), Err(VaultError::KeyFile { .. })));
        assert!(!directory.path().join("secret.key").exists());
        Vault::from_config(None, directory.path(), &random).unwrap();
        let file = std::fs::read(directory.path().join("secret.key")).unwrap();
        assert_eq!(Vault::key_text(None, directory.path()).unwrap().expose(), file);
    }
}
