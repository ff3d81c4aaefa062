//! What visitors of a saleroom see of an auction's channel: the lots on view, without secrets.
//!
//! The view keeps the last state of each lot that a visitor looked at. A snapshot comes from it, so that a crowd that reconnects
//! reads each lot from the store once. A change that alters nothing public sends visitors no event: they would learn that a
//! maximum was raised or a reserve was edited.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use bytes::Bytes;
use contract::{AuctionStatus, ItemStatus};
use jiff::{SignedDuration, Timestamp};
use platform_rules::{Auction, AuctionKind, Item, PublicBid};
use uuid::Uuid;

use super::desk_link;
use super::event::{self, Audience, BidState, ItemState};
use super::topics::Topic;
use crate::port::{Page, Store, StoreResult};

/// Bids in an event. A page that misses earlier ones reads them from the server.
const BIDS_MAX: i64 = 4;
/// Time between two signs of life near the end of a lot, and while a lot is in the ring.
const FAST_BEAT: Duration = Duration::from_secs(1);
/// Time before the end of a lot from which signs of life are frequent.
const NEAR_END: SignedDuration = SignedDuration::from_secs(75);

/// The view of visitors.
#[derive(Default)]
pub(super) struct VisitorView {
    /// A visitor has listened to this channel.
    is_used: bool,
    lots: HashMap<Uuid, LotView>,
    /// Topics whose last sign of life promised another one after [`FAST_BEAT`].
    fast: HashSet<Topic>,
    /// The saleroom has lost its link.
    is_link_lost: bool,
}

/// A lot on view.
struct LotView {
    state: ItemState,
    /// When it ends, while it takes bids until a time.
    ends: Option<Timestamp>,
}

/// What a change of an item is for visitors.
pub(super) enum LotChange {
    /// The lot is on view, with this state.
    Shown(Box<ItemState>),
    /// The lot was on view, and is not any more.
    Gone,
    /// Visitors see no difference.
    Unchanged,
}

impl VisitorView {
    /// From now on the view follows the items. Before, it has no reader.
    pub(super) fn begin(&mut self) {
        self.is_used = true;
    }

    /// Changes may have been missed.
    pub(super) fn forget(&mut self) {
        self.lots.clear();
    }

    /// Takes over a change of an item.
    pub(super) async fn change(&mut self, store: &dyn Store, auction: &Auction, item: &Item) -> LotChange {
        if !self.is_used {
            return LotChange::Unchanged;
        }
        if !is_on_view(item.status) {
            return if self.lots.remove(&item.uuid).is_some() { LotChange::Gone } else { LotChange::Unchanged };
        }
        let known = self.lots.get(&item.uuid);
        if known.is_some_and(|known| known.state.version >= item.version) {
            return LotChange::Unchanged;
        }
        let view = LotView::of(store, auction, item).await;
        let is_same = known.is_some_and(|known| {
            let mut before = known.state.clone();
            before.version = view.state.version;
            before == view.state
        });
        let state = Box::new(view.state.clone().with_link(self.is_link_lost));
        self.lots.insert(item.uuid, view);
        if is_same { LotChange::Unchanged } else { LotChange::Shown(state) }
    }

    /// Looks whether the saleroom has lost its link. The state of the lot in the ring, if that has changed.
    pub(super) async fn look_at_link(
        &mut self,
        store: &dyn Store,
        auction: &Auction,
        now: Timestamp,
    ) -> StoreResult<Option<ItemState>> {
        if !self.is_used || auction.kind != AuctionKind::Webcast {
            return Ok(None);
        }
        let is_lost = desk_link::is_lost(store, auction, now).await?;
        let has_changed = std::mem::replace(&mut self.is_link_lost, is_lost) != is_lost;
        match auction.in_ring.filter(|_| has_changed) {
            Some(in_ring) => Ok(self.lots(store, auction, [in_ring].into_iter()).await?.pop()),
            None => Ok(None),
        }
    }

