//! The content of a store on disk after it is reopened.

use contract::ItemStatus;
use platform_core::port::{Change, PublishResult, StoreError};

use super::given::{
    Shared, announced, answer, at, bid, caller_uuid, claims, commit, commit_to, connected_sale, consumer,
    customer_uuid, ends, item_uuid, node, outcome, whole,
};

#[tokio::test]
async fn a_reopened_sqlite_file_holds_everything() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("platform.db");
    let store: Shared = platform_store::sqlite::open(&path).await.unwrap();
    connected_sale(&store, 4).await;
    let found = store.item(item_uuid(4)).await.unwrap().unwrap();
    commit(&store, Change { answer: Some(answer("k", "bid", at(1))), ..bid(found, 100) }).await.unwrap();
    let found = store.item(item_uuid(1)).await.unwrap().unwrap();
    let handed = commit_to(&store, announced(found, ItemStatus::Sold, at(1)), Some(node(1))).await.unwrap().cursors[0];
    let waiting = ends(&store, 2, ItemStatus::Sold).await;
    let later = outcome(waiting, PublishResult::Retry { at: at(5_000), error: "503".into() });
    store.record_outbox_outcomes(vec![later], at(3)).await.unwrap();
    drop(store);

    let store: Shared = platform_store::sqlite::open(&path).await.unwrap();
    assert_eq!(store.consumer(customer_uuid(1)).await.unwrap(), Some(consumer(1)));
    assert_eq!(store.item(item_uuid(4)).await.unwrap().unwrap().price(), Some(100));
    assert_eq!(store.bids(item_uuid(4), whole()).await.unwrap().len(), 1);
    assert_eq!(store.idempotent_answer(caller_uuid(1), "k").await.unwrap(), Some(answer("k", "bid", at(1))));
    assert_eq!(store.next_end().await.unwrap(), Some(at(3_000)));
    assert_eq!(store.events_after(customer_uuid(1), whole()).await.unwrap().len(), 2);
    assert_eq!(claims(&store, 2, at(4_000)).await, [0; 0]);
    assert_eq!(store.next_outbox_attempt(customer_uuid(1)).await.unwrap(), Some(at(5_000)));
    // Only one server uses a file, so a new server takes over all rows at once.
    store.heartbeat(node(2), at(4_000), at(4_000)).await.unwrap();
    assert_eq!(claims(&store, 2, at(4_000)).await, [handed]);
    assert!(ends(&store, 3, ItemStatus::Unsold).await > waiting);
}

#[tokio::test]
async fn two_processes_on_one_sqlite_file_see_each_other() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("platform.db");
    let server: Shared = platform_store::sqlite::open(&path).await.unwrap();
    connected_sale(&server, 1).await;
    let command: Shared = platform_store::sqlite::open(&path).await.unwrap();
    let changed = server.remote_changes();
    let found = server.item(item_uuid(1)).await.unwrap().unwrap();
    commit(&command, bid(found.clone(), 100)).await.unwrap();
    assert!(matches!(commit(&server, bid(found, 200)).await, Err(StoreError::Conflict)));
    let cursor = ends(&command, 1, ItemStatus::Sold).await;
    assert_eq!(claims(&server, 1, at(9)).await, [cursor]);
    tokio::time::timeout(std::time::Duration::from_secs(20), changed.wait())
        .await
        .expect("the server was not notified");
}

#[tokio::test]
async fn uploads_survive_a_restart_in_private_files_and_lost_files_are_deleted() {
    use std::os::unix::fs::PermissionsExt as _;

    use platform_core::port::{CatalogueUpload, UploadQuota};
    use uuid::Uuid;

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("platform.db");
    let store: Shared = platform_store::sqlite::open(&path).await.unwrap();
    let upload = CatalogueUpload {
        uuid: Uuid::from_u128(1),
        user: caller_uuid(1),
        customer: customer_uuid(1),
        auction: item_uuid(1),
        file_name: "lots.csv".into(),
        sheet: None,
        bytes: 0,
        is_complete: false,
        expires_at: at(1_000),
    };
    let quota = UploadQuota { user_bytes_max: 9, customer_bytes_max: 9, all_bytes_max: 9 };
    assert!(store.begin_upload(upload.clone(), 9).await.unwrap());
    store.add_upload_part(upload.uuid, b"lot".to_vec(), quota, at(1_000)).await.unwrap();
    assert!(store.complete_upload(upload.uuid, at(2_000)).await.unwrap());
    drop(store);

    let folder = directory.path().join("uploads");
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let file = folder.join(upload.uuid.simple().to_string());
    assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600));
    // A crash during a removal leaves this state.
    let lost = folder.join(Uuid::from_u128(2).simple().to_string());
    std::fs::write(&lost, "lost").unwrap();
    let store: Shared = platform_store::sqlite::open(&path).await.unwrap();
    assert!(!lost.exists() && file.exists());
    assert_eq!(store.upload_part(upload.uuid, 0).await.unwrap(), Some(b"lot".to_vec()));
}
