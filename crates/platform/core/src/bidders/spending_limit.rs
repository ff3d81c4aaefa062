//! Admission of a bidder to a bid: the registration, and the spending limit with what the bidder has committed.
//!
//! The rules compare a bid with the limit and refuse one above it (`spending_limit_reached`). This module gives them
//! the limit and the committed amount, and makes the bid's commit depend on both ([`SpendingVersion`]).

use platform_rules::{Admission, Auction, Bidder, Item, Rejection};
use uuid::Uuid;

use crate::Platform;
use crate::error::PlatformResult;
use crate::node_state::registration_cache::CachedRegistration;
use crate::port::{ExpectedRegistration, Registration, RegistrationStatus, SpendingVersion};

/// The bidder of a bid, as admitted.
#[derive(Debug, Clone)]
pub(crate) struct Admitted {
    pub(crate) bidder: Bidder,
    /// The version that the bid must raise, for a bidder with a spending limit.
    pub(crate) spending_version: Option<SpendingVersion>,
    /// The registration that the bid depends on, for a bidder without a limit.
    pub(crate) precondition: ExpectedRegistration,
    from: LookUpIn,
}

/// Where a registration is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LookUpIn {
    /// In this node's cache, or in the store when the cache does not have it.
    Cache,
    /// In the store.
    Store,
}

impl Admitted {
    /// Admission of a bidder without a limit.
    fn by(auction: &Auction, paddle: &str, standing: Option<CachedRegistration>, from: LookUpIn) -> Self {
        let version = standing.as_ref().map_or(0, |standing| standing.version);
        let precondition = ExpectedRegistration { auction: auction.uuid, paddle: paddle.to_owned(), version };
        Self { bidder: bidder_of(auction.registration, standing, paddle), spending_version: None, precondition, from }
    }

    pub(crate) fn is_registered(&self) -> bool {
        self.precondition.version > 0
    }

    /// True when the refusal is based on a cached registration, which may be outdated: the store decides.
    pub(crate) fn may_be_outdated(&self, refusal: &Rejection) -> bool {
        let is_about_bidder = matches!(
            refusal,
            Rejection::BidderNotApproved
                | Rejection::BidderSuspended
                | Rejection::VendorBarred
                | Rejection::SpendingLimitReached { .. }
        );
        self.from == LookUpIn::Cache && is_about_bidder
    }
}

impl Platform {
    /// Admits a bidder of a webcast, with everything committed in the auction. An absentee bid leads no item, and a
    /// ring offers one item at a time, on which the leading bidder can't bid. So no spending version is raised.
    pub(crate) async fn admit_to_webcast(&self, auction: &Auction, paddle: &str) -> PlatformResult<Admitted> {
        Ok(Admitted { spending_version: None, ..self.look_up(auction, paddle, None).await? })
    }

    /// Admits a bidder to an item of a timed auction.
    pub(crate) async fn admit(
        &self,
        auction: &Auction,
        item: &Item,
        paddle: &str,
        source: LookUpIn,
    ) -> PlatformResult<Admitted> {
        let known = Some(source).filter(|source| *source == LookUpIn::Cache);
        match known.and_then(|_| self.registration_cache().get(auction.uuid, paddle)) {
            Some(standing) => Ok(Admitted::by(auction, paddle, standing, LookUpIn::Cache)),
            None => self.look_up(auction, paddle, Some(item.uuid)).await,
        }
    }

    async fn look_up(&self, auction: &Auction, paddle: &str, except: Option<Uuid>) -> PlatformResult<Admitted> {
        // The version first, then the amount: a bid that is committed in between raises the version, and this one is
        // decided again.
        let found = self.store().registration_by_paddle(auction.uuid, paddle).await?;
        // A merge after this read raises the version, too.
        let records = match found.as_ref().and_then(|registration| registration.party) {
            Some(party) => self.store().records_of_person(party).await?,
            None => Vec::new(),
        };
        let standing = found.as_ref().map(|registration| CachedRegistration::of(registration, &records));
        let Admitted { bidder, precondition, from, .. } =
            Admitted::by(auction, paddle, standing.clone(), LookUpIn::Store);
        let Some(Registration { uuid, limit: limit @ Some(_), spending_version, .. }) = found else {
            self.registration_cache().remember(auction.uuid, paddle, standing);
            return Ok(Admitted { bidder, spending_version: None, precondition, from });
        };
        self.registration_cache().forget(auction.uuid, paddle);
        let committed = self.store().committed_amount(auction.uuid, paddle, except).await?;
        let spending_version = Some(SpendingVersion { registration: uuid, expected: spending_version });
        Ok(Admitted { bidder: Bidder { limit, committed, ..bidder }, spending_version, precondition, from })
    }
}

/// What a registration, or none, means to the rules, without its limit.
fn bidder_of(admission: Admission, found: Option<CachedRegistration>, paddle: &str) -> Bidder {
    let vouched_for = Bidder::vouched_for(paddle);
    let Some(standing) = found else {
        return Bidder { approved: admission == Admission::Open, ..vouched_for };
    };
    let approved = match standing.status {
        RegistrationStatus::Approved | RegistrationStatus::Suspended => true,
        RegistrationStatus::Pending => admission == Admission::Open,
        RegistrationStatus::Refused => false,
    };
    let suspended = standing.status == RegistrationStatus::Suspended;
    let pending = standing.status == RegistrationStatus::Pending;
    let merged = standing.merged.map_or(Vec::new(), |merged| merged.to_vec());
    let registered = Some(standing.registered);
    Bidder { party: standing.party, merged, registered, approved, pending, suspended, ..vouched_for }
}

#[cfg(test)]
mod tests {
    use platform_rules::{LogHash, RegistrationRef};

    use super::*;

    #[test]
    fn who_may_bid_follows_from_auction_and_registration() {
        use RegistrationStatus::{Approved, Pending, Refused, Suspended};
        // Status of the registration; approved in an open auction, in one that requires it; suspended.
        let table = [
            (None, true, false, false),
            (Some(Pending), true, false, false),
            (Some(Approved), true, true, false),
            (Some(Refused), false, false, false),
            (Some(Suspended), true, true, true),
        ];
        let registered = RegistrationRef { uuid: Uuid::nil(), entry: 1, hash: LogHash::default() };
        for (status, open, required, suspended) in table {
            for (admission, approved) in [(Admission::Open, open), (Admission::Required, required)] {
                let standing = status.map(|status| CachedRegistration {
                    status,
                    party: None,
                    merged: None,
                    version: 1,
                    registered,
                });
                let bidder = bidder_of(admission, standing, "12");
                assert_eq!((bidder.approved, bidder.suspended), (approved, suspended), "{status:?} in {admission:?}");
            }
        }
    }
}
