//! Lists that are narrowed: what is wanted of all that there is, in the order of the whole list.

use async_trait::async_trait;
use contract::{AuctionStatus, ItemStatus};
use platform_rules::{Auction, AuctionKind, Item, SaleMode};
use uuid::Uuid;

use super::{Page, Registration, RegistrationStatus, StoreResult};

/// Whose auctions are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AuctionOwner {
    /// Everybody's.
    #[default]
    All,
    /// Of this customer.
    Customer(Uuid),
    /// Of this auctioneer.
    Auctioneer(Uuid),
}

/// Which auctions are wanted: those that meet all that is said here.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuctionFilter {
    /// Whose.
    pub of: AuctionOwner,
    /// With one of these statuses, each named once; with any when there are none.
    pub statuses: Vec<AuctionStatus>,
    /// Of this kind.
    pub kind: Option<AuctionKind>,
    /// Real ones, or sandboxes.
    pub sale_mode: Option<SaleMode>,
}

impl AuctionFilter {
    /// Each combination of what the filter leaves open, once: an auction that is wanted is of one of them.
    pub fn combinations(&self) -> Vec<(AuctionStatus, AuctionKind, SaleMode)> {
        let statuses = if self.statuses.is_empty() { AuctionStatus::ALL } else { &self.statuses };
        let kinds = self.kind.map_or(AuctionKind::ALL.to_vec(), |kind| vec![kind]);
        let realms = self.sale_mode.map_or(vec![SaleMode::Real, SaleMode::Sandbox], |sale_mode| vec![sale_mode]);
        let mut combinations = Vec::with_capacity(statuses.len() * kinds.len() * realms.len());
        for status in statuses {
            for kind in &kinds {
                combinations.extend(realms.iter().map(|sale_mode| (*status, *kind, *sale_mode)));
            }
        }
        combinations
    }
}

/// The part of the port for narrowed lists. Each is found by indexes: a page costs what is on it, however long the list is.
#[async_trait]
pub trait FilteredLists: Send + Sync {
    /// Auctions in order of creation (UUID).
    async fn filtered_auctions(&self, filter: &AuctionFilter, page: Page<Uuid>) -> StoreResult<Vec<Auction>>;

    /// Items of an auction with one of these statuses, each named once, by position.
    async fn items_with_status(
        &self,
        auction: Uuid,
        statuses: &[ItemStatus],
        page: Page<i64>,
    ) -> StoreResult<Vec<Item>>;

    /// The item of an auction with this lot number.
    async fn item_by_lot_number(&self, auction: Uuid, lot_number: &str) -> StoreResult<Option<Item>>;

    /// RegistrationStore of an auction that stand at one of these, each named once, in order of creation (UUID).
    async fn registrations_with_status(
        &self,
        auction: Uuid,
        statuses: &[RegistrationStatus],
        page: Page<Uuid>,
    ) -> StoreResult<Vec<Registration>>;
}
