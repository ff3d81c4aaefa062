//! Whether a saleroom has lost its link: a lot is in the ring of a webcast, and no desk holds its live stream.
//!
//! The desk's page reports every two seconds that it receives its stream, to any node; the report is a row of the store. A webcast
//! whose clerk works by the API has no report and never loses its link.

use contract::AuctionStatus;
use jiff::{SignedDuration, Timestamp};
use platform_rules::Auction;

use crate::port::{Store, StoreResult};

/// Age of the last report from which the link is lost: 10 s, and the 2 s between two reports.
const LOST_AFTER: SignedDuration = SignedDuration::from_secs(12);
/// Age of the last report from which it belongs to an earlier session of the sale.
const SESSION_MAX: SignedDuration = SignedDuration::from_hours(12);

/// True while no desk holds its stream and a lot is in the ring.
pub(crate) async fn is_lost(store: &dyn Store, auction: &Auction, now: Timestamp) -> StoreResult<bool> {
    if auction.in_ring.is_none() || auction.status != AuctionStatus::Live {
        return Ok(false);
    }
    Ok(store.desk_reported_at(auction.uuid).await?.is_some_and(|reported| is_late(now.duration_since(reported))))
}

fn is_late(age: SignedDuration) -> bool {
    age >= LOST_AFTER && age < SESSION_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_lost_from_twelve_seconds_to_twelve_hours_after_the_last_report() {
        let cases = [(-1, false), (0, false), (11, false), (12, true), (3_600, true), (43_199, true), (43_200, false)];
        for (seconds, expected) in cases {
            assert_eq!(is_late(SignedDuration::from_secs(seconds)), expected, "{seconds} s");
        }
    }
}
