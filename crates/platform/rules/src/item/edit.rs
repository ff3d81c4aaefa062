//! Corrections of the fields of an item.
//!
//! | fields | can change |
//! |---|---|
//! | title, description, category, images and documents, estimates | until the auction is reconciled |
//! | lot number, opening bid, reserve, buy-now price, increment, vendor | before its sale is over; outside of the ring; without bids or WITHDRAWN |
//! | place in the running order | outside of the ring; in a timed auction before the item is on sale, in a webcast before its sale is over and behind the lot that was sent last |
//! | planned end | as DRAFT, PREVIEW and WITHDRAWN; of LIVE and SUSPENDED items by [`super::move_plan`] |

use contract::ItemStatus;
use contract::models::UrlAttachmentApiModel;
use jiff::Timestamp;
use uuid::Uuid;

use super::fields;
use crate::edit::fields_of;
use crate::{Auction, AuctionKind, Hidden, Item, ItemChange, Rejection, new_item_end};

fields_of! {
    /// A correction of an item. A field that is none stays; in an optional field, an inner none removes the value.
    ItemEdit of Item {
        /// Lot number.
        lot_number: String = "lotNumber",
        /// Place in the running order; see [`arrange`].
        position: i64 = "position",
        /// Title.
        title: String = "title",
        /// Description.
        description: String = "description",
        /// Category.
        category: Option<String> = "category",
        /// Image address.
        image_url: Option<String> = "imageUrl",
        /// Images, documents and videos; replaces the whole list.
        attachments: Vec<UrlAttachmentApiModel> = "attachments",
        /// Low estimate, minor units.
        low_estimate: Option<i64> = "lowEstimate",
        /// High estimate, minor units.
        high_estimate: Option<i64> = "highEstimate",
        /// Opening bid, minor units.
        opening_bid: i64 = "openingBid",
        /// Lowest price that sells, minor units.
        reserve: Option<Hidden> = "reserve",
        /// Buy-now price, minor units.
        buy_now: Option<i64> = "buyNow",
        /// Increment at any price, minor units.
        fixed_increment: Option<i64> = "fixedIncrement",
        /// The vendor.
        vendor: Option<Uuid> = "vendor",
        /// Planned end; the effective end changes with it.
        end_time: Option<Timestamp> = "endTime",
    }
}

/// Decides an edit. Fields that have the wanted value already produce no change.
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

/// Decides another place in the running order, another lot number, or both. In a timed auction, an item with the end that
/// the auction plans gets the planned end of its new place. The caller makes sure that every place has one item again.
///
/// Errors: those of [`edit`].
pub fn arrange(
    auction: &Auction,
    item: &Item,
    position: i64,
    lot_number: String,
) -> Result<Vec<ItemChange>, Rejection> {
    let planned = new_item_end(auction, position);
    let has_planned_end = item.end_time.is_some() && item.end_time == new_item_end(auction, item.position);
    let is_moved = position != item.position;
    let wanted = ItemEdit {
        position: Some(position),
        lot_number: Some(lot_number),
        end_time: (is_moved && has_planned_end).then_some(planned),
        ..ItemEdit::default()
    };
    edit(auction, item, wanted)
}

/// Why a field can't change; none when it can.
fn lock(field: &str, auction: &Auction, item: &Item) -> Option<&'static str> {
    use ItemStatus::{Draft, Live, Preview, Suspended, Withdrawn};
    match field {
        "title" | "description" | "category" | "imageUrl" | "attachments" | "lowEstimate" | "highEstimate" => None,
        "endTime" if auction.kind != AuctionKind::Timed => Some("a webcast's items have no end of their own"),
        "endTime" if matches!(item.status, Draft | Preview | Withdrawn) => None,
        "endTime" => Some("the item is or was on sale: shift the ends of the auction instead"),
        "position" if auction.kind == AuctionKind::Timed && !matches!(item.status, Draft | Preview | Withdrawn) => {
            Some("the item is or was on sale, and its end follows its place: move its end instead")
        }
        "position" if auction.ring_position.is_some_and(|sent| item.position <= sent) => {
            Some("only lots after the one that was sent to the ring last can move")
        }
        _ if item.in_ring().is_some() => Some("the item is in the ring: take it out first"),
        _ if !matches!(item.status, Draft | Preview | Live | Suspended | Withdrawn) => Some("its sale is over"),
        "position" => None,
        // The bids of a withdrawn item lapse when it is reinstated.
        _ if item.has_bids() && item.status != Withdrawn => {
            Some("the item has bids, which were made under these terms")
        }
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
    fn the_first_bid_locks_the_terms_and_leaves_title_and_estimates_open() {
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
    fn a_place_changes_before_the_sale_of_the_item_and_the_planned_end_follows_it() {
        let stagger = Some(crate::Stagger { seconds: 60, items: 1 });
        let timed = Auction { stagger, ..auction(AuctionKind::Timed, AuctionStatus::Draft) };
        let lot = |status| Item { end_time: new_item_end(&timed, 1), position: 1, ..item(&timed, status) };
        let arranged = |auction: &Auction, lot: &Item| {
            let changes = arrange(auction, lot, 4, "40".into()).map_err(|refused| refused.code())?;
            let mut lot = lot.clone();
            changes.iter().for_each(|change| lot.apply(change));
            Ok::<_, &str>((lot.position, lot.lot_number, lot.end_time))
        };
        let draft = lot(ItemStatus::Draft);
        assert_eq!(arranged(&timed, &draft), Ok((4, "40".into(), new_item_end(&timed, 4))));
        let own_end = Item { end_time: Some(at(5_000)), ..draft };
        assert_eq!(arranged(&timed, &own_end), Ok((4, "40".into(), Some(at(5_000)))), "an individual end was changed");
        assert_eq!(arranged(&timed, &lot(ItemStatus::Live)), Err("fields_locked"));
        // In a webcast, the lots after the one in the ring may change places.
        let webcast = Auction { ring_position: Some(0), ..auction(AuctionKind::Webcast, AuctionStatus::Live) };
        let waiting = Item { position: 1, ..item(&webcast, ItemStatus::Live) };
        assert_eq!(arranged(&webcast, &waiting), Ok((4, "40".into(), waiting.end_time)));
        let sent = Auction { ring_position: Some(1), ..webcast };
        assert_eq!(arranged(&sent, &waiting), Err("fields_locked"));
    }

    #[test]
    fn an_edit_replays_from_json_and_sets_planned_and_effective_end() {
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
}
