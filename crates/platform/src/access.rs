//! Who may ask: API keys and users (decisions, sections 5 and 8).
//!
//! A key is `lw_` and 33 base62 characters (192 random bits), shown once; the store has its SHA-256. A checked key is
//! remembered for some seconds, so that a busy caller costs no look-up per request; a key that was taken away works at most
//! so long. Users have passwords, kept as Argon2id.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use argon2::Argon2;
use argon2::password_hash::PasswordHasher;
use jiff::Timestamp;
use runtime::vault::Secret;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::error::{PlatformError, PlatformResult, Problem};
use crate::new_item::text;
use crate::port::{ApiKey, Page, User};
use crate::{Caller, Platform, Role, Scope, Scopes};

/// How keys begin.
pub const KEY_PREFIX: &str = "lw_";
const KEY_RANDOM_BYTES: usize = 24;
const KEY_BYTES_MAX: usize = 100;
const KEY_NAME_CHARS_MAX: usize = 100;
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
        caller.require(Scope::KeysWrite)?;
        if !caller.scopes.covers(new.scopes) {
            return Err(PlatformError::Forbidden("a key can't have scopes that its maker has not".into()));
        }
        match new.customer {
            Some(customer) => drop(self.seen_customer(caller, customer).await?),
            None => caller.require_staff()?,
        }
        let now = self.now();
        check_new_key(new, now)?;
        let key = format!("{KEY_PREFIX}{}", self.ids().token(KEY_RANDOM_BYTES));
        let record = ApiKey {
            uuid: self.ids().uuid_v7(),
            hash: hash(&key),
            customer: new.customer,
            name: new.name.clone(),
            scopes: new.scopes.iter().map(|scope| scope.name().to_owned()).collect(),
            created_at: now,
            expires_at: new.expires_at,
            last_used_at: None,
        };
        self.store().create_api_key(record.clone()).await?;
        Ok(CreatedApiKey { record, key: Secret::new(key.into_bytes()) })
    }

    /// Keys that the caller sees, in order of creation, those that work no more among them: all for the platform's own staff,
    /// or those of one customer.
    ///
    /// Errors: `forbidden`, `not_found` (customer).
    pub async fn api_keys(
        &self,
        caller: &Caller,
        customer: Option<Uuid>,
        page: Page<Uuid>,
    ) -> PlatformResult<Vec<ApiKey>> {
        caller.require(Scope::KeysWrite)?;
        if let Some(customer) = customer {
            self.seen_customer(caller, customer).await?;
        }
        Ok(self.store().api_keys(customer.or(caller.customer), page).await?)
    }

    /// Takes a key away: it works no more, at once on this node and within the time of [`KeyCache`] on others. Its record
    /// stays, since logs name it. A key that has ended stays as it is.
    ///
    /// Errors: `forbidden` (also of a key that would take itself away, and its maker's way in with it), `not_found`.
    pub async fn revoke_api_key(&self, caller: &Caller, uuid: Uuid) -> PlatformResult<ApiKey> {
        caller.require(Scope::KeysWrite)?;
        if uuid == caller.key {
            return Err(PlatformError::Forbidden("a key can't take itself away: use another one".into()));
        }
        let found = self.store().api_key(uuid).await?;
        let is_seen = |key: &ApiKey| caller.customer.is_none() || key.customer == caller.customer;
        let mut key = found.filter(is_seen).ok_or(PlatformError::NotFound("API key"))?;
        let now = self.now();
        self.store().end_api_key(uuid, now).await?;
        self.keys().forget(&key.hash);
        key.expires_at = Some(key.expires_at.map_or(now, |before| before.min(now)));
        Ok(key)
    }

    /// Who presents this key. Errors: `unauthenticated`, `unavailable`.
    pub async fn authenticate(&self, key: &str) -> PlatformResult<Caller> {
        if !key.starts_with(KEY_PREFIX) || key.len() > KEY_BYTES_MAX {
            return Err(PlatformError::Unauthenticated);
        }
        let hash = hash(key);
        let now = self.now();
        let record = match self.keys().get(&hash, now) {
            Some(record) => record,
            None => {
                let found = self.store().api_key_by_hash(hash).await?;
                let record = found.ok_or(PlatformError::Unauthenticated)?;
                self.keys().put(record.clone(), now);
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

fn check_new_key(new: &NewApiKey, now: Timestamp) -> PlatformResult<()> {
    let mut problems = Vec::new();
    if let Err(message) = text(&new.name, KEY_NAME_CHARS_MAX) {
        problems.push(Problem::new("/name", message));
    }
    if new.scopes == Scopes::default() {
        problems.push(Problem::new("/scopes", "is empty: name at least one scope"));
    }
    if new.expires_at.is_some_and(|at| at <= now) {
        problems.push(Problem::new("/expiresAt", "is not in the future"));
    }
    if problems.is_empty() { Ok(()) } else { Err(PlatformError::Invalid(problems)) }
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

/// Keys that were checked a moment ago.
pub(crate) struct KeyCache {
    keys_max: usize,
    ttl: Duration,
    keys: Mutex<HashMap<[u8; 32], (ApiKey, Timestamp)>>,
}

impl KeyCache {
    pub(crate) fn new(keys_max: usize, ttl: Duration) -> Self {
        Self { keys_max, ttl, keys: Mutex::default() }
    }

    fn get(&self, hash: &[u8; 32], now: Timestamp) -> Option<ApiKey> {
        let keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        let (key, checked_at) = keys.get(hash)?;
        // A clock that was set back must not make it stay longer.
        (*checked_at <= now && now < *checked_at + self.ttl).then(|| key.clone())
    }

    fn put(&self, key: ApiKey, now: Timestamp) {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if keys.len() >= self.keys_max {
            keys.retain(|_, (_, checked_at)| now < *checked_at + self.ttl);
        }
        if keys.len() >= self.keys_max {
            keys.clear();
        }
        keys.insert(key.hash, (key, now));
    }

    fn forget(&self, hash: &[u8; 32]) {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner).remove(hash);
    }

    fn touched(&self, hash: &[u8; 32], now: Timestamp) {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((key, _)) = keys.get_mut(hash) {
            key.last_used_at = Some(now);
        }
    }
}
