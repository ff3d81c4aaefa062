//! The buyer of an item that was sold in a webcast: named after the hammer, or changed with a reason.

use platform_rules::item::ConfirmedBuyer;
use platform_rules::{Auction, Item, ItemCommand};
use uuid::Uuid;

use crate::bidders::{LookUpIn, NewRegistration};
use crate::error::{PlatformError, PlatformResult};
use crate::port::RegistrationStatus;
use crate::steps::decide::{Decision, expect_version};
use crate::steps::idempotency::{IdempotentRequest, Outcome};
use crate::{Caller, Platform, Scope};

/// The buyer to name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NamedBuyer {
    /// The paddle; 1 to 64 characters.
    pub paddle: String,
    /// Why; required when another buyer was named before, and above a spending limit.
    pub reason: Option<String>,
    /// What the caller confirmed. With `not_approved`, a paddle without a registration is registered as approved, without
    /// a name.
    pub confirmed: ConfirmedBuyer,
}

impl Platform {
    /// Names the buyer of a SOLD item of a webcast, or changes the buyer with a reason; the price stays and nothing is
    /// announced. Administrators and the clerks of the webcast may do it until the auction is archived.
    ///
    /// Errors: `not_found`, `clerk_not_assigned`, `precondition_failed`, and those of [`platform_rules::item::decide`]
    /// for buyers.
    pub async fn change_buyer(
        &self,
        caller: &Caller,
        item: Uuid,
        buyer: &NamedBuyer,
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
                let mut admitted = self.admit(&auction, &item, &buyer.paddle, LookUpIn::Store).await?;
                let decide = |bidder: &platform_rules::Bidder| {
                    let NamedBuyer { reason, confirmed, .. } = buyer.clone();
                    let command = ItemCommand::ChangeBuyer { bidder: bidder.clone(), reason, confirmed };
                    platform_rules::item::decide(&auction, &item, command, now)
                };
                let mut changes = decide(&admitted.bidder)?;
                if buyer.confirmed.not_approved && !admitted.is_registered() {
                    self.register_unnamed(caller, &auction, &buyer.paddle).await?;
                    admitted = self.admit(&auction, &item, &buyer.paddle, LookUpIn::Store).await?;
                    changes = decide(&admitted.bidder)?;
                }
                let mut draft = self.build_change(&caller.actor, now);
                draft.set_bidder_preconditions(admitted.spending_version, &admitted.precondition);
                let item = draft.item(&auction, item, &changes);
                draft.unless_archived(auction);
                let change = draft.finish(answering.as_ref(), &item);
                Ok(Decision { customer: item.customer, change, result: item })
            })
            .await
    }

    /// Registers a buyer whom the clerk saw in the room as approved. Staff name the buyer later.
    async fn register_unnamed(&self, caller: &Caller, auction: &Auction, paddle: &str) -> PlatformResult<()> {
        let entry = NewRegistration {
            paddle: Some(paddle.to_owned()),
            party: None,
            name: None,
            email: None,
            limit: None,
            note: None,
            status: RegistrationStatus::Approved,
        };
        match self.register_in(caller, auction, &entry, None).await {
            // Another desk was faster.
            Err(PlatformError::Taken("paddle")) => Ok(()),
            registered => registered.map(drop),
        }
    }
}
