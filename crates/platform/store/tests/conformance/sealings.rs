//! Sealed values: the sentinels of the keys, and resealing.

use kit_runtime::vault::Sealed;
use platform_core::port::{Consumer, Page, SealedLocation, SealedReplacement, StartFrom, StoreError};

use super::access_changes::AccessChanges as _;
use super::given::{Shared, answer, at, caller_uuid, consumer, customer_uuid, page, whole};

fn sealed(text: &str) -> Sealed {
    Sealed::from_text(text)
}

pub(super) async fn sentinels_are_replaced_only_if_unchanged(store: Shared) {
    assert_eq!(store.sentinels().await.unwrap(), []);
    let one = sealed("v1.a.AAAA");
    let two = sealed("v1.b.AAAA");
    store.replace_sentinels(vec![], vec![one.clone()]).await.unwrap();
    // Another node starts at the same time, and has read no sentinel.
    let refused = store.replace_sentinels(vec![], vec![two.clone()]).await;
    assert!(matches!(refused, Err(StoreError::Conflict)), "{refused:?}");
    assert_eq!(store.sentinels().await.unwrap(), std::slice::from_ref(&one));
    store.replace_sentinels(vec![one.clone()], vec![one.clone(), two.clone()]).await.unwrap();
    store.replace_sentinels(vec![two.clone(), one], vec![two.clone()]).await.unwrap();
    assert_eq!(store.sentinels().await.unwrap(), [two]);
}

pub(super) async fn of_concurrent_first_sentinels_one_is_stored(store: Shared) {
    let texts = (0..8).map(|number| sealed(&format!("v1.{number}.AAAA")));
    let starts = texts.map(|text| {
        let store = store.clone();
        tokio::spawn(async move { store.replace_sentinels(vec![], vec![text]).await })
    });
    let mut taken = 0;
    for start in starts.collect::<Vec<_>>() {
        match start.await.unwrap() {
            Ok(()) => taken += 1,
            Err(error) => assert!(matches!(error, StoreError::Conflict), "{error}"),
        }
    }
    assert_eq!((taken, store.sentinels().await.unwrap().len()), (1, 1));
}

pub(super) async fn a_sealed_text_is_replaced_only_if_unchanged(store: Shared) {
    let old = sealed("v1.a.AAAA");
    let new = sealed("v1.b.AAAA");
    let other = sealed("v1.a.BBBB");
    for (number, key) in [(1, Some(&old)), (2, Some(&other)), (3, None)] {
        let entered = Consumer { api_key: key.cloned(), ..consumer(number) };
        store.put_consumer(entered, StartFrom::Now).await.unwrap();
    }
    store.keep_answer(answer("plain", r#"{"v1.":1}"#, at(1))).await.unwrap();
    store.keep_answer(answer("sealed", old.as_str(), at(1))).await.unwrap();
    store.keep_answer(answer("sealed too", other.as_str(), at(1))).await.unwrap();

    let first = store.consumers(page(None, 2)).await.unwrap();
    assert_eq!(first.iter().map(|one| one.customer).collect::<Vec<_>>(), [customer_uuid(1), customer_uuid(2)]);
    let rest = store.consumers(page(Some(customer_uuid(2)), 2)).await.unwrap();
    assert_eq!(rest, [Consumer { api_key: None, ..consumer(3) }]);
    let answers = store.sealed_answers(whole()).await.unwrap();
    let found: Vec<_> = answers.iter().map(|one| (one.caller, one.key.as_str(), &one.body)).collect();
    assert_eq!(found, [(caller_uuid(1), "sealed", &old), (caller_uuid(1), "sealed too", &other)]);
    let after = Some((answers[0].caller, answers[0].key.clone()));
    assert_eq!(store.sealed_answers(Page { after, limit: 9 }).await.unwrap(), answers[1..]);

    let text = |location| SealedReplacement { location, old: old.clone(), new: new.clone() };
    let kept = |key: &str| SealedLocation::Answer { caller: caller_uuid(1), key: key.to_owned() };
    let texts = vec![
        text(SealedLocation::Connection(customer_uuid(1))),
        // The text has changed since it was read, or was deleted.
        text(SealedLocation::Connection(customer_uuid(2))),
        text(SealedLocation::Connection(customer_uuid(3))),
        text(SealedLocation::Connection(customer_uuid(4))),
        text(kept("sealed")),
        text(kept("sealed too")),
        text(kept("never")),
    ];
    assert_eq!(store.reseal(texts.clone()).await.unwrap(), 2);
    assert_eq!(store.reseal(texts).await.unwrap(), 0);
    let resealed = Consumer { api_key: Some(new.clone()), ..consumer(1) };
    assert_eq!(store.consumer(customer_uuid(1)).await.unwrap(), Some(resealed), "resealing changed another field");
    assert_eq!(store.consumer(customer_uuid(2)).await.unwrap().unwrap().api_key, Some(other));
    let body = store.idempotent_answer(caller_uuid(1), "sealed").await.unwrap().unwrap().body;
    assert_eq!(body, new.as_str());
}
