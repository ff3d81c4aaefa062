//! Live streams: events, their order, and who receives them.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http::{Method, Request};
use http_body_util::BodyExt as _;
use platform_core::{Caller, PlatformConfig, Scopes};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::fixture::Fixture;

struct LiveFixture {
    fixture: Fixture,
    key: String,
    auction: String,
    item: String,
}

impl LiveFixture {
    async fn with(config: PlatformConfig) -> Self {
        Self::of_customer(Fixture::with(config), "First").await
    }

    /// A new customer with a LIVE auction of one item.
    async fn of_customer(fixture: Fixture, name: &str) -> Self {
        let customer = fixture.customer(name).await;
        let key = fixture.key(Some(customer), Scopes::all()).await;
        let auctioneer = fixture.make("/api/v1/auctioneers", &key, json!({ "name": "Smith" })).await;
        let auction = json!({
            "auctioneer": auctioneer["uuid"], "kind": "timed", "title": "Prints", "currency": "GBP",
            "timeZone": "Europe/London", "endsAt": "2099-01-01T10:00:00.000Z", "status": "LIVE",
            "items": [{ "lotNumber": "1", "title": "A print", "openingBid": 1000, "reserve": 424_242 }],
        });
        let auction = fixture.make("/api/v1/auctions", &key, auction).await["uuid"].as_str().unwrap().to_owned();
        let items =
            fixture.call(&Method::GET, &format!("/api/v1/auctions/{auction}/items"), &key, &Value::Null).await.json();
        let item = items["data"][0]["uuid"].as_str().unwrap().to_owned();
        LiveFixture { fixture, key, auction, item }
    }

    async fn bid(&self, amount: i64) {
        let path = format!("/api/v1/items/{}/bids", self.item);
        self.fixture
            .make(&path, &self.key, json!({ "bidder": format!("p{}", amount / 1_000 % 7), "amount": amount }))
            .await;
    }

    async fn listen(&self, path: &str, last: Option<&str>) -> Stream {
        Stream::after(&self.fixture, &self.key, path, last).await
    }

    fn item_path(&self) -> String {
        format!("/api/v1/items/{}/live", self.item)
    }
}

pub(crate) struct Stream {
    body: Body,
}

#[derive(Debug)]
pub(crate) struct StreamEvent {
    id: String,
    pub(crate) event: String,
    pub(crate) data: Value,
}

impl Stream {
    pub(crate) async fn open(fixture: &Fixture, key: &str, path: &str) -> Self {
        Self::after(fixture, key, path, None).await
    }

    async fn after(fixture: &Fixture, key: &str, path: &str, last: Option<&str>) -> Self {
        let mut request = Request::builder().uri(path).header("authorization", format!("Bearer {key}"));
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let response = fixture.surface.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { body: response.into_body() }
    }

    /// The next event, without comments and `retry`.
    pub(crate) async fn next(&mut self) -> StreamEvent {
        loop {
            let frame = self.body.frame().await.unwrap().unwrap().into_data().unwrap();
            let text = String::from_utf8(frame.to_vec()).unwrap();
            let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
            if let (Some(id), Some(event), Some(data)) = (field("id: "), field("event: "), field("data: ")) {
                return StreamEvent { id, event, data: serde_json::from_str(&data).unwrap() };
            }
        }
    }
}

