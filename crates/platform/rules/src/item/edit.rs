//! Corrections of what was entered about an item, and of its planned end.
//!
//! | fields | can change |
//! |---|---|
//! | title, description, images and documents, estimates | until the auction is reconciled |
//! | lot number, opening bid, reserve, buy-now price, increment, vendor | as DRAFT, PREVIEW, LIVE, SUSPENDED and WITHDRAWN, outside of the ring and while it has no bids |
//! | planned end | in a timed auction, as DRAFT, PREVIEW and WITHDRAWN. [`move_plan`] puts those of LIVE and SUSPENDED ones off |

use contract::ItemStatus;
use contract::models::UrlAttachmentApiModel;
use jiff::Timestamp;
use uuid::Uuid;

use super::{fields, require_reason};
use crate::edit::fields_of;
use crate::{Auction, AuctionKind, Hidden, Item, ItemChange, Rejection};

fields_of! {
    /// What is to be another way about an item. What is none stays; of what may be absent, the inner none takes it away.
    ItemEdit of Item {
        /// Lot number.
        lot_number: String = "lotNumber",
        /// Title.
        title: String = "title",
        /// Description.
        description: String = "description",
        /// Image address.
        image_url: Option<String> = "imageUrl",
        /// Images, documents and videos, all of them.
        attachments: Vec<UrlAttachmentApiModel> = "attachments",
        /// Low estimate, minor units.
        low_estimate: Option<i64> = "lowEstimate",
        /// High estimate, minor units.
        high_estimate: Option<i64> = "highEstimate",
        /// Opening bid, minor units.
        opening_bid: i64 = "openingBid",
        /// Lowest price that sells, minor units.
        reserve: Option<Hidden> = "reserve",
        /// Price at which it can be bought at once, minor units.
        buy_now: Option<i64> = "buyNow",
        /// Increment at any price, minor units.
        fixed_increment: Option<i64> = "fixedIncrement",
        /// The party that sells it.
        vendor: Option<Uuid> = "vendor",
        /// Planned end, and with it the effective one.
        end_time: Option<Timestamp> = "endTime",
    }
}

/// Decides an edit. No change comes of what is so already.
///
/// Errors: `item_not_in_auction`, `auction_closed`, `fields_locked`, `field_invalid`.
pub fn edit(auction: &Auction, item: &Item, edit: ItemEdit) -> Result<Vec<ItemChange>, Rejection> {
    item.require_in(auction)?;
    let edit = edit.without_unchanged(item);
    if edit == ItemEdit::default() {
        return Ok(Vec::new());
    }
    auction.require_open()?;
    let locks: Vec<(&'static str, &'static str)> =
        edit.fields().into_iter().filter_map(|field| Some((field, lock(field, auction, item)?))).collect();
    if let Some((_, why)) = locks.first() {
        return Err(Rejection::FieldsLocked { fields: locks.iter().map(|(field, _)| *field).collect(), why });
    }
    let mut edited = item.clone();
    edit.apply_to(&mut edited);
    fields::require_valid(&edited)?;
    fields::require_valid_in_auction(auction, &edited)?;
    Ok(vec![ItemChange::Edited { edit: Box::new(edit) }])
}

/// Plans another end for an item. Before it is LIVE any; a LIVE or SUSPENDED one moves forward only, with a reason, and an
/// end that soft close has put off further already stays. Of an item that has ended, or ends so already, nothing comes.
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
            // What is due has ended, even if the timer has not come to it.
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

/// Why a field can't change; none when it can.
fn lock(field: &str, auction: &Auction, item: &Item) -> Option<&'static str> {
    use ItemStatus::{Draft, Live, Preview, Suspended, Withdrawn};
    match field {
        "title" | "description" | "imageUrl" | "attachments" | "lowEstimate" | "highEstimate" => None,
        "endTime" if auction.kind != AuctionKind::Timed => Some("a webcast's items have no end of their own"),
        "endTime" if matches!(item.status, Draft | Preview | Withdrawn) => None,
        "endTime" => Some("the end of an item that is or was on sale is put off by shifting the auction's ends"),
        _ if item.in_ring().is_some() => Some("the item is in the ring"),
        _ if !matches!(item.status, Draft | Preview | Live | Suspended | Withdrawn) => Some("its sale is over"),
        // Those of a withdrawn item lapse when it comes back.
        _ if item.has_bids() && item.status != Withdrawn => Some("bids were made under them"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AuctionKind;
    use crate::sample::{at, auction, item, with_bid};
    use contract::AuctionStatus;

    fn refused(auction: &Auction, item: &Item, wanted: ItemEdit) -> String {
        match edit(auction, item, wanted) {
            Err(Rejection::FieldsLocked { fields, .. }) => fields.join(" "),
            Err(other) => other.code().to_owned(),
            Ok(_) => String::new(),
        }
    }

    fn everything() -> ItemEdit {
        ItemEdit {
            lot_number: Some("13".into()),
            title: Some("A carriage clock".into()),
            low_estimate: Some(None),
            opening_bid: Some(9_000),
            reserve: Some(Some(Hidden::new(20_000))),
            end_time: Some(Some(at(900))),
            ..ItemEdit::default()
        }
    }

    #[test]
    fn terms_are_fixed_by_the_first_bid_and_words_are_not() {
        let timed = auction(AuctionKind::Timed, AuctionStatus::Live);
        let lot = |status| item(&timed, status);
        for (lot, locked) in [
            (lot(ItemStatus::Draft), ""),
            (lot(ItemStatus::Live), "endTime"),
            (with_bid(lot(ItemStatus::Live), 10_000), "lotNumber openingBid reserve endTime"),
            (with_bid(lot(ItemStatus::Withdrawn), 10_000), ""),
            (lot(ItemStatus::Unsold), "lotNumber openingBid reserve endTime"),
        ] {
            assert_eq!(refused(&timed, &lot, everything()), locked, "{:?}", lot.status);
        }
        let (webcast, in_ring) = {
            let webcast = auction(AuctionKind::Webcast, AuctionStatus::Live);
            let lot = item(&webcast, ItemStatus::Live);
            crate::sample::in_ring(webcast, lot)
        };
        assert_eq!(refused(&webcast, &in_ring, everything()), "lotNumber openingBid reserve endTime");
        let closed = auction(AuctionKind::Timed, AuctionStatus::Reconciliation);
        assert_eq!(refused(&closed, &lot(ItemStatus::Unsold), everything()), "auction_closed");
    }

    #[test]
    fn an_edit_replays_from_its_json_and_moves_both_ends() {
        let timed = auction(AuctionKind::Timed, AuctionStatus::Draft);
        let draft = item(&timed, ItemStatus::Draft);
        let changes = edit(&timed, &draft, everything()).unwrap();
        let replayed: Vec<ItemChange> = serde_json::from_str(&serde_json::to_string(&changes).unwrap()).unwrap();
        let (mut one, mut other) = (draft.clone(), draft.clone());
        changes.iter().for_each(|change| one.apply(change));
        replayed.iter().for_each(|change| other.apply(change));
        assert_eq!(one, other);
        assert_eq!((one.end_time, one.effective_end_time, one.low_estimate), (Some(at(900)), Some(at(900)), None));
        assert_eq!(one.reserve, Some(Hidden::new(20_000)));
        let wrong = ItemEdit { buy_now: Some(Some(5)), ..ItemEdit::default() };
        assert_eq!(refused(&timed, &draft, wrong), "field_invalid");
    }

    #[test]
    fn ends_of_items_on_sale_move_forward_and_what_soft_close_gave_stays() {
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
}
