//! Ends due items in one commit.

use std::sync::Arc;

use jiff::Timestamp;
use platform_rules::{Auction, Item, ItemCommand};
use uuid::Uuid;

use super::{ACTOR, EndReport};
use crate::Platform;
use crate::port::{Change, Downtime, StoreError, StoreResult};

/// The extension of ends that passed in a downtime.
#[derive(Debug, Clone, Copy)]
pub(super) struct DowntimeExtension {
    pub(super) downtime: Downtime,
    pub(super) to: Timestamp,
}

impl DowntimeExtension {
    /// The end that the item gets, if it became due in the downtime.
    fn of(self, item: &Item, now: Timestamp) -> Option<Timestamp> {
        let end = item.effective_end_time?;
        (self.downtime.contains(end) && self.to > now).then_some(self.to)
    }
}

/// Ends items in one commit; returns the report, and an item that another transaction changed first.
pub(super) async fn end_batch(
    platform: Platform,
    due: Vec<(Item, Arc<Auction>)>,
    downtime_extension: Option<DowntimeExtension>,
    now: Timestamp,
) -> StoreResult<(EndReport, Option<Uuid>)> {
    let mut ended = EndReport::default();
    let mut changes = Vec::with_capacity(due.len());
    let mut ends = Vec::with_capacity(due.len());
    for (item, auction) in due {
        let (uuid, end_at) = (item.uuid, item.effective_end_time);
        let extended_to = downtime_extension.and_then(|extension| extension.of(&item, now));
        match end(&platform, &auction, item, extended_to, now) {
            Ok(change) => {
                changes.push(change);
                ends.push((uuid, end_at.filter(|_| extended_to.is_none())));
            }
            Err(rejection) => {
                tracing::error!(item_id = %uuid, %rejection, "a due item could not be ended");
                ended.refused += 1;
            }
        }
    }
    if changes.is_empty() {
        return Ok((ended, None));
    }
    let results = platform.commit_all(changes).await?;
    let committed_at = platform.now();
    let mut conflicting_item = None;
    for ((uuid, end_at), result) in ends.into_iter().zip(results) {
        match result {
            Ok(_) => {
                ended.items += 1;
                end_at.into_iter().for_each(|end_at| platform.metrics().ended(end_at, committed_at));
            }
            Err(StoreError::Conflict) => {
                ended.conflicts += 1;
                conflicting_item = conflicting_item.or(Some(uuid));
            }
            Err(error) => return Err(error),
        }
    }
    Ok((ended, conflicting_item))
}

fn end(
    platform: &Platform,
    auction: &Auction,
    item: Item,
    extended_to: Option<Timestamp>,
    now: Timestamp,
) -> Result<(Uuid, Change), platform_rules::Rejection> {
    let command = extended_to.map_or(ItemCommand::ReachEnd, |to| ItemCommand::ExtendEndAfterDowntime { to });
    let changes = platform_rules::item::decide(auction, &item, command, now)?;
    let customer = item.customer;
    let mut draft = platform.build_change(ACTOR, now);
    draft.item(auction, item, &changes);
    Ok((customer, draft.finish::<()>(None, &())))
}
