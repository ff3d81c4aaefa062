//! Cache of the registrations that this node has read: most bids are decided on it without a read. It needs no
//! correctness of its own: a bid carries the version of the registration that it was decided on, and a refusal that is
//! based on the cache is checked against the store.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use platform_rules::RegistrationRef;
use uuid::Uuid;

use crate::port::{Registration, RegistrationStatus};

/// Bidders that are remembered; when there are more, all are forgotten.
const ENTRIES_MAX: usize = 65_536;

/// What of a registration without a spending limit the rules ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CachedRegistration {
    pub(super) status: RegistrationStatus,
    pub(super) party: Option<Uuid>,
    pub(super) version: i64,
    pub(super) registered: RegistrationRef,
}

impl CachedRegistration {
    pub(super) fn of(registration: &Registration) -> Self {
        let Registration { uuid, log, status, party, version, .. } = registration;
        let registered = RegistrationRef { uuid: *uuid, entry: log.number, hash: log.hash };
        Self { status: *status, party: *party, version: *version, registered }
    }
}

/// Bidders by auction and paddle; of those who are not registered it is known that they are not.
#[derive(Default)]
pub(crate) struct RegistrationCache(Mutex<CacheEntries>);

#[derive(Default)]
struct CacheEntries {
    auctions: HashMap<Uuid, HashMap<Box<str>, Option<CachedRegistration>>>,
    count: usize,
}

impl RegistrationCache {
    /// What is known; the outer none when nothing is.
    pub(super) fn get(&self, auction: Uuid, paddle: &str) -> Option<Option<CachedRegistration>> {
        self.lock().auctions.get(&auction)?.get(paddle).copied()
    }

    /// What was found of a bidder without a limit.
    pub(super) fn remember(&self, auction: Uuid, paddle: &str, found: Option<CachedRegistration>) {
        let mut known = self.lock();
        if known.count >= ENTRIES_MAX {
            *known = CacheEntries::default();
        }
        let before = known.auctions.entry(auction).or_default().insert(paddle.into(), found);
        known.count += usize::from(before.is_none());
    }

    /// The bidder's registration has changed, or has a limit: bids ask the store.
    pub(super) fn forget(&self, auction: Uuid, paddle: &str) {
        let mut known = self.lock();
        let before = known.auctions.get_mut(&auction).and_then(|bidders| bidders.remove(paddle));
        known.count -= usize::from(before.is_some());
    }

    fn lock(&self) -> MutexGuard<'_, CacheEntries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_differs_from_who_is_not_registered() {
        let known = RegistrationCache::default();
        let auction = Uuid::from_u128(1);
        assert_eq!(known.get(auction, "12"), None);
        known.remember(auction, "12", None);
        assert_eq!(known.get(auction, "12"), Some(None));
        assert_eq!(known.get(Uuid::from_u128(2), "12"), None);
        known.forget(auction, "12");
        assert_eq!(known.get(auction, "12"), None);
    }

    #[test]
    fn too_many_are_forgotten_together() {
        let known = RegistrationCache::default();
        let auction = Uuid::from_u128(1);
        for number in 0..=ENTRIES_MAX {
            known.remember(auction, &number.to_string(), None);
            known.remember(auction, &number.to_string(), None);
        }
        assert_eq!((known.get(auction, "0"), known.get(auction, &ENTRIES_MAX.to_string())), (None, Some(None)));
    }
}
