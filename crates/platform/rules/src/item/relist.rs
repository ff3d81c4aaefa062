//! An unsold item is offered again in another auction; both know of each other.

use contract::ItemStatus;
use jiff::Timestamp;
use uuid::Uuid;

use super::decide::{ItemCommand, decide};
use crate::{Auction, AuctionKind, Item, ItemChange, LogHead, Rejection, RingStatus};

/// What an item needs to have a place in another auction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLot {
    /// UUID of the new item, version 7.
    pub uuid: Uuid,
    /// Its lot number there.
    pub lot_number: String,
    /// Its place in the running order there.
    pub position: i64,
    /// DRAFT, or LIVE in a LIVE auction.
    pub status: ItemStatus,
}

/// What becomes of both items; commit all of it or nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relisting {
    /// Changes of the unsold item.
    pub unsold: Vec<ItemChange>,
    /// The new item before its changes; its `sequence` and `version` are 0.
    pub item: Item,
    /// Changes of the new item: its creation.
    pub created: Vec<ItemChange>,
}

/// Lists an UNSOLD item into another auction of its customer, with its description, estimates, opening bid, reserve and
/// vendor as they are, and without its bids.
///
/// Errors: `item_not_unsold`, `already_relisted`, `relisted_elsewhere`, `sandbox_mismatch`, and those of [`decide`] for a creation.
pub fn relist(
    (from, unsold): (&Auction, &Item),
    into: &Auction,
    lot: NewLot,
    now: Timestamp,
) -> Result<Relisting, Rejection> {
    unsold.require_in(from)?;
    if unsold.status != ItemStatus::Unsold {
        return Err(Rejection::ItemNotUnsold { status: unsold.status.name() });
    }
    if let Some(item) = unsold.relisted_as {
        return Err(Rejection::AlreadyRelisted { item });
    }
    if into.uuid == from.uuid || into.customer != from.customer || into.currency != from.currency {
        return Err(Rejection::RelistedElsewhere);
    }
    if into.sale_mode() != from.sale_mode() {
        return Err(Rejection::SandboxMismatch);
    }
    let item = Item {
        uuid: lot.uuid,
        auction: into.uuid,
        lot_number: lot.lot_number,
        position: lot.position,
        status: ItemStatus::Draft,
        announced: false,
        end_time: None,
        effective_end_time: None,
        buy_now: unsold.buy_now.filter(|_| into.kind == AuctionKind::Timed),
        ring: RingStatus::Waiting,
        standing: None,
        bid_count: 0,
        absentee_bids: 0,
        bids_lapsed: 0,
        bids_passed: 0,
        before_pass: None,
        pending: Vec::new(),
        relisted_from: Some(unsold.uuid),
        relisted_as: None,
        sequence: 0,
        version: 0,
        log: LogHead::default(),
        created_at: now,
        ..unsold.clone()
    };
    let created = decide(into, &item, ItemCommand::Create { status: lot.status }, now)?;
    let unsold = vec![ItemChange::Relisted { auction: into.uuid, item: item.uuid }];
    Ok(Relisting { unsold, item, created })
}
