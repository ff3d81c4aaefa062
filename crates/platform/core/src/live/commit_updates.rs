//! The updates that a durable commit sends to channels and to other nodes.

use std::time::Duration;

use platform_rules::BidSource;
use uuid::Uuid;

use super::Live;
use super::channel::LiveUpdate;
use crate::port::{Change, CommitReceipt, StoreResult};

/// Items of one change whose states are sent to the channel; with more, the channel reloads them.
const ITEMS_PASSED_MAX: usize = 64;

/// Time after which a commit whose caller was cancelled has certainly ended.
const COMMIT_TIMEOUT: Duration = Duration::from_secs(1);

/// The updates of a commit under way, for auctions that have listeners or may have them by the end of the commit. If it
/// is dropped without an outcome, the channels reload the items, because the commit may have succeeded.
pub(crate) struct PendingUpdates {
    live: Live,
    updates: Vec<PendingUpdate>,
}

struct PendingUpdate {
    /// Place of the change in the commit.
    change: usize,
    auction: Uuid,
    item: Option<Uuid>,
    /// The state, if there are listeners.
    update: Option<LiveUpdate>,
}

impl Live {
    /// Prepares the updates of a commit. Called before the commit.
    pub(crate) fn prepare_updates(&self, changes: &[(Uuid, Change)]) -> PendingUpdates {
        let mut updates = Vec::with_capacity(changes.len());
        for (place, (_, change)) in changes.iter().enumerate() {
            if let Some(auction) = &change.auction {
                let auction = &auction.state;
                let update = self.channel(auction.uuid).map(|_| LiveUpdate::Auction(Box::new(auction.clone())));
                updates.push(PendingUpdate { change: place, auction: auction.uuid, item: None, update });
            }
            let sends_states = change.items.len() <= ITEMS_PASSED_MAX;
            for item in &change.items {
                let item = &item.state;
                // An absentee bid changes nothing public, and an update would reveal that one was left or withdrawn.
                let is_left = change.bids.iter().any(|bid| bid.item == item.uuid && bid.source == BidSource::Absentee);
                let strikes: Vec<_> = change.bid_strikes.iter().filter(|strike| strike.item == item.uuid).collect();
                let are_secret = strikes.iter().all(|strike| item.shown_number(strike.number).is_none());
                if is_left || (!strikes.is_empty() && are_secret) {
                    continue;
                }
                let channel = self.channel(item.auction).filter(|_| sends_states);
                let update = channel.map(|_| LiveUpdate::Item(Box::new(item.clone())));
                updates.push(PendingUpdate { change: place, auction: item.auction, item: Some(item.uuid), update });
            }
        }
        PendingUpdates { live: self.clone(), updates }
    }
}

impl PendingUpdates {
    /// Sends the updates of a durable commit; `results` has one result for each change.
    pub(crate) fn committed(mut self, results: &[StoreResult<CommitReceipt>]) {
        for pending in std::mem::take(&mut self.updates) {
            if results.get(pending.change).is_some_and(Result::is_ok) {
                pending.send(&self.live);
            }
        }
    }
}

impl Drop for PendingUpdates {
    fn drop(&mut self) {
        let updates = std::mem::take(&mut self.updates);
        if updates.is_empty() {
            return;
        }
        let live = self.live.clone();
        // The caller may have been cancelled during the commit.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                kit_runtime::backoff::pause(COMMIT_TIMEOUT).await;
                for pending in updates {
                    PendingUpdate { update: None, ..pending }.send(&live);
                }
            });
        }
    }
}

impl PendingUpdate {
    fn send(self, live: &Live) {
        // A listener who subscribed during the commit may have read the old state; its channel was open by then.
        if let Some(channel) = live.channel(self.auction) {
            channel.send(self.update.unwrap_or(LiveUpdate::Reload(self.item)));
        }
        if let Some(outgoing) = &live.shared.outgoing {
            outgoing.add(self.auction, self.item);
        }
    }
}
