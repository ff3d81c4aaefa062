//! Customers, their auctioneers and addresses.

use async_trait::async_trait;
use contract::models::{AddressModel, CountryCode, CurrencyCode, UrlAttachmentApiModel};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{IdempotentAnswer, Page, StoreResult, Versioned};

/// A postal address of a customer, to which auctioneers and auctions point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Primary key of the common model, given by the store, from 1, stable for ever.
    pub id: i64,
    /// The customer that it belongs to.
    pub customer: Uuid,
    /// What it says; its own `id` is the one above.
    pub model: AddressModel,
}

/// What an auctioneer has beside its name. All of it may be absent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AuctioneerProfile {
    /// Its address.
    pub address_id: Option<i64>,
    /// The country in which it is at home.
    pub country: Option<CountryCode>,
    /// The currency that its sales are usually in.
    pub currency: Option<CurrencyCode>,
    /// Its logo.
    pub logo: Option<UrlAttachmentApiModel>,
    /// Images, documents and videos about it, in their order.
    pub attachments: Vec<UrlAttachmentApiModel>,
}

/// An auctioneer's next state, and the address that is written with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuctioneerChange {
    /// The auctioneer with the version that was loaded.
    pub auctioneer: Versioned<Auctioneer>,
    /// An address of the same customer: new, or in place of the one with its id.
    pub address: Option<Address>,
}

/// Who runs auctions and receives events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Customer {
    /// UUID, version 7.
    pub uuid: Uuid,
    /// Name; unique.
    pub name: String,
    /// When it was created.
    pub created_at: Timestamp,
}

/// Who holds auctions; a customer has one or more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Auctioneer {
    /// Primary key of the common model, given by the store, from 1, stable for ever.
    pub id: i64,
    /// UUID, version 7; what events carry.
    pub uuid: Uuid,
    /// The customer that it belongs to.
    pub customer: Uuid,
    /// Name.
    pub name: String,
    /// What it has beside its name.
    pub profile: AuctioneerProfile,
    /// Number of its last change, from 1; what `If-Match` compares.
    pub version: i64,
    /// When it was created.
    pub created_at: Timestamp,
}

/// An auctioneer before the store has given it an id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAuctioneer {
    /// UUID, version 7.
    pub uuid: Uuid,
    /// The customer that it belongs to.
    pub customer: Uuid,
    /// Name, unique for the customer.
    pub name: String,
    /// What it has beside its name.
    pub profile: AuctioneerProfile,
    /// A new address to write with it.
    pub address: Option<Address>,
    /// When it was created.
    pub created_at: Timestamp,
    /// The id that was drawn for it, which its answer says; without one the store gives it the next.
    pub id: Option<i64>,
    /// The answer to keep for the caller's idempotency key.
    pub answer: Option<IdempotentAnswer>,
}

impl NewAuctioneer {
    /// The auctioneer with its id, and the address to write.
    pub fn with_id(self, id: i64) -> (Auctioneer, Option<Address>) {
        let Self { uuid, customer, name, profile, address, created_at, .. } = self;
        (Auctioneer { id, uuid, customer, name, profile, version: 1, created_at }, address)
    }
}

/// Customers, auctioneers and addresses. Ids of auctioneers and addresses are given once and never reused.
#[async_trait]
pub trait CustomerStore: Send + Sync {
    /// `Taken("name")` when the name is.
    async fn create_customer(&self, customer: Customer, answer: Option<IdempotentAnswer>) -> StoreResult<()>;
    /// Gives a customer another name. False when there is no such customer; `Taken("name")`.
    async fn rename_customer(&self, uuid: Uuid, name: &str) -> StoreResult<bool>;
    /// A customer.
    async fn customer(&self, uuid: Uuid) -> StoreResult<Option<Customer>>;
    /// In order of creation (UUID).
    async fn customers(&self, page: Page<Uuid>) -> StoreResult<Vec<Customer>>;
    /// An id for an auctioneer whose answer has to say it before it is written. Given once: if nothing is written,
    /// nothing ever has it.
    async fn next_auctioneer_id(&self) -> StoreResult<i64>;
    /// Gives the id, unless one was drawn; its address and the answer are written with it. `Taken("name")`, `Replayed`.
    async fn create_auctioneer(&self, auctioneer: NewAuctioneer) -> StoreResult<Auctioneer>;
    /// An auctioneer.
    async fn auctioneer(&self, uuid: Uuid) -> StoreResult<Option<Auctioneer>>;
    /// An auctioneer by its primary key.
    async fn auctioneer_by_id(&self, id: i64) -> StoreResult<Option<Auctioneer>>;
    /// In order of creation (UUID), of one customer if it is named.
    async fn auctioneers(&self, customer: Option<Uuid>, page: Page<Uuid>) -> StoreResult<Vec<Auctioneer>>;
    /// Writes both as a whole. `Conflict` when the version moved or there is no such auctioneer, `Taken("name")`.
    async fn change_auctioneer(&self, change: AuctioneerChange) -> StoreResult<()>;
    /// An id for an address that is to be written. Given once: if nothing is written, nothing ever has it.
    async fn next_address_id(&self) -> StoreResult<i64>;
    /// An address.
    async fn address(&self, id: i64) -> StoreResult<Option<Address>>;
}