    /// The states of those of these lots that are on view, each once.
    pub(super) async fn lots(
        &mut self,
        store: &dyn Store,
        auction: &Auction,
        lots: impl Iterator<Item = Uuid> + Send,
    ) -> StoreResult<Vec<ItemState>> {
        let (mut states, mut seen) = (Vec::new(), HashSet::new());
        for lot in lots.filter(|lot| seen.insert(*lot)) {
            let is_known = self.lots.contains_key(&lot);
            let item = if is_known { None } else { store.item(lot).await? };
            if let Some(item) = item.filter(|item| item.auction == auction.uuid && is_on_view(item.status)) {
                self.lots.insert(lot, LotView::of(store, auction, &item).await);
            }
            states.extend(self.lots.get(&lot).map(|view| view.state.clone().with_link(self.is_link_lost)));
        }
        Ok(states)
    }

    /// The signs of life that are due for these topics. `due` is the usual time between two, when one of them is due.
    pub(super) fn beats(
        &mut self,
        topics: &[Topic],
        auction: &Auction,
        now: Timestamp,
        due: Option<Duration>,
        usual: Duration,
    ) -> Vec<(Topic, Bytes)> {
        self.fast.retain(|topic| topics.contains(topic));
        let mut beats = Vec::new();
        for topic in topics.iter().copied().filter(|topic| topic.is_for_visitors()) {
            if self.is_near_end(topic, auction, now) {
                self.fast.insert(topic);
                beats.push((topic, event::beat(FAST_BEAT, now)));
            } else if self.fast.remove(&topic) || due.is_some() {
                beats.push((topic, event::beat(usual, now)));
            }
        }
        beats
    }

    /// True while a lot of the topic is in the ring, or takes its last bids.
    fn is_near_end(&self, topic: Topic, auction: &Auction, now: Timestamp) -> bool {
        if auction.kind == AuctionKind::Webcast {
            return auction.status == AuctionStatus::Live && auction.in_ring.is_some();
        }
        let is_near = |lot: &LotView| lot.ends.is_some_and(|end| end.duration_since(now) <= NEAR_END);
        match topic {
            Topic::Lot(lot) => self.lots.get(&lot).is_some_and(is_near),
            Topic::Sale => self.lots.values().any(is_near),
            Topic::Auction | Topic::Item(_) => false,
        }
    }
}

impl LotView {
    /// The lot with its latest bids. When these can't be read, a page sees that bids are missing.
    async fn of(store: &dyn Store, auction: &Auction, item: &Item) -> Self {
        let mut state = ItemState::of(auction, item, Audience::Visitors);
        state.bids = Some(latest_bids(store, item).await.unwrap_or_default());
        Self { state, ends: item.effective_end_time.filter(|_| item.status == ItemStatus::Live) }
    }
}

async fn latest_bids(store: &dyn Store, item: &Item) -> StoreResult<Vec<BidState>> {
    if item.shown_bids() == 0 {
        return Ok(Vec::new());
    }
    let after = item.number_before_shown((item.shown_bids() - BIDS_MAX).max(0));
    let limit = usize::try_from(item.bid_count - after).unwrap_or_default();
    let bids = store.bids(item.uuid, Page { after: Some(after), limit }).await?;
    // A later bid may lead now; this item would show its maximum.
    let known = bids.iter().filter(|bid| bid.number <= item.bid_count);
    let public = known.filter_map(|bid| PublicBid::of(item, &bid.record()));
    let mut states: Vec<BidState> = public.map(BidState::of).collect();
    states.drain(..states.len().saturating_sub(usize::try_from(BIDS_MAX).unwrap_or_default()));
    Ok(states)
}

/// Visitors see lots before, during and after their sale.
fn is_on_view(status: ItemStatus) -> bool {
    !matches!(status, ItemStatus::Draft | ItemStatus::Withdrawn)
}
