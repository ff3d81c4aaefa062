//! An exported catalogue that is imported into another auction is the same, in currencies with no, two and three decimals.

use std::io::Cursor;
use std::sync::Arc;
use std::time::Duration;

use contract::models::UrlAttachmentApiModel;
use contract::{AuctionStatus, ItemStatus};
use kit_runtime::clock::{Clock as _, TestClock};
use kit_runtime::random::SeededRandom;
use kit_runtime::vault::{Key, KeyId, Vault};
use platform_core::catalogue::write::{Export, ExportReaders};
use platform_core::catalogue::{CatalogueImport, CatalogueMerge, ImportMode, MendedCells, NewConsignors};
use platform_core::port::{Page, Store};
use platform_core::provider_access::ProviderAccess;
use platform_core::sales::auctions::NewAuction;
use platform_core::sales::new_item::NewItem;
use platform_core::{Caller, Platform, PlatformConfig, PlatformParts};
use platform_rules::{Auction, AuctionKind, Item};
use uuid::Uuid;

struct House {
    platform: Platform,
    clock: TestClock,
    caller: Caller,
    auctioneer: Uuid,
}

impl House {
    async fn open(store: Arc<dyn Store>) -> Self {
        let clock = TestClock::default();
        let caller = Caller::command_line();
        let vault = Vault::new(vec![(KeyId::new("k1").unwrap(), Key::generate(&SeededRandom::new(9)))]).unwrap();
        let platform = Platform::new(PlatformParts {
            store,
            clock: Arc::new(clock.clone()),
            random: Arc::new(SeededRandom::new(7)),
            vault: Arc::new(vault),
            providers: ProviderAccess::unfiltered(),
            config: PlatformConfig::default(),
        });
        let customer = platform.create_customer(&caller, "Smith & Sons", None).await.unwrap().fresh().unwrap();
        let auctioneer = platform.create_auctioneer(&caller, customer.uuid, "Smith", None).await.unwrap();
        let auctioneer = auctioneer.fresh().unwrap().uuid;
        Self { platform, clock, caller, auctioneer }
    }

    async fn auction(&self, currency: &str, items: Vec<NewItem>) -> Auction {
        let new = NewAuction {
            ends_at: Some(self.clock.now() + Duration::from_secs(3_600)),
            status: AuctionStatus::Draft,
            items,
            ..NewAuction::new(self.auctioneer, AuctionKind::Timed, "Prints", currency, "Europe/London")
        };
        self.platform.create_auction(&self.caller, &new, None).await.unwrap().fresh().unwrap().auction
    }

    async fn items(&self, auction: Uuid) -> Vec<Item> {
        self.platform.items(&self.caller, auction, Page { after: None, limit: 100 }).await.unwrap()
    }

    async fn export(&self, auction: &Auction) -> String {
        let rows = self.items(auction.uuid).await;
        let rows = rows.iter().map(|item| Export::Catalogue.row(ExportReaders::All, auction, item));
        std::iter::once(Export::Catalogue.header(ExportReaders::All)).chain(rows).collect()
    }

    async fn merge(&self, auction: Uuid, file: &str) -> Result<(u64, u64, u64), String> {
        let merge = CatalogueMerge {
            auction,
            mode: ImportMode::Import,
            mapping: None,
            decimal_mark: None,
            mended: MendedCells::default(),
            is_sheet: false,
            new_consignors: NewConsignors::Refused,
        };
        let source = Cursor::new(file.to_owned().into_bytes());
        let report = self.platform.merge_catalogue(&self.caller, &merge, source).await;
        let report = report.map_err(|error| error.code().to_owned())?;
        assert_eq!(report.errors, []);
        Ok((report.new, report.changed, report.same))
    }

    async fn import(&self, auction: Uuid, file: &str) -> Result<u64, String> {
        let import =
            CatalogueImport { auction, mode: ImportMode::Import, status: ItemStatus::Draft, expected_version: None };
        let source = Cursor::new(file.to_owned().into_bytes());
        let report = self.platform.import_catalogue(&self.caller, import, source, None).await;
        let report = report.map_err(|error| error.code().to_owned())?.fresh().unwrap();
        assert_eq!(report.errors, []);
        Ok(report.items)
    }
}

/// Every field of a catalogue.
fn entered(items: Vec<Item>) -> Vec<NewItem> {
    let entered = |item: Item| NewItem {
        description: item.description,
        category: item.category,
        image_url: item.image_url,
        attachments: item.attachments,
        low_estimate: item.low_estimate,
        high_estimate: item.high_estimate,
        opening_bid: item.opening_bid,
        reserve: item.reserve.map(|reserve| reserve.reveal()),
        buy_now: item.buy_now,
        vendor: item.vendor,
        fixed_increment: item.fixed_increment,
        end_time: item.end_time,
        status: item.status,
        ..NewItem::new(item.lot_number, item.title)
    };
    items.into_iter().map(entered).collect()
}

pub(crate) async fn an_exported_catalogue_is_the_same_in_another_auction(store: Arc<dyn Store>) {
    let house = House::open(store).await;
    let attachment = |json: &str| UrlAttachmentApiModel::from_json(json).unwrap();
    let items = vec![
        NewItem {
            description: "Oak, \"carved\";\n1,5 m".to_owned(),
            category: Some("Möbel, \"Eiche\"".to_owned()),
            image_url: Some("https://images.example/1.jpg".to_owned()),
            attachments: vec![attachment(r#"{"url":"https://images.example/a,b.jpg","label":"Back"}"#)],
            low_estimate: Some(10_000),
            high_estimate: Some(1_234_567),
            opening_bid: 1_500,
            buy_now: Some(9_999_999),
            fixed_increment: Some(5),
            end_time: Some(house.clock.now() + Duration::from_secs(9_000)),
            ..NewItem::new("1A", "=1+1")
        },
        NewItem { low_estimate: Some(1), high_estimate: Some(1_000_000_000_000_000), ..NewItem::new("-2", "1.500") },
    ];
    for (currency, written) in [
        ("GBP", ",GBP,100.00,12345.67,15.00,"),
        ("CHF", ",CHF,100.00,"),
        ("JPY", ",JPY,10000,1234567,1500,"),
        ("KWD", ",KWD,10.000,1234.567,1.500,"),
    ] {
        let original = house.auction(currency, items.clone()).await;
        let file = house.export(&original).await;
        assert!(file.contains(written), "{file}");
        let wanted = entered(house.items(original.uuid).await);
        let imported = house.auction(currency, Vec::new()).await;
        assert_eq!(house.import(imported.uuid, &file).await, Ok(2));
        let merged = house.auction(currency, Vec::new()).await;
        assert_eq!(house.merge(merged.uuid, &file).await, Ok((2, 0, 0)));
        for copy in [&imported, &merged] {
            assert_eq!(entered(house.items(copy.uuid).await), wanted, "{currency}");
            assert_eq!(house.export(copy).await, file);
            assert_eq!(house.merge(copy.uuid, &file).await, Ok((0, 0, 2)), "merging the same file changed an item");
        }
        let other = house.auction(if currency == "GBP" { "EUR" } else { "GBP" }, Vec::new()).await;
        assert_eq!(house.import(other.uuid, &file).await, Err("other_currency".to_owned()));
        assert_eq!(house.merge(other.uuid, &file).await, Err("other_currency".to_owned()));
        assert_eq!(house.items(other.uuid).await.len(), 0);
    }
}
