//! Sandbox auctions: an advance of the clock runs a week-long sale within seconds. It survives a kill, and two nodes
//! apply it once.

use serde_json::{Value, json};
use testkit::site::{CustomerSite, http_client};

use crate::support::{Clerk, WAIT_MAX, launch, lots, received, two_nodes, webcast};

const WEEK_MS: i64 = 7 * 24 * 3_600 * 1_000;

async fn sandbox(site: &CustomerSite, count: usize, stagger: Value) -> String {
    let auction = json!({ "kind": "timed", "title": "A try", "status": "LIVE", "endsAt": site.in_ms(WEEK_MS), "sandbox": true,
        "stagger": stagger, "items": lots(count) });
    site.create_auction(auction).await.unwrap()
}

/// Waits for the announcements of the ends, then asserts that the clock has reached its target.
async fn arrived(site: &CustomerSite, auction: &str, events: usize) -> Value {
    assert!(site.receiver.wait_until(WAIT_MAX, |record| record.arrivals().len() >= events).await);
    let clock = site.platform.get(&format!("/api/v1/auctions/{auction}/clock")).await.unwrap().body;
    assert_eq!(clock["advancing"], false, "{clock}");
    clock
}

#[tokio::test(flavor = "multi_thread")]
async fn advancing_the_clock_ends_a_week_long_sale_immediately() {
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path());
    let _server = launch.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&launch, &launch).await.unwrap();
    let auction = sandbox(&site, 3, json!({ "seconds": 60, "items": 1 })).await;
    let item = site.items(&auction).await.unwrap()[0].clone();
    let (path, clock) =
        (format!("/api/v1/items/{}", item["uuid"].as_str().unwrap()), format!("/api/v1/auctions/{auction}/clock"));

    // A bid a minute before the end extends the item to ten minutes after the bid, later than the two others.
    let start = site.platform.get(&clock).await.unwrap().body;
    let almost = json!({ "seconds": WEEK_MS / 1_000 - 60 });
    let advanced = site.platform.post(&format!("{clock}/advance"), &almost).await.unwrap().body;
    assert_eq!(
        (&advanced["ended"], &advanced["advancing"], &start["endedCount"]),
        (&json!([]), &json!(false), &json!(0))
    );
    let bid =
        site.platform.post(&format!("{path}/bids"), &json!({ "bidder": "paddle-1", "amount": 100 })).await.unwrap();
    assert_eq!(bid.body["item"]["serverTime"], advanced["now"]);
    assert_eq!(bid.body["bid"]["at"], advanced["now"]);
    let advanced = site.platform.post(&format!("{clock}/advance"), &json!({ "seconds": 3_600 })).await.unwrap().body;
    let ended: Vec<_> =
        advanced["ended"].as_array().unwrap().iter().map(|item| (&item["lotNumber"], &item["status"])).collect();
    let unsold = json!("UNSOLD");
    assert_eq!(ended, [(&json!("2"), &unsold), (&json!("3"), &unsold), (&json!("1"), &json!("SOLD"))]);
    assert_eq!(advanced["ended"][2]["endedAt"], bid.body["item"]["effectiveEndTime"]);
    let tally = received(&site, 1 + 3).await;
    assert!(tally.is_perfect(), "{tally:?}");

    // The list filters by `sandbox`. The clock of an auction that is no sandbox can't be advanced.
    let shown = site.platform.get(&format!("/api/v1/auctions/{auction}")).await.unwrap().body;
    assert_eq!(shown["sandbox"], true);
    let real = webcast(&site, 1).await;
    for (wanted, uuid) in [("true", &auction), ("false", &real)] {
        let list = site.platform.get(&format!("/api/v1/auctions?sandbox={wanted}")).await.unwrap().body;
        let found: Vec<_> =
            list["data"].as_array().unwrap().iter().map(|auction| auction["uuid"].as_str().unwrap()).collect();
        assert_eq!(found, [uuid]);
    }
    let refused = site.platform.post(&format!("/api/v1/auctions/{real}/clock/advance"), &json!({ "seconds": 1 })).await;
    assert!(refused.unwrap_err().to_string().contains("sandbox"));
    let clerk = Clerk::new(site.platform.clone(), &real);
    clerk.sell(&site.items(&real).await.unwrap()[0]).await;
    received(&site, 1 + 3 + 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_advance_continues_after_a_kill() {
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path());
    let server = launch.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&launch, &launch).await.unwrap();
    let auction = sandbox(&site, 1_000, json!({ "seconds": 1, "items": 1 })).await;
    let path = format!("/api/v1/auctions/{auction}/clock/advance");
    let advanced = site.platform.post(&path, &json!({ "seconds": 8 * 24 * 3_600 })).await.unwrap().body;
    server.kill();
    assert_eq!((advanced["ended"].as_array().unwrap().len(), &advanced["advancing"]), (250, &json!(true)));

    let _server = launch.start(&http_client()).await.unwrap();
    let clock = arrived(&site, &auction, 1 + 1_000).await;
    assert_eq!((&clock["endedCount"], &clock["now"]), (&json!(1_000), &advanced["now"]));
    let announced = site.announced_events().await.unwrap();
    let tally = site.receiver.read(|record| record.compare(&announced));
    // After a kill, a duplicate is allowed and a loss is not.
    assert_eq!((tally.expected, tally.lost, tally.invalid), (1_001, 0, 0), "{tally:?}");
    let feed = consumer::read_feed(&site.platform, &site.customer).await.unwrap();
    assert!(feed[1..].is_sorted_by_key(|event| event.at), "the events are not in the order of their ends");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_advance_a_clock_to_its_target_once() {
    let nodes = two_nodes().await;
    let (site, second_api) = (nodes.site, nodes.second_api);
    let (one, two) =
        (sandbox(&site, 1_000, json!({ "seconds": 1, "items": 1 })).await, sandbox(&site, 1_000, Value::Null).await);
    let week = json!({ "seconds": 8 * 24 * 3_600 });
    site.platform.post(&format!("/api/v1/auctions/{one}/clock/advance"), &week).await.unwrap();
    second_api.post(&format!("/api/v1/auctions/{two}/clock/advance"), &week).await.unwrap();
    let tally = received(&site, 2 + 2_000).await;
    assert!(tally.is_perfect(), "{tally:?}");
    for auction in [one, two] {
        assert_eq!(arrived(&site, &auction, 2 + 2_000).await["endedCount"], 1_000);
    }
}
