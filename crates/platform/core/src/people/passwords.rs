//! Hashes and verifies passwords with Argon2id, a limited number at a time, on blocking threads that serve no requests.

use std::sync::Arc;

use argon2::Argon2;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use kit_runtime::random::Random;
use kit_runtime::vault::Secret;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::config::PeopleConfig;
use super::refusal::PeopleRefusal;
use crate::error::{PlatformError, PlatformResult, Problem};

const CHARS_MIN: usize = 12;
pub(super) const BYTES_MAX: usize = 1_024;
const SALT_BYTES: usize = 16;
/// The hash for unknown users, with the same parameters as all others: a comparison takes as long and never matches.
const DUMMY_HASH: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
/// `Retry-After` in seconds when too many passwords wait.
const RETRY_AFTER_S: u64 = 2;

pub(super) struct Passwords {
    at_once: Arc<Semaphore>,
    /// Passwords that wait or are being hashed.
    waiting: Arc<Semaphore>,
}

impl Passwords {
    pub(super) fn new(config: &PeopleConfig) -> Self {
        let (at_once, waiting) = (config.passwords_at_once_max, config.passwords_waiting_max);
        Self { at_once: Arc::new(Semaphore::new(at_once)), waiting: Arc::new(Semaphore::new(at_once + waiting)) }
    }

    /// The hash in PHC form. Errors: `too_many_attempts`.
    pub(super) async fn hash(&self, random: &dyn Random, password: &Secret) -> PlatformResult<String> {
        let mut salt = [0; SALT_BYTES];
        random.fill(&mut salt);
        let password = password.clone();
        let hashed = self.work(move || {
            Argon2::default().hash_password_with_salt(password.expose(), &salt).map(|hash| hash.to_string())
        });
        hashed.await?.map_err(|error| PlatformError::Internal(format!("the password can't be hashed: {error}")))
    }

    /// True when the password matches the hash. Without a hash it takes as long and is false. Errors:
    /// `too_many_attempts`.
    pub(super) async fn verify(&self, password: &Secret, hash: Option<&str>) -> PlatformResult<bool> {
        let (password, has_hash) = (password.clone(), hash.is_some());
        let hash = hash.unwrap_or(DUMMY_HASH).to_owned();
        let fits =
            self.work(move || Argon2::default().verify_password(password.expose(), hash.as_str()).is_ok()).await?;
        Ok(fits && has_hash)
    }

    async fn work<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> PlatformResult<T> {
        let full = |_| PlatformError::from(PeopleRefusal::TooManyAttempts { retry_after_s: RETRY_AFTER_S });
        let queued = Arc::clone(&self.waiting).try_acquire_owned().map_err(full)?;
        let turn = Arc::clone(&self.at_once).acquire_owned().await;
        let turn: OwnedSemaphorePermit = turn.map_err(|error| PlatformError::Internal(error.to_string()))?;
        let done = tokio::task::spawn_blocking(move || {
            // The work holds the permits, because the caller may be cancelled before it ends.
            let _permits = (queued, turn);
            job()
        });
        done.await.map_err(|error| PlatformError::Internal(error.to_string()))
    }
}

/// The problem with a password that a user chose, if it has one.
pub(super) fn check(pointer: &str, password: &Secret) -> Option<Problem> {
    let chars = password.expose_str().map_or(0, |password| password.chars().count());
    if chars >= CHARS_MIN && password.expose().len() <= BYTES_MAX {
        return None;
    }
    Some(Problem::new(pointer, format!("must have at least {CHARS_MIN} characters and at most {BYTES_MAX} bytes")))
}

#[cfg(test)]
mod tests {
    use kit_runtime::random::SeededRandom;

    use super::*;

    fn secret(text: &str) -> Secret {
        Secret::new(text.as_bytes().to_vec())
    }

    #[tokio::test]
    async fn a_password_matches_its_own_hash_only_and_none_without_a_hash() {
        let passwords = Passwords::new(&PeopleConfig::default());
        let hash = passwords.hash(&SeededRandom::new(1), &secret("correct horse")).await.unwrap();
        assert!(passwords.verify(&secret("correct horse"), Some(&hash)).await.unwrap());
        assert!(!passwords.verify(&secret("correct house"), Some(&hash)).await.unwrap());
        assert!(!passwords.verify(&secret("correct horse"), None).await.unwrap());
        let parameters = |hash: &str| hash.split('$').take(4).collect::<Vec<_>>().join("$");
        assert_eq!(parameters(&hash), parameters(DUMMY_HASH), "so that both cost the same");
        assert_eq!(hash.len(), DUMMY_HASH.len());
    }

    #[tokio::test]
    async fn a_full_queue_of_passwords_refuses_with_too_many_attempts() {
        let config = PeopleConfig { passwords_at_once_max: 1, passwords_waiting_max: 0, ..PeopleConfig::default() };
        let passwords = Passwords::new(&config);
        let _taken = Arc::clone(&passwords.waiting).try_acquire_owned().unwrap();
        let refused = passwords.verify(&secret("correct horse"), None).await.unwrap_err();
        assert_eq!(refused.code(), "too_many_attempts");
    }
}
