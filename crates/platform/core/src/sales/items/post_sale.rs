//! An administrator accepts an offer for an item that did not sell.

use platform_rules::{AuctionKind, Item, ItemCommand};
use uuid::Uuid;

use crate::bidders::LookUpIn;
use crate::error::PlatformResult;
use crate::steps::decide::{Decision, expect_version};
use crate::steps::idempotency::{IdempotentRequest, Outcome};
use crate::{Caller, Platform, Scope};

/// An offer for a lot that was passed, or ended unsold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostSaleOffer {
    /// Paddle of the buyer, who has to be registered and approved.
    pub buyer: String,
    /// Hammer price, minor units of the auction's currency; it may lie below the reserve.
    pub amount: i64,
    /// Why; 1 to 500 characters.
    pub reason: String,
    /// The caller confirmed an amount far from the item's known amounts, which is refused with `unusual_amount`
    /// otherwise.
    pub unusual_amount: bool,
}

impl Platform {
    /// Sells a PASSED or UNSOLD item to an offer, also in RECONCILIATION: it is SOLD, and the sale is announced.
    ///
    /// Errors: `not_found`, `precondition_failed`, and those of [`platform_rules::item::decide`] for offers.
    pub async fn accept_offer(
        &self,
        caller: &Caller,
        item: Uuid,
        offer: &PostSaleOffer,
        expected_version: Option<i64>,
        answering: Option<IdempotentRequest<'_, Item>>,
    ) -> PlatformResult<Outcome<Item>> {
        caller.require(Scope::AuctionsWrite)?;
        let PostSaleOffer { buyer, amount, reason, unusual_amount } = offer;
        let bid = self.ids().uuid_v7();
        let queue = self.item_queue(item)?;
        queue
            .decide(answering.as_ref(), || async {
                queue.drain().await;
                let (item, auction) = queue.visible_item(caller).await?;
                expect_version(expected_version, item.version)?;
                self.require_item_not_pending(&auction, &item).await?;
                let admitted = self.admit(&auction, &item, buyer, LookUpIn::Store).await?;
                let now = self.time_of(&auction);
                let bidder = admitted.bidder.clone();
                let (amount, reason, unusual_amount) = (*amount, reason.clone(), *unusual_amount);
                let command = ItemCommand::AcceptOffer { bid, bidder, amount, reason, unusual_amount };
                let changes = platform_rules::item::decide(&auction, &item, command, now)?;
                let mut draft = self.build_change(&caller.actor, now);
                if auction.kind == AuctionKind::Timed {
                    draft.note_bidder_item(&item, buyer);
                }
                draft.set_bidder_preconditions(admitted.spending_version, &admitted.precondition);
                let item = draft.item(&auction, item, &changes);
                draft.unless_archived(auction);
                let change = draft.finish(answering.as_ref(), &item);
                Ok(Decision { customer: item.customer, change, result: item })
            })
            .await
    }
}
