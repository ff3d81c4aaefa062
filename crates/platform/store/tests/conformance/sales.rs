//! Auctions, items and bids.

use contract::ItemStatus;
use jiff::SignedDuration;
use platform_core::bidding::bid::{BidStrike, StruckBid};
use platform_core::port::{Change, StoreError};
use platform_rules::{
    Admission, Auction, BeforePass, Charges, InRing, InternetBids, ItemCounts, PendingBid, RingStatus, StrikeReason,
    WebcastPhase,
};

use super::given::{
    Shared, at, auction, auction_uuid, bid, commit, created, customer_uuid, ends, item, item_uuid, next, next_auction,
    page, sale, silent, whole,
};

pub(super) async fn auctions_and_items_read_back_as_they_were_committed(store: Shared) {
    let mut live = item(1);
    // A state is stored unchanged, with times of any precision.
    live.created_at += SignedDuration::from_nanos(1);
    live.image_url = Some("https://example.com/ä.jpg".into());
    let change = Change { items: vec![next(live.clone())], ..created(auction(1)) };
    commit(&store, change.clone()).await.unwrap();
    live.version = 1;
    assert_eq!(store.item(live.uuid).await.unwrap(), Some(live));
    assert_eq!(store.auction(auction_uuid(1)).await.unwrap(), change.auction.map(|auction| auction.state));
    assert_eq!(store.item(item_uuid(2)).await.unwrap(), None);
    assert_eq!(store.auction(auction_uuid(2)).await.unwrap(), None);
}

pub(super) async fn lists_are_read_in_pages_and_in_order(store: Shared) {
    sale(&store, 5).await;
    let mut others = auction(3);
    others.customer = customer_uuid(2);
    commit(&store, created(others)).await.unwrap();
    commit(&store, created(auction(2))).await.unwrap();
    let auctions = |of: Option<usize>, after: Option<usize>, limit| {
        let store = store.clone();
        async move {
            let list = store.auctions(of.map(customer_uuid), page(after.map(auction_uuid), limit)).await.unwrap();
            list.into_iter().map(|auction| auction.uuid).collect::<Vec<_>>()
        }
    };
    assert_eq!(auctions(None, None, 2).await, [auction_uuid(1), auction_uuid(2)]);
    assert_eq!(auctions(None, Some(2), 2).await, [auction_uuid(3)]);
    assert_eq!(auctions(Some(1), None, 9).await, [auction_uuid(1), auction_uuid(2)]);
    assert_eq!(auctions(Some(1), Some(1), 9).await, [auction_uuid(2)]);
    let items = store.items(auction_uuid(1), page(Some(2), 2)).await.unwrap();
    assert_eq!(items.iter().map(|item| item.position).collect::<Vec<_>>(), [3, 4]);
    assert_eq!(store.items(auction_uuid(2), whole()).await.unwrap(), []);
}

pub(super) async fn a_stale_version_refuses_the_whole_change(store: Shared) {
    sale(&store, 2).await;
    let found = store.item(item_uuid(1)).await.unwrap().unwrap();
    let sold = store.auction(auction_uuid(1)).await.unwrap().unwrap();
    commit(&store, silent(store.item(item_uuid(2)).await.unwrap().unwrap())).await.unwrap();
    let stale = item(2);
    let change = Change {
        auction: Some(next_auction(sold.clone())),
        items: vec![next(found.clone()), next(platform_rules::Item { version: 1, ..stale })],
        ..Change::default()
    };
    assert!(matches!(commit(&store, change).await, Err(StoreError::Conflict)));
    assert_eq!(store.item(item_uuid(1)).await.unwrap(), Some(found));
    assert_eq!(store.auction(auction_uuid(1)).await.unwrap(), Some(sold));
    // A row that exists can't be created, and a row that does not exist can't be changed.
    assert!(matches!(commit(&store, silent(item(1))).await, Err(StoreError::Conflict)));
    let gone = platform_rules::Item { version: 1, ..item(9) };
    assert!(matches!(commit(&store, silent(gone)).await, Err(StoreError::Conflict)));
    assert!(matches!(commit(&store, created(auction(1))).await, Err(StoreError::Conflict)));
}

