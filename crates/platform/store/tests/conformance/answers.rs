//! Answers to idempotency keys.

use platform_core::port::{ApiKey, Change, NewAuctioneer, Parked, StartFrom, StoreError};

use super::access_changes::AccessChanges as _;
use super::customers::auctioneer;
use super::given::{
    Shared, answer, at, bid, caller_uuid, commit, consumer, customer, customer_uuid, item, item_uuid, next,
    next_auction, sale, silent, whole,
};

pub(super) async fn a_used_idempotency_key_changes_nothing(store: Shared) {
    sale(&store, 1).await;
    let found = store.item(item_uuid(1)).await.unwrap().unwrap();
    let first = Change { answer: Some(answer("k", "first", at(1))), ..bid(found, 100) };
    commit(&store, first).await.unwrap();
    let found = store.item(item_uuid(1)).await.unwrap().unwrap();
    let repeated = Change { answer: Some(answer("k", "repeated", at(2))), ..bid(found.clone(), 200) };
    assert!(matches!(commit(&store, repeated).await, Err(StoreError::Replayed)));
    assert_eq!(store.item(item_uuid(1)).await.unwrap(), Some(found.clone()));
    assert_eq!(store.bids(item_uuid(1), whole()).await.unwrap().len(), 1);
    assert_eq!(store.idempotent_answer(caller_uuid(1), "k").await.unwrap(), Some(answer("k", "first", at(1))));
    let mut others = answer("k", "another's", at(3));
    others.caller = caller_uuid(2);
    commit(&store, Change { answer: Some(others.clone()), ..bid(found, 200) }).await.unwrap();
    assert_eq!(store.idempotent_answer(caller_uuid(2), "k").await.unwrap(), Some(others));
}

pub(super) async fn an_answer_is_stored_only_with_its_change(store: Shared) {
    sale(&store, 2).await;
    let kept = |key: &'static str| Some(answer(key, "", at(1)));
    // A change of one item with a stale version, and a change of several records with a taken lot number.
    let one = Change { answer: kept("one"), ..silent(item(1)) };
    assert!(matches!(commit(&store, one).await, Err(StoreError::Conflict)));
    let mut third = item(3);
    third.lot_number = item(1).lot_number;
    let auction = store.auction(item(1).auction).await.unwrap().unwrap();
    let many = Change {
        auction: Some(next_auction(auction)),
        items: vec![next(third)],
        answer: kept("many"),
        ..Change::default()
    };
    assert!(matches!(commit(&store, many).await, Err(StoreError::Taken("lotNumber"))));
    for key in ["one", "many"] {
        assert_eq!(store.idempotent_answer(caller_uuid(1), key).await.unwrap(), None, "{key}");
    }
    // The keys of refused changes are unused.
    let found = store.item(item_uuid(1)).await.unwrap().unwrap();
    commit(&store, Change { answer: kept("one"), ..silent(found) }).await.unwrap();
}

pub(super) async fn a_customer_is_stored_with_its_answer_or_not_at_all(store: Shared) {
    store.create_customer(customer(1), Some(answer("k1", "1", at(1)))).await.unwrap();
    assert_eq!(store.idempotent_answer(caller_uuid(1), "k1").await.unwrap(), Some(answer("k1", "1", at(1))));
    let replayed = store.create_customer(customer(2), Some(answer("k1", "2", at(1)))).await;
    assert!(matches!(replayed, Err(StoreError::Replayed)));
    assert_eq!(store.customer(customer_uuid(2)).await.unwrap(), None);
    let mut namesake = customer(2);
    namesake.name = customer(1).name;
    let taken = store.create_customer(namesake, Some(answer("k2", "2", at(1)))).await;
    assert!(matches!(taken, Err(StoreError::Taken("name"))));
    assert_eq!(store.idempotent_answer(caller_uuid(1), "k2").await.unwrap(), None);
}

