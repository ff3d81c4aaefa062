//! Auctions, items, bids and the journal.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use ::platform::bid::{Bid, BidMark};
use ::platform::journal::{JournalEntry, JournalRow};
use ::platform::port::{Cursor, ItemCounts, Page};
use auction::{Auction, Item, Realm};
use contract::ItemStatus;
use jiff::Timestamp;
use uuid::Uuid;

use super::slice;

#[derive(Default)]
pub(super) struct Sales {
    pub(super) auctions: BTreeMap<Uuid, Auction>,
    pub(super) items: HashMap<Uuid, Item>,
    /// Items by auction and position.
    pub(super) places: BTreeMap<(Uuid, i64), Uuid>,
    /// Items by auction and lot number.
    pub(super) lots: HashMap<(Uuid, String), Uuid>,
    /// LIVE items of real auctions that have an end.
    ends: BTreeSet<(Timestamp, Uuid)>,
    /// The same of sandbox auctions: auction, end, position.
    sandbox_ends: BTreeSet<(Uuid, Timestamp, i64)>,
    pub(super) bids: BTreeMap<(Uuid, i64), Bid>,
    /// The cursor of an entry is its place, from 1.
    journal: Vec<JournalRow>,
    /// Announced entries: customer, cursor.
    announced: BTreeSet<(Uuid, Cursor)>,
    /// Entries by subject and sequence.
    histories: BTreeMap<(Uuid, i64), Cursor>,
}

impl Sales {
    pub(super) fn auction(&self, uuid: Uuid) -> Option<Auction> {
        self.auctions.get(&uuid).cloned()
    }

    pub(super) fn auctions(&self, customer: Option<Uuid>, page: Page<Uuid>) -> Vec<Auction> {
        let theirs = |auction: &Auction| customer.is_none_or(|customer| auction.customer == customer);
        let rows = self.auctions.iter().filter(|(_, auction)| theirs(auction));
        slice(rows.map(|(uuid, auction)| (*uuid, auction)), page)
    }

    pub(super) fn item(&self, uuid: Uuid) -> Option<Item> {
        self.items.get(&uuid).cloned()
    }

    pub(super) fn items(&self, auction: Uuid, page: Page<i64>) -> Vec<Item> {
        let from = page.after.map_or(Bound::Included((auction, i64::MIN)), |after| Bound::Excluded((auction, after)));
        let places = self.places.range((from, Bound::Included((auction, i64::MAX))));
        places.filter_map(|(_, uuid)| self.item(*uuid)).take(page.limit).collect()
    }

    pub(super) fn item_counts(&self, auction: Uuid) -> ItemCounts {
        let mut counts = ItemCounts::default();
        let places = self.places.range((auction, i64::MIN)..=(auction, i64::MAX));
        for item in places.filter_map(|(_, uuid)| self.items.get(uuid)) {
            counts.total += 1;
            counts.live += u64::from(item.status == ItemStatus::Live);
            counts.suspended += u64::from(item.status == ItemStatus::Suspended);
            counts.passed += u64::from(item.status == ItemStatus::Passed);
            counts.with_bids += u64::from(item.has_bids());
        }
        counts
    }

    pub(super) fn bids(&self, item: Uuid, page: Page<i64>) -> Vec<Bid> {
        let rows = self.bids.range((item, i64::MIN)..=(item, i64::MAX));
        slice(rows.map(|((_, number), bid)| (*number, bid)), page)
    }

    pub(super) fn due_items(&self, now: Timestamp, limit: usize) -> Vec<(Item, Arc<Auction>)> {
        let due = self.ends.iter().take_while(|(end, _)| *end <= now);
        let with_auction = due.filter_map(|(_, uuid)| {
            let item = self.item(*uuid)?;
            let auction = self.auction(item.auction)?;
            Some((item, Arc::new(auction)))
        });
        with_auction.take(limit).collect()
    }

    pub(super) fn next_end(&self) -> Option<Timestamp> {
        self.ends.first().map(|(end, _)| *end)
    }

