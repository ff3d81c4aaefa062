//! Who may ask: API keys and users (decisions, sections 5 and 8).
//!
//! A key is `lw_` and 33 base62 characters (192 random bits), shown once; the store has its SHA-256. A checked key is
//! remembered for some seconds, so that a busy caller costs no look-up per request; a key that was taken away on another node
//! works at most so long. Users have passwords, kept as Argon2id.

mod cache;
mod creating;
mod keys;

use std::time::Duration;

use argon2::Argon2;
use argon2::password_hash::PasswordHasher;
use jiff::Timestamp;
use runtime::vault::Secret;
use sha2::{Digest, Sha256};
use uuid::Uuid;

pub(crate) use cache::KeyCache;
pub(crate) use creating::answer_context;

use crate::error::{PlatformError, PlatformResult, Problem};
use crate::port::{ApiKey, User};
use crate::{Caller, Platform, Role, Scope, Scopes};

/// How keys begin.
pub const KEY_PREFIX: &str = "lw_";
const KEY_BYTES_MAX: usize = 100;
const EMAIL_BYTES_MAX: usize = 254;
const PASSWORD_CHARS_MIN: usize = 12;
const PASSWORD_BYTES_MAX: usize = 1_024;
const SALT_BYTES: usize = 16;
/// "Last used" is kept to within this time.
const TOUCH_EVERY: Duration = Duration::from_secs(60);

/// An API key as it is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewApiKey {
    /// Name, for people; 1–100 characters.
    pub name: String,
    /// The customer that it is confined to; none for the platform's own staff.
    pub customer: Option<Uuid>,
    /// What it may do; at least one.
    pub scopes: Scopes,
    /// When it stops working.
    pub expires_at: Option<Timestamp>,
}

/// An API key that was created.
#[derive(Debug, Clone)]
pub struct CreatedApiKey {
    /// The record.
    pub record: ApiKey,
    /// The key itself: `lw_…`. It can't be had again.
    pub key: Secret,
}

impl Platform {
    /// Creates an API key. Nobody gives away more than they have: neither scopes nor other customers.
    ///
    /// Errors: `forbidden`, `not_found` (customer), `invalid`.
    pub async fn create_api_key(&self, caller: &Caller, new: &NewApiKey) -> PlatformResult<CreatedApiKey> {
        self.create_api_key_once(caller, new, None).await?.fresh()
    }

    /// Who presents this key. Errors: `unauthenticated`, `unavailable`.
    pub async fn authenticate(&self, key: &str) -> PlatformResult<Caller> {
        if !key.starts_with(KEY_PREFIX) || key.len() > KEY_BYTES_MAX {
            return Err(PlatformError::Unauthenticated);
        }
        let hash = hash(key);
        let now = self.now();
        let record = match self.keys().get(&hash, now) {
            Ok(record) => record,
            Err(since) => {
                let found = self.store().api_key_by_hash(hash).await?;
                let is_in_force = |record: &ApiKey| record.revoked_at.is_none();
                let record = found.filter(is_in_force).ok_or(PlatformError::Unauthenticated)?;
                self.keys().put(record.clone(), now, since);
                record
            }
        };
        if record.expires_at.is_some_and(|at| at <= now) {
            return Err(PlatformError::Unauthenticated);
        }
        if record.last_used_at.is_none_or(|at| at + TOUCH_EVERY <= now) {
            // First in memory, so that of many requests at the same time one writes.
            self.keys().touched(&hash, now);
            if let Err(error) = self.store().touch_api_key(record.uuid, now).await {
                tracing::warn!(key = %record.uuid, %error, "the use of a key could not be noted");
            }
        }
        Ok(Caller {
            actor: format!("key:{}", record.uuid),
            key: record.uuid,
            customer: record.customer,
            scopes: record.scopes.iter().filter_map(|name| Scope::parse(name)).collect(),
        })
    }

    /// Creates a user.
    ///
    /// Errors: `forbidden`, `invalid`, `taken` (email).
    pub async fn create_user(
        &self,
        caller: &Caller,
        email: &str,
        role: Role,
        password: &Secret,
    ) -> PlatformResult<User> {
        caller.require_staff()?;
        caller.require(Scope::KeysWrite)?;
        if !caller.scopes.covers(role.scopes()) {
            return Err(PlatformError::Forbidden("a user can't have rights that their maker has not".into()));
        }
        let email = email.trim().to_lowercase();
        check_new_user(&email, password)?;
        let mut salt = [0; SALT_BYTES];
        self.random().fill(&mut salt);
        let password = password.clone();
        // Slow by design: not on a thread that serves others.
        let hashing = tokio::task::spawn_blocking(move || {
            Argon2::default().hash_password_with_salt(password.expose(), &salt).map(|hash| hash.to_string())
        });
        let password_hash = hashing
            .await
            .map_err(|error| PlatformError::Internal(error.to_string()))?
            .map_err(|error| PlatformError::Internal(format!("the password can't be hashed: {error}")))?;
        let user = User {
            uuid: self.ids().uuid_v7(),
            email,
            role: role.name().to_owned(),
            password_hash,
            created_at: self.now(),
        };
        self.store().create_user(user.clone()).await?;
        Ok(user)
    }
}

fn check_new_user(email: &str, password: &Secret) -> PlatformResult<()> {
    let mut problems = Vec::new();
    let parts = email.split_once('@');
    let whole = parts.is_some_and(|(name, host)| !name.is_empty() && !host.is_empty() && !host.contains('@'));
    if !whole || email.len() > EMAIL_BYTES_MAX || email.chars().any(|c| c.is_whitespace() || c.is_control()) {
        problems.push(Problem::new("/email", "is not an e-mail address"));
    }
    let chars = password.expose_str().map_or(0, |password| password.chars().count());
    if chars < PASSWORD_CHARS_MIN || password.expose().len() > PASSWORD_BYTES_MAX {
        let message = format!("must have {PASSWORD_CHARS_MIN} characters at least, {PASSWORD_BYTES_MAX} bytes at most");
        problems.push(Problem::new("/password", message));
    }
    if problems.is_empty() { Ok(()) } else { Err(PlatformError::Invalid(problems)) }
}

fn hash(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}
