//! Filtered lists of auctions, items and registrations. Every filter keeps the order of the whole list, so a cursor is
//! valid with any filter.

use contract::{AuctionStatus, ItemStatus};
use platform_rules::{Auction, AuctionKind, Item, SaleMode};
use uuid::Uuid;

use crate::caller::visible;
use crate::error::PlatformResult;
use crate::port::{AuctionFilter, AuctionOwner, Page, Registration, RegistrationStatus};
use crate::{Caller, Platform, Scope};

/// A filter of auctions: those that match all fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuctionQuery {
    /// Of this customer.
    pub customer: Option<Uuid>,
    /// Held by this auctioneer.
    pub auctioneer: Option<Uuid>,
    /// With one of these statuses, each named once; an empty list matches every status.
    pub statuses: Vec<AuctionStatus>,
    /// Of this kind.
    pub kind: Option<AuctionKind>,
    /// Real ones, or sandboxes.
    pub sale_mode: Option<SaleMode>,
}

/// A filter of an auction's items.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ItemQuery {
    /// With one of these statuses, each named once; an empty list matches every status.
    pub statuses: Vec<ItemStatus>,
    /// With this lot number, as printed.
    pub lot_number: Option<String>,
}

/// A filter of an auction's registrations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RegistrationQuery {
    /// With one of these statuses, each named once; an empty list matches every status.
    pub statuses: Vec<RegistrationStatus>,
    /// With this paddle.
    pub paddle: Option<String>,
}

impl Platform {
    /// Auctions that the caller sees, in order of creation.
    ///
    /// Errors: `not_found` for a customer or an auctioneer that the caller does not see.
    pub async fn list_auctions(
        &self,
        caller: &Caller,
        wanted: AuctionQuery,
        page: Page<Uuid>,
    ) -> PlatformResult<Vec<Auction>> {
        let AuctionQuery { customer, auctioneer, statuses, kind, sale_mode } = wanted;
        if auctioneer.is_none() && statuses.is_empty() && kind.is_none() && sale_mode.is_none() {
            return self.auctions(caller, customer, page).await;
        }
        caller.require(Scope::AuctionsRead)?;
        if let Some(customer) = customer {
            self.visible_customer(caller, customer).await?;
        }
        let of = match (auctioneer, customer.or(caller.customer)) {
            (Some(auctioneer), customer) => {
                let found = self.store().auctioneer(auctioneer).await?;
                let held_by = visible(caller, found, "auctioneer", |auctioneer| auctioneer.customer)?;
                if customer.is_some_and(|customer| held_by.customer != customer) {
                    return Ok(Vec::new());
                }
                AuctionOwner::Auctioneer(auctioneer)
            }
            (None, Some(customer)) => AuctionOwner::Customer(customer),
            (None, None) => AuctionOwner::All,
        };
        Ok(self.store().filtered_auctions(&AuctionFilter { of, statuses, kind, sale_mode }, page).await?)
    }

    /// Items of an auction in running order, after a position.
    pub async fn list_items(
        &self,
        caller: &Caller,
        auction: Uuid,
        wanted: &ItemQuery,
        page: Page<i64>,
    ) -> PlatformResult<Vec<Item>> {
        let ItemQuery { statuses, lot_number } = wanted;
        match lot_number {
            None if statuses.is_empty() => self.items(caller, auction, page).await,
            None => {
                self.auction(caller, auction).await?;
                Ok(self.store().items_with_status(auction, statuses, page).await?)
            }
            Some(lot_number) => {
                self.auction(caller, auction).await?;
                let found = self.store().item_by_lot_number(auction, lot_number).await?;
                let is_wanted = |item: &Item| {
                    (statuses.is_empty() || statuses.contains(&item.status))
                        && page.after.is_none_or(|after| item.position > after)
                };
                Ok(found.filter(is_wanted).into_iter().collect())
            }
        }
    }

    /// Registrations for an auction, in the order in which they were entered.
    pub async fn list_registrations(
        &self,
        caller: &Caller,
        auction: Uuid,
        wanted: &RegistrationQuery,
        page: Page<Uuid>,
    ) -> PlatformResult<Vec<Registration>> {
        let RegistrationQuery { statuses, paddle } = wanted;
        let has_status = |row: &Registration| statuses.is_empty() || statuses.contains(&row.status);
        match paddle {
            None if statuses.is_empty() => self.registrations(caller, auction, page).await,
            None => {
                caller.require(Scope::BiddersRead)?;
                self.visible_bidders(caller, auction).await?;
                Ok(self.store().registrations_with_status(auction, statuses, page).await?)
            }
            Some(paddle) => {
                let found = self.registrations_of(caller, auction, paddle).await?;
                Ok(found.into_iter().filter(has_status).collect())
            }
        }
    }
}
