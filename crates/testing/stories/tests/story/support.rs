//! Shared by the stories: launches of the binary, a clerk, and small sales.

use std::path::Path;
use std::process::Child;
use std::time::Duration;

use consumer::{ApiClient, DeliveryReport};
use serde_json::{Value, json};
use testkit::server::{Launch, Server, built_binary};
use testkit::site::{CustomerSite, http_client};

/// Time limit of every wait. It is generous, so that a busy machine does not fail a test.
pub const WAIT_MAX: Duration = Duration::from_secs(120);

/// A program that a story started. It ends with the story, also with one that fails.
pub struct Started(pub Child);

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A launch with the default intervals, on a store in `data`.
pub fn launch_with_defaults(data: &Path) -> Launch {
    Launch::new(built_binary("lotwire").unwrap(), data).unwrap().set("SECRETS__KEY", &"07".repeat(32))
}

/// A launch with short retry pauses, on a store in `data`.
pub fn launch(data: &Path) -> Launch {
    launch_with_defaults(data)
        .set("PROVIDER__RETRY_SCHEDULE", "50ms,100ms,200ms,500ms,1s,2s,5s")
        .set("PLATFORM__PUBLISH_BACKOFF_BASE", "20ms")
        .set("PLATFORM__PUBLISH_BACKOFF_CAP", "200ms")
}

/// Two nodes with both roles on one PostgreSQL, and a set-up customer.
pub struct TwoNodes {
    /// The customer; its clients use the first node.
    pub site: CustomerSite,
    /// The second node's platform, with a key of all scopes.
    pub second_api: ApiClient,
    /// The first node.
    pub first: Server,
    /// The second node.
    pub second: Server,
    _data: [tempfile::TempDir; 2],
}

/// Two nodes with short retry pauses.
pub async fn two_nodes() -> TwoNodes {
    two_nodes_of(launch).await
}

/// Two nodes, as on two hosts: each has a data directory, addresses and ports of its own.
pub async fn two_nodes_of(launch: fn(&Path) -> Launch) -> TwoNodes {
    let data = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let first_launch = launch(data[0].path()).database(&testkit::postgres::fresh_database().await.unwrap());
    let second_launch = first_launch.node_in(data[1].path()).unwrap();
    let first = first_launch.start(&http_client()).await.unwrap();
    let second = second_launch.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&first_launch, &first_launch).await.unwrap();
    let key = second_launch.create_staff_key("second").unwrap();
    let second_api = ApiClient::new(http_client(), second_launch.platform_url(), &key).unwrap();
    TwoNodes { site, second_api, first, second, _data: data }
}

/// A clerk of a webcast.
pub struct Clerk {
    pub platform: ApiClient,
    ring: String,
}

impl Clerk {
    pub fn new(platform: ApiClient, auction: &str) -> Self {
        Clerk { platform, ring: format!("/api/v1/auctions/{auction}/ring") }
    }

    pub async fn command(&self, command: &str, body: &Value) {
        let etag = self.platform.get(&self.ring).await.unwrap().etag;
        self.platform.post_if_match(&format!("{}/{command}", self.ring), etag.as_ref(), body).await.unwrap();
    }

    /// Puts the item in the ring, takes one room bid, and sells the item.
    pub async fn sell(&self, item: &Value) {
        self.command("send", &json!({ "item": item["uuid"] })).await;
        let bid = json!({ "source": "room", "bidder": "room", "amount": item["minimumBid"] });
        self.command("bid", &bid).await;
        self.command("sell", &json!({})).await;
    }

    /// Puts the item in the ring and passes it.
    pub async fn pass(&self, item: &Value) {
        self.command("send", &json!({ "item": item["uuid"] })).await;
        self.command("pass", &json!({})).await;
    }
}

/// Items to create an auction with.
pub fn lots(count: usize) -> Value {
    (1..=count).map(|lot| json!({ "lotNumber": lot.to_string(), "title": "A lot", "openingBid": 100 })).collect()
}

/// Creates a timed auction whose lots all end `ms` milliseconds from now.
pub async fn timed_auction(site: &CustomerSite, count: usize, ms: i64) -> String {
    let auction = json!({ "kind": "timed", "title": "Timed", "status": "LIVE", "endsAt": site.in_ms(ms), "extensionSeconds": 0,
            "items": lots(count) });
    site.create_auction(auction).await.unwrap()
}

/// Creates a webcast that is LIVE.
pub async fn webcast(site: &CustomerSite, count: usize) -> String {
    let auction = json!({ "kind": "webcast", "title": "Webcast", "status": "LIVE", "startsAt": site.in_ms(0), "items": lots(count) });
    site.create_auction(auction).await.unwrap()
}

/// Waits for `count` webhooks and compares them with the events that the platform announced.
pub async fn received(site: &CustomerSite, count: usize) -> DeliveryReport {
    let has_arrived = site.receiver.wait_until(WAIT_MAX, |record| record.arrivals().len() >= count).await;
    let announced = site.announced_events().await.unwrap();
    let tally = site.receiver.read(|record| record.compare(&announced));
    assert!(has_arrived, "{count} events were expected: {tally:?}");
    tally
}

/// A timed auction of three lots, of which one receives a bid, and a webcast in which one lot is sold and one is
/// passed.
pub async fn small_sale(site: &CustomerSite) {
    let timed = timed_auction(site, 3, SMALL_SALE_MS).await;
    let webcast = webcast(site, 2).await;
    let lot = &site.items(&timed).await.unwrap()[0];
    let bid = json!({ "bidder": "paddle-1", "amount": lot["minimumBid"] });
    site.platform.post(&format!("/api/v1/items/{}/bids", lot["uuid"].as_str().unwrap()), &bid).await.unwrap();
    let clerk = Clerk::new(site.platform.clone(), &webcast);
    let items = site.items(&webcast).await.unwrap();
    clerk.sell(&items[0]).await;
    clerk.pass(&items[1]).await;
}

/// Time until the lots of [`small_sale`] end, long enough for the bid also on a busy machine.
const SMALL_SALE_MS: i64 = 4_000;

/// Events of [`small_sale`]: two auctions, three ends, a sale and a pass.
pub const SMALL_SALE_EVENTS: usize = 7;
