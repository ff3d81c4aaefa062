//! ImageStore: images in order with their content, which the images of copied lots share.

use platform_core::port::{Change, ImageContent, ImageVariant, ItemImage};
use uuid::Uuid;

use super::given::{Shared, at, auction_uuid, commit, customer_uuid, item_uuid, sale};

fn content_uuid(number: u128) -> Uuid {
    Uuid::from_u128(number << 64)
}

fn image(number: u128, of: usize) -> ItemImage {
    ItemImage {
        uuid: Uuid::from_u128(number),
        content: content_uuid(number),
        item: item_uuid(of),
        auction: auction_uuid(1),
        customer: customer_uuid(1),
        position: 0,
        file_name: format!("{number}.jpg"),
        media_type: "image/jpeg".into(),
        width: 1_600,
        height: 800,
        bytes: 3,
        created_at: at(1),
    }
}

fn contents(number: u8) -> Vec<ImageContent> {
    let content = |variant| ImageContent { variant, bytes: vec![number, variant as u8, 0] };
    ImageVariant::ALL.into_iter().map(content).collect()
}

pub(super) async fn images_are_stored_in_order_with_their_content(store: Shared) {
    sale(&store, 2).await;
    for (number, of) in [(1, 1), (2, 1), (3, 2)] {
        let added = store.add_image(image(number, of), contents(number as u8), 2).await.unwrap();
        assert!(added.is_some());
    }
    assert_eq!(
        store.add_image(image(4, 1), contents(4), 2).await.unwrap(),
        None,
        "the image limit of the item was exceeded"
    );
    assert_eq!(store.image_content(content_uuid(4), ImageVariant::Full).await.unwrap(), None);
    let names = async |items: &[Uuid]| -> Vec<(u128, i64)> {
        let images = store.images(items).await.unwrap();
        images.iter().map(|image| (image.uuid.as_u128(), image.position)).collect()
    };
    assert_eq!(names(&[item_uuid(1), item_uuid(2)]).await, [(1, 0), (2, 1), (3, 0)]);
    let order = vec![Uuid::from_u128(2), Uuid::from_u128(1)];
    assert!(store.order_images(item_uuid(1), order.clone()).await.unwrap());
    assert!(!store.order_images(item_uuid(1), order[..1].to_vec()).await.unwrap());
    assert_eq!(names(&[item_uuid(1)]).await, [(2, 0), (1, 1)]);
    assert_eq!(store.image(order[1]).await.unwrap(), Some(ItemImage { position: 1, ..image(1, 1) }));
    for variant in ImageVariant::ALL {
        let content = store.image_content(content_uuid(1), variant).await.unwrap();
        assert_eq!(content, Some(vec![1, variant as u8, 0]));
    }
    assert!(store.remove_image(order[0]).await.unwrap());
    assert!(!store.remove_image(order[0]).await.unwrap());
    assert_eq!(store.image_content(content_uuid(2), ImageVariant::Small).await.unwrap(), None);
    assert_eq!(names(&[item_uuid(1)]).await, [(1, 1)]);
}

pub(super) async fn images_of_copied_lots_share_content_until_the_last_is_removed(store: Shared) {
    sale(&store, 2).await;
    store.add_image(image(1, 1), contents(1), 9).await.unwrap();
    let copies = [(11, 1), (12, 1), (13, 7)].map(|(number, content)| ItemImage {
        content: content_uuid(content),
        position: 4,
        ..image(number, 2)
    });
    commit(&store, Change { images: copies.to_vec(), ..Change::default() }).await.unwrap();
    let copied = store.images(&[item_uuid(2)]).await.unwrap();
    let uuids: Vec<Uuid> = copied.iter().map(|image| image.uuid).collect();
    assert!(
        uuids.len() == 2 && uuids.contains(&copies[0].uuid),
        "without an image whose content does not exist: {uuids:?}"
    );
    assert_eq!(copied[0].content, content_uuid(1));
    let content = async || store.image_content(content_uuid(1), ImageVariant::Small).await.unwrap();
    for uuid in [Uuid::from_u128(1), copies[0].uuid] {
        assert!(store.remove_image(uuid).await.unwrap());
        assert!(content().await.is_some(), "the content was deleted although an image uses it");
    }
    assert!(store.remove_image(copies[1].uuid).await.unwrap());
    assert_eq!(content().await, None);
}

pub(super) async fn a_concurrent_removal_and_copy_leave_no_image_without_content(store: Shared) {
    sale(&store, 2).await;
    for round in 0..8_u128 {
        store.add_image(image(round * 10 + 1, 1), contents(1), 9).await.unwrap();
        let copy = ItemImage { content: content_uuid(round * 10 + 1), ..image(round * 10 + 2, 2) };
        let copy = Change { images: vec![copy.clone()], ..Change::default() };
        let (removed, copied) = tokio::join!(store.remove_image(Uuid::from_u128(round * 10 + 1)), commit(&store, copy));
        assert!(removed.unwrap());
        copied.unwrap();
    }
    for image in store.images(&[item_uuid(2)]).await.unwrap() {
        assert!(store.image_content(image.content, ImageVariant::Small).await.unwrap().is_some(), "{image:?}");
    }
}