pub(super) async fn a_duplicate_lot_number_refuses_the_whole_change(store: Shared) {
    sale(&store, 2).await;
    let mut namesake = item(4);
    namesake.lot_number = item(2).lot_number;
    let change = Change { items: vec![next(item(3)), next(namesake.clone())], ..Change::default() };
    assert!(matches!(commit(&store, change).await, Err(StoreError::Taken("lotNumber"))));
    assert_eq!(store.item(item_uuid(3)).await.unwrap(), None);
    assert!(matches!(commit(&store, silent(namesake.clone())).await, Err(StoreError::Taken("lotNumber"))));
    let mut twin = item(3);
    twin.lot_number = item(5).lot_number;
    let twins = Change { items: vec![next(item(5)), next(twin)], ..Change::default() };
    assert!(matches!(commit(&store, twins).await, Err(StoreError::Taken("lotNumber"))));
    commit(&store, created(auction(2))).await.unwrap();
    namesake.auction = auction_uuid(2);
    commit(&store, silent(namesake)).await.unwrap();
}

pub(super) async fn an_occupied_position_is_a_conflict(store: Shared) {
    sale(&store, 2).await;
    let mut late = item(3);
    late.position = 2;
    assert!(matches!(commit(&store, silent(late.clone())).await, Err(StoreError::Conflict)));
    late.position = 3;
    commit(&store, silent(late)).await.unwrap();
}

pub(super) async fn an_item_may_take_another_number_and_place(store: Shared) {
    sale(&store, 2).await;
    let mut first = store.item(item_uuid(1)).await.unwrap().unwrap();
    first.lot_number = item(2).lot_number;
    assert!(matches!(commit(&store, silent(first.clone())).await, Err(StoreError::Taken("lotNumber"))));
    first.lot_number = "1B".into();
    first.position = 9;
    commit(&store, silent(first)).await.unwrap();
    let list = store.items(auction_uuid(1), whole()).await.unwrap();
    assert_eq!(list.iter().map(|item| item.lot_number.as_str()).collect::<Vec<_>>(), ["2A", "1B"]);
    commit(&store, silent(item(3))).await.unwrap();
    let mut reused = item(4);
    (reused.lot_number, reused.position) = ("1A".into(), 1);
    commit(&store, silent(reused)).await.unwrap();
}

pub(super) async fn a_refused_change_does_not_affect_others_in_its_batch(store: Shared) {
    sale(&store, 2).await;
    let first = store.item(item_uuid(1)).await.unwrap().unwrap();
    let second = store.item(item_uuid(2)).await.unwrap().unwrap();
    // Two bids on one version in one batch: the first one stands.
    let batch = vec![bid(first.clone(), 100), bid(first, 200), silent(item(2)), bid(second, 300)];
    let results = store.commit(batch, None).await.unwrap();
    assert_eq!(results.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, false, true]);
    assert!(matches!(results[1], Err(StoreError::Conflict)));
    let prices = store.items(auction_uuid(1), whole()).await.unwrap();
    assert_eq!(prices.iter().map(platform_rules::Item::price).collect::<Vec<_>>(), [Some(100), Some(300)]);
}

pub(super) async fn items_are_counted_by_status(store: Shared) {
    sale(&store, 7).await;
    assert_eq!(
        store.item_counts(auction_uuid(1)).await.unwrap(),
        ItemCounts { total: 7, live: 7, ..ItemCounts::default() }
    );
    commit(&store, bid(store.item(item_uuid(1)).await.unwrap().unwrap(), 100)).await.unwrap();
    commit(&store, bid(store.item(item_uuid(2)).await.unwrap().unwrap(), 100)).await.unwrap();
    let ends_as = [
        (2, ItemStatus::Sold),
        (3, ItemStatus::Passed),
        (4, ItemStatus::Suspended),
        (6, ItemStatus::SoldBuyNow),
        (7, ItemStatus::Unsold),
    ];
    for (number, to) in ends_as {
        ends(&store, number, to).await;
    }
    assert_eq!(
        store.item_counts(auction_uuid(1)).await.unwrap(),
        ItemCounts { total: 7, preview: 0, live: 2, suspended: 1, passed: 1, sold: 2, unsold: 1, with_bids: 2 }
    );
    assert_eq!(store.item_counts(auction_uuid(2)).await.unwrap(), ItemCounts::default());
}

pub(super) async fn sold_lots_whose_buyer_is_open_are_counted(store: Shared) {
    sale(&store, 4).await;
    for (number, paddle) in [(1, ""), (2, "117"), (3, ""), (4, "")] {
        let mut change = bid(store.item(item_uuid(number)).await.unwrap().unwrap(), 100);
        for changed in &mut change.items {
            changed.state.standing.as_mut().unwrap().bidder = paddle.to_owned();
        }
        commit(&store, change).await.unwrap();
        if number < 4 {
            ends(&store, number, ItemStatus::Sold).await;
        }
    }
    assert_eq!(store.open_buyers(auction_uuid(1)).await.unwrap(), 2);
    assert_eq!(store.open_buyers(auction_uuid(2)).await.unwrap(), 0);
}

