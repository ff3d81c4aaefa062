//! Cache of API keys, so that most requests need no look-up in the store.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use foldhash::HashMap;
use jiff::Timestamp;

use crate::caller::Caller;
use crate::node_state::rate_limit::RateLimiter;

/// Upper bound on cached keys. Unknown keys are not cached, so a caller without valid keys cannot fill the cache.
const KEYS_MAX: usize = 10_000;

pub(crate) struct ApiKeyCache {
    max_age: Duration,
    state: RwLock<State>,
}

/// A valid key or token.
pub(crate) struct CachedCredential {
    pub(crate) caller: Caller,
    /// When it expires; never when none.
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) rate: Arc<RateLimiter>,
}

#[derive(Default)]
struct State {
    /// Incremented by [`ApiKeyCache::clear`], so that a key that was read before it is not inserted after it.
    generation: u64,
    keys: HashMap<[u8; 32], (Arc<CachedCredential>, Instant)>,
}

impl ApiKeyCache {
    pub(crate) fn new(max_age: Duration) -> Self {
        Self { max_age, state: RwLock::default() }
    }

    /// The cached key, or the generation to pass to [`Self::put`].
    pub(crate) fn get(&self, hash: &[u8; 32], now: Instant) -> Result<Arc<CachedCredential>, u64> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        match state.keys.get(hash) {
            Some((known, at)) if now.saturating_duration_since(*at) < self.max_age => Ok(Arc::clone(known)),
            _ => Err(state.generation),
        }
    }

    pub(crate) fn put(&self, hash: [u8; 32], known: Arc<CachedCredential>, now: Instant, generation: u64) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if state.generation != generation {
            return;
        }
        if state.keys.len() >= KEYS_MAX {
            state.keys.clear();
        }
        state.keys.insert(hash, (known, now));
    }

    pub(crate) fn clear(&self) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.generation += 1;
        state.keys.clear();
    }
}
