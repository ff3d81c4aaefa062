//! Bidders: registered for an auction, approved, suspended, and held to what they may spend (decisions, section 6).
//!
//! Guarantees:
//! - what a registration says counts for every bid that is decided after it was changed; in an open auction a paddle without
//!   a registration is vouched for by the caller;
//! - the maxima that lead and the hammer prices of a bidder with a spending limit never exceed it by bids of theirs, however
//!   many are made at the same time: each takes the next turn of the registration, and of two that were decided on the same
//!   turn the second one is decided again, on what the first one bound;
//! - a bidder without a limit costs a bid one look-up of the registration, and nothing is counted; a registered one notes a
//!   stake, so that a limit can come later.

mod change;
mod registering;
mod turns;

use auction::{Admission, Auction, Bidder, Item, Registered};
use uuid::Uuid;

pub use self::change::RegistrationChange;
pub use self::registering::{BidderEntry, RegistrationPatch, RegistrationStep, next_statuses};
pub(crate) use self::turns::Turns;
use crate::Platform;
use crate::error::PlatformResult;
use crate::port::{Registration, RegistrationStatus, Turn};

/// A bidder who comes with a bid.
#[derive(Debug, Clone)]
pub(crate) struct Admitted {
    pub(crate) bidder: Bidder,
    /// To be taken by the bid, when it has to stay within a limit.
    pub(crate) turn: Option<Turn>,
    pub(crate) is_registered: bool,
}

impl Admitted {
    /// A bidder for what binds nothing.
    pub(crate) fn without_turn(bidder: Bidder) -> Self {
        Self { bidder, turn: None, is_registered: false }
    }
}

impl Platform {
    /// A bidder as the rules ask for them, with all that they have bound in the auction. In a ring, where one item is
    /// offered at a time and who leads it can't bid on it, that is what they have bound elsewhere.
    pub(crate) async fn bidder(&self, auction: &Auction, paddle: &str) -> PlatformResult<Bidder> {
        Ok(self.look_up(auction, paddle, None).await?.bidder)
    }

    /// A bidder for a bid on an item.
    pub(crate) async fn admit(&self, auction: &Auction, item: &Item, paddle: &str) -> PlatformResult<Admitted> {
        self.look_up(auction, paddle, Some(item.uuid)).await
    }

    async fn look_up(&self, auction: &Auction, paddle: &str, except: Option<Uuid>) -> PlatformResult<Admitted> {
        // First the turn, then what is bound: what another bid binds in between has moved the turn on.
        let found = self.store().registration_of(auction.uuid, paddle).await?;
        let committed = match &found {
            Some(Registration { limit: Some(_), .. }) => self.store().committed(auction.uuid, paddle, except).await?,
            _ => 0,
        };
        let limited = found.as_ref().filter(|registration| registration.limit.is_some());
        let turn = limited.map(|registration| Turn { registration: registration.uuid, seen: registration.turn });
        let is_registered = found.is_some();
        Ok(Admitted { bidder: bidder_of(auction.registration, found, paddle, committed), turn, is_registered })
    }
}

/// What a registration, or none, means to the rules.
fn bidder_of(admission: Admission, found: Option<Registration>, paddle: &str, committed: i64) -> Bidder {
    let vouched_for = Bidder::vouched_for(paddle);
    let Some(registration) = found else {
        return Bidder { approved: admission == Admission::Open, ..vouched_for };
    };
    let approved = match registration.status {
        RegistrationStatus::Approved | RegistrationStatus::Suspended => true,
        RegistrationStatus::Pending => admission == Admission::Open,
        RegistrationStatus::Refused => false,
    };
    let suspended = registration.status == RegistrationStatus::Suspended;
    let Registration { uuid, party, limit, log, .. } = registration;
    let registered = Some(Registered { uuid, entry: log.number, hash: log.hash });
    Bidder { party, registered, approved, suspended, limit, committed, ..vouched_for }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registered(status: RegistrationStatus) -> Registration {
        let at = jiff::Timestamp::UNIX_EPOCH;
        Registration {
            uuid: Uuid::nil(),
            auction: Uuid::nil(),
            customer: Uuid::nil(),
            paddle: "12".into(),
            party: None,
            name: "A. Bidder".into(),
            email: None,
            limit: None,
            note: None,
            status,
            reason: None,
            actor: "test".into(),
            version: 1,
            created_at: at,
            updated_at: at,
            log: auction::LogHead::default(),
            turn: 1,
        }
    }

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
        for (status, open, required, suspended) in table {
            for (admission, approved) in [(Admission::Open, open), (Admission::Required, required)] {
                let bidder = bidder_of(admission, status.map(registered), "12", 0);
                assert_eq!((bidder.approved, bidder.suspended), (approved, suspended), "{status:?} in {admission:?}");
            }
        }
    }
}
