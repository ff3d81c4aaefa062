//! Signing secrets. A shared secret is `whsec_` and the base64 of 24 to 75 bytes. An ed25519 key pair is `whsk_` and
//! the base64 of its 32-byte seed, optionally followed by its 32-byte public key.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kit_runtime::random::Random;
use kit_runtime::vault::{Sealed, Secret, Vault, VaultError};
use ring::signature::{Ed25519KeyPair, KeyPair as _};

const SHARED_PREFIX: &str = "whsec_";
const PRIVATE_PREFIX: &str = "whsk_";
const PUBLIC_PREFIX: &str = "whpk_";
/// Bytes of a generated shared secret, and minimum of an accepted one.
const SHARED_BYTES_MIN: usize = 24;
const SHARED_BYTES_MAX: usize = 75;
const SEED_BYTES: usize = 32;
const PAIR_BYTES: usize = 64;

/// A decrypted signing secret.
#[derive(Debug, Clone)]
pub enum EndpointSecret {
    /// A shared secret, for HMAC-SHA256. The receiver has the same secret.
    Shared(Secret),
    /// An ed25519 key pair. The receiver has the public key.
    KeyPair {
        /// Seed and public key.
        bytes: Secret,
        /// The key pair, parsed.
        pair: Arc<Ed25519KeyPair>,
    },
}

/// Kind of a secret and of its signatures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SecretKind {
    /// HMAC-SHA256 with a shared key, `v1`.
    #[default]
    Shared,
    /// ed25519 with a key pair, `v1a`.
    KeyPair,
}

/// The text is not a signing secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// Not a shared key.
    #[error("must be whsec_ followed by the base64 of {SHARED_BYTES_MIN} to {SHARED_BYTES_MAX} bytes")]
    Shared,
    /// Not a key pair.
    #[error("must be whsk_ followed by the base64 of an ed25519 private key and its public key")]
    KeyPair,
}

/// A sealed secret can't be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UnsealError {
    #[error(transparent)]
    Vault(#[from] VaultError),
    #[error(transparent)]
    Secret(#[from] SecretError),
}

impl EndpointSecret {
    /// Makes a shared key of 24 random bytes, or a key pair of a random seed.
    pub fn make(kind: SecretKind, random: &dyn Random) -> Self {
        match kind {
            SecretKind::Shared => {
                let mut key = [0; SHARED_BYTES_MIN];
                random.fill(&mut key);
                Self::Shared(Secret::new(key.to_vec()))
            }
            SecretKind::KeyPair => {
                let mut seed = [0; SEED_BYTES];
                random.fill(&mut seed);
                #[expect(clippy::expect_used, reason = "any 32 bytes are a seed")]
                Self::of_seed(&seed).expect("any 32 bytes are a seed")
            }
        }
    }

    /// Parses a signing secret. The prefix of a shared secret is optional.
    pub fn parse(text: &str) -> Result<Self, SecretError> {
        if let Some(encoded) = text.strip_prefix(PRIVATE_PREFIX) {
            let bytes = STANDARD.decode(encoded).map_err(|_| SecretError::KeyPair)?;
            return match bytes.len() {
                SEED_BYTES => Self::of_seed(&bytes),
                PAIR_BYTES => Self::of_pair(bytes),
                _ => Err(SecretError::KeyPair),
            };
        }
        let encoded = text.strip_prefix(SHARED_PREFIX).unwrap_or(text);
        let key = STANDARD.decode(encoded).map_err(|_| SecretError::Shared)?;
        if !(SHARED_BYTES_MIN..=SHARED_BYTES_MAX).contains(&key.len()) {
            return Err(SecretError::Shared);
        }
        Ok(Self::Shared(Secret::new(key)))
    }

    fn of_seed(seed: &[u8]) -> Result<Self, SecretError> {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed).map_err(|_| SecretError::KeyPair)?;
        let bytes = Secret::new([seed, pair.public_key().as_ref()].concat());
        Ok(Self::KeyPair { bytes, pair: Arc::new(pair) })
    }

    fn of_pair(bytes: Vec<u8>) -> Result<Self, SecretError> {
        let (seed, public) = bytes.split_at(SEED_BYTES);
        let pair = Ed25519KeyPair::from_seed_and_public_key(seed, public).map_err(|_| SecretError::KeyPair)?;
        Ok(Self::KeyPair { bytes: Secret::new(bytes), pair: Arc::new(pair) })
    }

    /// Opens a secret that was sealed for this endpoint.
    pub(crate) fn unseal(vault: &Vault, endpoint: &str, sealed: &Sealed) -> Result<Self, UnsealError> {
        let opened = vault.open(&vault_context(endpoint), sealed)?;
        Ok(Self::parse(opened.expose_str().unwrap_or_default())?)
    }

    /// Kind of the secret.
    pub fn kind(&self) -> SecretKind {
        match self {
            Self::Shared(_) => SecretKind::Shared,
            Self::KeyPair { .. } => SecretKind::KeyPair,
        }
    }

    /// The whole secret: `whsec_…` or `whsk_…`.
    pub fn reveal(&self) -> String {
        match self {
            Self::Shared(key) => format!("{SHARED_PREFIX}{}", STANDARD.encode(key.expose())),
            Self::KeyPair { bytes, .. } => format!("{PRIVATE_PREFIX}{}", STANDARD.encode(bytes.expose())),
        }
    }

    /// The key that the receiver verifies with: the shared secret (`whsec_…`), or the public key (`whpk_…`). A private
    /// key is never shown again.
    pub fn verifying_key(&self) -> String {
        match self {
            Self::Shared(_) => self.reveal(),
            Self::KeyPair { pair, .. } => format!("{PUBLIC_PREFIX}{}", STANDARD.encode(pair.public_key().as_ref())),
        }
    }
}

