//! A buyer does not pay: lots that were sold to this buyer become UNSOLD, all of them or none.

use contract::ItemStatus;
use platform_rules::{Auction, Item, ItemCommand, Rejection};
use uuid::Uuid;

use super::ITEMS_READ_MAX;
use crate::error::{PlatformError, PlatformResult};
use crate::port::Page;
use crate::steps::decide::{Decision, expect_version};
use crate::steps::idempotency::{IdempotentRequest, Outcome};
use crate::{Caller, Platform, Scope};

/// Lots that a buyer does not pay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnpaidLots {
    /// Paddle of the buyer.
    pub buyer: String,
    /// The items, at most 1,000; none for all that are sold to the buyer.
    pub items: Option<Vec<Uuid>>,
    /// Why; 1 to 500 characters.
    pub reason: String,
}

/// The items that became UNSOLD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnpaidLotsRecorded {
    /// The auction.
    pub auction: Auction,
    /// The items.
    pub items: Vec<Item>,
}

impl Platform {
    /// Records that a buyer does not pay for lots: each becomes UNSOLD with the same reason, and each is announced.
    /// If one of them is not sold to the buyer, none changes.
    ///
    /// Errors: `not_found` (the auction, or an item), `invalid` (the number of items), `precondition_failed` (the
    /// auction's version), `not_sold_to_buyer`, `nothing_sold_to_buyer`, `items_following`, and those of
    /// [`platform_rules::item::decide`] for a status.
    pub async fn record_unpaid_lots(
        &self,
        caller: &Caller,
        auction: Uuid,
        unpaid: &UnpaidLots,
        expected_version: Option<i64>,
        answering: Option<IdempotentRequest<'_, UnpaidLotsRecorded>>,
    ) -> PlatformResult<Outcome<UnpaidLotsRecorded>> {
        caller.require(Scope::AuctionsWrite)?;
        if let Some(items) = &unpaid.items {
            self.check_named("/items", items)?;
        }
        self.decide(answering.as_ref(), || async {
            let auction = self.visible_auction(caller, auction).await?;
            expect_version(expected_version, auction.version)?;
            let now = self.time_of(&auction);
            let mut draft = self.build_change(&caller.actor, now);
            let mut items = Vec::new();
            for item in self.sold_lots(&auction, unpaid).await? {
                self.require_item_not_pending(&auction, &item).await?;
                if !is_sold_to(&item, &unpaid.buyer) {
                    return Err(Rejection::NotSoldToBuyer { lot_number: item.lot_number }.into());
                }
                let reason = Some(unpaid.reason.clone());
                let command = ItemCommand::ChangeStatus { to: ItemStatus::Unsold, reason };
                let changes = platform_rules::item::decide(&auction, &item, command, now)?;
                items.push(draft.item(&auction, item, &changes));
            }
            let customer = auction.customer;
            let auction = draft.unless_archived(auction);
            let result = UnpaidLotsRecorded { auction, items };
            let change = draft.finish(answering.as_ref(), &result);
            Ok(Decision { customer, change, result })
        })
        .await
    }

    /// The lots that are sold to a buyer, in running order, at most as many as one call may name.
    ///
    /// Errors: `not_found`.
    pub async fn lots_sold_to(&self, caller: &Caller, auction: Uuid, buyer: &str) -> PlatformResult<Vec<Item>> {
        caller.require(Scope::AuctionsRead)?;
        let auction = self.visible_auction(caller, auction).await?;
        self.all_sold_to(auction.uuid, buyer).await
    }

    async fn all_sold_to(&self, auction: Uuid, buyer: &str) -> PlatformResult<Vec<Item>> {
        let (mut sold, mut after) = (Vec::new(), None);
        loop {
            let items = self.store().items(auction, Page { after, limit: ITEMS_READ_MAX }).await?;
            let Some(last) = items.last().map(|item| item.position) else { return Ok(sold) };
            let room = self.config().call_items_max - sold.len();
            sold.extend(items.into_iter().filter(|item| is_sold_to(item, buyer)).take(room));
            if sold.len() == self.config().call_items_max {
                return Ok(sold);
            }
            after = Some(last);
        }
    }

    async fn sold_lots(&self, auction: &Auction, unpaid: &UnpaidLots) -> PlatformResult<Vec<Item>> {
        let Some(named) = &unpaid.items else {
            let sold = self.all_sold_to(auction.uuid, &unpaid.buyer).await?;
            return if sold.is_empty() { Err(Rejection::NothingSoldToBuyer.into()) } else { Ok(sold) };
        };
        let mut sold = Vec::with_capacity(named.len());
        for item in named {
            let found = self.store().item(*item).await?.filter(|item| item.auction == auction.uuid);
            sold.push(found.ok_or(PlatformError::NotFound("item in this auction"))?);
        }
        Ok(sold)
    }
}

fn is_sold_to(item: &Item, buyer: &str) -> bool {
    let is_sold = matches!(item.status, ItemStatus::Sold | ItemStatus::SoldBuyNow);
    let known = item.standing.as_ref().and_then(|standing| standing.known_bidder());
    is_sold && known == Some(buyer)
}
