//! Cache of checked API keys and sessions.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

/// Records by the hash of their key or token, each for a limited time.
pub(crate) struct CredentialCache<T> {
    keys_max: usize,
    ttl: Duration,
    inner: Mutex<Inner<T>>,
}

struct Inner<T> {
    keys: HashMap<[u8; 32], (T, Timestamp)>,
    /// Number of removals so far.
    forgotten: u64,
}

/// The generation of the cache when a look-up began. If a key was removed since then, the result is not cached, because
/// it may be the old record of that key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CacheGeneration(u64);

impl<T: Clone> CredentialCache<T> {
    pub(crate) fn new(keys_max: usize, ttl: Duration) -> Self {
        Self { keys_max, ttl, inner: Mutex::new(Inner { keys: HashMap::new(), forgotten: 0 }) }
    }

    /// The cached record, or the generation for the look-up in the store.
    pub(crate) fn get(&self, hash: &[u8; 32], now: Timestamp) -> Result<T, CacheGeneration> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        match inner.keys.get(hash) {
            // A clock that was set back must not extend the time.
            Some((key, checked_at)) if *checked_at <= now && now < *checked_at + self.ttl => Ok(key.clone()),
            _ => Err(CacheGeneration(inner.forgotten)),
        }
    }

    pub(crate) fn put(&self, hash: [u8; 32], key: T, now: Timestamp, since: CacheGeneration) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if since != CacheGeneration(inner.forgotten) {
            return;
        }
        let keys = &mut inner.keys;
        if keys.len() >= self.keys_max {
            keys.retain(|_, (_, checked_at)| now < *checked_at + self.ttl);
        }
        if keys.len() >= self.keys_max {
            keys.clear();
        }
        keys.insert(hash, (key, now));
    }

    /// Changes the cached record, if there is one.
    pub(crate) fn change(&self, hash: &[u8; 32], change: impl FnOnce(&mut T)) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((key, _)) = inner.keys.get_mut(hash) {
            change(key);
        }
    }

    /// Removes a record after it was revoked in the store.
    pub(crate) fn forget(&self, hash: &[u8; 32]) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.keys.remove(hash);
        inner.forgotten += 1;
    }

    /// Removes all records that match, after they ended in the store.
    pub(crate) fn forget_where(&self, is_over: impl Fn(&T) -> bool) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.keys.retain(|_, (key, _)| !is_over(key));
        inner.forgotten += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::ApiKey;

    #[test]
    fn a_look_up_that_began_before_a_removal_is_not_cached() {
        let (cache, now) = (CredentialCache::new(10, Duration::from_secs(5)), Timestamp::UNIX_EPOCH);
        let key = ApiKey {
            uuid: uuid::Uuid::nil(),
            hash: [1; 32],
            customer: None,
            name: "web site".into(),
            scopes: Vec::new(),
            created_at: now,
            expires_at: None,
            last_used_at: None,
            revoked_at: None,
        };
        let before = cache.get(&key.hash, now).unwrap_err();
        cache.forget(&key.hash);
        cache.put(key.hash, key.clone(), now, before);
        let after = cache.get(&key.hash, now).unwrap_err();
        cache.put(key.hash, key.clone(), now, after);
        assert_eq!(cache.get(&key.hash, now), Ok(key.clone()));
        cache.forget(&key.hash);
        assert!(cache.get(&key.hash, now).is_err());
    }
}