/// The context that a secret of this endpoint is bound to.
pub(crate) fn vault_context(endpoint: &str) -> String {
    format!("endpoint/{endpoint}/secret")
}

#[cfg(test)]
mod tests {
    use kit_runtime::random::SeededRandom;

    use super::*;

    /// The key pair in the manual of the official server.
    const PRIVATE: &str =
        "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==";
    const PUBLIC: &str = "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=";

    #[test]
    fn a_shared_key_is_24_to_75_bytes_in_base64_with_or_without_the_prefix() {
        let of = |bytes: usize| STANDARD.encode(vec![7; bytes]);
        for (text, valid) in [
            (format!("whsec_{}", of(24)), true),
            (of(24), true),
            (format!("whsec_{}", of(75)), true),
            (format!("whsec_{}", of(23)), false),
            (format!("whsec_{}", of(76)), false),
            ("whsec_".into(), false),
            (String::new(), false),
            ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS*".into(), false),
        ] {
            let parsed = EndpointSecret::parse(&text);
            assert_eq!(parsed.is_ok_and(|secret| secret.kind() == SecretKind::Shared), valid, "{text}");
        }
    }

    #[test]
    fn a_key_pair_is_a_seed_with_its_own_public_key_or_without() {
        let seed = STANDARD.encode(&STANDARD.decode(&PRIVATE[5..]).unwrap()[..32]);
        for text in [PRIVATE, &format!("whsk_{seed}")] {
            let secret = EndpointSecret::parse(text).unwrap();
            assert_eq!((secret.reveal().as_str(), secret.verifying_key().as_str()), (PRIVATE, PUBLIC));
        }
        for text in [
            PUBLIC,
            "whsk_",
            "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kv",
            "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlaaaaaaaaaaAJ6p9lMicMFs6Kvg==",
            "hwsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
        ] {
            assert!(EndpointSecret::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_generated_secret_reads_back_and_is_hidden_in_debug_output() {
        for kind in [SecretKind::Shared, SecretKind::KeyPair] {
            let secret = EndpointSecret::make(kind, &SeededRandom::new(1));
            let read = EndpointSecret::parse(&secret.reveal()).unwrap();
            assert_eq!((read.kind(), read.reveal()), (kind, secret.reveal()));
            assert!(!format!("{secret:?}").contains(secret.reveal().split_once('_').unwrap().1));
        }
        assert_eq!(
            format!("{:?}", EndpointSecret::make(SecretKind::Shared, &SeededRandom::new(1))),
            "Shared(Secret(…))"
        );
    }
}
