//! Sells an item that did not sell to an offer: one that an administrator records, or one that the bidder accepts.

use platform_rules::{Auction, AuctionKind, Item, ItemCommand};
use uuid::Uuid;

use crate::bidders::LookUpIn;
use crate::error::PlatformResult;
use crate::port::EndedOffer;
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
        let bid = self.ids().uuid_v7();
        let queue = self.item_queue(item)?;
        queue
            .decide(answering.as_ref(), || async {
                queue.drain().await;
                let (item, auction) = queue.visible_item(caller).await?;
                expect_version(expected_version, item.version)?;
                self.sale_to_offer(caller, (item, auction), (bid, offer), None, answering.as_ref()).await
            })
            .await
    }

    /// The change that sells an item to an offer. `accepted` ends the offer of the house that the bidder accepted.
    pub(crate) async fn sale_to_offer(
        &self,
        caller: &Caller,
        (item, auction): (Item, Auction),
        (bid, offer): (Uuid, &PostSaleOffer),
        accepted: Option<EndedOffer>,
        answering: Option<&IdempotentRequest<'_, Item>>,
    ) -> PlatformResult<Decision<Item>> {
        let PostSaleOffer { buyer, amount, reason, unusual_amount } = offer;
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
        draft.accepted_offer(accepted);
        let item = draft.item(&auction, item, &changes);
        draft.unless_archived(auction);
        let change = draft.finish(answering, &item);
        Ok(Decision { customer: item.customer, change, result: item })
    }
}