#[tokio::test]
async fn a_listener_receives_a_snapshot_and_then_each_change() {
    let live = LiveFixture::with(PlatformConfig::default()).await;
    let mut item = live.listen(&live.item_path(), None).await;
    let mut auction = live.listen(&format!("/api/v1/auctions/{}/live", live.auction), None).await;
    let snapshot = item.next().await;
    assert_eq!((snapshot.event.as_str(), &snapshot.data["item"]["price"]), ("snapshot", &Value::Null));
    let whole = auction.next().await;
    assert_eq!(whole.data["items"].as_array().unwrap().len(), 1);
    assert_eq!((&whole.data["itemsComplete"], &whole.data["auction"]["status"]), (&json!(true), &json!("LIVE")));

    live.bid(5_000).await;
    let of_item = item.next().await;
    let of_auction = auction.next().await;
    assert_eq!(
        (of_item.event.as_str(), &of_item.id, &of_item.data),
        ("item", &of_auction.id, &of_auction.data),
        "one rendering"
    );
    let state = &of_item.data["item"];
    assert_eq!((&state["price"], &state["bidCount"], &state["reserveMet"]), (&json!(5_000), &json!(1), &json!(false)));
    assert!(of_item.data["serverTime"].is_string() && state["effectiveEndTime"].is_string());
    live.bid(500_000).await;
    let of_item = item.next().await;
    assert_eq!((&of_item.data["item"]["price"], &of_item.data["item"]["reserveMet"]), (&json!(424_242), &json!(true)));
    assert!(!of_item.data.to_string().contains("500000"), "a maximum: {}", of_item.data);
}

#[tokio::test]
async fn a_reconnected_listener_continues_from_its_last_event_or_receives_a_snapshot() {
    let live = LiveFixture::with(PlatformConfig::default()).await;
    let mut first = live.listen(&live.item_path(), None).await;
    first.next().await;
    live.bid(1_000).await;
    let had = first.next().await.id;
    drop(first);
    live.bid(2_000).await;
    let mut again = live.listen(&live.item_path(), Some(&had)).await;
    let missed = again.next().await;
    assert_eq!((missed.event.as_str(), &missed.data["item"]["bidCount"]), ("item", &json!(2)));
    for unknown in ["", "nonsense", "019a0000000070008000000000000001-7", &format!("{}99", missed.id)] {
        let mut newcomer = live.listen(&live.item_path(), Some(unknown)).await;
        let of_item = newcomer.next().await;
        assert_eq!((of_item.event.as_str(), &of_item.data["item"]["bidCount"]), ("snapshot", &json!(2)), "{unknown}");
    }
}

#[tokio::test]
async fn a_slow_listener_receives_the_latest_state() {
    let mut config = PlatformConfig::default();
    config.live.events_behind_max = 2;
    let live = LiveFixture::with(config).await;
    let mut slow = live.listen(&live.item_path(), None).await;
    let mut quick = live.listen(&live.item_path(), None).await;
    slow.next().await;
    quick.next().await;
    for bid in 1..=6 {
        live.bid(bid * 1_000).await;
        assert_eq!(quick.next().await.data["item"]["bidCount"], bid);
    }
    let of_item = slow.next().await;
    assert_eq!((of_item.event.as_str(), &of_item.data["item"]["bidCount"]), ("snapshot", &json!(6)));
    live.bid(100_000).await;
    assert_eq!(slow.next().await.data["item"]["bidCount"], 7);
}

#[tokio::test]
async fn listeners_above_the_maximum_are_refused_until_one_disconnects() {
    let mut config = PlatformConfig::default();
    config.live.listeners_max = 1;
    let live = LiveFixture::with(config).await;
    let listener = live.listen(&live.item_path(), None).await;
    let refused = live.fixture.call(&Method::GET, &live.item_path(), &live.key, &Value::Null).await;
    assert_eq!((refused.status, refused.code().as_str()), (503, "listeners_full"));
    assert_eq!(refused.header("retry-after"), Some("5"));
    drop(listener);
    live.listen(&live.item_path(), None).await.next().await;
}

