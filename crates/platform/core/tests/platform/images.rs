//! Uploaded images of lots. Copies of a sale have the images, and a search finds the lots without an image.

use std::time::Duration;

use contract::ItemStatus;
use image::{DynamicImage, ImageFormat};
use platform_core::PlatformConfig;
use platform_core::config::BulkChangeConfig;
use platform_core::images::{ImageFile, ImageVariant, ItemImage, SameName, UploadOutcome};
use platform_core::port::Page;
use platform_core::sales::auctions::NewAuction;
use platform_core::sales::auctions::copy::{AuctionCopy, CopiedItems};
use platform_core::sales::auctions::shift::Shift;
use platform_core::sales::item_ends::ItemEndWorker;
use platform_core::sales::items::relist::Relist;
use platform_core::sales::new_item::NewItem;
use platform_core::sales::search::{ItemSearch, MissingField};
use platform_rules::AuctionKind;
use uuid::Uuid;

use crate::fixture::TestPlatform;

pub(crate) fn png(width: u32) -> Vec<u8> {
    let mut file = std::io::Cursor::new(Vec::new());
    DynamicImage::new_rgb8(width, 2).write_to(&mut file, ImageFormat::Png).unwrap();
    file.into_inner()
}

impl TestPlatform {
    async fn upload(&self, item: Uuid, name: &str, width: u32) -> (ItemImage, UploadOutcome) {
        let file = ImageFile { name: name.to_owned(), content: png(width).into() };
        self.platform.upload_image(&self.caller, item, file, SameName::Replace).await.unwrap()
    }

    /// The file names of the images of each lot, in running order. Reads the content of each image.
    async fn images_of(&self, auction: Uuid) -> Vec<(String, Vec<String>)> {
        let items = self.platform.items(&self.caller, auction, Page { after: None, limit: 99 }).await.unwrap();
        let mut out = Vec::new();
        for item in items {
            let images = self.platform.images(&self.caller, auction, &[item.uuid]).await.unwrap();
            for image in &images {
                let content = self.platform.image_content(Some(&self.caller), image.uuid, ImageVariant::Small).await;
                assert!(!content.unwrap().1.is_empty());
            }
            out.push((item.lot_number, images.into_iter().map(|image| image.file_name).collect()));
        }
        out
    }
}

fn named(lots: &[(&str, &[&str])]) -> Vec<(String, Vec<String>)> {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    lots.iter().map(|(lot, images)| ((*lot).to_owned(), names(images))).collect()
}

#[tokio::test]
async fn copies_and_rehearsals_of_a_sale_have_its_images() {
    // The commit of the copy contains the first lot; the other lots are staged.
    let bulk_changes = BulkChangeConfig { first_items_max: 1, items_max: 2 };
    let fixture = TestPlatform::with(PlatformConfig { bulk_changes, ..PlatformConfig::default() }).await;
    let (platform, caller) = (&fixture.platform, &fixture.caller);
    let lots = ["1", "2", "3", "4"].map(|lot| NewItem::new(lot, "A lot")).to_vec();
    let timed = fixture.timed(Duration::from_secs(3_600), lots);
    let starts_at = Some(platform.now() + Duration::from_secs(600));
    let webcast = NewAuction { kind: AuctionKind::Webcast, starts_at, ends_at: None, extension_seconds: None, ..timed };
    let webcast = NewAuction { status: contract::AuctionStatus::Draft, ..webcast };
    let created = fixture.create(&webcast).await;
    let auction = created.auction.uuid;
    let items = created.items;
    for (lot, name, width) in [(0, "1-2.png", 2), (0, "1.png", 3), (3, "4.png", 4)] {
        fixture.upload(items[lot].uuid, name, width).await;
    }
    let expected = named(&[("1", &["1.png", "1-2.png"]), ("2", &[]), ("3", &[]), ("4", &["4.png"])]);
    assert_eq!(fixture.images_of(auction).await, expected);

    let copy = AuctionCopy { title: None, shift: Shift::Seconds(0), items: CopiedItems::All };
    let copied = platform.copy_auction(caller, auction, &copy, None).await.unwrap().fresh().unwrap().auction.uuid;
    assert_eq!(fixture.images_of(copied).await, expected);
    let rehearsal = platform.rehearse(caller, auction).await.unwrap().uuid;
    assert_eq!(fixture.images_of(rehearsal).await, expected);

    // An image that is removed from one sale stays in its copies.
    let original = platform.images(caller, auction, &[items[3].uuid]).await.unwrap()[0].clone();
    platform.remove_image(caller, original.uuid).await.unwrap();
    assert_eq!(fixture.images_of(auction).await[3].1, Vec::<String>::new());
    assert_eq!(fixture.images_of(copied).await, expected);
    // The same file can be uploaded again.
    assert_eq!(fixture.upload(items[3].uuid, "4.png", 4).await.1, UploadOutcome::Added);
    assert_eq!(fixture.images_of(auction).await, expected);
}

#[tokio::test]
async fn a_relisted_lot_has_the_images_of_the_unsold_lot() {
    let fixture = TestPlatform::new().await;
    let (platform, caller) = (&fixture.platform, &fixture.caller);
    let lots = vec![NewItem { status: ItemStatus::Live, ..NewItem::new("1", "A lot") }];
    let auction = fixture.create(&fixture.timed(Duration::from_secs(60), lots)).await;
    fixture.upload(auction.items[0].uuid, "1.png", 2).await;
    fixture.clock.advance(Duration::from_secs(120));
    ItemEndWorker::new(platform.clone()).run_once(platform.now()).await.unwrap();
    let other = fixture.create(&fixture.timed(Duration::from_secs(3_600), vec![NewItem::new("7", "Another")])).await;
    let relist = Relist { into: other.auction.uuid, items: None, status: ItemStatus::Draft };
    platform.relist_items(caller, auction.auction.uuid, &relist, None).await.unwrap().fresh().unwrap();
    assert_eq!(fixture.images_of(other.auction.uuid).await, named(&[("7", &[]), ("2", &["1.png"])]));
    assert_eq!(fixture.images_of(auction.auction.uuid).await, named(&[("1", &["1.png"])]));
}

#[tokio::test]
async fn a_search_finds_the_lots_without_an_image() {
    let fixture = TestPlatform::new().await;
    let lots = ["1", "2"].map(|lot| NewItem::new(lot, "A lot")).to_vec();
    let auction = fixture.create(&fixture.timed(Duration::from_secs(3_600), lots)).await;
    fixture.upload(auction.items[0].uuid, "1.png", 2).await;
    for text in ["", "1", "lot"] {
        let wanted = ItemSearch { missing: Some(MissingField::Image), text: text.to_owned(), ..ItemSearch::default() };
        let page = Page { after: None, limit: 9 };
        let found = fixture.platform.search_items(&fixture.caller, auction.auction.uuid, &wanted, page).await.unwrap();
        let found: Vec<_> = found.entries.iter().map(|item| item.lot_number.as_str()).collect();
        assert_eq!(found, if text == "1" { vec![] } else { vec!["2"] }, "{text}");
    }
}
