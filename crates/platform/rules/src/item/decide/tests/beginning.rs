//! Tests of the creation of items, and of items that go LIVE with their auction.

use super::*;

#[test]
fn an_item_goes_live_with_its_auction_through_preview() {
    let auction = live();
    let preview_to_live = "PREVIEW->LIVE auction_went_live";
    check(&auction, &item(&auction, Preview), ItemCommand::GoLive, 10, preview_to_live);
    let through_preview = format!("DRAFT->PREVIEW auction_went_live, {preview_to_live}");
    check(&auction, &item(&auction, Draft), ItemCommand::GoLive, 10, &through_preview);
    check(&auction, &item(&auction, Suspended), ItemCommand::GoLive, 10, "illegal_transition");
    let endless = Item { end_time: None, effective_end_time: None, ..item(&auction, Preview) };
    check(&auction, &endless, ItemCommand::GoLive, 10, &format!("end 1000, {preview_to_live}"));
}

#[test]
fn a_new_item_gets_an_end_and_a_cause_and_is_not_announced() {
    let auction = Auction { stagger: Some(crate::Stagger { seconds: 30, items: 2 }), ..live() };
    let new = Item { sequence: 0, position: 5, end_time: None, effective_end_time: None, ..item(&auction, Draft) };
    check(&auction, &new, ItemCommand::Create { status: Live }, 10, "end 1060, -->LIVE created");
    check(&auction, &new, ItemCommand::Import { status: Draft }, 10, "end 1060, -->DRAFT imported");
    check(&auction, &new, ItemCommand::Create { status: Live }, 1_060, "end_not_in_future");
    let draft = Auction { status: AuctionStatus::Draft, ..auction.clone() };
    check(&draft, &new, ItemCommand::Create { status: Live }, 10, "auction_not_live");
    check(&draft, &new, ItemCommand::Create { status: Draft }, 10, "end 1060, -->DRAFT created");
}

#[test]
fn a_new_item_with_an_invalid_field_is_rejected_with_the_field() {
    let auction = live();
    let new = Item { sequence: 0, ..item(&auction, Draft) };
    let refuses = |item: Item, field: &str| match decide(&auction, &item, ItemCommand::Create { status: Draft }, at(10))
    {
        Err(Rejection::FieldInvalid { field: named, .. }) => assert_eq!(named, field),
        other => panic!("{field}: {other:?}"),
    };
    refuses(Item { lot_number: " ".to_owned(), ..new.clone() }, "lotNumber");
    refuses(Item { position: -1, ..new.clone() }, "position");
    refuses(Item { opening_bid: -1, ..new.clone() }, "openingBid");
    refuses(Item { opening_bid: AMOUNT_MAX + 1, ..new.clone() }, "openingBid");
    refuses(Item { reserve: Some(Hidden::new(-1)), ..new.clone() }, "reserve");
    refuses(Item { low_estimate: Some(-1), ..new.clone() }, "lowEstimate");
    refuses(Item { high_estimate: Some(AMOUNT_MAX + 1), ..new.clone() }, "highEstimate");
    refuses(Item { low_estimate: Some(30_001), ..new.clone() }, "highEstimate");
    refuses(Item { fixed_increment: Some(0), ..new.clone() }, "fixedIncrement");
    refuses(Item { buy_now: Some(0), ..new.clone() }, "buyNow");
    refuses(Item { buy_now: Some(9_999), ..new.clone() }, "buyNow");
    refuses(Item { buy_now: Some(20_000), reserve: Some(Hidden::new(20_001)), ..new }, "buyNow");
}