#[tokio::test]
async fn the_listeners_of_one_customer_do_not_block_another_customer() {
    let mut config = PlatformConfig::default();
    config.live.listeners_per_customer_max = 1;
    let first = LiveFixture::with(config).await;
    let listener = first.listen(&first.item_path(), None).await;
    // A key of the platform's staff counts for the customer of the auction as well.
    let staff = first.fixture.key(None, Scopes::all()).await;
    for key in [&first.key, &staff] {
        let refused = first.fixture.call(&Method::GET, &first.item_path(), key, &Value::Null).await;
        assert_eq!((refused.status, refused.code().as_str()), (503, "listeners_full"));
    }
    let second = LiveFixture::of_customer(first.fixture.clone(), "Second").await;
    second.listen(&second.item_path(), None).await.next().await;
    drop(listener);
    first.listen(&first.item_path(), None).await.next().await;
}

#[tokio::test]
async fn streams_carry_comments_and_end_at_shutdown() {
    let live = LiveFixture::with(PlatformConfig::default()).await;
    let tasks = kit_runtime::tasks::Tasks::new();
    live.fixture.platform.spawn_workers(&tasks);
    let mut stream = live.listen(&live.item_path(), None).await;
    stream.next().await;
    let clock = live.fixture.clock.clone();
    let turning = Arc::new(tokio::sync::Notify::new());
    let stopped = turning.clone();
    let turner = tokio::spawn(async move {
        tokio::select! {
            () = stopped.notified() => {}
            () = async { loop { clock.advance(std::time::Duration::from_secs(1)); tokio::task::yield_now().await; } } => {}
        }
    });
    let comment = stream.body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(comment, ": here\n\n");
    turning.notify_one();
    turner.await.unwrap();
    tasks.shutdown(std::time::Duration::from_secs(5)).await.unwrap();
    while stream.body.frame().await.is_some() {}
    let refused = live.fixture.call(&Method::GET, &live.item_path(), &live.key, &Value::Null).await;
    assert_eq!((refused.status, refused.code().as_str()), (503, "unavailable"));
}

#[tokio::test]
async fn live_events_match_the_asyncapi_document() {
    let live = LiveFixture::with(PlatformConfig::default()).await;
    let mut document = live.fixture.send(&Method::GET, "/api/v1/asyncapi.json", &[], "").await.json();
    let mut check = |channel: &str, of_item: &StreamEvent| {
        let messages = document["channels"][channel]["messages"].as_object().unwrap().keys();
        let of = |name: &&String| document["components"]["messages"][name.as_str()]["name"] == of_item.event.as_str();
        let name = messages.into_iter().find(of).unwrap().clone();
        let payload = document["components"]["messages"][&name]["payload"].clone();
        document["$ref"] = payload["$ref"].clone();
        let validator = jsonschema::options().should_validate_formats(true).build(&document).unwrap();
        assert!(validator.is_valid(&of_item.data), "{name}: {}", of_item.data);
        assert!(validator.is_valid(&document["components"]["messages"][&name]["examples"][0]["payload"]), "{name}");
        assert!(!validator.is_valid(&json!({ "serverTime": of_item.data["serverTime"] })));
    };
    let mut item = live.listen(&live.item_path(), None).await;
    let mut auction = live.listen(&format!("/api/v1/auctions/{}/live", live.auction), None).await;
    check("liveItem", &item.next().await);
    check("liveAuction", &auction.next().await);
    live.bid(5_000).await;
    check("liveItem", &item.next().await);
    check("liveAuction", &auction.next().await);
    let item = json!({ "lotNumber": "2", "title": "Another" });
    live.fixture.make(&format!("/api/v1/auctions/{}/items", live.auction), &live.key, item).await;
    let of_item = auction.next().await;
    assert_eq!(of_item.event, "auction");
    check("liveAuction", &of_item);
}

