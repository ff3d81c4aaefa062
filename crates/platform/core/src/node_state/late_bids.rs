//! Internet bids that were refused or came after the hammer: shown at the desk for 15 seconds, and kept in the memory of
//! the node that refused them only.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

/// How long a refused bid is shown.
pub const LATE_BID_SHOWN_SECONDS: i64 = 15;
/// Refused bids of one webcast that are kept; older ones make room.
const LATE_BIDS_MAX: usize = 50;
/// Webcasts with refused bids; a bid on another webcast is not kept.
const WEBCASTS_MAX: usize = 1_000;

/// An internet bid that was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LateBid {
    /// The item.
    pub item: Uuid,
    /// Paddle of the bidder.
    pub bidder: String,
    /// Minor units.
    pub amount: i64,
    /// Code of the refusal, such as `not_in_ring` or `bid_too_low`.
    pub code: &'static str,
    /// When it arrived.
    pub at: Timestamp,
    /// Milliseconds after the hammer; none when the item was not sold or passed.
    pub late_ms: Option<i64>,
}

/// The refused bids of this node, by webcast.
#[derive(Default)]
pub(crate) struct LateBids(Mutex<HashMap<Uuid, VecDeque<LateBid>>>);

impl LateBids {
    pub(crate) fn add(&self, auction: Uuid, bid: LateBid) {
        let mut webcasts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = bid.at;
        webcasts.retain(|_, bids| bids.back().is_some_and(|last| is_shown(last, now)));
        if webcasts.len() >= WEBCASTS_MAX && !webcasts.contains_key(&auction) {
            return;
        }
        let bids = webcasts.entry(auction).or_default();
        if bids.len() >= LATE_BIDS_MAX {
            bids.pop_front();
        }
        bids.push_back(bid);
    }

    pub(crate) fn shown(&self, auction: Uuid, now: Timestamp) -> Vec<LateBid> {
        let webcasts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bids = webcasts.get(&auction).into_iter().flatten().rev();
        bids.filter(|bid| is_shown(bid, now)).cloned().collect()
    }
}

fn is_shown(bid: &LateBid, now: Timestamp) -> bool {
    now.duration_since(bid.at) < SignedDuration::from_secs(LATE_BID_SHOWN_SECONDS)
}
