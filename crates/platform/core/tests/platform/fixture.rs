//! A platform with a customer, for tests.

use std::sync::Arc;
use std::time::Duration;

use contract::AuctionStatus;
use kit_runtime::clock::{Clock, TestClock};
use kit_runtime::random::SeededRandom;
use kit_runtime::tasks::Tasks;
use kit_runtime::vault::{Key, KeyId, Secret, Vault};
use platform_core::config::EndpointReadingConfig;
use platform_core::customers::connections::{ConnectConsumer, ProviderChoice};
use platform_core::journal::JournalRow;
use platform_core::port::{Auctioneer, Customer, Page, StartFrom, Store};
use platform_core::provider_access::ProviderAccess;
use platform_core::sales::auctions::{CreatedAuction, NewAuction};
use platform_core::sales::new_item::NewItem;
use platform_core::{Caller, Platform, PlatformConfig, PlatformParts};
use platform_rules::{Auction, AuctionKind};
use uuid::Uuid;

use crate::faulty_store::FaultyStore;
use crate::provider::Provider;

pub const KEY: &str = "sk_live_1";

pub struct TestPlatform {
    pub store: Arc<dyn Store>,
    pub faults: Arc<FaultyStore>,
    pub clock: TestClock,
    pub platform: Platform,
    pub caller: Caller,
    pub customer: Customer,
    pub auctioneer: Auctioneer,
    pub tasks: Tasks,
}

impl TestPlatform {
    pub async fn new() -> Self {
        Self::with(PlatformConfig::default()).await
    }

    pub async fn with(config: PlatformConfig) -> Self {
        let faults = FaultyStore::new();
        let store: Arc<dyn Store> = faults.clone();
        let clock = TestClock::default();
        let platform = node(&store, &clock, config, 1);
        let caller = Caller::command_line();
        let customer = platform.create_customer(&caller, "Smith & Sons", None).await.unwrap().fresh().unwrap();
        let auctioneer = platform.create_auctioneer(&caller, customer.uuid, "Smith", None).await.unwrap();
        let auctioneer = auctioneer.fresh().unwrap();
        Self { store, faults, clock, platform, caller, customer, auctioneer, tasks: Tasks::new() }
    }

    /// A platform whose workers run and whose customer is connected to `provider`.
    pub async fn connected(provider: &Provider, config: PlatformConfig) -> Self {
        let fixture = Self::with(config).await;
        fixture.connect(provider, KEY).await;
        fixture.platform.spawn_workers(&fixture.tasks);
        // Wait until all workers sleep: heartbeat, sweep, timers, clocks, bulk changes and expiry.
        fixture.asleep(6).await;
        fixture
    }

    pub async fn connect(&self, provider: &Provider, key: &str) {
        let connect = ConnectConsumer {
            provider: ProviderChoice::Of(provider.url.clone()),
            application_id: Some("app_1".into()),
            api_key: Some(Secret::new(key.as_bytes().to_vec())),
            start: StartFrom::Now,
        };
        self.platform.connect_consumer(&self.caller, self.customer.uuid, &connect).await.unwrap();
    }

    /// Waits until `count` workers and lanes sleep and none of them is due. Then no task can make progress.
    pub async fn asleep(&self, count: usize) {
        let sleeping = async {
            while self.clock.next_sleeper().is_none_or(|next| next <= self.clock.now()) {
                tokio::task::yield_now().await;
            }
            self.clock.wait_for_sleepers(count).await;
        };
        tokio::time::timeout(Duration::from_secs(20), sleeping)
            .await
            .expect("a worker did not sleep within 20 seconds");
    }

    pub fn timed(&self, ends_in: Duration, items: Vec<NewItem>) -> NewAuction {
        let ends_at = Some(self.clock.now() + ends_in);
        let new = NewAuction::new(self.auctioneer.uuid, AuctionKind::Timed, "Prints", "GBP", "Europe/London");
        NewAuction { ends_at, status: AuctionStatus::Live, items, ..new }
    }

    /// Creates an auction. The items of a LIVE auction are LIVE.
    pub async fn create(&self, new: &NewAuction) -> CreatedAuction {
        let mut new = new.clone();
        let live = new.items.iter_mut().filter(|_| new.status == AuctionStatus::Live);
        live.for_each(|item| item.status = contract::ItemStatus::Live);
        self.platform.create_auction(&self.caller, &new, None).await.unwrap().fresh().unwrap()
    }

    /// Creates an auction in DRAFT, which announces one event.
    pub async fn draft(&self) -> Auction {
        let new = NewAuction { status: AuctionStatus::Draft, ..self.timed(Duration::from_secs(60), Vec::new()) };
        self.create(&new).await.auction
    }

    /// The journal of a subject, one text for each change: new status, cause, and whether it was announced.
    pub async fn journal_of(&self, subject: Uuid) -> Vec<String> {
        let rows = self.store.history(subject, Page { after: None, limit: 100 }).await.unwrap();
        let announced = |row: &JournalRow| if row.body.is_some() { ", announced" } else { "" };
        rows.iter().map(|row| format!("{} {}{}", row.to, row.cause, announced(row))).collect()
    }

    /// Stops the workers after their current work. Waiting outbox rows become unassigned.
    pub async fn close(&self) {
        self.tasks.shutdown(Duration::from_secs(10)).await.unwrap();
    }
}

/// A node that reads no endpoints: most tests count requests and sleeping workers.
pub fn node(store: &Arc<dyn Store>, clock: &TestClock, config: PlatformConfig, seed: u64) -> Platform {
    let endpoint_readings = EndpointReadingConfig { customers_max: 0, ..config.endpoint_readings };
    reading_node(store, clock, PlatformConfig { endpoint_readings, ..config }, seed)
}

/// A node that reads endpoints, too.
pub fn reading_node(store: &Arc<dyn Store>, clock: &TestClock, config: PlatformConfig, seed: u64) -> Platform {
    let random = Arc::new(SeededRandom::new(seed));
    let vault = Vault::new(vec![(KeyId::new("k1").unwrap(), Key::generate(&SeededRandom::new(9)))]).unwrap();
    Platform::new(PlatformParts {
        store: store.clone(),
        clock: Arc::new(clock.clone()),
        random,
        vault: Arc::new(vault),
        providers: ProviderAccess::unfiltered(),
        config,
    })
}
