//! Authentication of callers: API keys of accounts, and tokens of the App Portal.
//!
//! The API authenticates every request. API keys are cached. Tokens are looked up each time, so that a revocation takes
//! effect on every node at once. The store keeps only the SHA-256 of keys and tokens: they are random, so they need no
//! salt or stretching. Hashes are compared in constant time.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use jiff::{SignedDuration, Timestamp};
use kit_runtime::gcra::whole_seconds;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::caller::{Caller, Scope};
use crate::error::{ProviderError, ProviderResult, Quota};
use crate::model::{ApiKey, AppToken, Id, KeyScope};
use crate::node_state::api_key_cache::CachedCredential;
use crate::provider::Provider;

pub(crate) const KEY_PREFIX: &str = "lwp_";
pub(crate) const TOKEN_PREFIX: &str = "appsk_";
/// A longer text is rejected before it is hashed.
const CREDENTIAL_CHARS_MAX: usize = 256;
/// The last use of a key or token is written at most once in this time.
const LAST_USED_WITHIN: SignedDuration = SignedDuration::from_hours(1);

impl Provider {
    /// Authenticates a key or token of a caller inside the process.
    pub async fn authenticate(&self, credential: &str) -> ProviderResult<Caller> {
        self.authenticate_from(Some(credential), None).await
    }

    /// Authenticates a key or token that was sent from this address. Any region suffix is accepted.
    ///
    /// 401 when the credential is missing, unknown or expired; 429 when authentication from the address failed too
    /// often, or when the account exceeds its rate limit.
    pub async fn authenticate_from(&self, credential: Option<&str>, from: Option<IpAddr>) -> ProviderResult<Caller> {
        let now = self.clock().monotonic();
        let Some(credential) = credential.and_then(Credential::of) else {
            self.failed_auth_limiter().check(from, None, now)?;
            return Err(self.unknown(from, None, now));
        };
        let known = match &credential {
            Credential::ApiKey(hash) => self.api_key_cache().get(hash, now),
            Credential::AppToken(_) => Err(0),
        };
        let known = match known {
            Ok(known) => known,
            Err(generation) => {
                let limiter = self.failed_auth_limiter();
                let refusal = limiter.check(from, Some(credential.hash()), now).err();
                let known = if let Some(refusal) = refusal {
                    // Another caller at the same address may have a valid key.
                    let found = if limiter.take_lookup(now) { self.look_up(&credential, from).await? } else { None };
                    found.ok_or(refusal)?
                } else if let Some(known) = self.look_up(&credential, from).await? {
                    known
                } else {
                    return Err(self.unknown(from, Some(credential.hash()), now));
                };
                self.failed_auth_limiter().record_success(*credential.hash());
                let known = Arc::new(known);
                if let Credential::ApiKey(hash) = &credential {
                    self.api_key_cache().put(*hash, Arc::clone(&known), now, generation);
                }
                known
            }
        };
        if known.expires_at.is_some_and(|at| at <= self.now()) {
            return Err(self.unknown(from, Some(credential.hash()), now));
        }
        let per_second = known.caller.settings.requests_per_second_max;
        let per_second = per_second.unwrap_or(self.config().requests_per_second_max);
        known.rate.take(now, per_second).map_err(|wait| ProviderError::TooManyRequests {
            detail: "this account asks for more than it may in a second",
            retry_after: whole_seconds(wait),
            quota: Quota { name: "account", requests: per_second, window_s: 1 },
        })?;
        Ok(known.caller.clone())
    }

    /// Whether the caller may access the application with this id or uid. The application need not exist.
    pub async fn can_access(&self, caller: &Caller, application: &str) -> ProviderResult<bool> {
        let Scope::Application(token) = &caller.scope else { return Ok(true) };
        if *token.application == *application {
            return Ok(true);
        }
        let named = self.snapshots().of_caller(&caller.account, application).await?;
        Ok(named.is_some_and(|named| named.application.id == token.application))
    }

