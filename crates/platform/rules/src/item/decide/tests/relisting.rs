//! Tests of relisting unsold items.

use super::*;
use crate::item::{NewLot, relist};

fn other_auction() -> Auction {
    Auction { uuid: Uuid::from_u128(100), ..auction(AuctionKind::Timed, AuctionStatus::Live) }
}

fn lot(status: ItemStatus) -> NewLot {
    NewLot { uuid: Uuid::from_u128(110), lot_number: "7".to_owned(), position: 3, status }
}

#[test]
fn a_relisted_item_and_its_original_name_each_other() {
    let auction = live();
    let reserve = Some(Hidden::new(20_000));
    let mut unsold = with_bid(Item { announced: true, reserve, ..item(&auction, Unsold) }, 10_000);
    let relisting =
        relist((&auction, &unsold), &other_auction(), lot(Live), at(2_000)).map(|relisting| relisting.created);
    assert_eq!(words(&relisting), "end_not_in_future", "the other auction has ended too");
    let relisting = relist((&auction, &unsold), &other_auction(), lot(Live), at(10)).unwrap();
    let mut item = relisting.item;
    assert_eq!(words(&Ok(relisting.created.clone())), "end 1000, -->LIVE created");
    relisting.created.iter().for_each(|change| item.apply(change));
    relisting.unsold.iter().for_each(|change| unsold.apply(change));
    assert_eq!((unsold.relisted_as, item.relisted_from), (Some(item.uuid), Some(unsold.uuid)));
    assert_eq!((unsold.status, item.status, item.announced, item.sequence), (Unsold, Live, false, 1));
    assert_eq!(
        (item.price(), item.has_bids(), item.reserve, item.title.as_str()),
        (None, false, reserve, "A longcase clock")
    );
    let second_relisting = relist((&auction, &unsold), &other_auction(), lot(Draft), at(10)).unwrap_err();
    assert_eq!(second_relisting, Rejection::AlreadyRelisted { item: item.uuid });
}

#[test]
fn only_unsold_items_are_relisted_and_only_into_another_auction_of_their_customer() {
    let auction = live();
    let refused = |item: &Item, into: &Auction, code: &str| {
        let outcome = relist((&auction, item), into, lot(Draft), at(10));
        assert_eq!(outcome.unwrap_err().code(), code);
    };
    for &status in ItemStatus::ALL.iter().filter(|&&status| status != Unsold) {
        refused(&item(&auction, status), &other_auction(), "item_not_unsold");
    }
    let unsold = item(&auction, Unsold);
    refused(&unsold, &auction, "relisted_elsewhere");
    refused(&unsold, &Auction { customer: Uuid::from_u128(9), ..other_auction() }, "relisted_elsewhere");
    refused(&unsold, &Auction { currency: "EUR".to_owned(), ..other_auction() }, "relisted_elsewhere");
    let clock = Some(crate::TestClock::at(at(0)));
    refused(&unsold, &Auction { clock, ..other_auction() }, "sandbox_mismatch");
    refused(&unsold, &Auction { status: AuctionStatus::Archived, ..other_auction() }, "auction_closed");
    refused(&Item { auction: Uuid::from_u128(9), ..unsold }, &other_auction(), "item_not_in_auction");
}
