//! What a commit leaves for those who listen, once it is durable.

use std::time::Duration;

use platform_rules::BidSource;
use uuid::Uuid;

use super::Live;
use super::room::News;
use crate::port::{Change, Receipt, StoreResult};

/// Items of one change that are handed to a room as they are; with more it looks them up.
const ITEMS_HANDED_MAX: usize = 64;

/// When a commit that nobody waits for any more is over.
const COMMITTED_BY_THEN: Duration = Duration::from_secs(1);

/// What is about to be committed, of auctions that somebody listens to, or may by then. If nobody says what became of it, it
/// is looked up: it may have become true all the same.
pub(crate) struct Followed {
    live: Live,
    notes: Vec<Note>,
}

struct Note {
    /// Place of the change in the commit.
    change: usize,
    auction: Uuid,
    item: Option<Uuid>,
    /// The state, if somebody listens.
    news: Option<News>,
}

impl Live {
    /// To be called before a commit.
    pub(crate) fn follow(&self, changes: &[(Uuid, Change)]) -> Followed {
        let mut notes = Vec::with_capacity(changes.len());
        for (place, (_, change)) in changes.iter().enumerate() {
            if let Some(auction) = &change.auction {
                let auction = &auction.state;
                let news = self.room(auction.uuid).map(|_| News::Auction(Box::new(auction.clone())));
                notes.push(Note { change: place, auction: auction.uuid, item: None, news });
            }
            let is_handed = change.items.len() <= ITEMS_HANDED_MAX;
            for item in &change.items {
                let item = &item.state;
                // Nothing that is shown has changed, and that something did would tell of it.
                if change.bids.iter().any(|bid| bid.item == item.uuid && bid.source == BidSource::Absentee) {
                    continue;
                }
                let room = self.room(item.auction).filter(|_| is_handed);
                let news = room.map(|_| News::Item(Box::new(item.clone())));
                notes.push(Note { change: place, auction: item.auction, item: Some(item.uuid), news });
            }
        }
        Followed { live: self.clone(), notes }
    }
}

impl Followed {
    /// The commit is durable: `results` has an answer for each change.
    pub(crate) fn committed(mut self, results: &[StoreResult<Receipt>]) {
        for note in std::mem::take(&mut self.notes) {
            if results.get(note.change).is_some_and(Result::is_ok) {
                note.tell(&self.live);
            }
        }
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        let notes = std::mem::take(&mut self.notes);
        if notes.is_empty() {
            return;
        }
        let live = self.live.clone();
        // Whoever asked may have gone away while the store was still at it.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                tokio::time::sleep(COMMITTED_BY_THEN).await;
                for note in notes {
                    Note { news: None, ..note }.tell(&live);
                }
            });
        }
    }
}

impl Note {
    fn tell(self, live: &Live) {
        // Whoever came in between has read the store before the commit, perhaps: the room was there by then.
        if let Some(room) = live.room(self.auction) {
            room.tell(self.news.unwrap_or(News::Look(self.item)));
        }
        if let Some(elsewhere) = &live.shared.elsewhere {
            elsewhere.add(self.auction, self.item);
        }
    }
}
