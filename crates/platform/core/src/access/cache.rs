//! Keys and sessions that were checked a moment ago.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

/// What was found by the hash of a key or token.
pub(crate) struct CredentialCache<T> {
    keys_max: usize,
    ttl: Duration,
    inner: Mutex<Inner<T>>,
}

struct Inner<T> {
    keys: HashMap<[u8; 32], (T, Timestamp)>,
    /// How often a key was forgotten.
    forgotten: u64,
}

/// When a look-up began. What it finds is not kept if a key was taken away meanwhile: it may be that one, as it was
/// before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CacheGeneration(u64);

impl<T: Clone> CredentialCache<T> {
    pub(crate) fn new(keys_max: usize, ttl: Duration) -> Self {
        Self { keys_max, ttl, inner: Mutex::new(Inner { keys: HashMap::new(), forgotten: 0 }) }
    }

    /// The key, or since when it is looked up.
    pub(crate) fn get(&self, hash: &[u8; 32], now: Timestamp) -> Result<T, CacheGeneration> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        match inner.keys.get(hash) {
            // A clock that was set back must not make it stay longer.
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

    /// What is remembered, changed as the store was or will be.
    pub(crate) fn change(&self, hash: &[u8; 32], change: impl FnOnce(&mut T)) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((key, _)) = inner.keys.get_mut(hash) {
            change(key);
        }
    }

    /// After the store knows that it is revoked.
    pub(crate) fn forget(&self, hash: &[u8; 32]) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.keys.remove(hash);
        inner.forgotten += 1;
    }

    /// The same for all of which this is true.
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
    fn what_was_looked_up_before_a_key_was_taken_away_is_not_kept() {
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
