//! Verifying a signature by the Standard Webhooks specification.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// Seconds that a timestamp may be off, either way.
const TOLERANCE_SECONDS: i64 = 5 * 60;

/// Why a delivery is not to be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum VerificationError {
    /// A header is missing or can't be read.
    #[error("a signature header is missing or can't be read")]
    Headers,
    /// The timestamp is more than five minutes off.
    #[error("the timestamp is too old or too far ahead")]
    Timestamp,
    /// No signature matches.
    #[error("no signature matches")]
    Signature,
    /// The secret is not `whsec_` and base64.
    #[error("the secret is not whsec_ followed by base64")]
    Secret,
}

/// Checks signatures made with one secret.
#[derive(Clone)]
pub struct Verifier {
    keyed: Hmac<Sha256>,
}

impl Verifier {
    /// From the endpoint's signing secret, `whsec_…`.
    pub fn new(secret: &str) -> Result<Self, VerificationError> {
        let encoded = secret.strip_prefix("whsec_").ok_or(VerificationError::Secret)?;
        let key = STANDARD.decode(encoded).map_err(|_| VerificationError::Secret)?;
        let keyed = Hmac::new_from_slice(&key).map_err(|_| VerificationError::Secret)?;
        Ok(Verifier { keyed })
    }

    /// Checks one delivery: `signatures` is the header's list, such as `v1,abc= v1,def=`; `now` in Unix seconds.
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
    fn a_signature_of_the_official_library_is_valid_and_a_changed_one_is_not() {
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
    fn a_secret_has_its_prefix() {
        assert_eq!(Verifier::new("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").err(), Some(VerificationError::Secret));
    }
}
