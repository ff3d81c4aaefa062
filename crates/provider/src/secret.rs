//! Signing secrets: `whsec_` and the base64 of 24 to 75 bytes (provider.md, "Delivery").

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use runtime::random::Random;
use runtime::vault::{Sealed, Secret, Vault, VaultError};

const PREFIX: &str = "whsec_";
/// Bytes of a secret that we make, and the least that we take.
const BYTES_MIN: usize = 24;
const BYTES_MAX: usize = 75;

/// A signing secret, opened.
#[derive(Debug, Clone)]
pub struct EndpointSecret(Secret);

/// The text is not a signing secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be whsec_ followed by the base64 of {BYTES_MIN} to {BYTES_MAX} bytes")]
pub struct SecretError;

/// A sealed secret can't be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UnsealError {
    #[error(transparent)]
    Vault(#[from] VaultError),
    #[error(transparent)]
    Secret(#[from] SecretError),
}

impl EndpointSecret {
    /// Makes one of 24 random bytes.
    pub fn make(random: &dyn Random) -> Self {
        let mut key = [0; BYTES_MIN];
        random.fill(&mut key);
        Self(Secret::new(key.to_vec()))
    }

    /// Reads one; the prefix may be left out.
    pub fn parse(text: &str) -> Result<Self, SecretError> {
        let encoded = text.strip_prefix(PREFIX).unwrap_or(text);
        let key = STANDARD.decode(encoded).map_err(|_| SecretError)?;
        if !(BYTES_MIN..=BYTES_MAX).contains(&key.len()) {
            return Err(SecretError);
        }
        Ok(Self(Secret::new(key)))
    }

    /// Opens one that was sealed for this endpoint.
    pub(crate) fn unseal(vault: &Vault, endpoint: &str, sealed: &Sealed) -> Result<Self, UnsealError> {
        let opened = vault.open(&vault_context(endpoint), sealed)?;
        Ok(Self::parse(opened.expose_str().unwrap_or_default())?)
    }

    /// The text that the customer is shown.
    pub fn reveal(&self) -> String {
        format!("{PREFIX}{}", STANDARD.encode(self.0.expose()))
    }

    /// The key itself.
    pub(crate) fn key(&self) -> &[u8] {
        self.0.expose()
    }
}

/// The words that a secret of this endpoint is sealed for.
pub(crate) fn vault_context(endpoint: &str) -> String {
    format!("endpoint/{endpoint}/secret")
}

#[cfg(test)]
mod tests {
    use runtime::random::SeededRandom;

    use super::*;

    #[test]
    fn a_secret_is_24_to_75_bytes_in_base64_with_or_without_the_prefix() {
        let of = |bytes: usize| STANDARD.encode(vec![7; bytes]);
        for (text, valid) in [
            (format!("whsec_{}", of(24)), true),
            (of(24), true),
            (format!("whsec_{}", of(75)), true),
            (format!("whsec_{}", of(23)), false),
            (format!("whsec_{}", of(76)), false),
            ("whsec_".into(), false),
            (String::new(), false),
            (format!("whsk_{}", of(32)), false),
            ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS*".into(), false),
        ] {
            assert_eq!(EndpointSecret::parse(&text).is_ok(), valid, "{text}");
        }
    }

    #[test]
    fn a_made_secret_reads_back_and_does_not_show_itself() {
        let secret = EndpointSecret::make(&SeededRandom::new(1));
        assert_eq!(secret.key().len(), 24);
        assert_eq!(EndpointSecret::parse(&secret.reveal()).unwrap().key(), secret.key());
        assert_eq!(format!("{secret:?}"), "EndpointSecret(Secret(…))");
    }
}
