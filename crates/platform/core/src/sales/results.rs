//! Results of a sale: hammer prices, buyer's premium, tax, and the items of each buyer. Amounts are rounded half up for
//! each item, and totals are sums of the rounded amounts (`docs/run-sales/rules.md`).

use std::collections::BTreeMap;

use contract::{AuctionStatus, ItemStatus};
use platform_rules::{Auction, SaleResult};
use uuid::Uuid;

use crate::error::PlatformResult;
use crate::port::{ITEMS_READ_MAX, Page};
use crate::{Caller, Platform, Scope};

/// The results of an auction so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuctionResults {
    /// The auction.
    pub auction: Auction,
    /// True when the auction is archived, so that the results can't change any more.
    pub is_final: bool,
    /// Number of its items.
    pub items: u64,
    /// Number of items that are SOLD or SOLD_BUY_NOW.
    pub sold: u64,
    /// Number of items that are UNSOLD or PASSED.
    pub unsold: u64,
    /// Number of sold items whose buyer in the room is not named yet. They count in `sold` and `total`, and for no
    /// buyer.
    pub open_buyers: u64,
    /// The sum of all sold items.
    pub total: SaleResult,
    /// The sum for each buyer, by paddle.
    pub buyers: Vec<BuyerResult>,
}

/// The result for one buyer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuyerResult {
    /// Paddle.
    pub bidder: String,
    /// Number of items bought.
    pub items: u64,
    /// The sum.
    pub total: SaleResult,
}

impl Platform {
    /// Computes the results of an auction so far. Reads all its items, [`ITEMS_READ_MAX`] at a time.
    ///
    /// Errors: `not_found`, `sum_too_large`.
    pub async fn results(&self, caller: &Caller, uuid: Uuid) -> PlatformResult<AuctionResults> {
        caller.require(Scope::AuctionsRead)?;
        let auction = self.visible_auction(caller, uuid).await?;
        let is_final = auction.status == AuctionStatus::Archived;
        let (mut items, mut sold, mut unsold, mut open_buyers, mut total) = (0, 0, 0, 0, SaleResult::default());
        let mut buyers: BTreeMap<String, (u64, SaleResult)> = BTreeMap::new();
        let mut after = None;
        loop {
            let page = self.store().items(uuid, Page { after, limit: ITEMS_READ_MAX }).await?;
            let Some(last) = page.last().map(|item| item.position) else { break };
            for item in page {
                items += 1;
                unsold += u64::from(matches!(item.status, ItemStatus::Unsold | ItemStatus::Passed));
                let (Some(result), Some(standing)) = (SaleResult::of(&auction, &item), item.standing) else { continue };
                sold += 1;
                total = total.plus(result)?;
                if standing.known_bidder().is_none() {
                    open_buyers += 1;
                    continue;
                }
                let buyer = buyers.entry(standing.bidder).or_default();
                *buyer = (buyer.0 + 1, buyer.1.plus(result)?);
            }
            after = Some(last);
        }
        let of_buyer = |(bidder, (items, total))| BuyerResult { bidder, items, total };
        let buyers = buyers.into_iter().map(of_buyer).collect();
        Ok(AuctionResults { auction, is_final, items, sold, unsold, open_buyers, total, buyers })
    }
}
