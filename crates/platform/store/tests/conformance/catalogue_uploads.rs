//! CatalogueUploadStore: files in parts, quotas and expiry.

use platform_core::catalogue::workbook::PART_BYTES;
use platform_core::port::{CatalogueUpload, UploadPartResult, UploadQuota, UploadedSheet};
use uuid::Uuid;

use super::given::{Shared, at, auction_uuid, caller_uuid, customer_uuid};

const ROOMY: UploadQuota = UploadQuota { user_bytes_max: 1 << 30, customer_bytes_max: 1 << 30, all_bytes_max: 1 << 30 };

fn upload(number: u128, user: usize) -> CatalogueUpload {
    CatalogueUpload {
        uuid: Uuid::from_u128(number),
        user: caller_uuid(user),
        customer: customer_uuid(1),
        auction: auction_uuid(1),
        file_name: "lots\0.csv".into(),
        sheet: None,
        bytes: 0,
        is_complete: false,
        expires_at: at(1_000),
    }
}

async fn begun(store: &Shared, number: u128, user: usize) -> Uuid {
    assert!(store.begin_upload(upload(number, user), 9).await.unwrap());
    Uuid::from_u128(number)
}

pub(super) async fn an_upload_is_stored_in_parts_until_it_expires(store: Shared) {
    let sheet = UploadedSheet {
        workbook: Uuid::from_u128(7),
        names: vec!["Lots".into(), "\0".into()],
        chosen: 1,
        rows: serde_json::from_str("[[1,2,3]]").unwrap(),
    };
    let given = CatalogueUpload { sheet: Some(sheet), ..upload(1, 1) };
    assert!(store.begin_upload(given.clone(), 9).await.unwrap());
    let parts = [vec![1; PART_BYTES], vec![2; PART_BYTES], vec![3; 5]];
    for part in &parts {
        let added = store.add_upload_part(given.uuid, part.clone(), ROOMY, at(2_000)).await.unwrap();
        assert_eq!(added, UploadPartResult::Added);
    }
    let found = store.upload(given.uuid).await.unwrap().unwrap();
    let bytes = parts.concat().len() as u64;
    assert!(found.file_name.starts_with("lots"));
    let expected = CatalogueUpload { bytes, expires_at: at(2_000), file_name: found.file_name.clone(), ..given };
    assert_eq!(found, expected);
    assert!(store.complete_upload(found.uuid, at(3_000)).await.unwrap());
    let found = store.upload(found.uuid).await.unwrap().unwrap();
    assert_eq!((found.is_complete, found.expires_at), (true, at(3_000)));
    for (number, part) in (0..).zip(&parts) {
        assert_eq!(store.upload_part(found.uuid, number).await.unwrap().as_ref(), Some(part));
    }
    assert_eq!(store.upload_part(found.uuid, 3).await.unwrap(), None);
    // A complete upload accepts no further part.
    let refused = store.add_upload_part(found.uuid, vec![4], ROOMY, at(9_000)).await.unwrap();
    assert_eq!(refused, UploadPartResult::Gone);

    assert_eq!(store.remove_expired_uploads(at(2_999), 9).await.unwrap(), 0);
    assert_eq!(store.remove_expired_uploads(at(3_000), 9).await.unwrap(), 1);
    assert_eq!(store.upload(found.uuid).await.unwrap(), None);
    assert_eq!(store.upload_part(found.uuid, 0).await.unwrap(), None);
    assert!(!store.complete_upload(found.uuid, at(9_000)).await.unwrap());
    store.remove_upload(found.uuid).await.unwrap();
}

pub(super) async fn uploads_have_quotas_and_the_first_of_a_user_can_be_removed(store: Shared) {
    let quota = UploadQuota { user_bytes_max: 100, customer_bytes_max: 150, all_bytes_max: 180 };
    let add = async |uuid, bytes| store.add_upload_part(uuid, vec![0; bytes], quota, at(2_000)).await.unwrap();
    let one = begun(&store, 1, 1).await;
    let two = begun(&store, 2, 1).await;
    let three = begun(&store, 3, 2).await;
    assert_eq!((add(one, 60).await, add(two, 40).await), (UploadPartResult::Added, UploadPartResult::Added));
    assert_eq!(add(two, 1).await, UploadPartResult::UserFull);
    assert_eq!(add(three, 51).await, UploadPartResult::CustomerFull);
    let other = CatalogueUpload { customer: customer_uuid(2), ..upload(4, 3) };
    assert!(store.begin_upload(other.clone(), 9).await.unwrap());
    assert_eq!(add(other.uuid, 81).await, UploadPartResult::AllFull);
    assert_eq!(add(other.uuid, 80).await, UploadPartResult::Added);
    assert_eq!(store.upload(two).await.unwrap().unwrap().bytes, 40, "a refused part counts towards the quota");

    // Only complete uploads can be removed for a new one, the first to expire first.
    assert!(!store.remove_first_upload(caller_uuid(1)).await.unwrap());
    for (upload, expires) in [(one, 9_000), (two, 8_000)] {
        assert!(store.complete_upload(upload, at(expires)).await.unwrap());
    }
    assert!(store.remove_first_upload(caller_uuid(1)).await.unwrap());
    assert!(store.upload(one).await.unwrap().is_some() && store.upload(two).await.unwrap().is_none());
    assert!(!store.begin_upload(upload(5, 1), 1).await.unwrap(), "the limit of one upload for each user was exceeded");
    assert!(store.begin_upload(upload(5, 1), 2).await.unwrap());
}