    /// None when the key or token does not exist or has expired.
    async fn look_up(&self, credential: &Credential, from: Option<IpAddr>) -> ProviderResult<Option<CachedCredential>> {
        let now = self.now();
        let found = match credential {
            Credential::ApiKey(hash) => {
                let key = self.store().api_key_by_hash(*hash).await?;
                let Some(key) = key.filter(|key| is_same(&key.hash, hash)) else { return Ok(None) };
                self.record_use(&key, from, now).await;
                FoundCredential {
                    account: key.account,
                    id: key.id,
                    name: key.name,
                    scope: Scope::Account,
                    expires_at: key.expires_at,
                    key_scopes: key.scopes.map(Arc::new),
                }
            }
            Credential::AppToken(hash) => {
                let token = self.store().app_token_by_hash(*hash).await?;
                let Some(token) = token.filter(|token| is_same(&token.hash, hash)) else { return Ok(None) };
                if !self.is_preview_active(&token).await? {
                    return Ok(None);
                }
                if token.expires_at > now {
                    self.record_token_use(&token, now).await;
                }
                FoundCredential {
                    account: token.account.clone(),
                    id: token.id.clone(),
                    name: "App Portal".to_owned(),
                    expires_at: Some(token.expires_at),
                    scope: Scope::Application(Arc::new(token)),
                    key_scopes: None,
                }
            }
        };
        let FoundCredential { account, id, name, scope, expires_at, key_scopes } = found;
        if expires_at.is_some_and(|at| at <= now) {
            return Ok(None);
        }
        let Some(account) = self.store().account(&account).await? else { return Ok(None) };
        let rate = self.rate_limiters().of(&account.id);
        let (name, settings) = (name.into(), account.settings);
        let caller = Caller { account: account.id, key: id, name, scope, settings, key_scopes, user: None };
        Ok(Some(CachedCredential { caller, expires_at, rate }))
    }

    /// Records the last use of a key, at most once an hour. An error does not reject the request.
    async fn record_use(&self, key: &ApiKey, from: Option<IpAddr>, now: Timestamp) {
        let from = from.map(|from| from.to_canonical().to_string());
        if key.last_used_at.is_none_or(|at| now.duration_since(at) >= LAST_USED_WITHIN)
            && let Err(error) = self.store().touch_api_key(&key.id, now, from).await
        {
            tracing::debug!(%error, key = &*key.id, "the last use of an API key could not be recorded");
        }
    }

    /// Records the last use of a token, at most once an hour. An error does not reject the request.
    async fn record_token_use(&self, token: &AppToken, now: Timestamp) {
        if token.last_used_at.is_none_or(|at| now.duration_since(at) >= LAST_USED_WITHIN)
            && let Err(error) = self.store().touch_app_token(&token.id, now).await
        {
            tracing::debug!(%error, token = &*token.id, "the last use of a token could not be recorded");
        }
    }

    fn unknown(&self, from: Option<IpAddr>, hash: Option<&[u8; 32]>, now: Instant) -> ProviderError {
        self.failed_auth_limiter().record_failure(from, hash, now);
        ProviderError::Unauthenticated
    }
}

/// The hash of a key or token. The text is not kept.
enum Credential {
    ApiKey([u8; 32]),
    AppToken([u8; 32]),
}

/// A key or token that the store contains.
struct FoundCredential {
    account: Id,
    id: Id,
    name: String,
    scope: Scope,
    expires_at: Option<Timestamp>,
    key_scopes: Option<Arc<BTreeSet<KeyScope>>>,
}

impl Credential {
    fn of(text: &str) -> Option<Self> {
        if text.len() > CREDENTIAL_CHARS_MAX {
            None
        } else if text.starts_with(KEY_PREFIX) {
            Some(Self::ApiKey(hash(text)))
        } else if text.starts_with(TOKEN_PREFIX) {
            Some(Self::AppToken(hash(text)))
        } else {
            None
        }
    }

    fn hash(&self) -> &[u8; 32] {
        match self {
            Self::ApiKey(hash) | Self::AppToken(hash) => hash,
        }
    }
}

/// The stored hash of a key or token. Neither contains a dot, so the text after a dot is the region.
pub(crate) fn hash(text: &str) -> [u8; 32] {
    let secret = text.split_once('.').map_or(text, |(secret, _region)| secret);
    Sha256::digest(secret).into()
}

fn is_same(expected: &[u8; 32], actual: &[u8; 32]) -> bool {
    expected.ct_eq(actual).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_region_of_a_key_does_not_matter() {
        assert_eq!(hash("lwp_abc"), hash("lwp_abc.eu"));
        assert_ne!(hash("lwp_abc"), hash("lwp_abd.eu"));
    }
}
