//! Secrets at rest: sealed before they reach a store, opened only where they are used.
//!
//! The platform keeps customers' API keys this way, the provider its signing secrets. A sealed secret is bound to a
//! *context* (whose it is and what for): moved to another row it can't be opened. Keys can be changed: the first one seals,
//! all of them open.

mod key;
mod key_file;
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
pub use sealed::{Sealed, Secret, same_texts};
pub use sentinel::ResealReport;

const VERSION: &str = "v1";
const NONCE_BYTES: usize = 24;

/// Seals and opens secrets with XChaCha20-Poly1305.
pub struct Vault {
    /// Never empty; the first one seals.
    keys: Vec<(KeyId, XChaCha20Poly1305)>,
}

/// Why a vault can't be made, or a secret not be opened.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// The text is not what [`Vault::seal`] makes.
    #[error("this is not a sealed secret")]
    Malformed,
    /// Sealed with a key that this vault doesn't have.
    #[error("the secret was sealed with the key {}, which is not configured", .0.as_str())]
    UnknownKey(KeyId),
    /// Altered, moved from another context, or sealed with another key of the same id.
    #[error("the sealed secret was altered, or belongs elsewhere")]
    DecryptionFailed,
    /// Not a key: 32 bytes in base64 or hexadecimal are wanted.
    #[error("a secret key must be 32 bytes, written in base64 or hexadecimal")]
    InvalidKey,
    /// Not a key id.
    #[error("a key id is 1 to 32 ASCII letters, digits, '-' or '_'")]
    InvalidKeyId,
    /// A vault needs at least one key, and each id once.
    #[error("a vault needs at least one secret key, and no key twice")]
    InvalidKeySet,
    /// Somebody else than its owner may read the key file.
    #[error("{} can be read by others (mode {mode:03o}); run: chmod 600 {}", path.display(), path.display())]
    KeyFileExposed {
        /// The key file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The key file can't be read or made.
    #[error("can't read or make the key file {}", path.display())]
    KeyFile {
        /// The key file.
        path: PathBuf,
        /// What the operating system said.
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
        let keys = keys.into_iter().map(|(id, key)| (id, key.cipher())).collect();
        Ok(Self { keys })
    }

    /// The vault that the configuration asks for: `key` when it is given, else the file `secret.key` in `data_dir`, which
    /// is made, for its owner only, when it isn't there.
    ///
    /// Both hold a key of 32 bytes in base64 or hexadecimal, or several with commas or white space between: the first one
    /// seals, so a new key is put before the old ones. A key's id is worked out from the key.
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

    fn from_text(text: &str) -> Result<Self, VaultError> {
        let words = text.split(|c: char| c == ',' || c.is_whitespace()).filter(|word| !word.is_empty());
        let keys: Vec<(KeyId, Key)> =
            words.map(|word| Key::parse(word).map(|key| (key.id(), key))).collect::<Result<_, _>>()?;
        if keys.is_empty() {
            return Err(VaultError::InvalidKey);
        }
        Self::new(keys)
    }

    /// Seals `plaintext` for `context`: the same words are needed to open it, e.g. `endpoint/ep_…/secret`.
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

    /// Opens what was sealed for the same context. Errors: `Malformed`, `UnknownKey`, `Refused`.
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

    /// True when another key than the first sealed it: seal it again after a change of keys.
    pub fn is_stale(&self, sealed: &Sealed) -> bool {
        split_sealed(sealed).is_ok_and(|(id, _)| id != self.keys[0].0)
    }
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.keys.iter().map(|(id, _)| id)).finish()
    }
}

/// Version and key are bound too, so neither can be swapped in the text.
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
    fn what_is_sealed_is_opened_in_its_own_context_only() {
        let (vault, random) = (vault(&[1]), SeededRandom::new(9));
        for plaintext in [b"".as_slice(), b"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", &[0xff; 5_000]] {
            let sealed = vault.seal(&random, CONTEXT, plaintext);
            assert_eq!(vault.open(CONTEXT, &sealed).unwrap().expose(), plaintext);
            assert!(matches!(vault.open("endpoint/ep_2/secret", &sealed), Err(VaultError::DecryptionFailed)));
        }
    }

    #[test]
    fn the_same_secret_is_never_sealed_the_same_way() {
        let (vault, random) = (vault(&[1]), SeededRandom::new(9));
        assert_ne!(vault.seal(&random, CONTEXT, b"one"), vault.seal(&random, CONTEXT, b"one"));
    }

    #[test]
    fn a_new_key_seals_and_the_old_one_still_opens_until_it_is_taken_away() {
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
    fn every_altered_character_is_noticed() {
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
    fn a_vault_has_keys_and_none_of_them_twice() {
        assert!(matches!(Vault::new(vec![]), Err(VaultError::InvalidKeySet)));
        assert!(matches!(Vault::new(vec![key(1), key(1)]), Err(VaultError::InvalidKeySet)));
    }

    #[test]
    fn configured_keys_are_taken_instead_of_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let (random, new, old) = (SeededRandom::new(9), "11".repeat(32), "22".repeat(32));
        let configured = |key: &str| Vault::from_config(Some(key), directory.path(), &random);
        let sealed = configured(&old).unwrap().seal(&random, CONTEXT, b"secret");
        let both = configured(&format!("{new}, {old}")).unwrap();
        assert!(both.is_stale(&sealed));
        assert_eq!(both.open(CONTEXT, &sealed).unwrap().expose(), b"secret");
        assert!(matches!(configured(" "), Err(VaultError::InvalidKey)));
        assert!(!directory.path().join("secret.key").exists());
    }
}
