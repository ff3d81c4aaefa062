//! Customers, auctioneers and keys.

use platform_core::port::{ApiKey, Auctioneer, AuctioneerProfile, NewAuctioneer, StoreError};

use super::access_changes::AccessChanges as _;
use super::given::{Shared, at, auctioneer_uuid, caller_uuid, customer, customer_uuid, page, whole};

pub(super) fn auctioneer(number: usize, of: usize) -> NewAuctioneer {
    NewAuctioneer {
        uuid: auctioneer_uuid(number),
        customer: customer_uuid(of),
        name: format!("Saal {number}"),
        profile: AuctioneerProfile::default(),
        address: None,
        created_at: at(number as i64),
        id: None,
        answer: None,
    }
}

pub(super) async fn a_customer_is_found_and_its_name_is_unique(store: Shared) {
    store.create_customer(customer(1), None).await.unwrap();
    let mut namesake = customer(2);
    namesake.name = customer(1).name;
    assert!(matches!(store.create_customer(namesake, None).await, Err(StoreError::Taken("name"))));
    assert_eq!(store.customer(customer_uuid(1)).await.unwrap(), Some(customer(1)));
    assert_eq!(store.customer(customer_uuid(2)).await.unwrap(), None);
}

pub(super) async fn a_customer_is_renamed_to_an_unused_name(store: Shared) {
    store.create_customer(customer(1), None).await.unwrap();
    store.create_customer(customer(2), None).await.unwrap();
    assert!(store.rename_customer(customer_uuid(1), "Hartley & Sons").await.unwrap());
    assert_eq!(store.customer(customer_uuid(1)).await.unwrap().unwrap().name, "Hartley & Sons");
    let taken = store.rename_customer(customer_uuid(2), "Hartley & Sons").await;
    assert!(matches!(taken, Err(StoreError::Taken("name"))), "{taken:?}");
    assert!(!store.rename_customer(customer_uuid(3), "Nobody").await.unwrap());
}

pub(super) async fn customers_and_auctioneers_are_listed_in_pages(store: Shared) {
    for number in [3, 1, 2] {
        store.create_customer(customer(number), None).await.unwrap();
        store.create_auctioneer(auctioneer(number, 1 + number % 2)).await.unwrap();
    }
    assert_eq!(store.customers(page(None, 2)).await.unwrap(), [customer(1), customer(2)]);
    assert_eq!(store.customers(page(Some(customer_uuid(2)), 2)).await.unwrap(), [customer(3)]);
    let uuids = |list: Vec<Auctioneer>| list.into_iter().map(|auctioneer| auctioneer.uuid).collect::<Vec<_>>();
    let (first, second, third) = (auctioneer_uuid(1), auctioneer_uuid(2), auctioneer_uuid(3));
    assert_eq!(uuids(store.auctioneers(None, whole()).await.unwrap()), [first, second, third]);
    assert_eq!(uuids(store.auctioneers(Some(customer_uuid(2)), whole()).await.unwrap()), [first, third]);
    assert_eq!(uuids(store.auctioneers(Some(customer_uuid(2)), page(Some(first), 5)).await.unwrap()), [third]);
    assert_eq!(uuids(store.auctioneers(None, page(Some(first), 1)).await.unwrap()), [second]);
}

pub(super) async fn auctioneers_are_numbered_from_one(store: Shared) {
    let first = store.create_auctioneer(auctioneer(1, 1)).await.unwrap();
    assert_eq!((first.id, first.name.as_str()), (1, "Saal 1"));
    let mut namesake = auctioneer(2, 1);
    namesake.name = first.name.clone();
    assert!(matches!(store.create_auctioneer(namesake.clone()).await, Err(StoreError::Taken("name"))));
    namesake.customer = customer_uuid(2);
    let second = store.create_auctioneer(namesake).await.unwrap();
    assert!(second.id > first.id);
    assert_eq!(store.auctioneer(first.uuid).await.unwrap(), Some(first.clone()));
    assert_eq!(store.auctioneer_by_id(second.id).await.unwrap(), Some(second));
    assert_eq!(store.auctioneer_by_id(99).await.unwrap(), None);
}