pub(super) async fn an_auctioneer_is_stored_with_its_answer_or_not_at_all(store: Shared) {
    let drawn = store.next_auctioneer_id().await.unwrap();
    let with = |number, id, key| NewAuctioneer { id, answer: Some(answer(key, "", at(1))), ..auctioneer(number, 1) };
    let first = store.create_auctioneer(with(1, Some(drawn), "k1")).await.unwrap();
    assert_eq!(first.id, drawn);
    assert_eq!(store.idempotent_answer(caller_uuid(1), "k1").await.unwrap(), Some(answer("k1", "", at(1))));
    // A given id and a generated id never collide.
    let second = store.create_auctioneer(auctioneer(2, 1)).await.unwrap();
    let third = store.next_auctioneer_id().await.unwrap();
    assert!(second.id > first.id && third > second.id, "{} {} {third}", first.id, second.id);
    assert!(matches!(store.create_auctioneer(with(3, Some(third), "k1")).await, Err(StoreError::Replayed)));
    assert_eq!(store.auctioneer(auctioneer(3, 1).uuid).await.unwrap(), None);
    let namesake = NewAuctioneer { name: first.name.clone(), ..with(3, Some(third), "k2") };
    assert!(matches!(store.create_auctioneer(namesake).await, Err(StoreError::Taken("name"))));
    assert_eq!(store.idempotent_answer(caller_uuid(1), "k2").await.unwrap(), None);
}

pub(super) async fn a_queue_is_resumed_with_its_answer_or_not_at_all(store: Shared) {
    let parked = Some(Parked { reason: "401 Unauthorized".into(), at: at(9) });
    store.put_consumer(consumer(1), StartFrom::Now).await.unwrap();
    let is_parked = async || store.consumer(customer_uuid(1)).await.unwrap().unwrap().parked.is_some();
    store.park_queue(customer_uuid(1), parked.clone()).await.unwrap();
    store.resume_queue(customer_uuid(1), at(2), Some(answer("k", "first", at(1)))).await.unwrap();
    assert!(!is_parked().await);
    assert_eq!(
        store.consumer(customer_uuid(1)).await.unwrap().unwrap().updated_at,
        at(2),
        "the change of the connection has no new time, so other nodes miss it"
    );
    store.park_queue(customer_uuid(1), parked).await.unwrap();
    let repeated = store.resume_queue(customer_uuid(1), at(3), Some(answer("k", "second", at(2)))).await;
    assert!(matches!(repeated, Err(StoreError::Replayed)) && is_parked().await);
    assert_eq!(store.idempotent_answer(caller_uuid(1), "k").await.unwrap().unwrap().body, "first");
    store.resume_queue(customer_uuid(1), at(4), None).await.unwrap();
    assert!(!is_parked().await);
}

pub(super) async fn an_api_key_is_stored_with_its_answer_or_not_at_all(store: Shared) {
    let key = |number: u8| ApiKey {
        uuid: caller_uuid(usize::from(number)),
        hash: [number; 32],
        customer: None,
        name: "staff".into(),
        scopes: vec!["keys:read".into()],
        created_at: at(1),
        expires_at: None,
        last_used_at: None,
        revoked_at: None,
    };
    store.create_api_key(key(1), Some(answer("k1", "sealed", at(1)))).await.unwrap();
    assert_eq!(store.idempotent_answer(caller_uuid(1), "k1").await.unwrap().unwrap().body, "sealed");
    let replayed = store.create_api_key(key(2), Some(answer("k1", "2", at(1)))).await;
    assert!(matches!(replayed, Err(StoreError::Replayed)));
    assert_eq!(store.api_key(caller_uuid(2)).await.unwrap(), None);
    let taken = store.create_api_key(ApiKey { hash: [1; 32], ..key(2) }, Some(answer("k2", "2", at(1)))).await;
    assert!(matches!(taken, Err(StoreError::Taken("key"))));
    assert_eq!(store.idempotent_answer(caller_uuid(1), "k2").await.unwrap(), None);
}

pub(super) async fn the_first_answer_to_a_key_stays(store: Shared) {
    store.keep_answer(answer("k", "first", at(1))).await.unwrap();
    store.keep_answer(answer("k", "second", at(2))).await.unwrap();
    assert_eq!(store.idempotent_answer(caller_uuid(1), "k").await.unwrap().unwrap().body, "first");
    assert_eq!(store.idempotent_answer(caller_uuid(1), "K").await.unwrap(), None);
}

pub(super) async fn expired_answers_are_deleted_in_batches(store: Shared) {
    for number in 0..5 {
        store.keep_answer(answer(&format!("k{number}"), "", at(number))).await.unwrap();
    }
    assert_eq!(store.delete_expired_answers(at(4), 3).await.unwrap(), 3);
    assert_eq!(store.delete_expired_answers(at(4), 3).await.unwrap(), 1);
    assert_eq!(store.delete_expired_answers(at(4), 3).await.unwrap(), 0);
    assert_eq!(store.idempotent_answer(caller_uuid(1), "k3").await.unwrap(), None);
    assert!(store.idempotent_answer(caller_uuid(1), "k4").await.unwrap().is_some());
}
