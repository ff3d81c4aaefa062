//! Snapshots: the present state, which a listener receives first and after a gap.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use platform_rules::Item;
use uuid::Uuid;

use super::channel::LiveChannelTask;
use super::event::{AuctionState, Audience, Body, ItemState, event, time_in};
use super::topics::Topic;
use crate::port::{Page, StoreError, StoreResult};

impl LiveChannelTask {
    /// The current state of a topic. No event that follows is older. `lots` are those that a visitor of the sale looks at.
    pub(super) async fn snapshot(&mut self, topic: Topic, lots: &[Uuid]) -> StoreResult<Bytes> {
        let items = match topic {
            Topic::Item(item) => self.live.shared.store.item(item).await?.into_iter().collect(),
            Topic::Auction | Topic::Sale | Topic::Lot(_) => Vec::new(),
        };
        self.load_auction().await?;
        if self.messages.is_none() && !matches!(topic, Topic::Item(_)) {
            self.messages = Some(self.messages_to_visitors().await?);
        }
        let messages = self.messages.clone().unwrap_or_default();
        let known = self.auction.as_ref();
        let auction =
            known.ok_or_else(|| StoreError::Corrupt("the auction of a live stream does not exist any more".into()))?;
        let body = match topic {
            Topic::Item(_) => {
                let item: Option<&Item> = items.first();
                let item = item
                    .ok_or_else(|| StoreError::Corrupt("the item of a live stream does not exist any more".into()))?;
                Body::Item { item: ItemState::of(auction, item, Audience::Callers) }
            }
            Topic::Auction => {
                let (items, last) = self.first_items(auction.uuid, auction.in_ring).await?;
                let items = items.iter().map(|item| ItemState::of(auction, item, Audience::Callers)).collect();
                let (items_complete, next) = (last.is_none(), last.map(cursor));
                Body::Whole { auction: AuctionState::of(auction), items, items_complete, next, messages }
            }
            Topic::Sale | Topic::Lot(_) => {
                let lot = if let Topic::Lot(lot) = topic { Some(lot) } else { auction.in_ring };
                let lots = lot.into_iter().chain(lots.iter().copied());
                let items = self.visitors.lots(self.live.shared.store.as_ref(), auction, lots).await?;
                Body::Sale { auction: AuctionState::of(auction), items, messages }
            }
        };
        Ok(event(self.topics.last, "snapshot", &body, time_in(auction, self.live.now())))
    }

    /// The first items in running order and the item in the ring. When there are more items, also the place of the last
    /// of the first ones.
    async fn first_items(&self, auction: Uuid, in_ring: Option<Uuid>) -> StoreResult<(Vec<Item>, Option<i64>)> {
        let limit = self.live.shared.config.snapshot_items_max;
        let store = &self.live.shared.store;
        let mut items = store.items(auction, Page { after: None, limit: limit + 1 }).await?;
        let is_complete = items.len() <= limit;
        items.truncate(limit);
        let last = items.last().map(|item| item.position).filter(|_| !is_complete);
        if let Some(in_ring) = in_ring
            && !items.iter().any(|item| item.uuid == in_ring)
        {
            items.extend(store.item(in_ring).await?);
        }
        Ok((items, last))
    }
}

/// The cursor of the page of items after this place, as the list of items takes it.
fn cursor(position: i64) -> String {
    URL_SAFE_NO_PAD.encode(position.to_string())
}
