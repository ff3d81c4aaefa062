//! Limits how many listeners a node has in all, how many listen to the auctions of one customer, and how many visitors of
//! salerooms have one address. Visitors have slots of their own, so that a crowd takes none from a desk.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

use uuid::Uuid;

use super::LiveConfig;
use crate::error::PlatformError;

/// Bits of an IPv6 address that belong to one client.
const NETWORK_BITS: u32 = 64;

/// The listeners of this node.
pub(super) struct ListenerSlots {
    listeners_max: usize,
    listeners_per_customer_max: usize,
    listeners_per_address_max: usize,
    taken: Arc<Mutex<TakenSlots>>,
}

#[derive(Default)]
struct TakenSlots {
    all: usize,
    /// Only customers with listeners have an entry.
    by_customer: HashMap<Uuid, usize>,
    /// Only addresses with listeners have an entry.
    by_address: HashMap<IpAddr, usize>,
}

/// The slot of one listener. Dropping it releases the slot.
pub(super) struct ListenerSlot {
    customer: Uuid,
    address: Option<IpAddr>,
    taken: Arc<Mutex<TakenSlots>>,
}

impl ListenerSlots {
    /// The slots of callers with a key or session.
    pub(super) fn of_callers(config: &LiveConfig) -> Self {
        Self {
            listeners_max: config.listeners_max,
            listeners_per_customer_max: config.listeners_per_customer_max,
            listeners_per_address_max: usize::MAX,
            taken: Arc::default(),
        }
    }

    /// The slots of visitors of salerooms.
    pub(super) fn of_visitors(config: &LiveConfig) -> Self {
        Self {
            listeners_max: config.visitors_max,
            listeners_per_customer_max: config.visitors_per_house_max,
            listeners_per_address_max: config.visitors_per_address_max,
            taken: Arc::default(),
        }
    }

    /// A slot for a listener to an auction of this customer, from this address if it is known.
    ///
    /// Errors: `listeners_full`.
    pub(super) fn take(&self, customer: Uuid, address: Option<IpAddr>) -> Result<ListenerSlot, PlatformError> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.all >= self.listeners_max {
            return Err(PlatformError::ListenersFull { of: "this node", maximum: self.listeners_max });
        }
        let of_customer = taken.by_customer.get(&customer).copied().unwrap_or_default();
        if of_customer >= self.listeners_per_customer_max {
            let maximum = self.listeners_per_customer_max;
            return Err(PlatformError::ListenersFull { of: "this customer on this node", maximum });
        }
        let address = address.map(client_of);
        let of_address = address.and_then(|address| taken.by_address.get(&address)).copied().unwrap_or_default();
        if of_address >= self.listeners_per_address_max {
            let maximum = self.listeners_per_address_max;
            return Err(PlatformError::ListenersFull { of: "this address on this node", maximum });
        }
        taken.all += 1;
        taken.by_customer.insert(customer, of_customer + 1);
        if let Some(address) = address {
            taken.by_address.insert(address, of_address + 1);
        }
        Ok(ListenerSlot { customer, address, taken: Arc::clone(&self.taken) })
    }
}

/// The IPv4 address, or the network of the IPv6 address.
fn client_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> NETWORK_BITS << NETWORK_BITS).into(),
        address => address,
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
        if let Some(address) = self.address
            && let Some(listeners) = taken.by_address.get_mut(&address)
        {
            *listeners = listeners.saturating_sub(1);
            if *listeners == 0 {
                taken.by_address.remove(&address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_customer_without_listeners_takes_no_memory() {
        let slots = ListenerSlots::of_visitors(&LiveConfig::default());
        let address = Some(IpAddr::from([192, 0, 2, 1]));
        let taken: Vec<_> = (1..=3).map(|customer| slots.take(Uuid::from_u128(customer), address).ok()).collect();
        assert_eq!(slots.taken.lock().unwrap().all, 3);
        drop(taken);
        let left = slots.taken.lock().unwrap();
        assert!(left.all == 0 && left.by_customer.is_empty() && left.by_address.is_empty());
    }

    #[test]
    fn the_visitors_of_one_address_do_not_block_those_of_another() {
        let config = LiveConfig { visitors_per_address_max: 2, ..LiveConfig::default() };
        let slots = ListenerSlots::of_visitors(&config);
        let take = |address: &str| slots.take(Uuid::nil(), Some(address.parse().unwrap())).ok();
        let _taken =
            [take("192.0.2.1"), take("::ffff:192.0.2.1"), take("2001:db8::1"), take("2001:db8::2")].map(Option::unwrap);
        assert!(take("192.0.2.1").is_none() && take("2001:db8::3").is_none());
        assert!(take("192.0.2.2").is_some() && take("2001:db8:0:1::1").is_some());
        let callers = ListenerSlots::of_callers(&config);
        let many: Vec<_> = (0..3).map(|_| callers.take(Uuid::nil(), None).ok()).collect();
        assert!(many.iter().all(Option::is_some), "callers have no limit for an address");
    }
}
