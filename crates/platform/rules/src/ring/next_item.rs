//! Which item the clerk sends next when the clerk names none.

use contract::ItemStatus;

use crate::{Auction, Item, RingStatus};

/// The first waiting item after the item that was sent last, in running order. After the end of the catalogue, the
/// search continues from its beginning. None when no item waits.
pub fn next_to_send<'a>(auction: &Auction, items: impl IntoIterator<Item = &'a Item>) -> Option<&'a Item> {
    let waiting = items.into_iter().filter(|item| item.waits_for_ring());
    waiting.min_by_key(|item| (auction.ring_position.is_some_and(|sent| item.position <= sent), item.position))
}

impl Item {
    /// True when the item is LIVE and was not offered yet, or waits to be offered again.
    pub fn waits_for_ring(&self) -> bool {
        self.status == ItemStatus::Live && self.ring == RingStatus::Waiting
    }
}