pub(super) async fn a_key_is_found_by_its_hash_and_records_its_use(store: Shared) {
    let mut key = ApiKey {
        uuid: caller_uuid(1),
        hash: [1; 32],
        customer: Some(customer_uuid(1)),
        name: "import".into(),
        scopes: vec!["auctions:read".into(), "auctions:write".into()],
        created_at: at(1),
        expires_at: Some(at(9_000)),
        last_used_at: None,
        revoked_at: None,
    };
    let staff = ApiKey { uuid: caller_uuid(2), hash: [2; 32], customer: None, expires_at: None, ..key.clone() };
    store.create_api_key(key.clone(), None).await.unwrap();
    store.create_api_key(staff.clone(), None).await.unwrap();
    assert_eq!(store.api_key_by_hash([1; 32]).await.unwrap(), Some(key.clone()));
    store.touch_api_key(key.uuid, at(500)).await.unwrap();
    store.touch_api_key(caller_uuid(3), at(500)).await.unwrap();
    key.last_used_at = Some(at(500));
    assert_eq!(store.api_key_by_hash([1; 32]).await.unwrap(), Some(key));
    assert_eq!(store.api_key_by_hash([2; 32]).await.unwrap(), Some(staff));
    assert_eq!(store.api_key_by_hash([3; 32]).await.unwrap(), None);
}

pub(super) async fn keys_are_listed_and_a_revoked_key_stays_readable(store: Shared) {
    let key = |number: usize, customer: Option<usize>| ApiKey {
        uuid: caller_uuid(number),
        hash: [number as u8; 32],
        customer: customer.map(customer_uuid),
        name: format!("key {number}"),
        scopes: vec!["events:read".into()],
        created_at: at(number as i64),
        expires_at: None,
        last_used_at: None,
        revoked_at: None,
    };
    for (number, customer) in [(3, Some(1)), (1, Some(1)), (4, None), (2, Some(2))] {
        store.create_api_key(key(number, customer), None).await.unwrap();
    }
    let uuids = |keys: Vec<ApiKey>| keys.into_iter().map(|key| key.uuid).collect::<Vec<_>>();
    let all = [1, 2, 3, 4].map(caller_uuid);
    assert_eq!(uuids(store.api_keys(None, whole()).await.unwrap()), all);
    assert_eq!(uuids(store.api_keys(None, page(Some(all[0]), 2)).await.unwrap()), all[1..3]);
    assert_eq!(store.api_keys(Some(customer_uuid(1)), whole()).await.unwrap(), [key(1, Some(1)), key(3, Some(1))]);
    assert_eq!(uuids(store.api_keys(Some(customer_uuid(1)), page(Some(all[0]), 2)).await.unwrap()), [all[2]]);
    assert_eq!(store.api_key(all[3]).await.unwrap(), Some(key(4, None)));
    assert_eq!(store.api_key(caller_uuid(5)).await.unwrap(), None);

    store.revoke_api_key(all[1], at(700)).await.unwrap();
    store.revoke_api_key(all[1], at(800)).await.unwrap();
    store.revoke_api_key(caller_uuid(5), at(700)).await.unwrap();
    let revoked = ApiKey { revoked_at: Some(at(700)), ..key(2, Some(2)) };
    assert_eq!(store.api_key(all[1]).await.unwrap(), Some(revoked.clone()));
    assert_eq!(store.api_key_by_hash([2; 32]).await.unwrap(), Some(revoked.clone()));
    assert_eq!(store.api_keys(Some(customer_uuid(2)), whole()).await.unwrap(), [revoked]);
    assert_eq!(store.api_key(all[0]).await.unwrap(), Some(key(1, Some(1))));
}

pub(super) async fn a_ping_reads_and_writes(store: Shared) {
    store.ping().await.unwrap();
    store.ping().await.unwrap();
}
