//! The order in which items are sent into the ring.

use platform_rules::{Auction, Item};

use crate::Platform;
use crate::error::PlatformResult;
use crate::port::Page;

/// Items read from the store at once.
const ITEMS_READ_MAX: usize = 200;
/// Reads for a preview of the next items. In a longer catalogue, the preview may show fewer items than wait.
pub(super) const READS_MAX: usize = 10;

impl Platform {
    /// The waiting items in the order in which they would be sent: first the items after the one that was sent last,
    /// then from the beginning of the catalogue. `changed` is an item with a change that is not committed yet; it
    /// replaces the stored one.
    pub(super) async fn upcoming(
        &self,
        auction: &Auction,
        changed: Option<&Item>,
        wanted: usize,
        mut reads_left: usize,
    ) -> PlatformResult<Vec<Item>> {
        let mut found: Vec<Item> = Vec::new();
        let ends = [auction.ring_position, None];
        let rounds = if auction.ring_position.is_some() { &ends[..] } else { &ends[1..] };
        for (mut after, is_last_round) in rounds.iter().copied().zip([rounds.len() == 1, true]) {
            let until = auction.ring_position.filter(|_| is_last_round).unwrap_or(i64::MAX);
            loop {
                if found.len() == wanted || reads_left == 0 {
                    return Ok(found);
                }
                reads_left -= 1;
                let items = self.store().items(auction.uuid, Page { after, limit: ITEMS_READ_MAX }).await?;
                let Some(end) = items.last().map(|item| item.position).filter(|_| after.is_none_or(|at| at < until))
                else {
                    break;
                };
                let items = items.into_iter().take_while(|item| item.position <= until);
                let with_change =
                    |item: Item| changed.filter(|changed| changed.uuid == item.uuid).cloned().unwrap_or(item);
                let waiting = items.map(with_change).filter(Item::waits_for_ring);
                found.extend(waiting.take(wanted - found.len()));
                after = Some(end);
            }
        }
        Ok(found)
    }
}
