//! Which item is next.

use contract::ItemStatus;

use crate::{Auction, Item, RingStatus};

/// The item that "next" sends: of those that are LIVE and wait, the first one behind the item that was sent last; behind
/// the last one of the catalogue it goes on from its beginning, with what was left out. None when nothing waits.
pub fn next_to_send<'a>(auction: &Auction, items: impl IntoIterator<Item = &'a Item>) -> Option<&'a Item> {
    let waiting = items.into_iter().filter(|item| item.waits_for_ring());
    waiting.min_by_key(|item| (auction.ring_position.is_some_and(|sent| item.position <= sent), item.position))
}

impl Item {
    /// If "next" may send it: it is LIVE and was not offered yet, or is to be offered again.
    pub fn waits_for_ring(&self) -> bool {
        self.status == ItemStatus::Live && self.ring == RingStatus::Waiting
    }
}
