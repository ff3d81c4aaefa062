//! Bids: proxy bids, absentee bids, buy now, cancellations, extended ends.

use http::Method;
use platform_core::Scopes;
use serde_json::{Value, json};

use crate::fixture::{Answer, Fixture};

/// A LIVE auction, and a key with all scopes.
pub(crate) struct Sale {
    pub(crate) fixture: Fixture,
    pub(crate) key: String,
    pub(crate) auction: String,
    pub(crate) items: Vec<String>,
}

/// Headers of a request.
#[derive(Default)]
pub(crate) struct RequestHeaders {
    pub(crate) key: Option<&'static str>,
    pub(crate) version: Option<i64>,
}

impl Sale {
    /// An auction whose items have opening bids of 100 and increments of 10, unless an item sets others.
    pub(crate) async fn timed(auction: Value, items: &[Value]) -> Self {
        Self::new("timed", auction, items).await
    }

    pub(crate) async fn new(kind: &str, auction: Value, items: &[Value]) -> Self {
        let fixture = Fixture::new();
        let customer = fixture.customer("First").await;
        let key = fixture.key(Some(customer), Scopes::all()).await;
        let auctioneer = fixture.make("/api/v1/auctioneers", &key, json!({ "name": "Smith" })).await;
        let with = |base: Value, more: &Value| {
            let mut base = base;
            base.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            base
        };
        let lot = |number: usize, more: &Value| {
            with(json!({ "lotNumber": number.to_string(), "title": "A lot", "openingBid": 100 }), more)
        };
        let base = json!({
            "auctioneer": auctioneer["uuid"], "kind": kind, "title": "Prints", "currency": "GBP",
            "timeZone": "Europe/London", "startsAt": "2000-01-01T10:00:00.000Z", "endsAt": "2099-01-01T10:00:00.000Z",
            "status": "LIVE", "increments": [{ "from": 0, "increment": 10 }],
            "items": items.iter().enumerate().map(|(number, more)| lot(number, more)).collect::<Vec<_>>(),
        });
        let made = fixture.make("/api/v1/auctions", &key, with(base, &auction)).await;
        let auction = made["uuid"].as_str().unwrap().to_owned();
        let sale = Sale { fixture, key, auction, items: Vec::new() };
        let listed = sale.get(&format!("/auctions/{}/items", sale.auction)).await;
        let uuid = |item: &Value| item["uuid"].as_str().unwrap().to_owned();
        let items = listed["data"].as_array().unwrap().iter().map(uuid).collect();
        Sale { items, ..sale }
    }

    pub(crate) fn path(&self, place: usize, below: &str) -> String {
        format!("/items/{}/{below}", self.items[place])
    }

    pub(crate) async fn send(&self, method: &Method, path: &str, step: &RequestHeaders, body: &Value) -> Answer {
        let bearer = format!("Bearer {}", self.key);
        let tag = step.version.map(|version| format!("\"{version}\""));
        let mut headers = vec![("authorization", bearer.as_str()), ("content-type", "application/json")];
        headers.extend(tag.as_deref().map(|tag| ("if-match", tag)));
        headers.extend(step.key.map(|key| ("idempotency-key", key)));
        let text = if body.is_null() { String::new() } else { body.to_string() };
        self.fixture.send(method, &format!("/api/v1{path}"), &headers, &text).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(&Method::POST, path, &RequestHeaders::default(), &body).await
    }

    pub(crate) async fn step(&self, path: &str, version: i64, body: Value) -> Answer {
        self.send(&Method::POST, path, &RequestHeaders { version: Some(version), key: None }, &body).await
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) -> Answer {
        self.send(&Method::PATCH, path, &RequestHeaders::default(), &body).await
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let answer = self.send(&Method::GET, path, &RequestHeaders::default(), &Value::Null).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text);
        answer.json()
    }

    pub(crate) async fn item(&self, place: usize) -> Value {
        self.get(&format!("/items/{}", self.items[place])).await
    }

    pub(crate) async fn bid(&self, place: usize, bidder: &str, amount: i64) -> Answer {
        self.post(&self.path(place, "bids"), json!({ "bidder": bidder, "amount": amount })).await
    }

    /// Registers a bidder and returns the registration's path.
    pub(crate) async fn register(&self, bidder: Value) -> String {
        let path = format!("/auctions/{}/registrations", self.auction);
        let answer = self.post(&path, bidder).await;
        assert_eq!(answer.status, 201, "{}", answer.text);
        format!("{path}/{}", answer.json()["uuid"].as_str().unwrap())
    }
}

