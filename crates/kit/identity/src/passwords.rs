//! Hashes and verifies passwords with Argon2id, a limited number at a time, on blocking threads that serve no requests.

mod choice;

use std::sync::Arc;

use argon2::Argon2;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use kit_runtime::random::Random;
use kit_runtime::vault::Secret;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

pub use choice::problem;

/// Bytes of the longest password.
pub const BYTES_MAX: usize = 1_024;
const SALT_BYTES: usize = 16;
/// The stored hash of a user without a password, which is also what an unknown user's password is compared with: a comparison takes
/// as long as any other and never matches.
pub const NO_PASSWORD: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
/// `Retry-After` in seconds when too many passwords wait.
const RETRY_AFTER_S: u64 = 2;

/// Why a password can't be hashed or verified now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PasswordsError {
    /// Too many passwords wait.
    #[error("too many passwords are being hashed")]
    Full {
        /// Seconds until the caller may try again.
        retry_after_s: u64,
        /// Passwords that may wait.
        waiting_max: u32,
    },
    /// A fault of the server.
    #[error("the password can't be hashed: {0}")]
    Failed(String),
}

/// Hashes passwords, a limited number at a time.
pub struct Passwords {
    at_once: Arc<Semaphore>,
    /// Passwords that wait or are being hashed.
    waiting: Arc<Semaphore>,
    waiting_max: u32,
}

impl Passwords {
    /// Hashes `at_once_max` passwords at the same time, while `waiting_max` others wait.
    pub fn new(at_once_max: usize, waiting_max: usize) -> Self {
        Self {
            at_once: Arc::new(Semaphore::new(at_once_max)),
            waiting: Arc::new(Semaphore::new(at_once_max + waiting_max)),
            waiting_max: u32::try_from(waiting_max).unwrap_or(u32::MAX),
        }
    }

    /// The hash in PHC form. Errors: `Full`, `Failed`.
    pub async fn hash(&self, random: &dyn Random, password: &Secret) -> Result<String, PasswordsError> {
        let mut salt = [0; SALT_BYTES];
        random.fill(&mut salt);
        let password = password.clone();
        let hashed = self.work(move || {
            Argon2::default().hash_password_with_salt(password.expose(), &salt).map(|hash| hash.to_string())
        });
        hashed.await?.map_err(|error| PasswordsError::Failed(error.to_string()))
    }

    /// True when the password matches the hash. Without a hash it takes as long and is false. Errors:
    /// `Full`, `Failed`.
    pub async fn verify(&self, password: &Secret, hash: Option<&str>) -> Result<bool, PasswordsError> {
        let (password, has_hash) = (password.clone(), hash.is_some());
        let hash = hash.unwrap_or(NO_PASSWORD).to_owned();
        let fits =
            self.work(move || Argon2::default().verify_password(password.expose(), hash.as_str()).is_ok()).await?;
        Ok(fits && has_hash)
    }

    async fn work<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Result<T, PasswordsError> {
        let full = |_| PasswordsError::Full { retry_after_s: RETRY_AFTER_S, waiting_max: self.waiting_max };
        let queued = Arc::clone(&self.waiting).try_acquire_owned().map_err(full)?;
        let turn = Arc::clone(&self.at_once).acquire_owned().await;
        let turn: OwnedSemaphorePermit = turn.map_err(|error| PasswordsError::Failed(error.to_string()))?;
        let done = tokio::task::spawn_blocking(move || {
            // The work holds the permits, because the caller may be cancelled before it ends.
            let _permits = (queued, turn);
            job()
        });
        done.await.map_err(|error| PasswordsError::Failed(error.to_string()))
    }
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
        let passwords = Passwords::new(4, 64);
        let hash = passwords.hash(&SeededRandom::new(1), &secret("correct horse")).await.unwrap();
        assert!(passwords.verify(&secret("correct horse"), Some(&hash)).await.unwrap());
        assert!(!passwords.verify(&secret("correct house"), Some(&hash)).await.unwrap());
        assert!(!passwords.verify(&secret("correct horse"), None).await.unwrap());
        let parameters = |hash: &str| hash.split('$').take(4).collect::<Vec<_>>().join("$");
        assert_eq!(parameters(&hash), parameters(NO_PASSWORD), "so that both cost the same");
        assert_eq!(hash.len(), NO_PASSWORD.len());
    }

    #[tokio::test]
    async fn a_full_queue_of_passwords_refuses_further_ones() {
        let passwords = Passwords::new(1, 0);
        let _taken = Arc::clone(&passwords.waiting).try_acquire_owned().unwrap();
        let refused = passwords.verify(&secret("correct horse"), None).await;
        assert_eq!(refused, Err(PasswordsError::Full { retry_after_s: RETRY_AFTER_S, waiting_max: 0 }));
    }
}
