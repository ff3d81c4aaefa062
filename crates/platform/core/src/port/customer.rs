//! Customers, and who may ask: keys, and the answers that were given to them.

use jiff::Timestamp;
use uuid::Uuid;

use super::{Address, AuctioneerProfile};

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

/// An access right of a key of the platform's API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// UUID, version 7.
    pub uuid: Uuid,
    /// SHA-256 of the whole key (a key is 192 random bits, so no salt or stretching is needed).
    pub hash: [u8; 32],
    /// The customer that it is confined to; none for the platform's own staff.
    pub customer: Option<Uuid>,
    /// Name, for people.
    pub name: String,
    /// Scope names; see `access::Scope`.
    pub scopes: Vec<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it stops working.
    pub expires_at: Option<Timestamp>,
    /// When it was last used, to within a minute.
    pub last_used_at: Option<Timestamp>,
    /// Since when it gives no access.
    pub revoked_at: Option<Timestamp>,
}

/// The answer given to a request with an idempotency key, kept for 24 h.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotentAnswer {
    /// Who asked: the API key's UUID. The same key of two callers are two keys.
    pub caller: Uuid,
    /// The `Idempotency-Key`.
    pub key: String,
    /// SHA-256 over method, path and body.
    pub request_hash: [u8; 32],
    /// Status code answered.
    pub status: u16,
    /// Body answered.
    pub body: String,
    /// `ETag` answered, without its quotes.
    pub tag: Option<String>,
    /// When it was answered.
    pub at: Timestamp,
}
