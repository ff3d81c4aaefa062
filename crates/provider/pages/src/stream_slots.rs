//! Limits the streams of live updates that are open at the same time: in total, of one application, and of one IP
//! address, so that one visitor does not hold the streams of all.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

use provider_core::model::Id;

/// Streams of all visitors.
const STREAMS_MAX: usize = 500;
/// Streams of one application: of its engineers, in all their windows.
const OF_APPLICATION_MAX: usize = 25;
/// Streams of one address: an office may share it.
const OF_ADDRESS_MAX: usize = 50;
/// The bits of an IPv6 address that name its network. A client usually has one of its own.
const NETWORK_BITS: u32 = 64;

/// Counts the open streams. Clones share the numbers.
#[derive(Clone, Default)]
pub(crate) struct StreamSlots(Arc<Mutex<Open>>);

#[derive(Default)]
struct Open {
    total: usize,
    of_application: HashMap<Id, usize>,
    of_address: HashMap<IpAddr, usize>,
}

/// The place of an open stream. Dropping it releases the place.
pub(crate) struct StreamSlot {
    slots: StreamSlots,
    application: Id,
    address: Option<IpAddr>,
}

impl StreamSlots {
    /// A place for a stream; none when there are too many in total, of the application, or of the address.
    pub(crate) fn take(&self, application: &Id, from: Option<IpAddr>) -> Option<StreamSlot> {
        let address = from.map(client_of);
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_address = address.and_then(|address| open.of_address.get(&address)).copied().unwrap_or_default();
        let of_application = open.of_application.get(application).copied().unwrap_or_default();
        if open.total >= STREAMS_MAX || of_application >= OF_APPLICATION_MAX || of_address >= OF_ADDRESS_MAX {
            return None;
        }
        open.total += 1;
        *open.of_application.entry(application.clone()).or_default() += 1;
        if let Some(address) = address {
            *open.of_address.entry(address).or_default() += 1;
        }
        Some(StreamSlot { slots: self.clone(), application: application.clone(), address })
    }
}

impl Drop for StreamSlot {
    fn drop(&mut self) {
        let mut open = self.slots.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.total = open.total.saturating_sub(1);
        release(&mut open.of_application, &self.application);
        if let Some(address) = &self.address {
            release(&mut open.of_address, address);
        }
    }
}

/// An owner without a stream takes no memory.
fn release<K: Eq + Hash>(open: &mut HashMap<K, usize>, owner: &K) {
    if let Some(streams) = open.get_mut(owner) {
        *streams = streams.saturating_sub(1);
        if *streams == 0 {
            open.remove(owner);
        }
    }
}

/// The IPv4 address, or the network of the IPv6 address.
fn client_of(from: IpAddr) -> IpAddr {
    match from.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> NETWORK_BITS << NETWORK_BITS).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(text: &str) -> Option<IpAddr> {
        Some(text.parse().unwrap())
    }

    /// Takes places until none is left.
    fn take_all(slots: &StreamSlots, application: &str, address: &str) -> Vec<StreamSlot> {
        std::iter::from_fn(|| slots.take(&application.into(), from(address))).collect()
    }

    #[test]
    fn an_application_and_an_address_have_a_part_of_the_streams() {
        let slots = StreamSlots::default();
        let first = take_all(&slots, "app_1", "192.0.2.1");
        assert_eq!(first.len(), OF_APPLICATION_MAX);
        assert!(slots.take(&"app_1".into(), from("192.0.2.9")).is_none(), "another address of the application");
        let second = take_all(&slots, "app_2", "::ffff:192.0.2.1");
        assert_eq!(second.len(), OF_ADDRESS_MAX - OF_APPLICATION_MAX);
        assert!(slots.take(&"app_3".into(), from("192.0.2.1")).is_none(), "another application of the address");
        assert!(slots.take(&"app_3".into(), from("192.0.2.2")).is_some());
        drop(first);
        assert_eq!(take_all(&slots, "app_1", "192.0.2.1").len(), OF_APPLICATION_MAX);
        drop(second);
        let open = slots.0.lock().unwrap();
        assert_eq!((open.total, open.of_application.len(), open.of_address.len()), (0, 0, 0));
    }

    #[test]
    fn the_addresses_of_an_ipv6_network_count_together_and_all_streams_have_a_limit() {
        let slots = StreamSlots::default();
        let of_network: Vec<StreamSlot> = (0..100)
            .filter_map(|number: usize| {
                slots.take(&format!("app_{number}").into(), from(&format!("2001:db8::{number}")))
            })
            .collect();
        assert_eq!(of_network.len(), OF_ADDRESS_MAX);
        let of_all: Vec<StreamSlot> = (0..1_000)
            .filter_map(|number: usize| {
                slots.take(&format!("app_{number}").into(), from(&format!("10.0.{}.{}", number / 250, number % 250)))
            })
            .collect();
        assert_eq!(of_network.len() + of_all.len(), STREAMS_MAX);
    }
}
