//! Limits how many listeners a node has in all, and how many listen to the auctions of one customer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use uuid::Uuid;

use super::LiveConfig;
use crate::error::PlatformError;

/// The listeners of this node.
pub(super) struct ListenerSlots {
    listeners_max: usize,
    listeners_per_customer_max: usize,
    taken: Arc<Mutex<TakenSlots>>,
}

#[derive(Default)]
struct TakenSlots {
    all: usize,
    /// Only customers with listeners have an entry.
    by_customer: HashMap<Uuid, usize>,
}

/// The slot of one listener. Dropping it releases the slot.
pub(super) struct ListenerSlot {
    customer: Uuid,
    taken: Arc<Mutex<TakenSlots>>,
}

impl ListenerSlots {
    pub(super) fn new(config: &LiveConfig) -> Self {
        Self {
            listeners_max: config.listeners_max,
            listeners_per_customer_max: config.listeners_per_customer_max,
            taken: Arc::default(),
        }
    }

    /// A slot for a listener to an auction of this customer.
    ///
    /// Errors: `listeners_full`.
    pub(super) fn take(&self, customer: Uuid) -> Result<ListenerSlot, PlatformError> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.all >= self.listeners_max {
            return Err(PlatformError::ListenersFull { of: "this node", maximum: self.listeners_max });
        }
        let of_customer = taken.by_customer.get(&customer).copied().unwrap_or_default();
        if of_customer >= self.listeners_per_customer_max {
            let maximum = self.listeners_per_customer_max;
            return Err(PlatformError::ListenersFull { of: "this customer on this node", maximum });
        }
        taken.all += 1;
        taken.by_customer.insert(customer, of_customer + 1);
        Ok(ListenerSlot { customer, taken: Arc::clone(&self.taken) })
    }
}

impl Drop for ListenerSlot {
    fn drop(&mut self) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.all = taken.all.saturating_sub(1);
        if let Some(listeners) = taken.by_customer.get_mut(&self.customer) {
            *listeners = listeners.saturating_sub(1);
            if *listeners == 0 {
                taken.by_customer.remove(&self.customer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_customer_without_listeners_takes_no_memory() {
        let slots = ListenerSlots::new(&LiveConfig::default());
        let taken: Vec<_> = (1..=3).map(|customer| slots.take(Uuid::from_u128(customer)).ok()).collect();
        assert_eq!(slots.taken.lock().unwrap().all, 3);
        drop(taken);
        let left = slots.taken.lock().unwrap();
        assert!(left.all == 0 && left.by_customer.is_empty());
    }
}
