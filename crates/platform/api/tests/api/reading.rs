//! Reading: tags, legal next statuses, histories and cursors.

use http::Method;
use platform_core::{Scope, Scopes};
use serde_json::{Value, json};

use crate::bidding::Sale;
use crate::fixture::{Answer, Fixture};

impl Sale {
    /// Sends a GET, with the given tag in `If-None-Match` if there is one.
    async fn look(&self, path: &str, has: Option<&str>) -> Answer {
        let bearer = format!("Bearer {}", self.key);
        let mut headers = vec![("authorization", bearer.as_str())];
        headers.extend(has.map(|tag| ("if-none-match", tag)));
        self.fixture.send(&Method::GET, &format!("/api/v1{path}"), &headers, "").await
    }
}

fn tag(answer: &Answer) -> String {
    answer.header("etag").unwrap().to_owned()
}

#[tokio::test]
async fn an_item_is_not_modified_when_only_time_passes() {
    let sale = Sale::timed(json!({}), &[json!({})]).await;
    let path = format!("/items/{}", sale.items[0]);
    let first = sale.look(&path, None).await;
    sale.fixture.clock.advance(std::time::Duration::from_secs(7));
    let again = sale.look(&path, Some(&tag(&first))).await;
    assert_eq!((again.status, again.text.as_str(), tag(&again)), (304, "", tag(&first)));
    assert_eq!(again.header("cache-control"), Some("private, no-cache"));
    let whole = sale.look(&path, None).await;
    assert_eq!((whole.status, tag(&whole)), (200, tag(&first)));
    assert_ne!(whole.json()["serverTime"], first.json()["serverTime"]);
    assert_eq!(sale.bid(0, "1", 100).await.status, 201);
    let changed = sale.look(&path, Some(&tag(&first))).await;
    assert_eq!((changed.status, &changed.json()["price"]), (200, &json!(100)));
}

