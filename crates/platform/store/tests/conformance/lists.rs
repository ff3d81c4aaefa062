//! Filtered lists.

use contract::{AuctionStatus, ItemStatus};
use platform_core::catalogue::ColumnMapping;
use platform_core::port::{
    AuctionFilter, AuctionOwner, Change, Registration, RegistrationStatus, RegistrationWrite, Versioned,
};
use platform_rules::{Auction, AuctionKind, LogHead, SaleMode, TestClock};

use super::given::{
    Shared, announced, at, auction, auction_uuid, auctioneer_uuid, bid, caller_uuid, commit, customer, customer_uuid,
    item, item_uuid, next_auction, page, sale, silent, whole,
};

/// One auction for each combination of status, kind and sale mode, of two customers with two auctioneers each.
async fn all_kinds_of_auctions(store: &Shared) -> Vec<Auction> {
    let mut auctions = Vec::new();
    for status in AuctionStatus::ALL {
        for kind in AuctionKind::ALL {
            for sandbox in [false, true] {
                for house in 0..4 {
                    let number = auctions.len() + 1;
                    auctions.push(Auction {
                        customer: customer_uuid(1 + house / 2),
                        auctioneer: auctioneer_uuid(1 + house),
                        status: *status,
                        kind,
                        clock: sandbox.then(|| TestClock::at(at(1))),
                        ..auction(number)
                    });
                }
            }
        }
    }
    for number in 1..=2 {
        store.create_customer(customer(number), None).await.unwrap();
    }
    for state in &auctions {
        let change = Change { auction: Some(next_auction(state.clone())), ..Change::default() };
        commit(store, change).await.unwrap();
    }
    auctions
}

pub(super) async fn auctions_are_filtered_by_all_criteria_in_order(store: Shared) {
    use AuctionStatus::{Archived, Live, Preview};
    let auctions = all_kinds_of_auctions(&store).await;
    let all = AuctionFilter::default();
    let of_second_customer = AuctionFilter { of: AuctionOwner::Customer(customer_uuid(2)), ..all.clone() };
    let house = AuctionFilter { of: AuctionOwner::Auctioneer(auctioneer_uuid(3)), ..all.clone() };
    let timed = Some(AuctionKind::Timed);
    let real = Some(SaleMode::Real);
    let sandbox = Some(SaleMode::Sandbox);
    let filters = [
        all.clone(),
        AuctionFilter { statuses: vec![Live], ..all.clone() },
        AuctionFilter { statuses: vec![Archived, Preview], kind: timed, ..all.clone() },
        AuctionFilter { sale_mode: sandbox, ..of_second_customer.clone() },
        AuctionFilter { statuses: vec![Live, Preview], kind: timed, sale_mode: real, ..of_second_customer.clone() },
        AuctionFilter { kind: Some(AuctionKind::Webcast), ..house.clone() },
        AuctionFilter { statuses: vec![Live], kind: timed, sale_mode: real, ..house },
        AuctionFilter { of: AuctionOwner::Auctioneer(auctioneer_uuid(9)), ..all },
    ];
    for filter in filters {
        let is_wanted = |auction: &&Auction| {
            let is_theirs = match filter.of {
                AuctionOwner::All => true,
                AuctionOwner::Customer(customer) => auction.customer == customer,
                AuctionOwner::Auctioneer(auctioneer) => auction.auctioneer == auctioneer,
            };
            is_theirs
                && (filter.statuses.is_empty() || filter.statuses.contains(&auction.status))
                && filter.kind.is_none_or(|kind| auction.kind == kind)
                && filter.sale_mode.is_none_or(|sale_mode| auction.sale_mode() == sale_mode)
        };
        let wanted: Vec<_> = auctions.iter().filter(is_wanted).map(|auction| auction.uuid).collect();
        let listed = async |page| -> Vec<_> {
            let found = store.filtered_auctions(&filter, page).await.unwrap();
            found.into_iter().map(|auction| auction.uuid).collect()
        };
        assert_eq!(listed(whole()).await, wanted, "{filter:?}");
        // A cursor is a position in the unfiltered list, so a cursor of another filter continues from there.
        let behind: Vec<_> = wanted.iter().copied().filter(|uuid| *uuid > auction_uuid(30)).take(3).collect();
        assert_eq!(listed(page(Some(auction_uuid(30)), 3)).await, behind, "{filter:?}");
    }
    // An auction with a new status is listed under that status.
    let mut moved = store.auction(auction_uuid(1)).await.unwrap().unwrap();
    moved.status = Live;
    commit(&store, Change { auction: Some(next_auction(moved)), ..Change::default() }).await.unwrap();
    let live = AuctionFilter { statuses: vec![Live], ..AuctionFilter::default() };
    assert_eq!(store.filtered_auctions(&live, page(None, 1)).await.unwrap()[0].uuid, auction_uuid(1));
}