    pub(super) fn due_in_sandbox(&self, auction: Uuid, by: Timestamp, limit: usize) -> Vec<Item> {
        let due = self.sandbox_ends.range((auction, Timestamp::MIN, i64::MIN)..=(auction, by, i64::MAX));
        let items = due.filter_map(|(_, _, position)| self.item(*self.places.get(&(auction, *position))?));
        items.take(limit).collect()
    }

    /// Stores a state whose version has been checked.
    pub(super) fn put_item(&mut self, item: Item) {
        if let Some(before) = self.items.get(&item.uuid) {
            self.places.remove(&(before.auction, before.position));
            self.lots.remove(&(before.auction, before.lot_number.clone()));
            if let Some(end) = end_of(before) {
                self.ends.remove(&end);
            }
            if let Some(end) = sandbox_end_of(before) {
                self.sandbox_ends.remove(&end);
            }
        }
        self.places.insert((item.auction, item.position), item.uuid);
        self.lots.insert((item.auction, item.lot_number.clone()), item.uuid);
        self.ends.extend(end_of(&item));
        self.sandbox_ends.extend(sandbox_end_of(&item));
        self.items.insert(item.uuid, item);
    }

    pub(super) fn append_bid(&mut self, bid: Bid) {
        self.bids.insert((bid.item, bid.number), bid);
    }

    pub(super) fn mark_bid(&mut self, mark: BidMark) {
        if let Some(bid) = self.bids.get_mut(&(mark.item, mark.number)) {
            bid.struck = mark.struck;
        }
    }

    /// Rows are numbered from 1 without gaps.
    pub(super) fn last_cursor(&self) -> Cursor {
        Cursor::try_from(self.journal.len()).unwrap_or(Cursor::MAX)
    }

    /// Appends to the journal; the entry's cursor.
    pub(super) fn append(&mut self, entry: &JournalEntry) -> Cursor {
        let cursor = Cursor::try_from(self.journal.len() + 1).unwrap_or(Cursor::MAX);
        self.histories.insert((entry.subject, entry.sequence), cursor);
        if entry.event.is_some() {
            self.announced.insert((entry.customer, cursor));
        }
        self.journal.push(JournalRow {
            cursor,
            subject: entry.subject,
            kind: entry.kind,
            sequence: entry.sequence,
            from: entry.from.map(str::to_owned),
            to: entry.to.to_owned(),
            cause: entry.cause.to_owned(),
            actor: entry.actor.clone(),
            at: entry.at,
            reason: entry.reason.clone(),
            body: entry.event.as_ref().map(|event| event.to_json()),
        });
        cursor
    }

    pub(super) fn events_after(&self, customer: Uuid, page: Page<Cursor>) -> Vec<JournalRow> {
        let from = page.after.unwrap_or(0);
        let rows = self.announced.range((Bound::Excluded((customer, from)), Bound::Included((customer, Cursor::MAX))));
        rows.filter_map(|(_, cursor)| self.row(*cursor)).take(page.limit).cloned().collect()
    }

    pub(super) fn history(&self, subject: Uuid, page: Page<i64>) -> Vec<JournalRow> {
        let rows = self.histories.range((subject, i64::MIN)..=(subject, i64::MAX));
        slice(rows.filter_map(|((_, sequence), cursor)| Some((*sequence, self.row(*cursor)?))), page)
    }

    fn row(&self, cursor: Cursor) -> Option<&JournalRow> {
        self.journal.get(usize::try_from(cursor).ok()?.checked_sub(1)?)
    }
}

/// When the timer has to end an item: only items of timed auctions have an end at all.
fn end_of(item: &Item) -> Option<(Timestamp, Uuid)> {
    live_end(item, Realm::Real).map(|end| (end, item.uuid))
}

/// When the clock of its sandbox auction has to end an item.
fn sandbox_end_of(item: &Item) -> Option<(Uuid, Timestamp, i64)> {
    live_end(item, Realm::Sandbox).map(|end| (item.auction, end, item.position))
}

fn live_end(item: &Item, realm: Realm) -> Option<Timestamp> {
    item.effective_end_time.filter(|_| item.status == ItemStatus::Live && item.realm() == realm)
}
