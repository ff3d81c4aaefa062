//! What a person or firm of the register did in the sales of the house: registered, bought, did not pay.

use contract::ItemStatus;
use platform_rules::{Auction, Cause, Item};
use uuid::Uuid;

use super::blocking::ITEMS_OF_BIDDER_MAX;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{JournalRow, Page, Registration};
use crate::{Caller, Platform, Scope};

/// Rows of the history of an item that are read to find why it is unsold.
const HISTORY_READ_MAX: usize = 250;

/// A sale for which the party registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartySale {
    /// The auction.
    pub auction: Auction,
    /// The registration.
    pub registration: Registration,
    /// The lots that it bought, in running order; also those that it did not pay.
    pub purchases: Vec<Purchase>,
}

/// A lot that was sold to the party.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Purchase {
    /// The item; its price is the hammer price.
    pub item: Item,
    /// Whether the sale stands.
    pub state: PurchaseState,
}

/// Whether a sale to a bidder stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PurchaseState {
    /// It stands.
    Sold,
    /// Staff recorded that the bidder did not pay; the lot is unsold.
    NotPaid,
}

impl Platform {
    /// The sales for which a party registered, the latest first, with what it bought.
    ///
    /// Errors: `not_found`.
    pub async fn sales_of_party(
        &self,
        caller: &Caller,
        uuid: Uuid,
        page: Page<Uuid>,
    ) -> PlatformResult<Vec<PartySale>> {
        caller.require(Scope::PartiesRead)?;
        self.visible_party(caller, uuid).await?;
        let mut sales = Vec::new();
        for registration in self.store().registrations_of_party(uuid, page).await? {
            let auction = self.store().auction(registration.auction).await?;
            let auction = auction.ok_or(PlatformError::NotFound("auction"))?;
            let purchases = self.purchases(&registration).await?;
            sales.push(PartySale { auction, registration, purchases });
        }
        Ok(sales)
    }

    /// What was bought under a registration.
    pub(super) async fn purchases(&self, registration: &Registration) -> PlatformResult<Vec<Purchase>> {
        let (auction, paddle) = (registration.auction, registration.paddle.as_str());
        let mut purchases = Vec::new();
        for item in self.store().items_of_bidder(auction, paddle, ITEMS_OF_BIDDER_MAX).await? {
            let leads = item.standing.as_ref().and_then(|standing| standing.known_bidder()) == Some(paddle);
            let state = match item.status {
                ItemStatus::Sold | ItemStatus::SoldBuyNow if leads => PurchaseState::Sold,
                ItemStatus::Unsold if leads && self.is_unpaid(item.uuid).await? => PurchaseState::NotPaid,
                _ => continue,
            };
            purchases.push(Purchase { item, state });
        }
        Ok(purchases)
    }

    /// True when the item became unsold because its buyer did not pay.
    async fn is_unpaid(&self, item: Uuid) -> PlatformResult<bool> {
        let last = self.last_status_change(item).await?;
        Ok(last.is_some_and(|row| row.cause == Cause::BuyerDidNotPay.as_str()))
    }

    /// The last change of an item's status.
    pub(super) async fn last_status_change(&self, item: Uuid) -> PlatformResult<Option<JournalRow>> {
        let (mut last, mut after) = (None, None);
        loop {
            let rows = self.store().history(item, Page { after, limit: HISTORY_READ_MAX }).await?;
            let Some(row) = rows.into_iter().next_back() else { return Ok(last) };
            after = Some(row.sequence);
            last = Some(row);
        }
    }
}
