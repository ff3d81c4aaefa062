//! The rules of sign-in for the users of every wing: passwords, second factors, sessions, links, devices, limits on attempts.
//!
//! A use case takes what the wing loaded, and returns one [`user::Change`] with the version that it was decided on, or a
//! [`Refusal`] with its code. The crate has no table and no role: the wing's store commits the change with the wing's own
//! roles, log entry and answer in one transaction. [`identity::Identity`] has what the use cases are decided with.
//!
//! Guarantees:
//! - A check of a password costs the same with an unknown account.
//! - Stored forms of tokens and codes are hashes, from which no reader of the tables gets the token.

pub mod config;
pub mod devices;
pub mod identity;
pub mod one_time;
pub mod password_changes;
pub mod passwords;
pub mod refusal;
pub mod second_factor;
pub mod sessions;
pub mod sign_in;
pub mod throttle;
pub mod totp;
pub mod user;

pub use config::IdentityConfig;
pub use identity::{Audience, Identity};
pub use refusal::{IdentityError, Refusal};

/// A SHA-256 hash.
pub type Digest = [u8; 32];

/// The stored form of a token with enough random bits to resist guessing.
pub fn token_hash(token: &str) -> Digest {
    use sha2::Digest as _;
    sha2::Sha256::digest(token.as_bytes()).into()
}
