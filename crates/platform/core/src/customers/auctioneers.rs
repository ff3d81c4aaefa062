//! Auctioneers: the firms that hold auctions. A customer has one or more.

use uuid::Uuid;

use crate::caller::visible;
use crate::customers::addresses::AddressInput;
use crate::customers::auctioneer_input::{AuctioneerInput, AuctioneerPatch};
use crate::error::{PlatformError, PlatformResult};
use crate::port::{Auctioneer, AuctioneerChange, AuctioneerProfile, NewAuctioneer, Page, StoreError, Versioned};
use crate::steps::decide::expect_version;
use crate::steps::idempotency::{IdempotentRequest, Outcome};
use crate::steps::input::require_usable;
use crate::{Caller, Platform, Scope};

/// How often a change is tried again after a version conflict.
const ATTEMPTS_MAX: usize = 5;

impl Platform {
    /// Creates an auctioneer of a customer.
    ///
    /// Errors: `not_found` (customer), `invalid`, `taken` (name, for this customer).
    pub async fn create_auctioneer(
        &self,
        caller: &Caller,
        customer: Uuid,
        entry: impl Into<AuctioneerInput> + Send,
        answering: Option<IdempotentRequest<'_, Auctioneer>>,
    ) -> PlatformResult<Outcome<Auctioneer>> {
        caller.require(Scope::CustomersWrite)?;
        self.visible_customer(caller, customer).await?;
        let entry = entry.into();
        require_usable(entry.problems(), None)?;
        let AuctioneerInput { name, address, country, currency, logo, attachments } = entry;
        let profile = AuctioneerProfile { address_id: None, country, currency, logo, attachments };
        let uuid = self.ids().uuid_v7();
        let created_at = self.now();
        let (address_of, id, answer) = (address, None, None);
        let mut new = NewAuctioneer { uuid, customer, name, profile, address: None, created_at, id, answer };
        if let Some(answer) = self.replay(answering.as_ref()).await? {
            return Ok(Outcome::Replayed(answer));
        }
        if let Some(entry) = &address_of {
            let (id, address) = self.enter_address(customer, entry, None).await?;
            new.profile.address_id = Some(id);
            new.address = address;
        }
        if let Some(answering) = &answering {
            let id = self.store().next_auctioneer_id().await?;
            let (auctioneer, _) = new.clone().with_id(id);
            (new.id, new.answer) = (Some(id), Some(answering.answer(&auctioneer, created_at)));
        }
        match self.store().create_auctioneer(new).await {
            Ok(auctioneer) => Ok(Outcome::Fresh(auctioneer)),
            Err(StoreError::Replayed) => self.replayed(answering.as_ref()).await,
            // The same request came twice at the same time, and the other one has the name.
            Err(taken @ StoreError::Taken(_)) => {
                Ok(Outcome::Replayed(self.replay(answering.as_ref()).await?.ok_or(taken)?))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Changes what the patch names of an auctioneer, and leaves the rest. `expected_version` is the one that the
    /// caller saw.
    ///
    /// Errors: `not_found`, `precondition_failed`, `invalid`, `taken` (name, for this customer), `busy`.
    pub async fn change_auctioneer(
        &self,
        caller: &Caller,
        uuid: Uuid,
        patch: &AuctioneerPatch,
        expected_version: Option<i64>,
    ) -> PlatformResult<Auctioneer> {
        caller.require(Scope::CustomersWrite)?;
        let mut entered = None;
        for _ in 0..ATTEMPTS_MAX {
            let found = self.store().auctioneer(uuid).await?;
            let mut state = visible(caller, found, "auctioneer", |auctioneer| auctioneer.customer)?;
            let loaded = state.version;
            expect_version(expected_version, loaded)?;
            require_usable(patch.problems(&state), None)?;
            patch.apply(&mut state);
            let address = match &patch.address {
                None => None,
                Some(None) => {
                    state.profile.address_id = None;
                    None
                }
                Some(Some(entry)) => {
                    let current = state.profile.address_id;
                    // After a conflict, a new address keeps the id that it got.
                    let (id, address) = match entered.take() {
                        Some(entered) => entered,
                        None => self.enter_address(state.customer, entry, current).await?,
                    };
                    state.profile.address_id = Some(id);
                    entered = is_new(entry).then(|| (id, address.clone()));
                    address
                }
            };
            state.version = loaded + 1;
            let auctioneer = Versioned { expected_version: loaded, state: state.clone() };
            match self.store().change_auctioneer(AuctioneerChange { auctioneer, address }).await {
                Ok(()) => return Ok(state),
                Err(StoreError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(PlatformError::Busy)
    }

    /// An auctioneer.
    pub async fn auctioneer(&self, caller: &Caller, uuid: Uuid) -> PlatformResult<Auctioneer> {
        caller.require(Scope::CustomersRead).or_else(|_| caller.require(Scope::AuctionsRead))?;
        visible(caller, self.store().auctioneer(uuid).await?, "auctioneer", |auctioneer| auctioneer.customer)
    }

    /// An auctioneer by the primary key of the common model; see `AuctioneerApiModel`.
    pub async fn auctioneer_by_id(&self, caller: &Caller, id: i64) -> PlatformResult<Auctioneer> {
        caller.require(Scope::CustomersRead).or_else(|_| caller.require(Scope::AuctionsRead))?;
        visible(caller, self.store().auctioneer_by_id(id).await?, "auctioneer", |auctioneer| auctioneer.customer)
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
            self.visible_customer(caller, customer).await?;
        }
        Ok(self.store().auctioneers(customer.or(caller.customer), page).await?)
    }
}

fn is_new(entry: &AddressInput) -> bool {
    matches!(entry, AddressInput::Full(model) if model.id.is_none())
}
