//! Live updates over server-sent events: a bid at one node reaches listeners at the other, and streams end with their
//! node.

use http::header::AUTHORIZATION;
use http_body_util::{BodyExt as _, Empty};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use testkit::site::{CustomerSite, http_client};

use crate::support::{Clerk, WAIT_MAX, launch, timed_auction, webcast};

/// A reader of server-sent events.
struct EventSource {
    body: hyper::body::Incoming,
    read: String,
}

struct Event {
    name: String,
    data: Value,
}

impl EventSource {
    async fn open(url: &str, key: &str) -> Self {
        let client = Client::builder(TokioExecutor::new()).build_http::<Empty<bytes::Bytes>>();
        let request = http::Request::get(url).header(AUTHORIZATION, format!("Bearer {key}"));
        let response = client.request(request.body(Empty::new()).unwrap()).await.unwrap();
        assert_eq!(response.status(), 200, "{url}");
        EventSource { body: response.into_body(), read: String::new() }
    }

    /// The next event; none at the end of the stream.
    async fn next(&mut self) -> Option<Event> {
        loop {
            while let Some((block, rest)) = self.read.split_once("\n\n") {
                let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
                let event = field("event: ").zip(field("data: "));
                self.read = rest.to_owned();
                if let Some((name, data)) = event {
                    return Some(Event { name, data: serde_json::from_str(&data).unwrap() });
                }
            }
            let frame =
                tokio::time::timeout(WAIT_MAX, self.body.frame()).await.expect("an event arrives in time")?.ok()?;
            self.read.push_str(std::str::from_utf8(&frame.into_data().unwrap()).unwrap());
        }
    }

    async fn until(&mut self, is_expected: impl Fn(&Event) -> bool) -> Event {
        loop {
            let event = self.next().await.expect("the stream ended");
            if is_expected(&event) {
                return event;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_at_one_node_reaches_listeners_at_the_other() {
    let data = tempfile::tempdir().unwrap();
    let first = launch(data.path()).database(&testkit::postgres::fresh_database().await.unwrap());
    let second = first.second_node().unwrap();
    let _first = first.start(&http_client()).await.unwrap();
    let second_server = second.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&first, &first).await.unwrap();
    let key = &second.create_staff_key("viewer").unwrap();

    let timed = timed_auction(&site, 1, 3_600_000).await;
    let item = site.items(&timed).await.unwrap()[0]["uuid"].as_str().unwrap().to_owned();
    let live = |node: String, resource: String| async move {
        EventSource::open(&format!("{node}/api/v1/{resource}/live"), key).await
    };
    let mut at_second_node = live(second.platform_url(), format!("items/{item}")).await;
    let mut at_first_node = live(first.platform_url(), format!("items/{item}")).await;
    for listener in [&mut at_first_node, &mut at_second_node] {
        assert_eq!(listener.next().await.unwrap().name, "snapshot");
    }
    let bid = json!({ "bidder": "paddle-1", "amount": 100 });
    site.platform.post(&format!("/api/v1/items/{item}/bids"), &bid).await.unwrap();
    for listener in [&mut at_first_node, &mut at_second_node] {
        let update = listener.until(|event| event.data["item"]["bidCount"] == 1).await;
        assert_eq!(update.data["item"]["price"], 100);
    }

    let webcast = webcast(&site, 1).await;
    let lot = &site.items(&webcast).await.unwrap()[0];
    let mut sale = live(second.platform_url(), format!("auctions/{webcast}")).await;
    assert_eq!(sale.next().await.unwrap().data["items"][0]["status"], "LIVE");
    Clerk::new(site.platform.clone(), &webcast).sell(lot).await;
    sale.until(|event| event.data["item"]["status"] == "SOLD").await;

    second_server.kill();
    while at_second_node.next().await.is_some() {}
    let bid = json!({ "bidder": "paddle-2", "amount": 1_000 });
    site.platform.post(&format!("/api/v1/items/{item}/bids"), &bid).await.unwrap();
    at_first_node.until(|event| event.data["item"]["bidCount"] == 2).await;
}
