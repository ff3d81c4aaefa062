//! The clerk's desk, which only clerks may see: absentee maxima, the next items, and the commands that are possible
//! now.

use contract::ItemStatus;
use platform_rules::ring::{
    Commission, RingAction, RingFacts, WaitingBid, commission_amount, commissions, highest_waiting_bid, legal_actions,
    lowered_bids, next_commission, unconfirmed_price_max, unconfirmed_price_min,
};
use platform_rules::{Auction, BidLog, BidRecord, Item, WebcastPhase};

use super::order::READS_MAX;
use crate::Platform;
use crate::error::PlatformResult;
use crate::port::Page;

/// Next items shown.
const NEXT_MAX: usize = 5;
/// Bids of the item in the ring shown.
const BIDS_SHOWN_MAX: usize = 20;
/// Bids or items read from the store at once.
pub(super) const BIDS_READ_MAX: usize = 5_000;

/// The clerk's desk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Desk {
    /// Commissions on the item in the ring: the highest first, among equal ones the earlier first.
    pub commissions: Vec<Commission>,
    /// The commission that bids next, with its amount in minor units.
    pub next_commission: Option<(Commission, i64)>,
    /// The highest internet or commission bid that waits above the standing bid.
    pub waiting: Option<WaitingBid>,
    /// The highest price that the clerk enters without a confirmation, minor units; none without an item in the ring.
    pub unconfirmed_price_max: Option<i64>,
    /// The lowest asking price that the clerk sets without a confirmation, minor units; none without an item in the ring.
    pub unconfirmed_price_min: Option<i64>,
    /// The bids that a lowered asking price struck and that undo brings back, the latest first; at most 20.
    pub lowered: Vec<BidRecord>,
    /// The last bids on the item in the ring, the latest first; at most 20.
    pub bids: Vec<BidRecord>,
    /// The lot that was sold or passed last, while no other lot was sent.
    pub last: Option<Item>,
    /// The next items in the order in which they would be sent; at most 5.
    pub next: Vec<Item>,
    /// When nothing waits and the ring is empty: items that were not LIVE and so were not offered.
    pub not_offered: Option<u64>,
    /// The commands that are possible now.
    pub legal: Vec<RingAction>,
}

/// An item after a command that is not committed yet.
#[derive(Clone, Copy)]
pub(super) struct ItemAfterCommand<'a> {
    pub(super) after: &'a Item,
    /// Its bids after the change.
    pub(super) log: &'a BidLog,
}

impl Platform {
    pub(super) async fn desk(
        &self,
        auction: &Auction,
        in_ring: Option<&Item>,
        changed: Option<ItemAfterCommand<'_>>,
    ) -> PlatformResult<Desk> {
        let log = match (in_ring, changed) {
            (None, _) => BidLog::default(),
            (Some(item), Some(changed)) if changed.after.uuid == item.uuid => changed.log.clone(),
            (Some(item), _) => self.bid_log(item).await?,
        };
        let last = match auction.last_in_ring.filter(|_| auction.in_ring.is_none()) {
            None => None,
            Some(last) => match changed.filter(|changed| changed.after.uuid == last) {
                Some(changed) => Some(changed.after.clone()),
                None => self.store().item(last).await?,
            },
        };
        let next = self.upcoming(auction, changed.map(|changed| changed.after), NEXT_MAX, READS_MAX).await?;
        let facts = RingFacts {
            auction,
            in_ring: in_ring.map(|item| (item, &log)),
            last: last.as_ref(),
            any_waits: !next.is_empty(),
            any_passed: self.any_passed(auction, changed).await?,
            now: self.time_of(auction),
        };
        let legal = legal_actions(&facts);
        let is_done = next.is_empty() && in_ring.is_none() && auction.phase == WebcastPhase::Live;
        let not_offered = if is_done { Some(self.not_offered(auction, changed).await?) } else { None };
        let commissions = in_ring.map(|item| commissions(item, &log)).transpose()?.unwrap_or_default();
        let next_commission = in_ring.and_then(|item| {
            let next = next_commission(item, &commissions)?;
            Some((next.clone(), commission_amount(auction, item, &commissions, next)))
        });
        let waiting = in_ring.map(|item| highest_waiting_bid(item, &log)).transpose()?.flatten();
        let unconfirmed_price_max = in_ring.map(|item| unconfirmed_price_max(auction, item));
        let unconfirmed_price_min = in_ring.map(|item| unconfirmed_price_min(auction, item));
        let lowered = in_ring.map(|item| lowered_bids(item, &log)).transpose()?.unwrap_or_default();
        let lowered = lowered.into_iter().rev().take(BIDS_SHOWN_MAX).cloned().collect();
        let bids = log.bids().iter().rev().take(BIDS_SHOWN_MAX).cloned().collect();
        Ok(Desk {
            commissions,
            next_commission,
            waiting,
            unconfirmed_price_max,
            unconfirmed_price_min,
            lowered,
            bids,
            last,
            next,
            not_offered,
            legal,
        })
    }

    /// Items that the ring passed by, because they were in preparation or suspended.
    async fn not_offered(&self, auction: &Auction, changed: Option<ItemAfterCommand<'_>>) -> PlatformResult<u64> {
        let statuses = [ItemStatus::Draft, ItemStatus::Preview, ItemStatus::Suspended];
        let (mut count, mut after) = (0, None);
        loop {
            let page = Page { after, limit: BIDS_READ_MAX };
            let items = self.store().items_with_status(auction.uuid, &statuses, page).await?;
            let others = items.iter().filter(|item| changed.is_none_or(|changed| changed.after.uuid != item.uuid));
            count += others.count() as u64;
            after = items.last().map(|item| item.position);
            if items.len() < BIDS_READ_MAX {
                return Ok(count);
            }
        }
    }

    async fn any_passed(&self, auction: &Auction, changed: Option<ItemAfterCommand<'_>>) -> PlatformResult<bool> {
        // Two items are enough to find one that the command did not change. Counting all would be slow in a large
        // auction.
        let two = Page { after: None, limit: 2 };
        let passed = self.store().items_with_status(auction.uuid, &[ItemStatus::Passed], two).await?;
        let any_other = passed.iter().any(|item| changed.is_none_or(|changed| changed.after.uuid != item.uuid));
        Ok(any_other || changed.is_some_and(|changed| changed.after.status == ItemStatus::Passed))
    }
}
