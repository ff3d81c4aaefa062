//! The clerk's desk, which only clerks may see: absentee maxima, the next items, and the commands that are possible
//! now.

use contract::ItemStatus;
use platform_rules::ring::{Commission, RingAction, RingFacts, commissions, legal_actions};
use platform_rules::{Auction, BidLog, BidRecord, Item};

use super::order::READS_MAX;
use crate::Platform;
use crate::bidding::bid::Bid;
use crate::error::PlatformResult;
use crate::port::Page;

/// Items that are shown as next.
const NEXT_MAX: usize = 5;
/// Bids of the item in the ring that are shown.
const BIDS_SHOWN_MAX: usize = 20;
/// Bids read from the store at once.
const BIDS_READ_MAX: usize = 5_000;

/// What the clerk has before them, besides the ring itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Desk {
    /// What absentees left on the item in the ring: the highest first, the earlier first among equals.
    pub commissions: Vec<Commission>,
    /// The last bids on the item in the ring, the latest first; at most 20.
    pub bids: Vec<BidRecord>,
    /// The item that left the ring last, while no other was sent.
    pub last: Option<Item>,
    /// The items that "next" would send, in this order; at most 5.
    pub next: Vec<Item>,
    /// The commands that are possible now.
    pub legal: Vec<RingAction>,
}

/// An item as a command is about to leave it: the store has it as it was.
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
        touched: Option<ItemAfterCommand<'_>>,
    ) -> PlatformResult<Desk> {
        let log = match (in_ring, touched) {
            (None, _) => BidLog::default(),
            (Some(item), Some(touched)) if touched.after.uuid == item.uuid => touched.log.clone(),
            (Some(item), _) => self.bid_log(item).await?,
        };
        let last = match auction.last_in_ring.filter(|_| auction.in_ring.is_none()) {
            None => None,
            Some(last) => match touched.filter(|touched| touched.after.uuid == last) {
                Some(touched) => Some(touched.after.clone()),
                None => self.store().item(last).await?,
            },
        };
        let next = self.upcoming(auction, touched.map(|touched| touched.after), NEXT_MAX, READS_MAX).await?;
        let facts = RingFacts {
            auction,
            in_ring: in_ring.map(|item| (item, &log)),
            last: last.as_ref(),
            any_waits: !next.is_empty(),
            any_passed: self.any_passed(auction, touched).await?,
            now: self.time_of(auction),
        };
        let legal = legal_actions(&facts);
        let commissions = in_ring.map(|item| commissions(item, &log)).transpose()?.unwrap_or_default();
        let bids = log.bids().iter().rev().take(BIDS_SHOWN_MAX).cloned().collect();
        Ok(Desk { commissions, bids, last, next, legal })
    }

    async fn any_passed(&self, auction: &Auction, touched: Option<ItemAfterCommand<'_>>) -> PlatformResult<bool> {
        // The first and another, not their number: every command of the clerk asks, and there may be a hundred thousand
        // items.
        let two = Page { after: None, limit: 2 };
        let passed = self.store().items_with_status(auction.uuid, &[ItemStatus::Passed], two).await?;
        let any_other = passed.iter().any(|item| touched.is_none_or(|touched| touched.after.uuid != item.uuid));
        Ok(any_other || touched.is_some_and(|touched| touched.after.status == ItemStatus::Passed))
    }

    /// All bids of an item.
    pub(crate) async fn bid_log(&self, item: &Item) -> PlatformResult<BidLog> {
        let mut records: Vec<BidRecord> = Vec::new();
        // Numbers have no gaps, so this ends with the last one that the item knows of.
        while let Some(after) = i64::try_from(records.len()).ok().filter(|after| *after < item.bid_count) {
            let page = Page { after: Some(after), limit: BIDS_READ_MAX };
            let bids = self.store().bids(item.uuid, page).await?;
            if bids.is_empty() {
                break;
            }
            records.extend(bids.iter().map(Bid::record));
        }
        Ok(BidLog::new(records)?)
    }
}
