//! Relisting: an unsold item is offered in another auction. Each of the two items names the other.

use contract::ItemStatus;
use jiff::Timestamp;
use uuid::Uuid;

use super::decide::{ItemCommand, decide};
use crate::{Auction, AuctionKind, Item, ItemChange, LogHead, Rejection, RingStatus};

/// The new lot in the other auction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLot {
    /// UUID of the new item, version 7.
    pub uuid: Uuid,
    /// Its lot number.
    pub lot_number: String,
    /// Its place in the running order.
    pub position: i64,
    /// DRAFT, or LIVE in a LIVE auction.
    pub status: ItemStatus,
}

/// The changes of both items. The caller commits all of them or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relisting {
    /// Changes of the unsold item.
    pub unsold: Vec<ItemChange>,
    /// The new item before its changes; its `sequence` and `version` are 0.
    pub item: Item,
    /// Changes of the new item, which create it.
    pub created: Vec<ItemChange>,
}

/// Relists an UNSOLD item in another auction of its customer. The new item has the same description, estimates, opening
/// bid, reserve and vendor, and no bids.
///
/// Errors: `item_not_unsold`, `already_relisted`, `relisted_elsewhere`, `sandbox_mismatch`, and those of [`decide`] for
/// a creation.
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
        later_absentee_bids: Vec::new(),
        bids_lapsed: 0,
        bids_passed: 0,
        before_pass: None,
        post_sale_offer: false,
        price_before_correction: None,
        pending: Vec::new(),
        lost: Vec::new(),
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
