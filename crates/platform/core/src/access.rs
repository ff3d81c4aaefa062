//! API keys, callers and their scopes. Users are in [`crate::users`].
//!
//! An API key is `lw_` and 33 base62 characters (192 random bits). The platform shows it once and stores its SHA-256. A
//! checked key is cached for `key_cache_ttl`, so that a busy caller costs no look-up for each request. A key that
//! another node revoked works for at most that time.

pub mod access_log;
mod api_keys;
mod create_api_key;

use std::time::Duration;

use jiff::Timestamp;
use kit_runtime::vault::Secret;
use sha2::{Digest, Sha256};
use uuid::Uuid;

pub(crate) use create_api_key::sealed_answer_context;

use crate::error::{PlatformError, PlatformResult};
use crate::port::ApiKey;
use crate::{Caller, Platform, Scope, Scopes};

/// Prefix of API keys.
pub const KEY_PREFIX: &str = "lw_";
/// Prefix of session tokens. No API key has it.
pub const SESSION_PREFIX: &str = "lws_";
pub(crate) const KEY_BYTES_MAX: usize = 100;
/// Resolution of `last_used_at`.
pub(crate) const TOUCH_EVERY: Duration = Duration::from_secs(60);

/// The input of a new API key.
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

/// The result of creating an API key.
#[derive(Debug, Clone)]
pub struct CreatedApiKey {
    /// The record.
    pub record: ApiKey,
    /// The key itself: `lw_…`. The platform does not show it again.
    pub key: Secret,
}

impl Platform {
    /// Creates an API key. A caller can grant only scopes and customers that the caller has.
    ///
    /// Errors: `forbidden`, `not_found` (customer), `invalid`.
    pub async fn create_api_key(&self, caller: &Caller, new: &NewApiKey) -> PlatformResult<CreatedApiKey> {
        self.create_api_key_once(caller, new, None).await?.fresh()
    }

    /// The caller with this API key. Errors: `unauthenticated`, `unavailable`.
    pub(crate) async fn authenticate_key(&self, key: &str) -> PlatformResult<Caller> {
        if !key.starts_with(KEY_PREFIX) || key.len() > KEY_BYTES_MAX {
            return Err(PlatformError::Unauthenticated);
        }
        let hash = hash(key);
        let now = self.now();
        let record = match self.api_key_cache().get(&hash, now) {
            Ok(record) => record,
            Err(since) => {
                let found = self.store().api_key_by_hash(hash).await?;
                let is_in_force = |record: &ApiKey| record.revoked_at.is_none();
                let record = found.filter(is_in_force).ok_or(PlatformError::Unauthenticated)?;
                self.api_key_cache().put(hash, record.clone(), now, since);
                record
            }
        };
        if record.expires_at.is_some_and(|at| at <= now) {
            return Err(PlatformError::Unauthenticated);
        }
        if record.last_used_at.is_none_or(|at| at + TOUCH_EVERY <= now) {
            // First in memory, so that only one of many concurrent requests writes.
            self.api_key_cache().change(&hash, |key| key.last_used_at = Some(now));
            if let Err(error) = self.store().touch_api_key(record.uuid, now).await {
                tracing::warn!(key = %record.uuid, %error, "the last use of an API key could not be recorded");
            }
        }
        Ok(Caller {
            actor: format!("key:{}", record.uuid),
            id: record.uuid,
            session: None,
            role: None,
            customer: record.customer,
            scopes: record.scopes.iter().filter_map(|name| Scope::parse(name)).collect(),
        })
    }
}

pub(crate) fn hash(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}
