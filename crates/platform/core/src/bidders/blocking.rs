//! Blocks a person or firm from bidding: in every sale of the house, at once.
//!
//! The block is written first; then each registration of the party is suspended. A bid carries the version of its
//! registration, so the store refuses every bid that is committed after the suspension. A registration that is made at
//! the same moment reads the party again after it was written, and is suspended too.

use std::collections::{BTreeMap, BTreeSet};

use contract::{AuctionStatus, ItemStatus};
use platform_rules::item::REASON_CHARS_MAX;
use platform_rules::{Auction, Item};
use uuid::Uuid;

use crate::error::{PlatformError, PlatformResult};
use crate::port::{Page, Party, PartyChange, Registration, RegistrationStatus};
use crate::steps::input::check_text;
use crate::{Caller, Platform, Scope};

/// Registrations read at once.
const REGISTRATIONS_READ_MAX: usize = 250;
/// Items of one registration that are listed.
pub(super) const ITEMS_OF_BIDDER_MAX: usize = 1_000;
/// The reason of a suspension by a block. It stands in the open in the log of the registration, so it names no person.
pub(super) const SUSPENDED_BY_BLOCK: &str = "blocked in the register";

/// A lot on which the bidder leads, or which the person consigns and has a bid on that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingLot {
    /// The sale.
    pub auction: Auction,
    /// The registration that bid.
    pub registration: Registration,
    /// The item.
    pub item: Item,
    /// A record of the person consigns the lot, so that no bid of the person may stand: one was placed at the moment of a merge.
    pub is_own: bool,
}

/// Why a registration can't be approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalHindrance {
    /// The person was erased.
    Erased,
    /// The person is blocked in the register.
    Blocked,
}

impl Platform {
    /// Blocks a party: its registrations in sales that are not over are suspended, and no other can be made or approved.
    /// Standing bids stay; [`Platform::standing_lots`] lists them.
    ///
    /// Errors: `not_found`, `precondition_failed`, `reason_required`, `invalid`, `busy`. After an error a repeated call goes
    /// on with what is left.
    pub async fn block_party(
        &self,
        caller: &Caller,
        uuid: Uuid,
        reason: &str,
        expected_version: Option<i64>,
    ) -> PlatformResult<Party> {
        let reason = reason.trim();
        if reason.is_empty() {
            return Err(platform_rules::Rejection::ReasonRequired.into());
        }
        check_text(reason, REASON_CHARS_MAX).map_err(|message| PlatformError::invalid("/reason", message))?;
        let change = |_: &Party| Ok(PartyChange::Blocked { reason: reason.to_owned() });
        let party = self.rewrite_party(caller, uuid, change, expected_version).await?;
        self.suspend_registrations(caller, uuid).await?;
        Ok(party)
    }

    /// Ends a block. Suspended registrations stay suspended until they are approved.
    ///
    /// Errors: `not_found`, `precondition_failed`, `busy`.
    pub async fn unblock_party(
        &self,
        caller: &Caller,
        uuid: Uuid,
        expected_version: Option<i64>,
    ) -> PlatformResult<Party> {
        self.rewrite_party(caller, uuid, |_| Ok(PartyChange::Unblocked), expected_version).await
    }

    /// The lots of sales that are not over, on which the party leads; and those of the party's own, on which a bid of the party
    /// counts.
    ///
    /// Errors: `not_found`.
    pub async fn standing_lots(&self, caller: &Caller, uuid: Uuid) -> PlatformResult<Vec<StandingLot>> {
        caller.require(Scope::PartiesRead)?;
        self.visible_party(caller, uuid).await?;
        let records = self.store().records_of_person(uuid).await?;
        let mut standing = Vec::new();
        for (registration, auction) in self.open_registrations(uuid).await? {
            let paddle = &registration.paddle;
            let items = self.store().items_of_bidder(auction.uuid, paddle, ITEMS_OF_BIDDER_MAX).await?;
            let leads = |item: &Item| {
                let leader = item.standing.as_ref().and_then(|standing| standing.known_bidder());
                is_open(item.status) && leader == Some(paddle.as_str())
            };
            for item in items {
                let is_own = item.vendor.is_some_and(|vendor| records.contains(&vendor));
                if leads(&item) || (is_own && is_open(item.status) && self.counts_on(&item, paddle).await?) {
                    let (registration, auction) = (registration.clone(), auction.clone());
                    standing.push(StandingLot { auction, registration, item, is_own });
                }
            }
        }
        Ok(standing)
    }

