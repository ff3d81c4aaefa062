//! Names beside the paddles that the desk shows, for people who may see them.

use std::collections::{BTreeMap, BTreeSet};

use platform_core::PlatformError;
use platform_core::ring::{AnnouncedItem, LateBid, RingState};
use platform_rules::{Item, known_paddle};

use crate::session::Session;

/// Names by paddle; empty for a person who may not see bidders.
pub(super) type Names = BTreeMap<String, String>;

/// The names of the bidders around a ring.
pub(super) async fn around(
    session: &Session,
    ring: &RingState,
    announced: &[AnnouncedItem],
    late: &[LateBid],
) -> Result<Names, PlatformError> {
    let desk = ring.desk.as_ref();
    let lots = ring.item.iter().chain(desk.and_then(|desk| desk.last.as_ref()));
    let lots = lots.chain(announced.iter().map(|announced| &announced.item));
    let mut paddles: BTreeSet<String> = lots.flat_map(bidders).collect();
    paddles.extend(desk.into_iter().flat_map(|desk| {
        let left = desk.commissions.iter().map(|left| left.bidder.clone());
        left.chain(desk.bids.iter().map(|bid| bid.bidder.clone()))
    }));
    paddles.extend(late.iter().map(|bid| bid.bidder.clone()));
    of(session, ring.auction.uuid, paddles).await
}

/// The names of the buyers of these lots.
pub(super) async fn of_lots(session: &Session, auction: uuid::Uuid, lots: &[Item]) -> Result<Names, PlatformError> {
    of(session, auction, lots.iter().flat_map(bidders).collect()).await
}

async fn of(session: &Session, auction: uuid::Uuid, paddles: BTreeSet<String>) -> Result<Names, PlatformError> {
    let paddles: Vec<String> = paddles.into_iter().filter(|paddle| known_paddle(paddle).is_some()).collect();
    session.platform().bidder_names(&session.caller, auction, &paddles).await
}

/// The paddles of a lot: who leads, and whose web bids wait or were not taken.
fn bidders(item: &Item) -> impl Iterator<Item = String> {
    let waiting = item.pending.iter().chain(item.lost.iter().map(|lost| &lost.bid));
    item.standing.iter().map(|standing| standing.bidder.clone()).chain(waiting.map(|bid| bid.bidder.clone()))
}
