//! What a commit leaves for those who listen, once it is durable.

use std::time::Duration;

use platform_rules::BidSource;
use uuid::Uuid;

use super::Live;
use super::channel::LiveUpdate;
use crate::port::{Change, CommitReceipt, StoreResult};

/// Items of one change that are handed to a channel as they are; with more it looks them up.
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
    /// To be called before a commit.
    pub(crate) fn prepare_updates(&self, changes: &[(Uuid, Change)]) -> PendingUpdates {
        let mut updates = Vec::with_capacity(changes.len());
        for (place, (_, change)) in changes.iter().enumerate() {
            if let Some(auction) = &change.auction {
                let auction = &auction.state;
                let update = self.channel(auction.uuid).map(|_| LiveUpdate::Auction(Box::new(auction.clone())));
                updates.push(PendingUpdate { change: place, auction: auction.uuid, item: None, update });
            }
            let is_handed = change.items.len() <= ITEMS_PASSED_MAX;
            for item in &change.items {
                let item = &item.state;
                // Nothing that is shown has changed, and that something did would tell of it.
                if change.bids.iter().any(|bid| bid.item == item.uuid && bid.source == BidSource::Absentee) {
                    continue;
                }
                let channel = self.channel(item.auction).filter(|_| is_handed);
                let update = channel.map(|_| LiveUpdate::Item(Box::new(item.clone())));
                updates.push(PendingUpdate { change: place, auction: item.auction, item: Some(item.uuid), update });
            }
        }
        PendingUpdates { live: self.clone(), updates }
    }
}

impl PendingUpdates {
    /// The commit is durable: `results` has an answer for each change.
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
        if let Some(notices_out) = &live.shared.notices_out {
            notices_out.add(self.auction, self.item);
        }
    }
}
