//! The ends of items in timed auctions: planned, extended by soft close, moved by an administrator, extended after
//! downtime.
//!
//! An item has a planned end and an effective end. The effective end decides; once the item is on sale, it only moves
//! later.

use contract::ItemStatus;
use jiff::{SignedDuration, Timestamp};

use super::{ItemCommand, ItemEdit, decide, fields, require_reason};
use crate::{Auction, AuctionKind, Item, ItemChange, Rejection, new_item_end};

impl Item {
    /// The end to plan for an item of a timed auction that has no effective end yet.
    pub(crate) fn end_to_plan(&self, auction: &Auction) -> Option<Timestamp> {
        match (auction.kind, self.effective_end_time) {
            (AuctionKind::Timed, None) => self.end_time.or_else(|| new_item_end(auction, self.position)),
            _ => None,
        }
    }
}

/// Soft close: the later effective end that a bid at `now` causes; none when the bid is early enough.
pub(super) fn soft_close_end(auction: &Auction, item: &Item, now: Timestamp) -> Option<Timestamp> {
    let window = SignedDuration::from_secs(i64::from(auction.extension_seconds?));
    let end = now.checked_add(window).ok()?;
    item.effective_end_time.is_some_and(|effective| effective < end).then_some(end)
}

/// Moves the effective end of one item to a later time, which must be in the future.
pub(super) fn move_end(
    auction: &Auction,
    item: &Item,
    to: Timestamp,
    reason: String,
    now: Timestamp,
) -> Result<Vec<ItemChange>, Rejection> {
    auction.require_kind(AuctionKind::Timed)?;
    auction.require_open()?;
    let is_later = item.effective_end_time.is_some_and(|end| to > end) && to > now;
    is_later.then(|| vec![ItemChange::EndMoved { end: to, reason }]).ok_or(Rejection::EndNotLater)
}

/// Extends an effective end that passed while the platform was down.
pub(super) fn extend_end_after_downtime(
    auction: &Auction,
    item: &Item,
    to: Timestamp,
    now: Timestamp,
) -> Result<Vec<ItemChange>, Rejection> {
    auction.require_kind(AuctionKind::Timed)?;
    item.require_live()?;
    if item.effective_end_time.is_none_or(|end| end > now) {
        return Err(Rejection::EndNotReached);
    }
    (to > now).then(|| vec![ItemChange::EndHeld { end: to }]).ok_or(Rejection::EndNotLater)
}

/// Plans another end for an item. Before the item is LIVE, any end is possible. The end of a LIVE or SUSPENDED item
/// only moves later, with a reason, and a later end that soft close gave it stays. An item whose sale is over, or that
/// has this end already, does not change.
///
/// Errors: `item_not_in_auction`, `wrong_auction_kind`, `auction_closed`, `end_not_later`, `reason_required`.
pub fn move_plan(
    auction: &Auction,
    item: &Item,
    to: Option<Timestamp>,
    reason: Option<&str>,
    now: Timestamp,
) -> Result<Vec<ItemChange>, Rejection> {
    item.require_in(auction)?;
    auction.require_kind(AuctionKind::Timed)?;
    auction.require_open()?;
    if item.end_time == to {
        return Ok(Vec::new());
    }
    match item.status {
        ItemStatus::Draft | ItemStatus::Preview | ItemStatus::Withdrawn => {
            fields::require_valid_in_auction(auction, &Item { end_time: to, ..item.clone() })?;
            let edit = ItemEdit { end_time: Some(to), ..ItemEdit::default() };
            Ok(vec![ItemChange::Edited { edit: Box::new(edit) }])
        }
        ItemStatus::Live | ItemStatus::Suspended => {
            let planned = to.filter(|to| item.end_time.is_none_or(|end| *to > end)).ok_or(Rejection::EndNotLater)?;
            let end = item.effective_end_time.map_or(planned, |end| end.max(planned));
            // An item that is due has ended, even when the timer has not processed it yet.
            let is_over = item.status == ItemStatus::Live && item.effective_end_time.is_some_and(|end| end <= now);
            if end <= now || is_over {
                return Err(Rejection::EndNotLater);
            }
            let reason = require_reason(reason.unwrap_or_default().to_owned())?;
            Ok(vec![ItemChange::EndShifted { planned, end, reason }])
        }
        ItemStatus::Sold | ItemStatus::Unsold | ItemStatus::SoldBuyNow | ItemStatus::Passed => Ok(Vec::new()),
    }
}

