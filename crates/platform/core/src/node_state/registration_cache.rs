//! Cache of the registrations that this node has read: most bids are decided on it without a read. It needs no
//! correctness of its own: a bid carries the version of the registration that it was decided on, and a refusal that is
//! based on the cache is checked against the store.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use platform_rules::RegistrationRef;
use uuid::Uuid;

use crate::port::{Registration, RegistrationStatus};

/// Cached bidders; a full cache is cleared.
const ENTRIES_MAX: usize = 65_536;

/// The fields of a registration without a spending limit that the rules need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CachedRegistration {
    pub(crate) status: RegistrationStatus,
    pub(crate) party: Option<Uuid>,
    /// Other records of the same person; none for most.
    pub(crate) merged: Option<Arc<[Uuid]>>,
    pub(crate) version: i64,
    pub(crate) registered: RegistrationRef,
}

impl CachedRegistration {
    /// `records` are the records of the person behind the registration.
    pub(crate) fn of(registration: &Registration, records: &[Uuid]) -> Self {
        let Registration { uuid, log, status, party, version, .. } = registration;
        let registered = RegistrationRef { uuid: *uuid, entry: log.number, hash: log.hash };
        let others: Vec<Uuid> = records.iter().copied().filter(|record| Some(*record) != *party).collect();
        let merged = Some(others).filter(|others| !others.is_empty()).map(Arc::from);
        Self { status: *status, party: *party, merged, version: *version, registered }
    }
}

/// Bidders by auction and paddle. The cache also holds that a paddle has no registration.
#[derive(Default)]
pub(crate) struct RegistrationCache(Mutex<CacheEntries>);

#[derive(Default)]
struct CacheEntries {
    auctions: HashMap<Uuid, HashMap<Box<str>, Option<CachedRegistration>>>,
    count: usize,
}

impl RegistrationCache {
    /// The cached entry; the outer none when there is no entry, the inner none for a paddle without a registration.
    pub(crate) fn get(&self, auction: Uuid, paddle: &str) -> Option<Option<CachedRegistration>> {
        self.lock().auctions.get(&auction)?.get(paddle).cloned()
    }

    /// Caches the registration, or its absence, of a bidder without a limit.
    pub(crate) fn remember(&self, auction: Uuid, paddle: &str, found: Option<CachedRegistration>) {
        let mut cache = self.lock();
        if cache.count >= ENTRIES_MAX {
            *cache = CacheEntries::default();
        }
        let before = cache.auctions.entry(auction).or_default().insert(paddle.into(), found);
        cache.count += usize::from(before.is_none());
    }

    /// Removes a bidder whose registration changed or has a limit.
    pub(crate) fn forget(&self, auction: Uuid, paddle: &str) {
        let mut cache = self.lock();
        let before = cache.auctions.get_mut(&auction).and_then(|bidders| bidders.remove(paddle));
        cache.count -= usize::from(before.is_some());
    }

    fn lock(&self) -> MutexGuard<'_, CacheEntries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_entry_differs_from_a_paddle_without_a_registration() {
        let cache = RegistrationCache::default();
        let auction = Uuid::from_u128(1);
        assert_eq!(cache.get(auction, "12"), None);
        cache.remember(auction, "12", None);
        assert_eq!(cache.get(auction, "12"), Some(None));
        assert_eq!(cache.get(Uuid::from_u128(2), "12"), None);
        cache.forget(auction, "12");
        assert_eq!(cache.get(auction, "12"), None);
    }

    #[test]
    fn a_full_cache_is_cleared() {
        let cache = RegistrationCache::default();
        let auction = Uuid::from_u128(1);
        for number in 0..=ENTRIES_MAX {
            cache.remember(auction, &number.to_string(), None);
            cache.remember(auction, &number.to_string(), None);
        }
        assert_eq!((cache.get(auction, "0"), cache.get(auction, &ENTRIES_MAX.to_string())), (None, Some(None)));
    }
}
