//! API keys that were looked up lately, so that a request needs no look-up in the store.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant};

use crate::accounts::Caller;

/// Keys held at most. Unknown keys are not held, so nobody fills it without having keys.
const KEYS_MAX: usize = 10_000;

pub(crate) struct KeyCache {
    kept_for: Duration,
    state: RwLock<State>,
}

#[derive(Default)]
struct State {
    /// Rises with each drop, so that what was read before one is not put in after it.
    generation: u64,
    keys: HashMap<[u8; 32], (Caller, Instant)>,
}

impl KeyCache {
    pub(crate) fn new(kept_for: Duration) -> Self {
        Self { kept_for, state: RwLock::default() }
    }

    /// The caller of a key, or the generation to put it in with.
    pub(crate) fn get(&self, hash: &[u8; 32], now: Instant) -> Result<Caller, u64> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        match state.keys.get(hash) {
            Some((caller, at)) if now.saturating_duration_since(*at) < self.kept_for => Ok(caller.clone()),
            _ => Err(state.generation),
        }
    }

    pub(crate) fn put(&self, hash: [u8; 32], caller: Caller, now: Instant, generation: u64) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if state.generation != generation {
            return;
        }
        if state.keys.len() >= KEYS_MAX {
            state.keys.clear();
        }
        state.keys.insert(hash, (caller, now));
    }

    pub(crate) fn clear(&self) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.generation += 1;
        state.keys.clear();
    }
}
