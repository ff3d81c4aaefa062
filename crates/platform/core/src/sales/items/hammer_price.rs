//! The hammer price of an item that was sold in a webcast or to an offer after the sale: corrected with a reason.

use platform_rules::{Item, ItemCommand};
use uuid::Uuid;

use crate::error::PlatformResult;
use crate::steps::decide::{Decision, expect_version};
use crate::steps::idempotency::{IdempotentRequest, Outcome};
use crate::{Caller, Platform, Scope};

/// The right hammer price of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HammerPrice {
    /// Minor units of the auction's currency.
    pub amount: i64,
    /// Why; 1 to 500 characters.
    pub reason: String,
    /// The caller confirmed a price far from the one before, which is refused with `unusual_amount` otherwise.
    pub unusual_amount: bool,
}

impl Platform {
    /// Corrects the hammer price of a SOLD item with a reason; the buyer stays and nothing is announced. Administrators
    /// and the clerks of the webcast may do it until the auction is archived.
    ///
    /// Errors: `not_found`, `clerk_not_assigned`, `precondition_failed`, and those of [`platform_rules::item::decide`]
    /// for hammer prices.
    pub async fn correct_hammer_price(
        &self,
        caller: &Caller,
        item: Uuid,
        right: &HammerPrice,
        expected_version: Option<i64>,
        answering: Option<IdempotentRequest<'_, Item>>,
    ) -> PlatformResult<Outcome<Item>> {
        caller.require_one_of(&[Scope::AuctionsWrite, Scope::RingWrite])?;
        let (_, auction) = self.visible_item(caller, item).await?;
        self.require_clerk(caller, &auction).await?;
        let queue = self.item_queue(item)?;
        queue
            .decide(answering.as_ref(), || async {
                queue.drain().await;
                let (item, auction) = queue.visible_item(caller).await?;
                expect_version(expected_version, item.version)?;
                let now = self.time_of(&auction);
                let HammerPrice { amount, reason, unusual_amount } = right.clone();
                let command = ItemCommand::CorrectPrice { amount, reason, unusual_amount };
                let changes = platform_rules::item::decide(&auction, &item, command, now)?;
                let mut draft = self.build_change(&caller.actor, now);
                let item = draft.item(&auction, item, &changes);
                draft.unless_archived(auction);
                let change = draft.finish(answering.as_ref(), &item);
                Ok(Decision { customer: item.customer, change, result: item })
            })
            .await
    }
}