pub(super) async fn items_are_filtered_by_status_and_found_by_lot_number(store: Shared) {
    use ItemStatus::{Live, Sold, Unsold, Withdrawn};
    sale(&store, 9).await;
    commit(&store, bid(item_now(&store, 2).await, 100)).await.unwrap();
    for (number, to) in [(3, Sold), (4, Unsold), (7, Sold), (9, Withdrawn)] {
        commit(&store, announced(item_now(&store, number).await, to, at(1))).await.unwrap();
    }
    let listed = async |statuses: &[ItemStatus], page| -> Vec<_> {
        let found = store.items_with_status(auction_uuid(1), statuses, page).await.unwrap();
        found.into_iter().map(|item| item.position).collect()
    };
    assert_eq!(listed(&[Live], whole()).await, [1, 2, 5, 6, 8], "a LIVE item is not listed");
    assert_eq!(listed(&[Sold, Unsold], whole()).await, [3, 4, 7]);
    assert_eq!(listed(&[Sold, Live, Withdrawn], page(Some(2), 4)).await, [3, 5, 6, 7]);
    assert_eq!(listed(&[ItemStatus::Passed], whole()).await, [0; 0]);
    let elsewhere = store.items_with_status(auction_uuid(2), &[Live], whole()).await.unwrap();
    assert_eq!(elsewhere, []);

    let found = async |auction, lot: &str| store.item_by_lot_number(auction_uuid(auction), lot).await.unwrap();
    assert_eq!(found(1, "7A").await, Some(item_now(&store, 7).await));
    for (auction, lot) in [(2, "7A"), (1, "7"), (1, "7a"), (1, ""), (1, "7A\0")] {
        assert_eq!(found(auction, lot).await, None, "{lot:?}");
    }
    let renamed = platform_rules::Item { lot_number: "70".into(), ..item_now(&store, 7).await };
    commit(&store, silent(renamed)).await.unwrap();
    assert_eq!(found(1, "7A").await, None);
    assert_eq!(found(1, "70").await.map(|item| item.uuid), Some(item(7).uuid));
}

async fn item_now(store: &Shared, number: usize) -> platform_rules::Item {
    store.item(item_uuid(number)).await.unwrap().unwrap()
}

pub(super) async fn registrations_are_filtered_by_status(store: Shared) {
    use RegistrationStatus::{Approved, Pending, Refused, Suspended};
    let enter = async |number: usize, expected_version: i64, status| {
        let state = Registration {
            uuid: caller_uuid(100 + number),
            auction: auction_uuid(1 + number / 100),
            customer: customer_uuid(1),
            paddle: number.to_string(),
            party: None,
            name: Some("Ada".into()),
            email: None,
            limit: None,
            note: None,
            status,
            reason: None,
            actor: "key:1".into(),
            version: expected_version + 1,
            created_at: at(1),
            updated_at: at(2),
            log: LogHead::default(),
            spending_version: 1,
        };
        let registration = Versioned { expected_version, state };
        store
            .put_registration(RegistrationWrite {
                registration,
                log: Vec::new(),
                answer: None,
                mail: None,
                notice_cause: None,
                limit_decided: None,
            })
            .await
            .unwrap();
    };
    for (number, status) in [(1, Pending), (2, Approved), (3, Pending), (4, Refused), (5, Pending), (101, Pending)] {
        enter(number, 0, status).await;
    }
    let listed = async |statuses: &[RegistrationStatus], page| -> Vec<_> {
        let found = store.registrations_with_status(auction_uuid(1), statuses, page).await.unwrap();
        found.into_iter().map(|row| (row.paddle, row.spending_version)).collect()
    };
    let paddles = |paddles: &[&str]| -> Vec<_> { paddles.iter().map(|paddle| ((*paddle).to_owned(), 1)).collect() };
    assert_eq!(listed(&[Pending], whole()).await, paddles(&["1", "3", "5"]));
    assert_eq!(listed(&[Refused, Approved, Suspended], whole()).await, paddles(&["2", "4"]));
    assert_eq!(listed(&[Pending, Approved], page(Some(caller_uuid(101)), 2)).await, paddles(&["2", "3"]));
    enter(3, 1, Approved).await;
    assert_eq!(listed(&[Pending], whole()).await, paddles(&["1", "5"]));
    assert_eq!(listed(&[Approved], whole()).await, [("2".to_owned(), 1), ("3".to_owned(), 2)]);
}

pub(super) async fn the_last_mapping_of_a_customer_is_stored(store: Shared) {
    let mapping = |field: &str| ColumnMapping::new([("Lot #".to_owned(), Some(field.to_owned()))]).unwrap();
    assert_eq!(store.catalogue_mapping(customer_uuid(1)).await.unwrap(), None);
    for field in ["title", "lot_number"] {
        store.put_catalogue_mapping(customer_uuid(1), mapping(field)).await.unwrap();
        assert_eq!(store.catalogue_mapping(customer_uuid(1)).await.unwrap(), Some(mapping(field)));
    }
    assert_eq!(store.catalogue_mapping(customer_uuid(2)).await.unwrap(), None);
    // That of register files is another one.
    assert_eq!(store.register_mapping(customer_uuid(1)).await.unwrap(), None);
    for field in ["description", "title"] {
        store.put_register_mapping(customer_uuid(1), mapping(field)).await.unwrap();
        assert_eq!(store.register_mapping(customer_uuid(1)).await.unwrap(), Some(mapping(field)));
    }
    assert_eq!(store.register_mapping(customer_uuid(2)).await.unwrap(), None);
    assert_eq!(store.catalogue_mapping(customer_uuid(1)).await.unwrap(), Some(mapping("lot_number")));
}
