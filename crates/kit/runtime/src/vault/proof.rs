//! Proofs that a process has the keys of a vault, without showing them: HMAC-SHA256 over a challenge.
//!
//! A caller that is about to send a secret to a server asks for a proof first. The proof covers a *claim*, which names
//! what the server says about itself, such as its address: a program in between cannot pass on the proof of a server at
//! another address.
//!
//! The same keys sign texts that the process hands out and takes back, such as device tokens.

use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretSlice};
use sha2::Sha256;

use super::Vault;
use crate::random::Random;

type HmacSha256 = Hmac<Sha256>;

/// Bytes of a challenge.
pub const CHALLENGE_BYTES: usize = 32;
/// Separates these keys and proofs from all other uses of the keys.
const KEY_DOMAIN: &[u8] = b"lotwire/vault/proof-key/v1";
const PROOF_DOMAIN: &[u8] = b"lotwire/vault/proof/v1";
const SIGNATURE_DOMAIN: &[u8] = b"lotwire/vault/signature/v1";
const DERIVED_DOMAIN: &[u8] = b"lotwire/vault/derived/v1";

/// A random text that a proof answers, so that an earlier proof is of no use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Challenge([u8; CHALLENGE_BYTES]);

/// The text is not a challenge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a challenge has {} hexadecimal digits", 2 * CHALLENGE_BYTES)]
pub struct ProofError;

/// A key that proves.
pub(super) struct ProofKey(SecretSlice<u8>);

impl Challenge {
    /// A new challenge.
    pub fn generate(random: &dyn Random) -> Self {
        let mut bytes = [0; CHALLENGE_BYTES];
        random.fill(&mut bytes);
        Self(bytes)
    }

    /// A challenge from hexadecimal digits. No other length is accepted.
    pub fn parse(text: &str) -> Result<Self, ProofError> {
        let mut bytes = [0; CHALLENGE_BYTES];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| ProofError)?;
        Ok(Self(bytes))
    }

    /// The challenge in hexadecimal digits.
    pub fn to_text(self) -> String {
        hex::encode(self.0)
    }
}

impl ProofKey {
    pub(super) fn derived_from(key: &[u8]) -> Self {
        Self(mac(key, &[KEY_DOMAIN]).finalize().into_bytes().to_vec().into())
    }

    fn mac(&self, challenge: Challenge, claim: &str) -> HmacSha256 {
        // The length keeps the claim apart from the challenge.
        let length = (claim.len() as u64).to_be_bytes();
        mac(self.0.expose_secret(), &[PROOF_DOMAIN, &length, claim.as_bytes(), &challenge.0])
    }

    fn signature(&self, purpose: &str, text: &str) -> HmacSha256 {
        let length = (purpose.len() as u64).to_be_bytes();
        mac(self.0.expose_secret(), &[SIGNATURE_DOMAIN, &length, purpose.as_bytes(), text.as_bytes()])
    }
}

fn mac(key: &[u8], parts: &[&[u8]]) -> HmacSha256 {
    #[expect(clippy::expect_used, reason = "HMAC takes keys of every length")]
    let mut mac = HmacSha256::new_from_slice(key).expect("HMAC takes keys of every length");
    parts.iter().for_each(|part| mac.update(part));
    mac
}

impl Vault {
    /// A proof of the claim for each key, in hexadecimal digits. While keys are rotated, the caller may know only one of
    /// them.
    pub fn prove(&self, challenge: Challenge, claim: &str) -> Vec<String> {
        let proof = |key: &ProofKey| hex::encode(key.mac(challenge, claim).finalize().into_bytes());
        self.proof_keys.iter().map(proof).collect()
    }

    /// Whether one of the proofs was made for this challenge and claim with a key of this vault.
    pub fn is_proof<'a>(&self, challenge: Challenge, claim: &str, proofs: impl IntoIterator<Item = &'a str>) -> bool {
        let proofs: Vec<Vec<u8>> = proofs.into_iter().filter_map(|proof| hex::decode(proof).ok()).collect();
        let made_with = |key: &ProofKey| {
            let mac = key.mac(challenge, claim);
            proofs.iter().any(|proof| mac.clone().verify_slice(proof).is_ok())
        };
        self.proof_keys.iter().any(made_with)
    }

    /// The signature of a text for one purpose, in hexadecimal digits, by the first key.
    pub fn sign(&self, purpose: &str, text: &str) -> String {
        hex::encode(self.proof_keys[0].signature(purpose, text).finalize().into_bytes())
    }

    /// A secret of 32 bytes for one purpose, derived from the first key: the same after each start, another after the key is
    /// replaced.
    pub fn derived(&self, purpose: &str) -> [u8; 32] {
        mac(self.proof_keys[0].0.expose_secret(), &[DERIVED_DOMAIN, purpose.as_bytes()]).finalize().into_bytes().into()
    }

    /// Whether a key of this vault signed the text for this purpose.
    pub fn is_signature(&self, purpose: &str, text: &str, signature: &str) -> bool {
        let signature = hex::decode(signature).unwrap_or_default();
        self.proof_keys.iter().any(|key| key.signature(purpose, text).verify_slice(&signature).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SeededRandom;
    use crate::vault::Key;

    fn vault(seeds: &[u64]) -> Vault {
        let keys = seeds.iter().map(|seed| Key::generate(&SeededRandom::new(*seed)));
        Vault::new(keys.map(|key| (key.id(), key)).collect()).unwrap()
    }

    fn texts(proofs: &[String]) -> impl Iterator<Item = &str> {
        proofs.iter().map(String::as_str)
    }

    #[test]
    fn a_proof_counts_for_its_challenge_its_claim_and_a_common_key() {
        let random = SeededRandom::new(9);
        let (challenge, other) = (Challenge::generate(&random), Challenge::generate(&random));
        let proofs = vault(&[2, 1]).prove(challenge, "provider 127.0.0.1:8071");
        assert!(vault(&[1]).is_proof(challenge, "provider 127.0.0.1:8071", texts(&proofs)), "keys are being rotated");
        assert!(!vault(&[3]).is_proof(challenge, "provider 127.0.0.1:8071", texts(&proofs)));
        assert!(!vault(&[1]).is_proof(other, "provider 127.0.0.1:8071", texts(&proofs)));
        assert!(!vault(&[1]).is_proof(challenge, "provider 127.0.0.1:9071", texts(&proofs)), "a proof was passed on");
        assert!(!vault(&[1]).is_proof(challenge, "provider 127.0.0.1:8071", ["", "00", "xyz"]));
    }

    #[test]
    fn a_signature_counts_for_its_text_its_purpose_and_a_common_key() {
        let signature = vault(&[1]).sign("device", "ann");
        assert!(vault(&[2, 1]).is_signature("device", "ann", &signature), "keys were rotated");
        assert!(!vault(&[2]).is_signature("device", "ann", &signature));
        assert!(!vault(&[1]).is_signature("device", "bob", &signature));
        assert!(!vault(&[1]).is_signature("devic", "eann", &signature));
        assert!(!vault(&[1]).is_signature("device", "ann", "") && !vault(&[1]).is_signature("device", "ann", "zz"));
    }

    #[test]
    fn a_challenge_has_one_length() {
        let challenge = Challenge::generate(&SeededRandom::new(9));
        assert_eq!(Challenge::parse(&challenge.to_text()), Ok(challenge));
        for text in ["", "00", &"00".repeat(31), &"00".repeat(33), &"zz".repeat(32)] {
            assert_eq!(Challenge::parse(text), Err(ProofError), "{text}");
        }
    }
}
