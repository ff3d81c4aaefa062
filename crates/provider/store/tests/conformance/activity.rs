//! The activity log.

use provider_core::model::{ActivityEntry, ApiKey};
use provider_core::port::{Order, Scan};

use super::given::*;

fn scan(below: &str, limit: usize, scanned_rows_max: usize) -> Scan {
    Scan {
        above: String::new(),
        below: below.to_owned(),
        direction: Order::Descending,
        limit,
        scanned_rows_max,
        bytes_max: usize::MAX,
    }
}

pub(super) async fn an_entry_is_kept_with_its_change_and_found_by_its_words(store: Shared) {
    store.create_account(account(1)).await.unwrap();
    let key = ApiKey {
        id: id("key", 1),
        account: id("org", 1),
        name: "Key".to_owned(),
        hash: [1; 32],
        created_at: at(0),
        expires_at: None,
        last_used_at: None,
        last_used_from: None,
        scopes: None,
    };
    let (created, refused, expired) =
        (entry(1), entry(2), ActivityEntry { action: "API_KEY.Expired".into(), ..entry(3) });
    store.create_api_key(key.clone(), created.clone()).await.unwrap();
    assert!(store.create_api_key(key.clone(), refused.clone()).await.is_err());
    assert!(!store.expire_api_key(&id("org", 1), &id("key", 9), None, refused).await.unwrap());
    assert!(store.expire_api_key(&id("org", 1), &id("key", 1), Some(at(9)), expired.clone()).await.unwrap());
    let kept = store.api_key(&id("org", 1), &id("key", 1)).await.unwrap();
    assert_eq!(kept, Some(ApiKey { expires_at: Some(at(9)), ..key }));
    assert_eq!(store.api_key(&id("org", 2), &id("key", 1)).await.unwrap(), None, "it is another account's");

    let account = id("org", 1);
    let found = async |text: &str| store.activity(&account, text, &scan("act_~", 9, 9)).await.unwrap().rows;
    assert_eq!(found("").await, [expired.clone(), created.clone()], "a refused change leaves no entry");
    assert_eq!(found("EXPIRED").await, std::slice::from_ref(&expired));
    assert_eq!(found("key_1").await, std::slice::from_ref(&created));
    assert_eq!(found("ann").await.len(), 2);
    assert_eq!(found("%").await, []);
    let after = store.activity(&account, "", &scan(&expired.id, 9, 9)).await.unwrap();
    assert_eq!((after.rows, after.stopped_at), (vec![created.clone()], None));
    let stopped = store.activity(&account, "key_1", &scan("act_~", 9, 1)).await.unwrap();
    assert_eq!((stopped.rows, stopped.stopped_at), (vec![], Some(expired.id)));
}

pub(super) async fn entries_of_one_account_are_nobody_elses_and_old_ones_are_deleted(store: Shared) {
    let entries: Vec<ActivityEntry> = (1..=5).map(entry).collect();
    for entry in &entries {
        store.record_activity(entry.clone()).await.unwrap();
    }
    let other = ActivityEntry { account: id("org", 2), ..entry(3) };
    store.record_activity(other.clone()).await.unwrap();
    let found = store.activity(&id("org", 2), "", &scan("act_~", 9, 9)).await.unwrap();
    assert_eq!(found.rows, [other]);
    // Three of the first account and one of the second.
    for deleted in [3, 1, 0] {
        assert_eq!(store.delete_old_activity(&entries[3].id, 3).await.unwrap(), deleted);
    }
    let left = store.activity(&id("org", 1), "", &scan("act_~", 9, 9)).await.unwrap();
    assert_eq!(left.rows, [entries[4].clone(), entries[3].clone()]);
}
