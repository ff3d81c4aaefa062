//! Addresses, and what an auctioneer has beside its name: what the reference API gives by id.

use async_trait::async_trait;
use contract::models::{AddressModel, CountryCode, CurrencyCode, UrlAttachmentApiModel};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Auctioneer, StoreResult, Versioned};

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

/// The part of the port for records that are looked up by id.
#[async_trait]
pub trait References: Send + Sync {
    /// An id for an address that is to be written. Given once: if nothing is written, nothing ever has it.
    async fn next_address_id(&self) -> StoreResult<i64>;
    /// An address.
    async fn address(&self, id: i64) -> StoreResult<Option<Address>>;
    /// Writes both as a whole. `Conflict` when the version moved or there is no such auctioneer, `Taken("name")`.
    async fn change_auctioneer(&self, change: AuctioneerChange) -> StoreResult<()>;
}
