//! The order in which items are sent into the ring.

use contract::ItemStatus;
use platform_rules::{Auction, Item};

use crate::Platform;
use crate::error::PlatformResult;
use crate::port::Page;

/// Items read from the store at once.
const ITEMS_READ_MAX: usize = 200;
/// Reads for a preview of the next items. In a longer catalogue, the preview may show fewer items than wait.
pub(super) const READS_MAX: usize = 10;

impl Platform {
    /// The waiting items in the order in which they would be sent: first the items after the place, then those that wait
    /// again or began to wait behind the place. `changed` is an item with a change that is not committed yet; it replaces
    /// the stored one.
    pub(super) async fn upcoming(
        &self,
        auction: &Auction,
        changed: Option<&Item>,
        wanted: usize,
        mut reads_left: usize,
    ) -> PlatformResult<Vec<Item>> {
        // An item that was not LIVE before the change is not among the LIVE ones in the store.
        let mut found: Vec<Item> = changed.into_iter().filter(|item| item.waits_for_ring()).cloned().collect();
        let in_turn = |found: &[Item]| found.iter().filter(|item| !item.turn(auction).0).count();
        for mut after in [auction.ring_position, None] {
            let is_whole_catalogue = after.is_none();
            while reads_left > 0 && in_turn(&found) < wanted {
                reads_left -= 1;
                let page = Page { after, limit: ITEMS_READ_MAX };
                let items = self.store().items_with_status(auction.uuid, &[ItemStatus::Live], page).await?;
                let is_last = items.len() < ITEMS_READ_MAX;
                after = items.last().map(|item| item.position);
                for item in items {
                    let is_known = found.iter().any(|known| known.uuid == item.uuid);
                    let is_changed = changed.is_some_and(|changed| changed.uuid == item.uuid);
                    if item.waits_for_ring() && !is_known && !is_changed {
                        found.push(item);
                    }
                }
                if is_last {
                    break;
                }
            }
            if is_whole_catalogue {
                break;
            }
        }
        found.sort_by_key(|item| item.turn(auction));
        found.truncate(wanted);
        Ok(found)
    }
}
