//! Which item the clerk sends next when the clerk names none.

use contract::ItemStatus;

use crate::{Auction, Item, RingStatus};

/// The first waiting item in running order after the place of the auction, which is the place of the last item that was
/// next when it was sent. Items that wait to be offered again, and items that began to wait behind the place, follow after
/// the last lot. None when no item waits.
pub fn next_to_send<'a>(auction: &Auction, items: impl IntoIterator<Item = &'a Item>) -> Option<&'a Item> {
    items.into_iter().filter(|item| item.waits_for_ring()).min_by_key(|item| item.turn(auction))
}

impl Item {
    /// True when the item is LIVE and was not offered yet, or waits to be offered again.
    pub fn waits_for_ring(&self) -> bool {
        self.status == ItemStatus::Live && matches!(self.ring, RingStatus::Waiting | RingStatus::WaitingAgain)
    }

    /// The order in which waiting items are sent.
    pub fn turn(&self, auction: &Auction) -> (bool, i64) {
        let is_behind = auction.ring_position.is_some_and(|place| self.position <= place);
        (is_behind || self.ring == RingStatus::WaitingAgain, self.position)
    }
}
