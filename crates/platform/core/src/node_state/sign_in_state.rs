//! The state of sign-ins on a node.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use kit_identity::passwords::Passwords;

use super::credential_cache::CredentialCache;
use crate::config::PlatformConfig;
use crate::port::{Session, User};

/// Sign-in state of a node.
pub(crate) struct SignInState {
    /// Cache of checked sessions.
    pub(crate) sessions: CredentialCache<(Session, User)>,
    pub(crate) passwords: Passwords,
    /// Counter of sign-ins with a wrong name or password.
    pub(crate) refused: RefusedSignIns,
}

impl SignInState {
    pub(crate) fn new(config: &PlatformConfig) -> Self {
        let sessions = CredentialCache::new(config.key_cache_max, config.key_cache_ttl);
        let identity = &config.identity;
        let passwords = Passwords::new(identity.passwords_at_once_max, identity.passwords_waiting_max);
        Self { sessions, passwords, refused: RefusedSignIns::default() }
    }
}

/// Refused sign-ins of this node that are not logged yet.
#[derive(Default)]
pub(crate) struct RefusedSignIns {
    count: AtomicU64,
    noted_at_s: AtomicI64,
}

impl RefusedSignIns {
    pub(crate) fn add(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn take(&self) -> u64 {
        self.count.swap(0, Ordering::Relaxed)
    }

    pub(crate) fn put_back(&self, count: u64) {
        self.count.fetch_add(count, Ordering::Relaxed);
    }

    /// When the count was logged last, in seconds.
    pub(crate) fn noted_at_s(&self) -> i64 {
        self.noted_at_s.load(Ordering::Relaxed)
    }

    pub(crate) fn noted(&self, now_s: i64) {
        self.noted_at_s.store(now_s, Ordering::Relaxed);
    }
}
