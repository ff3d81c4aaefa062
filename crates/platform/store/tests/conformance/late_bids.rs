//! Late bids: the first ones of a lot are kept, and those of an erased person deleted. Struck bids are read from the bids.

use platform_core::port::{BidStrike, Change, KeptLateBid, StruckBid};
use platform_rules::StrikeReason;
use uuid::Uuid;

use super::given::{Shared, at, auction_uuid, bid, commit, item_uuid, sale, silent};

pub(super) fn late(number: u128, item: usize, paddle: &str) -> KeptLateBid {
    KeptLateBid {
        uuid: Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0000 + number),
        auction: auction_uuid(1),
        item: item_uuid(item),
        paddle: paddle.to_owned(),
        amount: 500 + i64::try_from(number).unwrap(),
        received_at: at(40),
        late_ms: 7,
    }
}

pub(super) async fn the_first_late_bids_of_a_lot_are_kept(store: Shared) {
    let bids = [late(1, 1, "7"), late(2, 1, "'8'"), late(3, 1, "9"), late(4, 2, "7")];
    for bid in &bids {
        store.keep_late_bid(bid.clone(), (2, 9)).await.unwrap();
    }
    let [first, second, _, other_lot] = bids;
    let kept = [other_lot.clone(), second.clone(), first.clone()];
    assert_eq!(store.late_bids_of(auction_uuid(1), None, 9).await.unwrap(), kept, "a lot keeps its first two");
    assert_eq!(store.late_bids_of(auction_uuid(1), None, 1).await.unwrap(), std::slice::from_ref(&other_lot));
    assert_eq!(store.late_bids_of(auction_uuid(1), Some("7"), 9).await.unwrap(), [other_lot, first]);
    assert_eq!(store.late_bids_of(auction_uuid(1), Some("'8'"), 9).await.unwrap(), [second]);
    assert_eq!(store.late_bids_of(auction_uuid(2), None, 9).await.unwrap(), []);
}

pub(super) async fn late_bids_of_one_paddle_leave_room_for_others(store: Shared) {
    let bids = [late(1, 1, "7"), late(2, 1, "7"), late(3, 1, "7"), late(4, 1, "9"), late(5, 2, "7")];
    for bid in &bids {
        store.keep_late_bid(bid.clone(), (3, 2)).await.unwrap();
    }
    let [first, second, _, other_paddle, other_lot] = bids;
    let kept = [other_lot, other_paddle, second, first];
    assert_eq!(store.late_bids_of(auction_uuid(1), None, 9).await.unwrap(), kept);
}

pub(super) async fn struck_bids_of_a_sale_are_read_the_last_first(store: Shared) {
    sale(&store, 2).await;
    for number in [1, 2] {
        let item = store.item(item_uuid(number)).await.unwrap().unwrap();
        let mut change = bid(item, 500);
        change.bids[0].uuid = Uuid::from_u128(number as u128);
        commit(&store, change).await.unwrap();
    }
    assert_eq!(store.struck_bids_of(auction_uuid(1), 9).await.unwrap(), []);
    for (number, ms) in [(2, 60), (1, 50)] {
        let item = store.item(item_uuid(number)).await.unwrap().unwrap();
        let struck = StruckBid {
            strike: StrikeReason::Cancelled,
            after: 1,
            reason: Some("a 'mistake'".into()),
            actor: "user:1".into(),
            at: at(ms),
        };
        let strike = BidStrike { item: item.uuid, number: 1, struck: Some(struck) };
        commit(&store, Change { bid_strikes: vec![strike], ..silent(item) }).await.unwrap();
    }
    let found = store.struck_bids_of(auction_uuid(1), 9).await.unwrap();
    assert_eq!(found.iter().map(|bid| bid.item).collect::<Vec<_>>(), [item_uuid(2), item_uuid(1)]);
    let last = &found[0];
    assert_eq!((last.paddle.as_str(), last.amount, last.strike), ("paddle-7", 500, StrikeReason::Cancelled));
    assert_eq!((last.reason.as_deref(), last.struck_at), (Some("a 'mistake'"), at(60)));
    assert_eq!(store.struck_bids_of(auction_uuid(1), 1).await.unwrap().len(), 1);
    assert_eq!(store.struck_bids_of(auction_uuid(2), 9).await.unwrap(), []);
}
