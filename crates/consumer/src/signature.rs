//! Verification of signatures by the Standard Webhooks specification.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// Largest difference of a timestamp from the clock, in seconds.
const TOLERANCE_SECONDS: i64 = 5 * 60;

/// Why a signature is not valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum VerificationError {
    /// A signature header is missing or malformed.
    #[error("the header webhook-id, webhook-timestamp or webhook-signature is missing or malformed")]
    Headers,
    /// The timestamp differs by more than five minutes from the clock.
    #[error("the timestamp differs by more than five minutes from the clock: check the clocks of both sides")]
    Timestamp,
    /// No signature matches.
    #[error("no signature matches: check the signing secret")]
    Signature,
    /// The secret is not `whsec_` followed by base64.
    #[error("the secret must be whsec_ followed by base64")]
    Secret,
}

/// Verifies signatures made with one signing secret.
#[derive(Clone)]
pub struct Verifier {
    keyed: Hmac<Sha256>,
}

impl Verifier {
    /// A verifier for an endpoint's signing secret, `whsec_…`.
    pub fn new(secret: &str) -> Result<Self, VerificationError> {
        let encoded = secret.strip_prefix("whsec_").ok_or(VerificationError::Secret)?;
        let key = STANDARD.decode(encoded).map_err(|_| VerificationError::Secret)?;
        let keyed = Hmac::new_from_slice(&key).map_err(|_| VerificationError::Secret)?;
        Ok(Verifier { keyed })
    }

    /// A key as base64, as it follows `whsec_` in a signing secret.
    pub fn encode_key(key: &[u8]) -> String {
        STANDARD.encode(key)
    }

    /// Verifies one delivery: `signatures` is the header's list, such as `v1,abc= v1,def=`; `now` in Unix seconds.
    pub fn verify(
        &self,
        id: &str,
        timestamp: &str,
        signatures: &str,
        body: &[u8],
        now: i64,
    ) -> Result<(), VerificationError> {
        let sent: i64 = timestamp.parse().map_err(|_| VerificationError::Headers)?;
        if (now - sent).abs() > TOLERANCE_SECONDS {
            return Err(VerificationError::Timestamp);
        }
        for signature in signatures.split(' ').filter_map(|entry| entry.strip_prefix("v1,")) {
            let Ok(signature) = STANDARD.decode(signature) else { continue };
            let mut mac = self.keyed.clone();
            for part in [id.as_bytes(), b".", timestamp.as_bytes(), b".", body] {
                mac.update(part);
            }
            if mac.verify_slice(&signature).is_ok() {
                return Ok(());
            }
        }
        Err(VerificationError::Signature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    #[test]
    fn a_signature_of_the_official_library_is_valid_and_a_modified_delivery_is_not() {
        let official = standardwebhooks::Webhook::new(SECRET).unwrap();
        let body = br#"{"status":"SOLD"}"#;
        let signature = official.sign("msg_1", 1_700_000_000, body).unwrap();
        let verifier = Verifier::new(SECRET).unwrap();
        let check = |id: &str, timestamp: &str, signature: &str, body: &[u8], now: i64| {
            verifier.verify(id, timestamp, signature, body, now)
        };
        assert_eq!(check("msg_1", "1700000000", &signature, body, 1_700_000_100), Ok(()));
        let several = format!("v1a,zzzz v1,AAAA {signature}");
        assert_eq!(check("msg_1", "1700000000", &several, body, 1_700_000_100), Ok(()));
        for (id, timestamp, signature, body, now, error) in [
            ("msg_2", "1700000000", &signature, &body[..], 1_700_000_000, VerificationError::Signature),
            ("msg_1", "1700000001", &signature, body, 1_700_000_000, VerificationError::Signature),
            ("msg_1", "1700000000", &signature, b"{}", 1_700_000_000, VerificationError::Signature),
            ("msg_1", "1700000000", &"v1,".to_owned(), body, 1_700_000_000, VerificationError::Signature),
            ("msg_1", "1700000000", &signature, body, 1_700_000_301, VerificationError::Timestamp),
            ("msg_1", "now", &signature, body, 1_700_000_000, VerificationError::Headers),
        ] {
            assert_eq!(check(id, timestamp, signature, body, now), Err(error));
        }
    }

    #[test]
    fn a_secret_without_its_prefix_is_rejected() {
        assert_eq!(Verifier::new("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").err(), Some(VerificationError::Secret));
    }
}
