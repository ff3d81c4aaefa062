//! Health of the endpoints of customers, and which of them received an announced event.
//!
//! ```text
//!  publisher ── published ──> worker ── claims due customers ──> reading ── GET, the customer's key ──> its provider
//!                               ^                                   │
//!  an event is sent again ──────┘                                   └── records ──> tables ──> pages of every node
//! ```
//!
//! Guarantees:
//! - Pages read the tables and send the provider nothing. What they show has the time at which it was read.
//! - A reading makes at most one request a second for a customer, reads at most 50 endpoints and bounded responses, and
//!   ends within two minutes. A provider's limit of requests is honoured.
//! - One node reads the endpoints of a customer at a time. If its claim expires, what it still wants to record is dropped.
//! - Nothing of a receiver's response is kept but its status code: support enters the provider's address, so a response
//!   can be a text of any server in the operator's network.

mod answers;
mod reading;
mod worker;

use uuid::Uuid;

use crate::error::PlatformResult;
use crate::port::SubjectKind;
pub use crate::port::{
    DeliveryState, EndpointCondition, EndpointFigures, EndpointReading, EndpointRecord, EventDelivery, FailedAttempt,
    ReadingOutcome, UNDELIVERED_COUNTED_MAX, UndeliveredOfSale,
};
use crate::{Caller, Platform, Scope};
pub use worker::EndpointReadingWorker;

/// Customers whose readings are read in one call.
const CUSTOMERS_MAX: usize = 100;

impl Platform {
    /// What was last read of the endpoints of these customers, at most 100; nothing of a customer that is not connected.
    /// For the platform's own staff.
    ///
    /// Errors: `forbidden`.
    pub async fn endpoint_readings(
        &self,
        caller: &Caller,
        mut customers: Vec<Uuid>,
    ) -> PlatformResult<Vec<EndpointReading>> {
        caller.require(Scope::CustomersRead)?;
        caller.require_staff()?;
        customers.truncate(CUSTOMERS_MAX);
        Ok(self.store().endpoint_readings(customers).await?)
    }

    /// Which endpoints received the events of an item or auction, as it was last read.
    ///
    /// Errors: `forbidden`, `not_found`.
    pub async fn event_deliveries(
        &self,
        caller: &Caller,
        (kind, subject): (SubjectKind, Uuid),
    ) -> PlatformResult<Vec<EventDelivery>> {
        caller.require(Scope::EventsRead)?;
        match kind {
            SubjectKind::Auction => drop(self.visible_auction(caller, subject).await?),
            SubjectKind::Item => drop(self.visible_item(caller, subject).await?),
        }
        Ok(self.store().event_deliveries(subject).await?)
    }

    /// The events of an auction and its items that an endpoint has not received, as it was last read.
    ///
    /// Errors: `forbidden`, `not_found`.
    pub async fn undelivered_of_sale(&self, caller: &Caller, auction: Uuid) -> PlatformResult<UndeliveredOfSale> {
        caller.require(Scope::EventsRead)?;
        let auction = self.visible_auction(caller, auction).await?;
        Ok(self.store().undelivered_of_sale(auction.customer, auction.uuid).await?)
    }

    /// Makes the next reading of a customer's endpoints due, because something was just changed at the provider.
    pub(super) async fn read_endpoints_soon(&self, customer: Uuid) -> PlatformResult<()> {
        let pause_ms = i64::try_from(self.config().endpoint_readings.busy_every.as_millis()).unwrap_or(i64::MAX);
        let now = self.now();
        Ok(self.store().bring_endpoint_readings_forward(vec![customer], now, pause_ms, Some(now)).await?)
    }
}