#[tokio::test]
async fn a_proxy_bid_leads_at_the_price_that_rival_bids_force() {
    let sale = Sale::timed(json!({}), &[json!({ "reserve": 250 })]).await;
    let first = sale.bid(0, "a", 500).await.json();
    assert_eq!(
        (&first["bid"]["amount"], &first["item"]["price"]),
        (&json!(250), &json!(250)),
        "the price is not at the reserve"
    );
    let second = sale.bid(0, "b", 300).await.json();
    assert_eq!((&second["item"]["price"], &second["item"]["leader"]), (&json!(310), &json!("a")));
    assert_eq!((&second["item"]["minimumBid"], &second["item"]["reserveMet"]), (&json!(320), &json!(true)));
    assert_eq!(sale.bid(0, "b", 319).await.code(), "bid_too_low");
    assert_eq!(
        sale.post(&sale.path(0, "absentee-bids"), json!({ "bidder": "a", "maximum": 900, "unusualAmount": true }))
            .await
            .status,
        409
    );
}

#[tokio::test]
async fn cancelling_a_bid_restores_the_price_without_it() {
    let sale = Sale::timed(json!({}), &[json!({})]).await;
    sale.bid(0, "a", 200).await;
    let wrong = sale.bid(0, "b", 5_000).await.json();
    sale.bid(0, "c", 400).await;
    assert_eq!(sale.item(0).await["price"], 410);
    let cancel = format!("{}/{}/cancel", sale.path(0, "bids"), wrong["bid"]["uuid"].as_str().unwrap());
    assert_eq!(sale.post(&cancel, json!({ "reason": " " })).await.code(), "reason_required");
    assert_eq!(sale.step(&cancel, 2, json!({ "reason": "A slip" })).await.code(), "precondition_failed");
    let step = RequestHeaders { key: Some("cancel"), version: None };
    let item = sale.send(&Method::POST, &cancel, &step, &json!({ "reason": "A slip" })).await;
    assert_eq!((item.status, &item.json()["leader"], &item.json()["price"]), (200, &json!("c"), &json!(210)));
    let again = sale.send(&Method::POST, &cancel, &step, &json!({ "reason": "A slip" })).await;
    assert_eq!((&again.text, again.header("idempotent-replayed")), (&item.text, Some("true")));
    assert_eq!(sale.post(&cancel, json!({ "reason": "Once more" })).await.code(), "bid_struck");
    let bids = sale.get(&sale.path(0, "bids")).await;
    let struck: Vec<&Value> = bids["data"].as_array().unwrap().iter().map(|bid| &bid["struck"]).collect();
    assert_eq!(struck, [&Value::Null, &json!("cancelled"), &Value::Null]);
    let unknown_bid = format!("{}/{}/cancel", sale.path(0, "bids"), sale.auction);
    assert_eq!(sale.post(&unknown_bid, json!({ "reason": "?" })).await.code(), "bid_not_found");
}

#[tokio::test]
async fn an_item_can_be_bought_now_until_its_price_reaches_the_buy_now_price() {
    let sale = Sale::timed(json!({}), &[json!({ "buyNow": 500 }), json!({ "buyNow": 500 }), json!({})]).await;
    assert_eq!(sale.item(0).await["buyNow"], 500);
    sale.bid(0, "a", 900).await;
    let bought = sale.post(&sale.path(0, "buy-now"), json!({ "bidder": "b" })).await;
    let answer = bought.json();
    assert_eq!((bought.status, &answer["item"]["status"]), (201, &json!("SOLD_BUY_NOW")), "{}", bought.text);
    assert_eq!((&answer["bid"]["source"], &answer["bid"]["amount"]), (&json!("buyNow"), &json!(500)));
    assert_eq!(sale.post(&sale.path(0, "buy-now"), json!({ "bidder": "c" })).await.code(), "item_not_live");
    sale.bid(1, "a", 900).await;
    sale.bid(1, "b", 490).await;
    assert_eq!(sale.item(1).await["buyNow"], Value::Null);
    assert_eq!(sale.post(&sale.path(1, "buy-now"), json!({ "bidder": "b" })).await.code(), "buy_now_over");
    assert_eq!(sale.post(&sale.path(2, "buy-now"), json!({ "bidder": "b" })).await.code(), "no_buy_now");
    let history = sale.get(&sale.path(0, "history")).await;
    assert_eq!(history["data"].as_array().unwrap().last().unwrap()["to"], "SOLD_BUY_NOW");

    let items = format!("/auctions/{}/items", sale.auction);
    let low = json!({ "lotNumber": "9", "title": "A lot", "openingBid": 100, "buyNow": 99 });
    let refused = sale.post(&items, low).await;
    assert_eq!((refused.status, &refused.json()["errors"][0]["pointer"]), (422, &json!("/buyNow")));
}