#[tokio::test]
async fn the_snapshot_of_a_large_auction_has_a_cursor_for_its_list() {
    let mut config = PlatformConfig::default();
    config.live.snapshot_items_max = 2;
    let live = LiveFixture::with(config).await;
    let path = format!("/api/v1/auctions/{}", live.auction);
    for lot in 2..=5 {
        let item = json!({ "lotNumber": lot.to_string(), "title": "Another" });
        live.fixture.make(&format!("{path}/items"), &live.key, item).await;
    }
    let snapshot = live.listen(&format!("{path}/live"), None).await.next().await.data;
    assert_eq!(snapshot["itemsComplete"], false);
    let mut lots: Vec<Value> = Vec::new();
    lots.extend(snapshot["items"].as_array().unwrap().iter().map(|item| item["lotNumber"].clone()));
    assert_eq!(lots.len(), 2);
    let mut next = snapshot["next"].clone();
    while let Some(after) = next.as_str() {
        let page = format!("{path}/items?limit=2&after={after}");
        let page = live.fixture.call(&Method::GET, &page, &live.key, &Value::Null).await.json();
        let items = page["data"].as_array().unwrap();
        assert!(items.iter().all(|item| item["version"].is_i64()));
        lots.extend(items.iter().map(|item| item["lotNumber"].clone()));
        next = page["next"].clone();
    }
    assert_eq!(lots, ["1", "2", "3", "4", "5"]);
}

#[tokio::test]
async fn an_absentee_bid_causes_no_live_event() {
    let live = LiveFixture::with(PlatformConfig::default()).await;
    let auctioneer = live.fixture.make("/api/v1/auctioneers", &live.key, json!({ "name": "Jones" })).await;
    let (auction, item) = live.fixture.sale(&live.key, auctioneer["uuid"].as_str().unwrap()).await;
    let live = LiveFixture { auction, item, ..live };
    let mut stream = live.listen(&format!("/api/v1/auctions/{}/live", live.auction), None).await;
    assert_eq!(stream.next().await.data["items"][0]["version"], 1);
    let left = json!({ "bidder": "5", "maximum": 9_000, "unusualAmount": true });
    live.fixture.make(&format!("/api/v1/items/{}/absentee-bids", live.item), &live.key, left).await;
    let bearer = format!("Bearer {}", live.key);
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json"), ("if-match", "\"2\"")];
    let path = format!("/api/v1/items/{}", live.item);
    let edited = live.fixture.send(&Method::PATCH, &path, &headers, r#"{"title":"A map"}"#).await;
    assert_eq!(edited.status, 200, "{}", edited.text);
    let of_item = stream.next().await;
    assert_eq!(
        (&of_item.data["item"]["version"], &of_item.data["item"]["bidCount"]),
        (&json!(3), &json!(0)),
        "{of_item:?}"
    );
}

#[tokio::test]
async fn a_stream_ends_within_five_seconds_of_the_session_or_the_key_that_opened_it() {
    let mut live = LiveFixture::with(PlatformConfig::default()).await;
    // Another node ends the session and revokes the key, so this node reads that from the store only.
    let other = live.fixture.another_node();
    let staff = Caller::command_line();
    let session = live.fixture.session().await;
    let user = other.platform.authenticate(&session).await.unwrap();
    let key = live.key.clone();
    let of_key = other.platform.authenticate(&key).await.unwrap();
    for (credential, is_session) in [(session, true), (key, false)] {
        live.key = credential;
        let paths = [format!("/api/v1/auctions/{}/live", live.auction), live.item_path()];
        let mut streams = [live.listen(&paths[0], None).await, live.listen(&paths[1], None).await];
        for stream in &mut streams {
            assert_eq!(stream.next().await.event, "snapshot");
        }
        live.fixture.clock.advance(Duration::from_secs(30));
        live.bid(if is_session { 10_000 } else { 20_000 }).await;
        for stream in &mut streams {
            assert_eq!(stream.next().await.event, "item", "the stream ended before its credential");
        }
        match is_session {
            true => other.platform.end_own_sessions(&user).await.unwrap(),
            false => other.platform.revoke_api_key(&staff, of_key.id).await.unwrap(),
        }
        live.fixture.clock.advance(Duration::from_secs(5));
        for mut stream in streams {
            while stream.body.frame().await.is_some() {}
        }
    }
}
