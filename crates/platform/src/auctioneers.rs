//! Auctioneers: who holds auctions; a customer has one or more.

use uuid::Uuid;

use crate::caller::seen;
use crate::customers::NAME_CHARS_MAX;
use crate::error::{PlatformError, PlatformResult};
use crate::idempotency::{Answering, Outcome};
use crate::new_item::text;
use crate::port::{Auctioneer, NewAuctioneer, Page};
use crate::{Caller, Platform, Scope};

impl Platform {
    /// Creates an auctioneer of a customer.
    ///
    /// Its id comes from the store, so the answer to an idempotency key is kept right after it, not with it: a repeated
    /// call after a crash in between gets `taken`, never a second auctioneer.
    ///
    /// Errors: `not_found` (customer), `invalid`, `taken` (name, for this customer).
    pub async fn create_auctioneer(
        &self,
        caller: &Caller,
        customer: Uuid,
        name: &str,
        answering: Option<Answering<'_, Auctioneer>>,
    ) -> PlatformResult<Outcome<Auctioneer>> {
        caller.require(Scope::CustomersWrite)?;
        self.seen_customer(caller, customer).await?;
        text(name, NAME_CHARS_MAX).map_err(|message| PlatformError::invalid("/name", message))?;
        if let Some(answer) = self.replay(answering.as_ref()).await? {
            return Ok(Outcome::Replayed(answer));
        }
        let new = NewAuctioneer { uuid: self.ids().uuid_v7(), customer, name: name.to_owned(), created_at: self.now() };
        let auctioneer = self.store().create_auctioneer(new).await?;
        self.keep_answer(answering.as_ref(), &auctioneer).await?;
        Ok(Outcome::Fresh(auctioneer))
    }

    /// An auctioneer.
    pub async fn auctioneer(&self, caller: &Caller, uuid: Uuid) -> PlatformResult<Auctioneer> {
        caller.require(Scope::CustomersRead).or_else(|_| caller.require(Scope::AuctionsRead))?;
        seen(caller, self.store().auctioneer(uuid).await?, "auctioneer", |auctioneer| auctioneer.customer)
    }

    /// An auctioneer by the primary key of the common model; see `AuctioneerApiModel`.
    pub async fn auctioneer_by_id(&self, caller: &Caller, id: i64) -> PlatformResult<Auctioneer> {
        caller.require(Scope::CustomersRead).or_else(|_| caller.require(Scope::AuctionsRead))?;
        seen(caller, self.store().auctioneer_by_id(id).await?, "auctioneer", |auctioneer| auctioneer.customer)
    }

    /// Auctioneers that the caller sees, of one customer if it is named, in order of creation.
    pub async fn auctioneers(
        &self,
        caller: &Caller,
        customer: Option<Uuid>,
        page: Page<Uuid>,
    ) -> PlatformResult<Vec<Auctioneer>> {
        caller.require(Scope::CustomersRead).or_else(|_| caller.require(Scope::AuctionsRead))?;
        if let Some(customer) = customer {
            self.seen_customer(caller, customer).await?;
        }
        Ok(self.store().auctioneers(customer.or(caller.customer), page).await?)
    }
}
