//! A platform on a store, with a timed auction and a webcast.

use std::sync::Arc;
use std::time::Duration;

use contract::AuctionStatus;
use kit_runtime::clock::{Clock, TestClock};
use kit_runtime::random::SeededRandom;
use kit_runtime::vault::{Key, KeyId, Vault};
use platform_core::port::{Auctioneer, Store};
use platform_core::provider_access::ProviderAccess;
use platform_core::sales::auctions::{CreatedAuction, NewAuction};
use platform_core::sales::new_item::NewItem;
use platform_core::{Caller, Platform, PlatformConfig, PlatformParts};
use platform_rules::{Auction, AuctionKind, Item};
use uuid::Uuid;

pub(crate) const OPENING: i64 = 100;
pub(crate) const INCREMENT: i64 = 10;
/// The time until items of the timed auction end.
pub(crate) const OPEN: Duration = Duration::from_secs(3_600);

pub(crate) struct TestSale {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: TestClock,
    pub(crate) platform: Platform,
    pub(crate) caller: Caller,
    pub(crate) auctioneer: Auctioneer,
}

impl TestSale {
    pub(crate) async fn new(store: Arc<dyn Store>, seed: u64) -> Self {
        let clock = TestClock::default();
        let platform = platform(&store, &clock, seed);
        let caller = Caller::command_line();
        let customer = platform.create_customer(&caller, "Smith & Sons", None).await.unwrap().fresh().unwrap();
        let auctioneer = platform.create_auctioneer(&caller, customer.uuid, "Smith", None).await.unwrap();
        Self { store, clock, platform, caller, auctioneer: auctioneer.fresh().unwrap() }
    }

    /// A LIVE auction with `items` items.
    pub(crate) async fn auction(&self, kind: AuctionKind, items: usize) -> CreatedAuction {
        let item = |number: usize| NewItem {
            opening_bid: OPENING,
            status: contract::ItemStatus::Live,
            fixed_increment: Some(INCREMENT),
            ..NewItem::new(number.to_string(), "A chair")
        };
        let new = NewAuction {
            starts_at: Some(self.clock.now()),
            ends_at: Some(self.clock.now() + OPEN),
            status: AuctionStatus::Live,
            items: (1..=items).map(item).collect(),
            ..NewAuction::new(self.auctioneer.uuid, kind, "Prints", "GBP", "Europe/London")
        };
        self.platform.create_auction(&self.caller, &new, None).await.unwrap().fresh().unwrap()
    }

    pub(crate) async fn item(&self, uuid: Uuid) -> (Item, Auction) {
        self.platform.item(&self.caller, uuid).await.unwrap()
    }

    /// The findings of `verify --all`, one line each.
    pub(crate) async fn broken(&self) -> Vec<String> {
        broken(&self.platform).await
    }
}

pub(crate) fn platform(store: &Arc<dyn Store>, clock: &TestClock, seed: u64) -> Platform {
    platform_with(store, clock, seed, PlatformConfig::default())
}

pub(crate) fn platform_with(store: &Arc<dyn Store>, clock: &TestClock, seed: u64, config: PlatformConfig) -> Platform {
    let vault = Vault::new(vec![(KeyId::new("k1").unwrap(), Key::generate(&SeededRandom::new(9)))]).unwrap();
    Platform::new(PlatformParts {
        store: store.clone(),
        clock: Arc::new(clock.clone()),
        random: Arc::new(SeededRandom::new(seed)),
        vault: Arc::new(vault),
        providers: ProviderAccess::unfiltered(),
        config,
    })
}

pub(crate) async fn broken(platform: &Platform) -> Vec<String> {
    match platform.verify_all(&[], &|_| ()).await {
        Ok(verified) => verified.broken.iter().map(|broken| format!("{:?} {}", broken.entry, broken.what)).collect(),
        Err(error) => vec![error.to_string()],
    }
}
