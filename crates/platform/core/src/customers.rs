//! Customers: the organisations that run auctions on the platform and receive events.

pub mod addresses;
pub mod auctioneer_input;
pub mod auctioneers;
pub mod connections;
pub mod domain_name;
pub mod domains;
pub mod house_input;
pub mod houses;

use uuid::Uuid;

use crate::error::{PlatformError, PlatformResult};
use crate::port::{Customer, Page, StoreError};
use crate::steps::idempotency::{IdempotentRequest, Outcome};
use crate::steps::input::check_text;
use crate::{Caller, Platform, Scope};

/// Characters of a customer's name.
pub const NAME_CHARS_MAX: usize = 200;

impl Platform {
    /// Creates a customer; for the platform's own staff.
    ///
    /// Errors: `forbidden`, `invalid`, `taken` (name).
    pub async fn create_customer(
        &self,
        caller: &Caller,
        name: &str,
        answering: Option<IdempotentRequest<'_, Customer>>,
    ) -> PlatformResult<Outcome<Customer>> {
        caller.require(Scope::CustomersWrite)?;
        caller.require_staff()?;
        check_text(name, NAME_CHARS_MAX).map_err(|message| PlatformError::invalid("/name", message))?;
        if let Some(answer) = self.replay(answering.as_ref()).await? {
            return Ok(Outcome::Replayed(answer));
        }
        let now = self.now();
        let customer = Customer { uuid: self.ids().uuid_v7(), name: name.to_owned(), created_at: now };
        let answer = answering.as_ref().map(|answering| answering.answer(&customer, now));
        match self.store().create_customer(customer.clone(), answer).await {
            Ok(()) => Ok(Outcome::Fresh(customer)),
            Err(StoreError::Replayed) => {
                self.replay(answering.as_ref()).await?.map(Outcome::Replayed).ok_or(PlatformError::Busy)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Gives a customer another name; for the platform's own staff.
    ///
    /// Errors: `forbidden`, `not_found`, `invalid`, `taken` (name).
    pub async fn rename_customer(&self, caller: &Caller, uuid: Uuid, name: &str) -> PlatformResult<Customer> {
        caller.require(Scope::CustomersWrite)?;
        caller.require_staff()?;
        check_text(name, NAME_CHARS_MAX).map_err(|message| PlatformError::invalid("/name", message))?;
        if !self.store().rename_customer(uuid, name).await? {
            return Err(PlatformError::NotFound("customer"));
        }
        tracing::info!(customer_id = %uuid, name, by = caller.actor, "a customer was renamed");
        self.visible_customer(caller, uuid).await
    }

    /// A customer.
    pub async fn customer(&self, caller: &Caller, uuid: Uuid) -> PlatformResult<Customer> {
        caller.require(Scope::CustomersRead)?;
        self.visible_customer(caller, uuid).await
    }

    /// Customers that the caller sees, in order of creation.
    pub async fn customers(&self, caller: &Caller, page: Page<Uuid>) -> PlatformResult<Vec<Customer>> {
        caller.require(Scope::CustomersRead)?;
        let Some(own) = caller.customer else { return Ok(self.store().customers(page).await?) };
        if page.limit == 0 || page.after.is_some_and(|after| after >= own) {
            return Ok(Vec::new());
        }
        Ok(self.store().customer(own).await?.into_iter().collect())
    }
}