#[tokio::test]
async fn an_end_can_only_be_moved_later() {
    let sale = Sale::timed(json!({}), &[json!({})]).await;
    let end = sale.path(0, "end");
    let to = |time: &str| json!({ "endTime": time, "reason": "The site was down" });
    assert_eq!(sale.post(&end, to("2098-12-31T10:00:00Z")).await.code(), "end_not_later");
    let moved = sale.post(&end, to("2099-02-01T10:00:00Z")).await;
    assert_eq!(moved.status, 200, "{}", moved.text);
    assert_eq!(moved.json()["effectiveEndTime"], "2099-02-01T10:00:00.000Z");
    assert_eq!(moved.json()["endTime"], "2099-01-01T10:00:00.000Z");
    assert_eq!(
        sale.post(&end, json!({ "endTime": "2099-03-01T10:00:00Z", "reason": "" })).await.code(),
        "reason_required"
    );
}

#[tokio::test]
async fn an_absentee_bid_is_hidden_from_other_bidders() {
    let sale = Sale::new("webcast", json!({}), &[json!({})]).await;
    let leave = sale.path(0, "absentee-bids");
    assert_eq!(sale.post(&leave, json!({ "bidder": "a", "maximum": 99 })).await.code(), "bid_too_low");
    let left = sale.post(&leave, json!({ "bidder": "a", "maximum": 7_777, "unusualAmount": true })).await;
    assert_eq!(left.status, 201, "{}", left.text);
    let answer = left.json();
    assert_eq!((&answer["bid"]["amount"], &answer["item"]["price"]), (&Value::Null, &Value::Null));
    assert_eq!((&answer["item"]["leader"], &answer["item"]["bidCount"]), (&Value::Null, &json!(0)));
    assert_eq!(sale.get(&sale.path(0, "bids")).await["data"], json!([]));
    let cancel = format!("{}/{}/cancel", sale.path(0, "bids"), answer["bid"]["uuid"].as_str().unwrap());
    assert_eq!(sale.post(&cancel, json!({ "reason": "Changed their mind" })).await.status, 200);
    // An item accepts no absentee bids once it is in the ring.
    sale.step(&format!("/auctions/{}/ring/send", sale.auction), 1, json!({ "item": sale.items[0] })).await;
    let ring = sale
        .send(&Method::GET, &format!("/auctions/{}/ring", sale.auction), &RequestHeaders::default(), &Value::Null)
        .await;
    let tag = ring.header("etag").unwrap().to_owned();
    let bearer = format!("Bearer {}", sale.key);
    let headers =
        [("authorization", bearer.as_str()), ("content-type", "application/json"), ("if-match", tag.as_str())];
    let send = format!("/api/v1/auctions/{}/ring/send", sale.auction);
    let sent = sale.fixture.send(&Method::POST, &send, &headers, &json!({ "item": sale.items[0] }).to_string()).await;
    assert_eq!(sent.status, 200, "{}", sent.text);
    assert_eq!(
        sale.post(&leave, json!({ "bidder": "a", "maximum": 900, "unusualAmount": true })).await.code(),
        "item_in_ring"
    );
    let items = format!("/auctions/{}/items", sale.auction);
    let refused = sale.post(&items, json!({ "lotNumber": "9", "title": "A lot", "buyNow": 99 })).await;
    assert_eq!((refused.status, &refused.json()["errors"][0]["pointer"]), (422, &json!("/buyNow")));
}
