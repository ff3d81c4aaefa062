//! Two nodes on one PostgreSQL: each item ends once, each event arrives once, and one node continues after the other's
//! end.

use std::time::Duration;

use serde_json::json;

use crate::fake_provider::{Answer, FakeProvider};
use crate::publisher_fixture::PublisherFixture;
use crate::support::{Clerk, WAIT_MAX, launch, received, timed_auction, two_nodes, webcast};

/// Difference of a node's clock: more than the time without a heartbeat after which a node is dead.
const CLOCK_SKEW_S: i64 = 15;
/// Time that the provider takes for a message: longer than a node watches others before it judges them, and shorter than
/// `platform.publish_timeout`.
const LATE: Duration = Duration::from_secs(25);

#[tokio::test(flavor = "multi_thread")]
async fn with_two_nodes_each_item_ends_once_and_each_event_is_published_once() {
    let nodes = two_nodes().await;
    let (site, second_api) = (nodes.site, nodes.second_api);

    let timed = timed_auction(&site, 200, 3_000).await;
    let webcast = webcast(&site, 20).await;
    let clerks = [Clerk::new(site.platform.clone(), &webcast), Clerk::new(second_api, &webcast)];
    for (number, item) in site.items(&webcast).await.unwrap().iter().enumerate() {
        clerks[number % 2].sell(item).await;
    }

    let tally = received(&site, 2 + 200 + 20).await;
    assert!(tally.is_perfect(), "{tally:?}");
    for item in site.items(&timed).await.unwrap() {
        let history = format!("/api/v1/items/{}/history", item["uuid"].as_str().unwrap());
        let history = site.platform.get(&history).await.unwrap().body;
        let ends = history["data"].as_array().unwrap().iter().filter(|row| row["cause"] == "end_reached").count();
        assert_eq!(ends, 1, "{history}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn when_one_of_two_nodes_is_killed_the_other_loses_nothing() {
    let nodes = two_nodes().await;
    let (site, second_api) = (nodes.site, nodes.second_api);
    let doomed = nodes.second;

    let auction = json!({ "kind": "timed", "title": "Timed", "status": "LIVE", "endsAt": site.in_ms(1_000), "extensionSeconds": 0,
        "stagger": { "seconds": 1, "items": 50 }, "items": crate::support::lots(150) });
    site.create_auction(auction).await.unwrap();
    let webcast = webcast(&site, 4).await;
    let clerk = Clerk::new(second_api, &webcast);
    for item in &site.items(&webcast).await.unwrap() {
        clerk.sell(item).await;
    }
    doomed.kill();

    let wanted = 2 + 150 + 4;
    assert!(site.receiver.wait_until(WAIT_MAX, |record| record.arrivals().len() >= wanted).await);
    let announced = site.announced_events().await.unwrap();
    let tally = site.receiver.read(|record| record.compare(&announced));
    // After a kill, a duplicate is allowed and a loss is not.
    assert_eq!((tally.expected, tally.lost, tally.invalid), (wanted as u64, 0, 0), "{tally:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_with_wrong_clocks_do_not_take_events_of_another_node() {
    let [first_data, ahead_data, behind_data] = std::array::from_fn(|_| tempfile::tempdir().unwrap());
    let clocks = tempfile::tempdir().unwrap();
    let database = testkit::postgres::fresh_database().await.unwrap();
    let first = launch(first_data.path()).roles(&["platform"]).database(&database);
    let ahead = first.node_in(ahead_data.path()).unwrap().clock_ahead(clocks.path(), CLOCK_SKEW_S).unwrap();
    let behind = first.node_in(behind_data.path()).unwrap().clock_ahead(clocks.path(), -CLOCK_SKEW_S).unwrap();
    let nodes = [
        PublisherFixture::start(first, first_data).await,
        PublisherFixture::start(ahead, ahead_data).await,
        PublisherFixture::start(behind, behind_data).await,
    ];
    let provider = FakeProvider::start().await;
    let mut created = Vec::new();
    for (number, node) in nodes.iter().enumerate() {
        // Each node publishes the event of its own customer, and waits for the provider meanwhile.
        let customer = node.customer(&format!("house-{number}"), &provider).await;
        provider.always(Some(Answer::Late(LATE)));
        created.push((node, node.auction(&customer).await, customer));
    }
    for (node, _, customer) in &created {
        node.wait_for(customer, |connection| connection["backlog"]["pending"] == 0).await;
    }
    let mut posted: Vec<_> = provider.posted().into_iter().map(|posted| posted.event_id).collect();
    posted.sort();
    let mut announced: Vec<_> = created.iter().map(|(_, auction, _)| format!("{auction}.1")).collect();
    announced.sort();
    assert_eq!(posted, announced, "a node took an event of a live one");
}
