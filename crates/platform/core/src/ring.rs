//! The ring of a webcast: what the clerk sees, the clerk's commands, and bids over the internet.
//!
//! Every command names the versions that its clerk saw ([`RingVersion`]). The platform compares them when it loads the
//! ring, and the commit compares them again. If two clerks act at the same time, the second one gets
//! `precondition_failed`, and nothing is ever sold twice.

mod announced;
mod clerks;
mod command;
mod desk;
mod late_bids;
mod online;
mod order;
mod screens;
mod telephone;
mod visitor_messages;

use platform_rules::{Auction, Item};
use uuid::Uuid;

pub use crate::node_state::late_bids::{LATE_BID_SHOWN_SECONDS, LateBid};
pub use crate::steps::screen_links::takes_screens;
pub use announced::AnnouncedItem;
pub use command::{ClerkCommand, ClerkCommandResult};
pub use desk::Desk;
pub use online::{InternetBidResult, InternetBidState, NewInternetBid};
pub use platform_rules::ring::{Commission, Confirmed, ConfirmedPrice, RingAction, WaitingBid};
pub use screens::{GUIDE_RATES_MAX, NewScreenLink, OpenScreen, ScreenLinkEnd, ScreenLinkOptions, ScreenLinkValidity};
pub use telephone::{NewTelephoneBooking, TELEPHONE_BOOKINGS_MAX};
pub use visitor_messages::{VISITOR_MESSAGE_CHARS_MAX, VISITOR_MESSAGES_MAX};

use crate::caller::visible;
use crate::error::{PlatformError, PlatformResult};
use crate::steps::decide::expect_version;
use crate::{Caller, Platform, Scope};

/// Reads of a ring that changes meanwhile, at most.
const READ_TRIES_MAX: usize = 5;

/// The versions of a ring that a clerk saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingVersion {
    /// Version of the auction.
    pub auction: i64,
    /// Version of the item in the ring; 0 when the ring is empty.
    pub item: i64,
}

/// The state of a ring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RingState {
    /// The webcast.
    pub auction: Auction,
    /// The item in the ring.
    pub item: Option<Item>,
    /// The clerk's desk; none for callers who may not give commands.
    pub desk: Option<Desk>,
}

impl RingState {
    /// The versions that a command on this ring names.
    pub fn version(&self) -> RingVersion {
        version(&self.auction, self.item.as_ref())
    }
}

impl Platform {
    /// The ring of a webcast, with the clerk's desk for callers who may give commands.
    ///
    /// Errors: `not_found`, `clerk_not_assigned`.
    pub async fn ring(&self, caller: &Caller, auction: Uuid) -> PlatformResult<RingState> {
        caller.require_one_of(&[Scope::AuctionsRead, Scope::RingWrite])?;
        let mut read = self.ring_with_desk(caller, auction).await?;
        // Every command raises the auction's version: if it is still the same, all parts are of one state.
        for _ in 1..READ_TRIES_MAX {
            if self.visible_auction(caller, auction).await?.version == read.auction.version {
                break;
            }
            read = self.ring_with_desk(caller, auction).await?;
        }
        Ok(read)
    }

    /// The ring and its desk, in several reads.
    async fn ring_with_desk(&self, caller: &Caller, auction: Uuid) -> PlatformResult<RingState> {
        let (auction, item) = self.read_ring(caller, auction).await?;
        let desk = if caller.require(Scope::RingWrite).is_ok() {
            self.require_clerk(caller, &auction).await?;
            Some(self.desk(&auction, item.as_ref(), None).await?)
        } else {
            None
        };
        Ok(RingState { auction, item, desk })
    }

    /// Reads the auction and then the item in its ring; again when the item has left the ring in between.
    async fn read_ring(&self, caller: &Caller, uuid: Uuid) -> PlatformResult<(Auction, Option<Item>)> {
        for _ in 0..READ_TRIES_MAX {
            let auction = self.visible_auction(caller, uuid).await?;
            let Some(in_ring) = auction.in_ring else { return Ok((auction, None)) };
            let item = self.item_of(caller, &auction, in_ring).await?;
            if item.in_ring().is_some() {
                return Ok((auction, Some(item)));
            }
        }
        Err(PlatformError::Busy)
    }

    async fn item_of(&self, caller: &Caller, auction: &Auction, item: Uuid) -> PlatformResult<Item> {
        let item = visible(caller, self.store().item(item).await?, "item", |item| item.customer)?;
        if item.auction == auction.uuid { Ok(item) } else { Err(PlatformError::NotFound("item")) }
    }
}

fn version(auction: &Auction, item: Option<&Item>) -> RingVersion {
    RingVersion { auction: auction.version, item: item.map_or(0, |item| item.version) }
}

/// `PreconditionFailed` unless the ring is as the clerk saw it.
fn expect_ring(seen: RingVersion, auction: &Auction, item: Option<&Item>) -> PlatformResult<()> {
    let now = version(auction, item);
    expect_version(Some(seen.auction), now.auction)?;
    expect_version(Some(seen.item), now.item)
}