#[tokio::test]
async fn a_tag_covers_counts_and_is_accepted_by_if_match() {
    let sale = Sale::timed(json!({}), &[json!({}), json!({})]).await;
    let auction = format!("/auctions/{}", sale.auction);
    let first = sale.look(&auction, None).await;
    assert_eq!(sale.look(&auction, Some(&tag(&first))).await.status, 304);
    // The auction's version stays; its counts change.
    assert_eq!(sale.bid(0, "1", 100).await.status, 201);
    let bidden = sale.look(&auction, Some(&tag(&first))).await;
    assert_eq!((bidden.status, &bidden.json()["itemCounts"]["withBids"]), (200, &json!(1)));
    assert_eq!(first.json()["version"], bidden.json()["version"]);

    let item = format!("/items/{}", sale.items[1]);
    let current = tag(&sale.look(&item, None).await);
    let bearer = format!("Bearer {}", sale.key);
    let status = async |tag: &str| {
        let headers = [("authorization", bearer.as_str()), ("if-match", tag)];
        sale.fixture.send(&Method::POST, &format!("/api/v1{item}/status"), &headers, r#"{"status":"WITHDRAWN"}"#).await
    };
    let made_up = format!("{}-x\"", current.split('-').next().unwrap());
    assert_eq!(status(&made_up).await.status, 412);
    assert_eq!(status(&current).await.status, 200);
    assert_eq!(status(&current).await.status, 412);
}

#[tokio::test]
async fn legal_next_statuses_exclude_those_that_the_items_forbid() {
    let sale = Sale::timed(json!({}), &[json!({})]).await;
    let auction = format!("/auctions/{}", sale.auction);
    assert_eq!(sale.get(&auction).await["legalNextStatuses"], json!(["PREVIEW"]));
    assert_eq!(sale.bid(0, "1", 100).await.status, 201);
    assert_eq!(sale.get(&auction).await["legalNextStatuses"], json!([]));
}

#[tokio::test]
async fn an_illegal_transition_lists_the_legal_statuses() {
    let sale = Sale::timed(json!({}), &[json!({})]).await;
    let version = sale.item(0).await["version"].as_i64().unwrap();
    let path = sale.path(0, "status");
    let refused = sale.step(&path, version, json!({ "status": "PREVIEW" })).await;
    assert_eq!((refused.status, refused.code().as_str()), (409, "illegal_transition"));
    assert_eq!(refused.json()["legalNextStatuses"], sale.item(0).await["legalNextStatuses"]);
    assert_eq!(sale.step(&path, version, json!({ "status": "DRAFT" })).await.status, 200);
    let other = sale.step(&path, version, json!({ "status": "LIVE" })).await;
    assert_eq!((other.status, &other.json()["legalNextStatuses"]), (412, &Value::Null));
}

#[tokio::test]
async fn an_item_whose_sale_is_over_has_no_minimum_bid() {
    let sale = Sale::timed(json!({}), &[json!({ "buyNow": 500 }), json!({})]).await;
    assert_eq!(sale.item(0).await["minimumBid"], 100);
    assert_eq!(sale.post(&sale.path(0, "buy-now"), json!({ "bidder": "1" })).await.status, 201);
    let withdraw = sale.step(&sale.path(1, "status"), 1, json!({ "status": "WITHDRAWN" })).await;
    assert_eq!(withdraw.status, 200, "{}", withdraw.text);
    for place in [0, 1] {
        assert_eq!(sale.item(place).await["minimumBid"], Value::Null);
    }
}

#[tokio::test]
async fn a_clerks_key_reads_the_item_that_it_may_correct() {
    let sale = Sale::new("webcast", json!({}), &[json!({})]).await;
    let clerk = sale.fixture.key(None, [Scope::RingWrite].into_iter().collect()).await;
    let bearer = format!("Bearer {clerk}");
    let (ring, item) = (format!("/api/v1/auctions/{}/ring", sale.auction), format!("/api/v1/items/{}", sale.items[0]));
    let step = async |current: &str, path: &str, body: Value| {
        let current = tag(&sale.fixture.call(&Method::GET, current, &clerk, &Value::Null).await);
        let headers = [("authorization", bearer.as_str()), ("if-match", current.as_str())];
        let done = sale.fixture.send(&Method::POST, path, &headers, &body.to_string()).await;
        assert_eq!(done.status, 200, "{path}: {}", done.text);
        done.json()
    };
    step(&ring, &format!("{ring}/send"), json!({})).await;
    step(&ring, &format!("{ring}/bid"), json!({ "source": "room", "bidder": "7", "amount": 500, "largeJump": true }))
        .await;
    step(&ring, &format!("{ring}/sell"), json!({})).await;
    let corrected = step(&item, &format!("{item}/status"), json!({ "status": "LIVE", "reason": "misheard" })).await;
    assert_eq!(corrected["status"], "LIVE");
}

#[tokio::test]
async fn an_invalid_cursor_is_rejected() {
    let fixture = Fixture::new();
    let customer = fixture.customer("First").await;
    let other = fixture.customer("Other").await;
    let key = fixture.key(Some(customer), Scopes::all()).await;
    let events = async |after: &str| {
        fixture.call(&Method::GET, &format!("/api/v1/events?after={after}"), &key, &Value::Null).await
    };
    assert_eq!(events("0").await.json(), json!({ "data": [], "next": 0, "done": true }));
    let beyond = events("1").await;
    assert_eq!((beyond.status, beyond.code().as_str()), (422, "cursor_beyond_end"), "{}", beyond.text);
    let negative = events("-1").await;
    assert_eq!((negative.status, negative.code().as_str()), (400, "query_invalid"), "{}", negative.text);
    for customer in [customer, other] {
        let key = fixture.key(Some(customer), Scopes::all()).await;
        let auctioneer = fixture.make("/api/v1/auctioneers", &key, json!({ "name": "Smith" })).await;
        fixture.sale(&key, auctioneer["uuid"].as_str().unwrap()).await;
    }
    let all = events("0").await.json();
    let next = all["next"].as_i64().unwrap();
    assert!(next > 0, "{all}");
    // Rows of another customer follow it.
    for (after, status) in [(next, 200), (next + 1, 200), (next + 1_000, 422)] {
        assert_eq!(events(&after.to_string()).await.status, status, "{after}");
    }
}

#[tokio::test]
async fn an_error_is_reported_once() {
    let fixture = Fixture::new();
    let customer = fixture.customer("First").await;
    let key = fixture.key(Some(customer), Scopes::all()).await;
    let auctioneer = fixture.make("/api/v1/auctioneers", &key, json!({ "name": "Smith" })).await;
    let auction = json!({
        "auctioneer": auctioneer["uuid"], "kind": "timed", "currency": "GBP", "timeZone": "UTC",
        "internetBids": "accepted_at_once",
    });
    let refused = fixture.call(&Method::POST, "/api/v1/auctions", &key, &auction).await;
    let errors = refused.json()["errors"].clone();
    assert_eq!((refused.status, errors.as_array().unwrap().len()), (422, 1), "{errors}");
    assert_eq!(errors[0]["pointer"], "/internetBids");
}

#[tokio::test]
async fn a_history_is_read_by_the_uuid_of_its_own_kind() {
    let fixture = Fixture::new();
    let customer = fixture.customer("First").await;
    let key = fixture.key(Some(customer), Scopes::all()).await;
    let auctioneer = fixture.make("/api/v1/auctioneers", &key, json!({ "name": "Smith" })).await;
    let (auction, item) = fixture.sale(&key, auctioneer["uuid"].as_str().unwrap()).await;
    for (kind, uuid, status) in
        [("auctions", &auction, 200), ("items", &item, 200), ("auctions", &item, 404), ("items", &auction, 404)]
    {
        let path = format!("/api/v1/{kind}/{uuid}/history");
        assert_eq!(fixture.call(&Method::GET, &path, &key, &Value::Null).await.status, status, "{path}");
    }
    let staff = fixture.key(None, Scopes::all()).await;
    for path in ["/events".to_owned(), format!("/items/{item}/record?after=99"), "/auctions?limit=251".to_owned()] {
        let answer = fixture.call(&Method::GET, &format!("/api/v1{path}"), &staff, &Value::Null).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "query_invalid"), "{path}: {}", answer.text);
    }
}

#[tokio::test]
async fn an_auctioneer_is_not_modified_until_it_changes() {
    let sale = Sale::timed(json!({}), &[json!({})]).await;
    let uuid = sale.get(&format!("/auctions/{}", sale.auction)).await["auctioneer"].clone();
    let path = format!("/auctioneers/{}", uuid.as_str().unwrap());
    let first = sale.look(&path, None).await;
    let again = sale.look(&path, Some(&tag(&first))).await;
    assert_eq!((again.status, again.text.as_str(), tag(&again)), (304, "", tag(&first)));
    assert_eq!(sale.patch(&path, json!({ "name": "Another" })).await.status, 200);
    let changed = sale.look(&path, Some(&tag(&first))).await;
    assert_eq!((changed.status, &changed.json()["name"]), (200, &json!("Another")));
}
