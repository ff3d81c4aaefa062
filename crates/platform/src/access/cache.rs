//! Keys that were checked a moment ago.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

use crate::port::ApiKey;

pub(crate) struct KeyCache {
    keys_max: usize,
    ttl: Duration,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    keys: HashMap<[u8; 32], (ApiKey, Timestamp)>,
    /// How often a key was forgotten.
    forgotten: u64,
}

/// When a look-up began. What it finds is not kept if a key was taken away meanwhile: it may be that one, as it was before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment(u64);

impl KeyCache {
    pub(crate) fn new(keys_max: usize, ttl: Duration) -> Self {
        Self { keys_max, ttl, inner: Mutex::default() }
    }

    /// The key, or since when it is looked up.
    pub(super) fn get(&self, hash: &[u8; 32], now: Timestamp) -> Result<ApiKey, Moment> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        match inner.keys.get(hash) {
            // A clock that was set back must not make it stay longer.
            Some((key, checked_at)) if *checked_at <= now && now < *checked_at + self.ttl => Ok(key.clone()),
            _ => Err(Moment(inner.forgotten)),
        }
    }

    pub(super) fn put(&self, key: ApiKey, now: Timestamp, since: Moment) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if since != Moment(inner.forgotten) {
            return;
        }
        let keys = &mut inner.keys;
        if keys.len() >= self.keys_max {
            keys.retain(|_, (_, checked_at)| now < *checked_at + self.ttl);
        }
        if keys.len() >= self.keys_max {
            keys.clear();
        }
        keys.insert(key.hash, (key, now));
    }

    pub(super) fn touched(&self, hash: &[u8; 32], now: Timestamp) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((key, _)) = inner.keys.get_mut(hash) {
            key.last_used_at = Some(now);
        }
    }

    /// After the store knows that it is revoked.
    pub(super) fn forget(&self, hash: &[u8; 32]) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.keys.remove(hash);
        inner.forgotten += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_looked_up_before_a_key_was_taken_away_is_not_kept() {
        let (cache, now) = (KeyCache::new(10, Duration::from_secs(5)), Timestamp::UNIX_EPOCH);
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
        cache.put(key.clone(), now, before);
        let after = cache.get(&key.hash, now).unwrap_err();
        cache.put(key.clone(), now, after);
        assert_eq!(cache.get(&key.hash, now), Ok(key.clone()));
        cache.forget(&key.hash);
        assert!(cache.get(&key.hash, now).is_err());
    }
}