/// Ends a pause: an item that was suspended at `paused_at` is LIVE again, and both of its ends move later by the length of
/// the pause.
///
/// Errors: `item_not_in_auction`, `wrong_auction_kind`, `end_not_later`, and those of the transition to LIVE.
pub fn resume_after_pause(
    auction: &Auction,
    item: &Item,
    paused_at: Timestamp,
    reason: &str,
    now: Timestamp,
) -> Result<Vec<ItemChange>, Rejection> {
    item.require_in(auction)?;
    auction.require_kind(AuctionKind::Timed)?;
    let paused = now.duration_since(paused_at);
    let later = |end: Option<Timestamp>| end.and_then(|end| end.checked_add(paused).ok()).ok_or(Rejection::EndNotLater);
    let mut changes = Vec::new();
    let mut resumed = item.clone();
    if item.status == ItemStatus::Suspended && paused.is_positive() {
        let planned = later(item.end_time)?;
        let end = later(item.effective_end_time)?;
        changes.push(ItemChange::EndShifted { planned, end, reason: require_reason(reason.to_owned())? });
        changes.iter().for_each(|change| resumed.apply(change));
    }
    let live = ItemCommand::ChangeStatus { to: ItemStatus::Live, reason: Some(reason.to_owned()) };
    changes.extend(decide(auction, &resumed, live, now)?);
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{at, auction, item};
    use contract::AuctionStatus;

    #[test]
    fn the_ends_of_items_on_sale_only_move_later_and_keep_their_extensions() {
        let timed = auction(AuctionKind::Timed, AuctionStatus::Live);
        let live = item(&timed, ItemStatus::Live);
        let extended = Item { effective_end_time: Some(at(1_300)), ..live.clone() };
        let ends = |lot: &Item, to, now| {
            let changes = move_plan(&timed, lot, Some(at(to)), Some("the site was slow"), at(now))?;
            let mut lot = lot.clone();
            changes.iter().for_each(|change| lot.apply(change));
            Ok::<_, Rejection>((lot.end_time, lot.effective_end_time))
        };
        assert_eq!(ends(&live, 1_200, 10), Ok((Some(at(1_200)), Some(at(1_200)))));
        assert_eq!(ends(&extended, 1_200, 10), Ok((Some(at(1_200)), Some(at(1_300)))));
        assert_eq!(ends(&extended, 1_400, 10), Ok((Some(at(1_400)), Some(at(1_400)))));
        assert_eq!(ends(&live, 900, 10), Err(Rejection::EndNotLater));
        assert_eq!(ends(&live, 1_200, 1_000), Err(Rejection::EndNotLater), "it is due");
        assert_eq!(ends(&item(&timed, ItemStatus::Draft), 900, 10), Ok((Some(at(900)), Some(at(900)))));
        let sold = Item { status: ItemStatus::Sold, ..live.clone() };
        assert_eq!(ends(&sold, 1_200, 10), Ok((Some(at(1_000)), Some(at(1_000)))));
        assert_eq!(move_plan(&timed, &live, Some(at(1_200)), None, at(10)), Err(Rejection::ReasonRequired));
    }

    #[test]
    fn a_pause_moves_both_ends_by_its_length_and_the_item_is_live_again() {
        let timed = auction(AuctionKind::Timed, AuctionStatus::Live);
        let paused = Item { effective_end_time: Some(at(1_300)), ..item(&timed, ItemStatus::Suspended) };
        let resumed = |lot: &Item, now| {
            let changes = resume_after_pause(&timed, lot, at(900), "the power is back", at(now))?;
            let mut lot = lot.clone();
            changes.iter().for_each(|change| lot.apply(change));
            Ok::<_, Rejection>((lot.status, lot.end_time, lot.effective_end_time))
        };
        // The end passed during the pause. Its distance from the end of the pause is its distance from the beginning.
        assert_eq!(resumed(&paused, 2_000), Ok((ItemStatus::Live, Some(at(2_100)), Some(at(2_400)))));
        assert_eq!(resumed(&paused, 900), Ok((ItemStatus::Live, Some(at(1_000)), Some(at(1_300)))));
        let withdrawn = Item { status: ItemStatus::Withdrawn, ..paused };
        assert_eq!(resumed(&withdrawn, 2_000).map_err(|refused| refused.code()), Err("illegal_transition"));
        let webcast = auction(AuctionKind::Webcast, AuctionStatus::Live);
        let lot = item(&webcast, ItemStatus::Suspended);
        let refused = resume_after_pause(&webcast, &lot, at(900), "the power is back", at(2_000));
        assert_eq!(refused.map_err(|refused| refused.code()), Err("wrong_auction_kind"));
    }
}
