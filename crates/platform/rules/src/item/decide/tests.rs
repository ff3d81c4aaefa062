//! Data-driven tests of decisions on items.

mod administrator;
mod beginning;
mod bids;
mod relisting;
mod sale;

use super::*;
use crate::Hidden;
use crate::sample::{at, auction, in_ring, item, with_bid};
use crate::{AMOUNT_MAX, AuctionKind};
use contract::AuctionStatus;

use ItemStatus::{Draft, Live, Passed, Preview, Sold, Suspended, Unsold, Withdrawn};

fn live() -> Auction {
    auction(AuctionKind::Timed, AuctionStatus::Live)
}

fn change(to: ItemStatus, reason: &str) -> ItemCommand {
    ItemCommand::ChangeStatus { to, reason: (!reason.is_empty()).then(|| reason.to_owned()) }
}

fn bid(amount: i64) -> ItemCommand {
    bid_of("b-17", amount)
}

fn bid_of(paddle: &str, amount: i64) -> ItemCommand {
    ItemCommand::PlaceBid { bid: Uuid::from_u128(50), bidder: Bidder::vouched_for(paddle), amount }
}

/// The outcome in one line: `FROM->TO cause [announced] [reason]`, `bid N PRICE SOURCE`, `ring PLACE`, `end SECONDS`,
/// or the code.
fn words(outcome: &Result<Vec<ItemChange>, Rejection>) -> String {
    let changes = match outcome {
        Ok(changes) => changes,
        Err(rejection) => return rejection.code().to_owned(),
    };
    let word = |change: &ItemChange| match change {
        ItemChange::StatusChanged { from, to, cause, announced, reason } => {
            let from = from.map_or("-", ItemStatus::name);
            let announced = if *announced { " announced" } else { "" };
            let why = reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
            format!("{from}->{} {}{announced}{why}", to.name(), cause.as_str())
        }
        ItemChange::BidAccepted { record, standing } => {
            let price = standing.as_ref().map_or(0, |standing| standing.amount);
            format!("bid {} {price} {}", record.number, record.source.as_str())
        }
        ItemChange::BidStruck { number, struck, .. } => format!("bid {number} {}", struck.strike.as_str()),
        ItemChange::StandingChanged { standing, .. } => match standing {
            Some(standing) => format!("{} stands at {}", standing.bidder, standing.amount),
            None => "nothing stands".to_owned(),
        },
        ItemChange::BidsLapsed { through, .. } => format!("bids lapse to {through}"),
        ItemChange::RingChanged { ring, .. } => format!("ring {ring:?}"),
        ItemChange::EndPlanned { end } => format!("end {}", end.duration_since(at(0)).as_secs()),
        ItemChange::EndExtended { end } => format!("end extended {}", end.duration_since(at(0)).as_secs()),
        ItemChange::EndMoved { end, .. } => format!("end moved {}", end.duration_since(at(0)).as_secs()),
        other => format!("{other:?}"),
    };
    changes.iter().map(word).collect::<Vec<_>>().join(", ")
}

#[track_caller]
fn check(auction: &Auction, item: &Item, command: ItemCommand, seconds: i64, expect: &str) {
    assert_eq!(words(&decide(auction, item, command, at(seconds))), expect);
}
