//! The load of all lanes. The shared limits are divided evenly among the accounts with deliveries, and within an
//! account evenly among its endpoints, so that an account gets no larger share by having more endpoints.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use crate::model::Id;

#[derive(Default)]
pub(super) struct Load {
    active_lanes: AtomicUsize,
    active_accounts: Arc<AtomicUsize>,
    accounts: Mutex<HashMap<Id, Arc<AccountLoad>>>,
    pub(super) under_way: AtomicUsize,
    /// Notified when an attempt ends while draining.
    pub(super) ended: Notify,
}

/// The load of one account. The account's lanes hold it.
pub(super) struct AccountLoad {
    active_lanes: AtomicUsize,
    active_accounts: Arc<AtomicUsize>,
}

#[derive(Default)]
pub(super) struct Share {
    account: Option<Arc<AccountLoad>>,
    /// Whether the lane has deliveries.
    active: bool,
}

impl Load {
    pub(super) fn active_lanes(&self) -> usize {
        self.active_lanes.load(Ordering::Acquire)
    }

    pub(super) fn account(&self, account: &Id) -> Arc<AccountLoad> {
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(load) = accounts.get(account) {
            return Arc::clone(load);
        }
        let load = Arc::new(AccountLoad {
            active_lanes: AtomicUsize::new(0),
            active_accounts: Arc::clone(&self.active_accounts),
        });
        accounts.insert(account.clone(), Arc::clone(&load));
        load
    }

    pub(super) fn remove_unused(&self) {
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        accounts.retain(|_, load| Arc::strong_count(load) > 1);
    }
}

impl AccountLoad {
    fn begin(&self) {
        if self.active_lanes.fetch_add(1, Ordering::AcqRel) == 0 {
            self.active_accounts.fetch_add(1, Ordering::AcqRel);
        }
    }

    fn end(&self) {
        if self.active_lanes.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.active_accounts.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

impl Share {
    /// Sets the lane's account, once.
    pub(super) fn set_account(&mut self, account: impl FnOnce() -> Arc<AccountLoad>) {
        if self.account.is_none() {
            let account = account();
            if self.active {
                account.begin();
            }
            self.account = Some(account);
        }
    }

    /// Sets whether the lane has deliveries.
    pub(super) fn set_active(&mut self, active: bool, load: &Load) {
        if active == self.active {
            return;
        }
        self.active = active;
        if active {
            load.active_lanes.fetch_add(1, Ordering::AcqRel);
            self.account.iter().for_each(|account| account.begin());
        } else {
            load.active_lanes.fetch_sub(1, Ordering::AcqRel);
            self.account.iter().for_each(|account| account.end());
        }
    }

    /// The lane gets 1/`share_divisor` of the shared limits. Until the lane's account is known, all lanes count as
    /// lanes of one account.
    pub(super) fn share_divisor(&self, load: &Load) -> usize {
        match &self.account {
            Some(account) => {
                let lanes = account.active_lanes.load(Ordering::Acquire).max(1);
                lanes.saturating_mul(load.active_accounts.load(Ordering::Acquire).max(1))
            }
            None => load.active_lanes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_gets_no_more_by_having_more_endpoints() {
        let load = Load::default();
        let lane = |account: &str| {
            let mut share = Share::default();
            share.set_active(true, &load);
            share.set_account(|| load.account(&account.into()));
            share
        };
        let mut many: Vec<Share> = (0..1_000).map(|_| lane("acc_many")).collect();
        assert_eq!(many[0].share_divisor(&load), 1_000, "the only account has the whole share");
        let mut one = lane("acc_one");
        assert_eq!((one.share_divisor(&load), many[0].share_divisor(&load)), (2, 2_000));
        one.set_active(false, &load);
        one.set_active(false, &load);
        assert_eq!(many[0].share_divisor(&load), 1_000, "an account without deliveries has no share");
        many.truncate(10);
        load.remove_unused();
        assert_eq!(load.accounts.lock().unwrap().len(), 2);
        drop((many, one));
        load.remove_unused();
        assert!(load.accounts.lock().unwrap().is_empty());
    }

    #[test]
    fn an_active_lane_counts_for_its_account_when_the_account_is_set() {
        let load = Load::default();
        let mut share = Share::default();
        share.set_active(true, &load);
        assert_eq!(share.share_divisor(&load), 1);
        share.set_account(|| load.account(&"acc_1".into()));
        share.set_account(|| unreachable!("the account is set once"));
        share.set_active(false, &load);
        assert_eq!(load.active_accounts.load(Ordering::Acquire), 0);
        assert_eq!(load.active_lanes(), 0);
    }
}
