//! What both wings need when people sign in: passwords, second factors, sessions, tokens and limits on attempts.
//!
//! The crate decides and computes. It has no table and knows no user: each wing stores what it gets from here.
//!
//! Guarantees:
//! - A check of a password costs the same with an unknown account.
//! - Stored forms of tokens and codes are hashes, from which no reader of the tables gets the token.

pub mod devices;
pub mod one_time;
pub mod passwords;
pub mod sessions;
pub mod throttle;
pub mod totp;

/// A SHA-256 hash.
pub type Digest = [u8; 32];

/// The stored form of a token with enough random bits to resist guessing.
pub fn token_hash(token: &str) -> Digest {
    use sha2::Digest as _;
    sha2::Sha256::digest(token.as_bytes()).into()
}