    /// Why registrations can't be approved, by registration; those without a hindrance are left out.
    pub async fn approval_hindrances(
        &self,
        caller: &Caller,
        registrations: &[Registration],
    ) -> PlatformResult<BTreeMap<Uuid, ApprovalHindrance>> {
        caller.require(Scope::BiddersRead)?;
        let named: BTreeSet<Uuid> = registrations.iter().filter_map(|registration| registration.party).collect();
        let named = self.store().parties_of(&named.into_iter().collect::<Vec<_>>()).await?;
        let kept: BTreeSet<Uuid> = named.iter().map(Party::record).collect();
        let kept = self.store().parties_of(&kept.into_iter().collect::<Vec<_>>()).await?;
        let of = |registration: &Registration| {
            let party = named.iter().find(|party| Some(party.uuid) == registration.party)?;
            let record = kept.iter().find(|record| record.uuid == party.record())?;
            let is_visible = caller.can_see(registration.customer) && record.customer == registration.customer;
            match (&record.erasure, &record.block) {
                _ if !is_visible => None,
                (Some(_), _) => Some((registration.uuid, ApprovalHindrance::Erased)),
                (None, Some(_)) => Some((registration.uuid, ApprovalHindrance::Blocked)),
                (None, None) => None,
            }
        };
        Ok(registrations.iter().filter_map(of).collect())
    }

    /// Refuses a registration of a party that its house has blocked or erased.
    ///
    /// Errors: `bidder_blocked`, `person_erased`.
    pub(super) async fn require_unblocked(&self, registration: &Registration) -> PlatformResult<()> {
        match self.party_of(registration).await? {
            Some(Party { erasure: Some(_), .. }) => Err(platform_rules::Rejection::PersonErased.into()),
            Some(Party { block: Some(_), .. }) => Err(platform_rules::Rejection::BidderBlocked.into()),
            _ => Ok(()),
        }
    }

    /// Refuses an edit of a registration whose person was erased.
    ///
    /// Errors: `person_erased`.
    pub(super) async fn require_unerased(&self, registration: &Registration) -> PlatformResult<()> {
        match self.party_of(registration).await? {
            Some(Party { erasure: Some(_), .. }) => Err(platform_rules::Rejection::PersonErased.into()),
            _ => Ok(()),
        }
    }

    /// The record of a registration in the register of its house, or the one that it was merged into; none if its party is an
    /// identifier of the caller's own.
    pub(super) async fn party_of(&self, registration: &Registration) -> PlatformResult<Option<Party>> {
        let Some(party) = registration.party else { return Ok(None) };
        self.kept_party(registration.customer, party).await
    }

    /// A record of a house, or the one that it was merged into.
    pub(super) async fn kept_party(&self, customer: Uuid, uuid: Uuid) -> PlatformResult<Option<Party>> {
        let found = self.store().party(uuid).await?.filter(|party| party.customer == customer);
        match found.as_ref().map(Party::record) {
            Some(record) if record != uuid => Ok(self.store().party(record).await?),
            _ => Ok(found),
        }
    }

    /// Suspends a registration that was written while its party was blocked or erased.
    pub(super) async fn suspend_if_blocked(
        &self,
        caller: &Caller,
        registration: Registration,
    ) -> PlatformResult<Registration> {
        match self.require_unblocked(&registration).await {
            Err(PlatformError::Rejected(platform_rules::Rejection::PersonErased)) => {
                self.erase_registration(caller, registration.uuid).await
            }
            Err(PlatformError::Rejected(_)) => self.suspend_for_block(caller, &registration).await,
            checked => checked.map(|()| registration),
        }
    }

    async fn suspend_registrations(&self, caller: &Caller, party: Uuid) -> PlatformResult<()> {
        for (registration, _) in self.open_registrations(party).await? {
            if matches!(registration.status, RegistrationStatus::Approved | RegistrationStatus::Pending) {
                self.suspend_for_block(caller, &registration).await?;
            }
        }
        Ok(())
    }

    /// The party's registrations in auctions that are not over, with these.
    pub(super) async fn open_registrations(&self, party: Uuid) -> PlatformResult<Vec<(Registration, Auction)>> {
        let (mut open, mut after) = (Vec::new(), None);
        loop {
            let page = Page { after, limit: REGISTRATIONS_READ_MAX };
            let registrations = self.store().registrations_of_party(party, page).await?;
            let Some(last) = registrations.last().map(|registration| registration.uuid) else { return Ok(open) };
            for registration in registrations {
                let auction = self.store().auction(registration.auction).await?;
                let open_auction = auction.filter(|auction| auction.status != AuctionStatus::Archived);
                open.extend(open_auction.map(|auction| (registration, auction)));
            }
            after = Some(last);
        }
    }

    /// Suspends an approved registration, and declines one that waits.
    async fn suspend_for_block(&self, caller: &Caller, registration: &Registration) -> PlatformResult<Registration> {
        let to = match registration.status {
            RegistrationStatus::Pending => RegistrationStatus::Refused,
            _ => RegistrationStatus::Suspended,
        };
        let step = super::RegistrationDecision { to, reason: Some(SUSPENDED_BY_BLOCK.to_owned()) };
        let ids = (registration.auction, registration.uuid);
        Box::pin(self.decide_registration(caller, ids, &step, None, None)).await?.fresh()
    }
}

/// True while a bid on the item can still win.
pub(super) fn is_open(status: ItemStatus) -> bool {
    matches!(
        status,
        ItemStatus::Draft | ItemStatus::Preview | ItemStatus::Live | ItemStatus::Suspended | ItemStatus::Passed
    )
}