pub(super) async fn bids_are_listed_by_their_number(store: Shared) {
    sale(&store, 2).await;
    let mut made = Vec::new();
    for amount in [100, 200, 300] {
        let change = bid(store.item(item_uuid(1)).await.unwrap().unwrap(), amount);
        made.extend(change.bids.clone());
        commit(&store, change).await.unwrap();
    }
    assert_eq!(store.bids(item_uuid(1), whole()).await.unwrap(), made);
    assert_eq!(store.bids(item_uuid(1), page(Some(1), 1)).await.unwrap(), made[1..2]);
    assert_eq!(store.bids(item_uuid(2), whole()).await.unwrap(), []);
    assert_eq!(made[2].at, at(3));
}

pub(super) async fn a_bid_is_struck_and_reinstated(store: Shared) {
    sale(&store, 1).await;
    for amount in [100, 200] {
        commit(&store, bid(store.item(item_uuid(1)).await.unwrap().unwrap(), amount)).await.unwrap();
    }
    let struck = |strike, reason: Option<&str>| StruckBid {
        strike,
        after: 2,
        reason: reason.map(Into::into),
        actor: "key:2".into(),
        at: at(9),
    };
    let mark = async |number, struck: Option<StruckBid>| {
        let item = store.item(item_uuid(1)).await.unwrap().unwrap();
        let marks = vec![BidStrike { item: item.uuid, number, struck }];
        commit(&store, Change { bid_strikes: marks, ..silent(item) }).await.unwrap();
    };
    for strike in StrikeReason::ALL {
        let cancelled = Some(struck(strike, Some("Größe verwechselt")));
        mark(1, cancelled.clone()).await;
        let bids = store.bids(item_uuid(1), whole()).await.unwrap();
        assert_eq!((&bids[0].struck, &bids[1].struck), (&cancelled, &None));
    }
    mark(2, Some(struck(StrikeReason::Lowered, None))).await;
    mark(1, None).await;
    let bids = store.bids(item_uuid(1), whole()).await.unwrap();
    assert_eq!((&bids[0].struck, &bids[1].struck), (&None, &Some(struck(StrikeReason::Lowered, None))));
    // A refused change strikes no bid.
    let stale = Change {
        bid_strikes: vec![BidStrike {
            item: item_uuid(1),
            number: 1,
            struck: Some(struck(StrikeReason::Undone, None)),
        }],
        ..silent(item(1))
    };
    assert!(matches!(commit(&store, stale).await, Err(StoreError::Conflict)));
    assert_eq!(store.bids(item_uuid(1), whole()).await.unwrap(), bids);
}

pub(super) async fn the_complete_state_of_a_sale_is_stored(store: Shared) {
    let mut webcast = Auction {
        extension_seconds: None,
        charges: Charges { premium_basis_points: 2_500, hammer_tax_basis_points: 700, premium_tax_basis_points: 1_900 },
        internet_bids: InternetBids::AcceptedAtOnce,
        registration: Admission::Required,
        phase: WebcastPhase::Live,
        in_ring: Some(item_uuid(1)),
        last_in_ring: Some(item_uuid(2)),
        ring_position: Some(1),
        ..auction(1)
    };
    webcast.kind = platform_rules::AuctionKind::Webcast;
    let pending = vec![PendingBid { bid: item_uuid(8), bidder: "paddle-8".into(), amount: 300, at: at(7) }];
    let mut offered = platform_rules::Item {
        buy_now: Some(90_000),
        vendor: Some(customer_uuid(7)),
        ring: RingStatus::InRing(InRing { asking_price: 250, paused: true, warnings: 2, lowered: true }),
        bids_lapsed: 3,
        bids_passed: 4,
        before_pass: Some(BeforePass { passed: 3, standing: None }),
        pending,
        relisted_from: Some(item_uuid(6)),
        relisted_as: Some(item_uuid(7)),
        ..item(1)
    };
    commit(&store, Change { items: vec![next(offered.clone())], ..created(webcast.clone()) }).await.unwrap();
    (offered.version, webcast.version, webcast.sequence) = (1, 1, 1);
    assert_eq!(store.item(item_uuid(1)).await.unwrap(), Some(offered));
    assert_eq!(store.auction(auction_uuid(1)).await.unwrap(), Some(webcast));
}
