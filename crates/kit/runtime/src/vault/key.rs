//! Keys of a vault and their ids.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use chacha20poly1305::XChaCha20Poly1305;
use chacha20poly1305::aead::KeyInit;
use secrecy::{ExposeSecret, SecretSlice};
use sha2::{Digest, Sha256};

use super::VaultError;
use super::proof::ProofKey;
use crate::random::Random;

pub(super) const KEY_BYTES: usize = 32;
const KEY_ID_CHARS_MAX: usize = 32;

/// Id of a key: 1–32 ASCII letters, digits, `-` or `_`. Every sealed text contains it, so that the right key opens the
/// text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KeyId(String);

/// A 32-byte key. It is wiped from memory when dropped, and `Debug` shows only its id.
pub struct Key(SecretSlice<u8>);

impl KeyId {
    /// A key id from text. Error: `InvalidKeyId`.
    pub fn new(id: impl Into<String>) -> Result<Self, VaultError> {
        let id = id.into();
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if id.is_empty() || id.len() > KEY_ID_CHARS_MAX || !id.bytes().all(allowed) {
            return Err(VaultError::InvalidKeyId);
        }
        Ok(Self(id))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Key {
    /// A key from 32 bytes in base64 (either alphabet, padded or not) or hexadecimal. Error: `InvalidKey`.
    pub fn parse(text: &str) -> Result<Self, VaultError> {
        let text = text.trim();
        let bytes = if text.len() == 2 * KEY_BYTES {
            hex::decode(text).map_err(|_| VaultError::InvalidKey)?
        } else {
            let standard = text.trim_end_matches('=').replace('-', "+").replace('_', "/");
            STANDARD_NO_PAD.decode(standard).map_err(|_| VaultError::InvalidKey)?
        };
        Self::from_bytes(bytes)
    }

    /// A key of 32 bytes. Error: `InvalidKey`.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, VaultError> {
        if bytes.len() != KEY_BYTES {
            return Err(VaultError::InvalidKey);
        }
        Ok(Self(bytes.into()))
    }

    /// A new, random key.
    pub fn generate(random: &dyn Random) -> Self {
        let mut bytes = vec![0; KEY_BYTES];
        random.fill(&mut bytes);
        Self(bytes.into())
    }

    /// The id derived from the key: 8 hexadecimal digits of a hash, which distinguish keys and reveal nothing about
    /// them.
    pub fn id(&self) -> KeyId {
        let digest = Sha256::new().chain_update(b"key id\0").chain_update(self.0.expose_secret()).finalize();
        KeyId(hex::encode(&digest[..4]))
    }

    pub(super) fn proof_key(&self) -> ProofKey {
        ProofKey::derived_from(self.0.expose_secret())
    }

    pub(super) fn cipher(&self) -> XChaCha20Poly1305 {
        #[expect(clippy::expect_used, reason = "the length was checked when the key was made")]
        XChaCha20Poly1305::new_from_slice(self.0.expose_secret()).expect("a key has 32 bytes")
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.id().0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SeededRandom;

    #[test]
    fn a_key_is_read_from_base64_and_hexadecimal() {
        let bytes: Vec<u8> = (224..=255).collect();
        let standard = base64::engine::general_purpose::STANDARD.encode(&bytes);
        let url = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(&bytes);
        assert_ne!(standard, url);
        for text in [hex::encode(&bytes), hex::encode_upper(&bytes), standard.clone(), url, format!(" {standard}\n")] {
            assert_eq!(Key::parse(&text).unwrap().0.expose_secret(), bytes, "{text}");
        }
        for text in ["", "secret", &"0".repeat(63), &"g".repeat(64), &"A".repeat(40)] {
            assert!(matches!(Key::parse(text), Err(VaultError::InvalidKey)), "{text}");
        }
    }

    #[test]
    fn debug_output_shows_the_id_of_a_key_and_not_the_key() {
        let key = Key::generate(&SeededRandom::new(3));
        assert_eq!(format!("{key:?}"), format!("Key({})", key.id().as_str()));
        assert_eq!(key.id().as_str().len(), 8);
    }

    #[test]
    fn a_key_id_is_a_short_word() {
        for id in ["a", "2026-11", "K_1", &"x".repeat(32)] {
            assert_eq!(KeyId::new(id).unwrap().as_str(), id);
        }
        for id in ["", "a.b", "ä", "a b", &"x".repeat(33)] {
            assert!(matches!(KeyId::new(id), Err(VaultError::InvalidKeyId)), "{id}");
        }
    }
}
