//! An auction: a sale of items by one auctioneer, timed or as a webcast.

use contract::AuctionStatus;
use contract::models::UrlAttachmentApiModel;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::results::Charges;
use crate::{IncrementTable, LogHead, TestClock};

/// Seconds of an extension window, when nobody says otherwise (decisions, section 6).
pub const EXTENSION_SECONDS_DEFAULT: u32 = 600;

/// Seconds of an extension window, at most: a day.
pub const EXTENSION_SECONDS_MAX: u32 = 24 * 3600;

/// How items of an auction end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AuctionKind {
    /// Each item ends by the server's clock when its effective end time is reached.
    Timed,
    /// A clerk sells or passes one item after another.
    Webcast,
}

impl AuctionKind {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Timed, Self::Webcast];

    /// Stable word, as stored and as APIs carry it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Timed => "timed",
            Self::Webcast => "webcast",
        }
    }
}

/// Where a webcast stands in its day (decisions, section 7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WebcastPhase {
    /// Absentees leave their maxima; nothing is in the ring.
    #[default]
    PreBidding,
    /// Items go through the ring. It begins when the clerk says so, or sends the first one.
    Live,
}

/// What becomes of internet bids on the item in the ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InternetBids {
    /// They wait for the clerk to accept them.
    #[default]
    WaitForClerk,
    /// They are accepted as they come, at the asking price or above.
    AcceptedAtOnce,
}

/// Who may bid in an auction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Admission {
    /// Whoever the caller vouches for. A registration that exists counts all the same.
    #[default]
    Open,
    /// Bidders whose registration was approved, and nobody else.
    Required,
}

impl Admission {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Open, Self::Required];

    /// Stable word, as APIs carry it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Required => "required",
        }
    }
}

/// Staggered ends: `seconds` later for every `items` items (decisions, section 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Stagger {
    /// Seconds between one group of items and the next.
    pub seconds: u32,
    /// Items that end together; at least 1.
    pub items: u32,
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
    /// Title for people; may be empty in a draft.
    pub title: String,
    /// ISO 4217 code; every amount in the auction is in minor units of it.
    pub currency: String,
    /// IANA time zone, for people.
    pub time_zone: String,
    /// When bidding or the webcast starts.
    pub starts_at: Option<Timestamp>,
    /// Closing time: the planned end of the first items of a timed auction, or of the webcast.
    pub ends_at: Option<Timestamp>,
    /// Staggered ends of a timed auction.
    pub stagger: Option<Stagger>,
    /// Soft close: a bid this many seconds before the end, or later, puts the end off to as long after the bid. None: off.
    pub extension_seconds: Option<u32>,
    /// By how much bids rise.
    pub increments: IncrementTable,
    /// Status now.
    pub status: AuctionStatus,
    /// What is added to hammer prices.
    pub charges: Charges,
    /// What becomes of internet bids in a webcast.
    pub internet_bids: InternetBids,
    /// If bidders have to be registered.
    #[serde(default)]
    pub registration: Admission,
    /// Phase of a webcast.
    pub phase: WebcastPhase,
    /// Id of the address where it is held, or where its items can be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address_id: Option<i64>,
    /// Images, documents and videos about it, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<UrlAttachmentApiModel>,
    /// The item in the ring of a webcast.
    pub in_ring: Option<Uuid>,
    /// The item that was sold or passed last, while no other was sent: the one that can be reopened.
    pub last_in_ring: Option<Uuid>,
    /// Place in the running order of the item that was sent last: "next" goes on from here.
    pub ring_position: Option<i64>,
    /// The clock of a sandbox auction; none for a real one. Chosen at its creation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<TestClock>,
    /// On its way from LIVE back to PREVIEW, or to other terms: no bid is taken meanwhile, and none may have come before it is
    /// there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub returning: bool,
    /// Number of the last journal entry of this auction, from 1 without gaps; 0 before the first.
    pub sequence: i64,
    /// Number of the last commit of this auction, from 1; what `If-Match` compares.
    pub version: i64,
    /// Where its log has come to.
    #[serde(default, skip_serializing_if = "LogHead::is_empty")]
    pub log: LogHead,
    /// When it was created.
    pub created_at: Timestamp,
}

/// Planned end of an item at a position of the running order, from 0 (decisions, section 6): the auction's closing time,
/// and `stagger.seconds` later for every `stagger.items` items before it. None in a webcast, without a closing time, or
/// when the end would lie beyond what time can count.
pub fn new_item_end(auction: &Auction, position: i64) -> Option<Timestamp> {
    let (AuctionKind::Timed, Some(ends_at)) = (auction.kind, auction.ends_at) else {
        return None;
    };
    let Some(stagger) = auction.stagger else {
        return Some(ends_at);
    };
    let group = position.max(0) / i64::from(stagger.items.max(1));
    let later_seconds = group.saturating_mul(i64::from(stagger.seconds));
    ends_at.checked_add(SignedDuration::from_secs(later_seconds)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{at, auction};
    use contract::AuctionStatus;

    #[test]
    fn ends_are_staggered_by_groups_of_items() {
        let auction = Auction {
            stagger: Some(Stagger { seconds: 30, items: 2 }),
            ..auction(AuctionKind::Timed, AuctionStatus::Live)
        };
        for (position, seconds) in [(-1, 1_000), (0, 1_000), (1, 1_000), (2, 1_030), (3, 1_030), (99_999, 1_500_970)] {
            assert_eq!(new_item_end(&auction, position), Some(at(seconds)), "at {position}");
        }
        assert_eq!(new_item_end(&auction, i64::MAX), None, "beyond what time can count");
        let together = Auction { stagger: None, ..auction };
        assert_eq!(new_item_end(&together, 7), Some(at(1_000)));
    }

    #[test]
    fn only_timed_auctions_with_a_closing_time_plan_ends() {
        assert_eq!(new_item_end(&auction(AuctionKind::Webcast, AuctionStatus::Live), 0), None);
        let open = Auction { ends_at: None, ..auction(AuctionKind::Timed, AuctionStatus::Live) };
        assert_eq!(new_item_end(&open, 0), None);
    }

    #[test]
    fn a_state_is_camel_case_json_and_reads_back_the_same() {
        let auction = auction(AuctionKind::Webcast, AuctionStatus::Live);
        let json = serde_json::to_value(&auction).unwrap();
        assert_eq!(json["timeZone"], "Europe/London");
        assert_eq!(json["status"], "LIVE");
        assert_eq!(json["kind"], "webcast");
        assert_eq!(json["increments"][0]["from"], 0);
        assert_eq!(serde_json::from_value::<Auction>(json).unwrap(), auction);
    }
}
