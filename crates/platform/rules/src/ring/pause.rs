//! The clerk gives fair warning, pauses bidding and resumes it.

use super::{in_ring, require_in_ring, require_running};
use crate::item::InRing;
use crate::{Auction, Cause, Item, ItemChange, Rejection};

/// Fair warnings that are counted, at most.
pub const WARNINGS_MAX: u32 = 9;

pub(super) fn fair_warning(auction: &Auction, item: &Item) -> Result<Vec<ItemChange>, Rejection> {
    let ring = require_running(auction, item)?;
    let warnings = (ring.warnings + 1).min(WARNINGS_MAX);
    Ok(vec![in_ring(InRing { warnings, ..ring }, Cause::FairWarning)])
}

pub(super) fn pause(auction: &Auction, item: &Item) -> Result<Vec<ItemChange>, Rejection> {
    let ring = require_running(auction, item)?;
    Ok(vec![in_ring(InRing { paused: true, ..ring }, Cause::RingPaused)])
}

pub(super) fn resume(auction: &Auction, item: &Item) -> Result<Vec<ItemChange>, Rejection> {
    let ring = require_in_ring(auction, item)?;
    if !ring.paused {
        return Err(Rejection::NotPaused);
    }
    Ok(vec![in_ring(InRing { paused: false, ..ring }, Cause::RingResumed)])
}
