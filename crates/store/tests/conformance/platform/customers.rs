//! Customers, auctioneers, keys and users.

use platform::port::{ApiKey, Auctioneer, AuctioneerProfile, NewAuctioneer, StoreError, User};

use super::given::{Shared, at, auctioneer_uuid, caller_uuid, customer, customer_uuid, page, whole};

pub(super) fn auctioneer(number: usize, of: usize) -> NewAuctioneer {
    NewAuctioneer {
        uuid: auctioneer_uuid(number),
        customer: customer_uuid(of),
        name: format!("Saal {number}"),
        profile: AuctioneerProfile::default(),
        address: None,
        created_at: at(number as i64),
    }
}

pub(super) async fn a_customer_is_found_and_its_name_is_its_own(store: Shared) {
    store.create_customer(customer(1), None).await.unwrap();
    let mut namesake = customer(2);
    namesake.name = customer(1).name;
    assert!(matches!(store.create_customer(namesake, None).await, Err(StoreError::Taken("name"))));
    assert_eq!(store.customer(customer_uuid(1)).await.unwrap(), Some(customer(1)));
    assert_eq!(store.customer(customer_uuid(2)).await.unwrap(), None);
}

pub(super) async fn customers_and_auctioneers_are_listed_in_slices(store: Shared) {
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

pub(super) async fn a_key_is_found_by_its_hash_and_remembers_its_use(store: Shared) {
    let mut key = ApiKey {
        uuid: caller_uuid(1),
        hash: [1; 32],
        customer: Some(customer_uuid(1)),
        name: "import".into(),
        scopes: vec!["auctions:read".into(), "auctions:write".into()],
        created_at: at(1),
        expires_at: Some(at(9_000)),
        last_used_at: None,
    };
    let staff = ApiKey { uuid: caller_uuid(2), hash: [2; 32], customer: None, expires_at: None, ..key.clone() };
    store.create_api_key(key.clone()).await.unwrap();
    store.create_api_key(staff.clone()).await.unwrap();
    assert_eq!(store.api_key_by_hash([1; 32]).await.unwrap(), Some(key.clone()));
    store.touch_api_key(key.uuid, at(500)).await.unwrap();
    store.touch_api_key(caller_uuid(3), at(500)).await.unwrap();
    key.last_used_at = Some(at(500));
    assert_eq!(store.api_key_by_hash([1; 32]).await.unwrap(), Some(key));
    assert_eq!(store.api_key_by_hash([2; 32]).await.unwrap(), Some(staff));
    assert_eq!(store.api_key_by_hash([3; 32]).await.unwrap(), None);
}

pub(super) async fn keys_are_listed_and_end_once(store: Shared) {
    let key = |number: usize, customer: Option<usize>, expires_at| ApiKey {
        uuid: caller_uuid(number),
        hash: [number as u8; 32],
        customer: customer.map(customer_uuid),
        name: format!("key {number}"),
        scopes: vec!["events:read".into()],
        created_at: at(1),
        expires_at,
        last_used_at: None,
    };
    let (staffs, first, second) = (key(1, None, None), key(2, Some(1), Some(at(9_000))), key(3, Some(1), None));
    for key in [&second, &staffs, &first] {
        store.create_api_key(key.clone()).await.unwrap();
    }
    assert_eq!(store.api_keys(None, whole()).await.unwrap(), [staffs.clone(), first.clone(), second.clone()]);
    assert_eq!(store.api_keys(Some(customer_uuid(1)), page(None, 1)).await.unwrap(), std::slice::from_ref(&first));
    let rest = store.api_keys(Some(customer_uuid(1)), page(Some(first.uuid), 5)).await.unwrap();
    assert_eq!(rest, std::slice::from_ref(&second));
    assert_eq!(store.api_keys(Some(customer_uuid(2)), whole()).await.unwrap(), []);

    for (key, end) in [(&staffs, 500), (&first, 500), (&second, 500), (&second, 600)] {
        store.end_api_key(key.uuid, at(end)).await.unwrap();
        let ended = ApiKey { expires_at: Some(at(500)), ..key.clone() };
        assert_eq!(store.api_key(key.uuid).await.unwrap(), Some(ended.clone()));
        assert_eq!(store.api_key_by_hash(key.hash).await.unwrap(), Some(ended));
    }
    store.end_api_key(caller_uuid(4), at(500)).await.unwrap();
    assert_eq!(store.api_key(caller_uuid(4)).await.unwrap(), None);
}

pub(super) async fn an_email_address_is_one_users(store: Shared) {
    let user = |number: usize, email: &str| User {
        uuid: caller_uuid(number),
        email: email.into(),
        role: "administrator".into(),
        password_hash: "$argon2id$…".into(),
        created_at: at(1),
    };
    store.create_user(user(1, "a@example.com")).await.unwrap();
    store.create_user(user(2, "b@example.com")).await.unwrap();
    assert!(matches!(store.create_user(user(3, "a@example.com")).await, Err(StoreError::Taken("email"))));
}

pub(super) async fn a_ping_reads_and_writes(store: Shared) {
    store.ping().await.unwrap();
    store.ping().await.unwrap();
}
