//! An auction: a sale of items by one auctioneer, timed or as a webcast.

use contract::AuctionStatus;
use contract::models::UrlAttachmentApiModel;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::results::Charges;
use crate::{IncrementTable, LogHead, Stagger, TestClock};

/// Default extension window in seconds.
pub const EXTENSION_SECONDS_DEFAULT: u32 = 600;

/// Longest extension window in seconds: a day.
pub const EXTENSION_SECONDS_MAX: u32 = 24 * 3600;

/// How items of an auction end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AuctionKind {
    /// Each item ends when the clock reaches its effective end.
    Timed,
    /// A clerk sells or passes one item after another.
    Webcast,
}

impl AuctionKind {
    /// Both variants.
    pub const ALL: [Self; 2] = [Self::Timed, Self::Webcast];

    /// Stable name in the store and in the APIs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Timed => "timed",
            Self::Webcast => "webcast",
        }
    }
}

/// Phase of a webcast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WebcastPhase {
    /// Absentees leave their maxima; the ring is empty.
    #[default]
    PreBidding,
    /// Items go through the ring. The clerk begins this phase explicitly, or by sending the first item.
    Live,
}

/// Whether internet bids on the item in the ring need the clerk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InternetBids {
    /// An internet bid is pending until the clerk accepts it.
    #[default]
    WaitForClerk,
    /// The platform accepts an internet bid at the asking price or above without the clerk.
    AcceptedAtOnce,
}

/// Who may bid in an auction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Admission {
    /// Any bidder whom the caller vouches for. An existing registration is still enforced.
    #[default]
    Open,
    /// Only bidders with an approved registration.
    Required,
}

impl Admission {
    /// Both variants.
    pub const ALL: [Self; 2] = [Self::Open, Self::Required];

    /// Stable name in the APIs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Required => "required",
        }
    }
}

/// The state of an auction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Auction {
    /// UUID, version 7; the subject of its events.
    pub uuid: Uuid,
    /// The customer that it belongs to.
    pub customer: Uuid,
    /// The auctioneer that holds it.
    pub auctioneer: Uuid,
    /// Timed or webcast.
    pub kind: AuctionKind,
    /// Title; may be empty in a draft.
    pub title: String,
    /// ISO 4217 code. Every amount in the auction is in minor units of this currency.
    pub currency: String,
    /// IANA time zone for the display of times.
    pub time_zone: String,
    /// When bidding or the webcast starts.
    pub starts_at: Option<Timestamp>,
    /// Closing time: the planned end of the first items of a timed auction, or of the webcast.
    pub ends_at: Option<Timestamp>,
    /// Staggered ends of a timed auction.
    pub stagger: Option<Stagger>,
    /// Soft close: a bid within this many seconds before the end extends the end to as many seconds after the bid. None
    /// turns soft close off.
    pub extension_seconds: Option<u32>,
    /// Increment table.
    pub increments: IncrementTable,
    /// Status now.
    pub status: AuctionStatus,
    /// Buyer's premium and tax on hammer prices.
    pub charges: Charges,
    /// Whether internet bids in a webcast need the clerk.
    pub internet_bids: InternetBids,
    /// Whether bidders have to be registered.
    #[serde(default)]
    pub registration: Admission,
    /// Phase of a webcast.
    pub phase: WebcastPhase,
    /// Id of the address where the auction is held or its items can be viewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address_id: Option<i64>,
    /// Images, documents and videos, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<UrlAttachmentApiModel>,
    /// The item in the ring of a webcast.
    pub in_ring: Option<Uuid>,
    /// The item that was sold or passed last, while no other item was sent: the clerk can reopen it.
    pub last_in_ring: Option<Uuid>,
    /// Place in the running order of the item that was sent last. Sending the next item continues from here.
    pub ring_position: Option<i64>,
    /// Test clock of a sandbox auction; none for a real auction. It is chosen when the auction is created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<TestClock>,
    /// True for a rehearsal of a webcast: a sandbox whose events are never published. It keeps the server's time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rehearsal: bool,
    /// True while a bulk change returns the LIVE auction to PREVIEW or changes its terms. The platform accepts no bid
    /// meanwhile, and abandons the bulk change if a bid was accepted before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub returning: bool,
    /// True once the auction was LIVE, also when it returned to PREVIEW later.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub was_live: bool,
    /// Number of the last journal entry of this auction, from 1 without gaps; 0 before the first.
    pub sequence: i64,
    /// Version: number of the last commit of this auction, from 1. `If-Match` compares it.
    pub version: i64,
    /// Head of its log.
    #[serde(default, skip_serializing_if = "LogHead::is_empty")]
    pub log: LogHead,
    /// When it was created.
    pub created_at: Timestamp,
}

impl Auction {
    /// The title, or words in place of one that is missing.
    pub fn shown_title(&self) -> &str {
        if self.title.is_empty() { "Untitled auction" } else { &self.title }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::auction;
    use contract::AuctionStatus;

    #[test]
    fn an_auction_survives_a_round_trip_through_camel_case_json() {
        let auction = auction(AuctionKind::Webcast, AuctionStatus::Live);
        let json = serde_json::to_value(&auction).unwrap();
        assert_eq!(json["timeZone"], "Europe/London");
        assert_eq!(json["status"], "LIVE");
        assert_eq!(json["kind"], "webcast");
        assert_eq!(json["increments"][0]["from"], 0);
        assert_eq!(serde_json::from_value::<Auction>(json).unwrap(), auction);
    }
}
