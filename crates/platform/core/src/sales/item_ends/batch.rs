//! Ends due items in one commit.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use platform_rules::{Auction, Item, ItemCommand};
use uuid::Uuid;

use super::{ACTOR, EndReport};
use crate::Platform;
use crate::port::{Change, Downtime, StoreError, StoreResult};

/// The extension of ends that passed in a downtime.
#[derive(Debug)]
pub(super) struct DowntimeExtension {
    pub(super) downtime: Downtime,
    pub(super) to: ExtendedEnds,
}

/// The end that an item gets.
#[derive(Debug)]
pub(super) enum ExtendedEnds {
    /// All items the same.
    All(Timestamp),
    /// The items of each customer the same.
    Of(HashMap<Uuid, Timestamp>),
}

impl DowntimeExtension {
    /// The end that the item gets, if it became due in the downtime.
    fn of(&self, item: &Item, now: Timestamp) -> Option<Timestamp> {
        let end = item.effective_end_time.filter(|end| self.downtime.contains(*end));
        let to = match &self.to {
            ExtendedEnds::All(to) => Some(*to),
            ExtendedEnds::Of(customers) => customers.get(&item.customer).copied(),
        };
        to.filter(|to| end.is_some() && *to > now)
    }
}

/// Ends items in one commit; returns the report, and an item that another transaction changed first.
pub(super) async fn end_batch(
    platform: Platform,
    due: Vec<(Item, Arc<Auction>)>,
    downtime_extension: Option<Arc<DowntimeExtension>>,
    now: Timestamp,
) -> StoreResult<(EndReport, Option<Uuid>)> {
    let mut ended = EndReport::default();
    let mut changes = Vec::with_capacity(due.len());
    let mut ends = Vec::with_capacity(due.len());
    for (item, auction) in due {
        let (uuid, end_at) = (item.uuid, item.effective_end_time);
        let extended_to = downtime_extension.as_ref().and_then(|extension| extension.of(&item, now));
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
