//! A bidder registers for a sale. The registration is the one that staff see, with the bidder's record in the register.

use contract::AuctionStatus;
use kit_identity::user::Change;
use platform_rules::{Auction, Rejection};
use uuid::Uuid;

use super::accounts::require_accounts;
use super::{Saleroom, SignedInBidder};
use crate::Platform;
use crate::bidders::{NewRegistration, PartyInput};
use crate::error::saleroom_refusal::SaleroomRefusal;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{
    AcceptedConditions, BidderAccountChange, MatchReason, Party, PartyDetails, Registration, RegistrationRule,
    RegistrationStatus, StoreError,
};

/// Tries after another tab of the same bidder was faster.
const ATTEMPTS_MAX: usize = 5;
/// Records with the bidder's address that are looked at.
const MATCHES_MAX: usize = 20;

impl Platform {
    /// The bidder's registration for a sale; none before they registered.
    pub async fn own_registration(
        &self,
        bidder: &SignedInBidder,
        auction: Uuid,
    ) -> PlatformResult<Option<Registration>> {
        match bidder.account.profile.party {
            Some(party) => Ok(self.store().registration_of_party(auction, party).await?),
            None => Ok(None),
        }
    }

    /// Registers a bidder for a sale on view, or returns the registration that they have. `accepted` is the version of the
    /// conditions that the bidder accepted.
    ///
    /// Errors: `accounts_closed`, `not_found`, `sale_over`, `conditions_changed`, `bidder_blocked`, `person_erased`, `busy`.
    pub async fn register_for_sale(
        &self,
        saleroom: &Saleroom,
        bidder: &SignedInBidder,
        auction: Uuid,
        accepted: Option<u32>,
    ) -> PlatformResult<Registration> {
        require_accounts(saleroom)?;
        let sale = self.saleroom_sale(saleroom, auction).await?;
        if !matches!(sale.auction.status, AuctionStatus::Preview | AuctionStatus::Live) {
            return Err(SaleroomRefusal::SaleOver.into());
        }
        if let Some(registration) = self.own_registration(bidder, auction).await? {
            return Ok(registration);
        }
        if let Some(number) = sale.facts.and_then(|facts| facts.conditions) {
            if accepted != Some(number) {
                return Err(SaleroomRefusal::ConditionsChanged { number }.into());
            }
            let account = bidder.account.id;
            self.store().accept_conditions(AcceptedConditions { account, auction, number, at: self.now() }).await?;
        }
        let party = self.record_of_bidder(bidder).await?;
        self.register_record(saleroom, bidder, &sale.auction, party).await
    }

    /// The bidder's record in the register of the house, which is entered at the first registration. The register proposes to
    /// staff those records that are likely the same person; it merges none by itself.
    async fn record_of_bidder(&self, bidder: &SignedInBidder) -> PlatformResult<Uuid> {
        for _ in 0..ATTEMPTS_MAX {
            let account = self.store().bidder_account(bidder.account.id).await?;
            let account = account.ok_or(PlatformError::Unauthenticated)?;
            if let Some(party) = account.profile.party {
                return Ok(party);
            }
            let details = account.profile.details.clone();
            let details = PartyDetails {
                name: details.name,
                is_bidder: true,
                email: Some(account.email.clone()),
                phone: details.phone,
                addresses: details.address.into_iter().collect(),
                ..PartyDetails::default()
            };
            let input = PartyInput { details, document: None };
            let entry = self.new_party(&bidder.caller(), account.profile.customer, &input)?;
            let party = entry.party.state.uuid;
            let mut account = account;
            account.profile.party = Some(party);
            let change = BidderAccountChange { change: Change::to(account), link: None, party: Some(entry) };
            match self.store().change_bidder_account(change).await {
                Ok(()) => return Ok(party),
                Err(StoreError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(PlatformError::Busy)
    }

    /// True when the register has another record with the bidder's address, such as one that staff entered for a consignor or with
    /// a limit: staff decide then whether it is the same person. Errors: `bidder_blocked` when that record is blocked.
    async fn is_in_register(&self, bidder: &SignedInBidder, party: Uuid) -> PlatformResult<bool> {
        let account = &bidder.account;
        let own = self.store().records_of_person(party).await?;
        let key = MatchReason::Email.key(&account.email);
        let found = self.store().parties_matching(account.profile.customer, &[key], MATCHES_MAX).await?;
        let others: Vec<Party> = found.into_iter().filter(|other| !own.contains(&other.uuid)).collect();
        if others.iter().any(|other| other.block.is_some()) {
            return Err(Rejection::BidderBlocked.into());
        }
        Ok(!others.is_empty())
    }

    async fn register_record(
        &self,
        saleroom: &Saleroom,
        bidder: &SignedInBidder,
        auction: &Auction,
        party: Uuid,
    ) -> PlatformResult<Registration> {
        let is_known = self.is_in_register(bidder, party).await?;
        let status = match saleroom.house.saleroom.registration {
            RegistrationRule::AtOnce if !is_known => RegistrationStatus::Approved,
            RegistrationRule::AtOnce | RegistrationRule::ByStaff | RegistrationRule::Closed => {
                RegistrationStatus::Pending
            }
        };
        let new = NewRegistration {
            paddle: None,
            party: Some(party),
            name: Some(bidder.account.profile.details.name.clone()),
            email: Some(bidder.account.email.clone()),
            limit: None,
            note: None,
            status,
        };
        match self.register_in(&bidder.caller(), auction, &new, None).await {
            Ok(made) => made.fresh(),
            // Another tab registered the bidder meanwhile.
            Err(PlatformError::Taken("party")) => {
                let found = self.store().registration_of_party(auction.uuid, party).await?;
                found.ok_or(PlatformError::Busy)
            }
            Err(error) => Err(error),
        }
    }
}
