//! A passed lot: its bids lapse unless the clerk reopens it.

use http::Method;
use serde_json::{Value, json};

use crate::bidding::Sale;
use crate::fixture::Answer;

/// A webcast with a clerk who follows the ring.
struct WebcastFixture {
    sale: Sale,
    tag: String,
}

impl WebcastFixture {
    async fn new(auction: Value, items: &[Value]) -> Self {
        WebcastFixture { sale: Sale::new("webcast", auction, items).await, tag: "1.0".to_owned() }
    }

    async fn tell(&mut self, command: &str, body: Value) -> Answer {
        let (bearer, tag) = (format!("Bearer {}", self.sale.key), format!("\"{}\"", self.tag));
        let headers = [("authorization", &*bearer), ("content-type", "application/json"), ("if-match", &*tag)];
        let path = format!("/api/v1/auctions/{}/ring/{command}", self.sale.auction);
        let answer = self.sale.fixture.send(&Method::POST, &path, &headers, &body.to_string()).await;
        if let Some(tag) = answer.header("etag") {
            self.tag = tag.trim_matches('"').to_owned();
        }
        answer
    }

    async fn done(&mut self, command: &str, body: Value) -> Value {
        let answer = self.tell(command, body).await;
        assert_eq!(answer.status, 200, "{command}: {}", answer.text);
        answer.json()
    }

    /// Places an internet bid, and reads the ring's tag afterwards.
    async fn bid(&mut self, place: usize, bidder: &str, amount: i64) -> Answer {
        let bid = json!({ "bidder": bidder, "amount": amount });
        let answer = self.sale.post(&self.sale.path(place, "internet-bids"), bid).await;
        let path = format!("/api/v1/auctions/{}/ring", self.sale.auction);
        let ring = self.sale.fixture.call(&Method::GET, &path, &self.sale.key, &Value::Null).await;
        self.tag = ring.header("etag").unwrap().trim_matches('"').to_owned();
        answer
    }

    async fn bids(&self, place: usize) -> Vec<(Value, Value)> {
        let bids = self.sale.get(&self.sale.path(place, "bids")).await;
        bids["data"].as_array().unwrap().iter().map(|bid| (bid["amount"].clone(), bid["struck"].clone())).collect()
    }
}

#[tokio::test]
async fn a_passed_lot_is_not_sold_to_an_earlier_bid() {
    let at_once = json!({ "registration": "required", "internetBids": "accepted_at_once" });
    let mut hall = WebcastFixture::new(at_once, &[json!({}), json!({})]).await;
    let registrations = format!("/auctions/{}/registrations", hall.sale.auction);
    let bidder = json!({ "paddle": "d", "name": "Dee", "limit": 200, "status": "approved" });
    let registered = hall.sale.post(&registrations, bidder).await.json();
    hall.done("send", json!({})).await;
    assert_eq!(hall.bid(0, "d", 130).await.status, 201);
    hall.done("pass", json!({})).await;
    let passed = hall.sale.item(0).await;
    assert_eq!(
        (&passed["status"], &passed["leader"], &passed["price"]),
        (&json!("PASSED"), &Value::Null, &Value::Null)
    );

    // The pass frees the bidder's limit; the bidder uses it elsewhere, and is then refused.
    hall.done("send", json!({})).await;
    assert_eq!(hall.bid(1, "d", 150).await.status, 201);
    hall.done("sell", json!({})).await;
    let status = format!("{registrations}/{}/status", registered["uuid"].as_str().unwrap());
    let suspension = json!({ "status": "suspended", "reason": "fraud" });
    let suspended = hall.sale.step(&status, registered["version"].as_i64().unwrap(), suspension).await;
    assert_eq!(suspended.status, 200, "{}", suspended.text);

    let ring = hall.done("send", json!({ "item": hall.sale.items[0] })).await;
    assert_eq!((&ring["offer"]["standing"], &ring["item"]["leader"]), (&Value::Null, &Value::Null), "{ring}");
    let unsold = hall.tell("sell", json!({})).await;
    assert_eq!((unsold.status, unsold.code().as_str()), (409, "no_standing_bid"), "{}", unsold.text);
    assert_eq!(hall.bid(0, "d", 100).await.code(), "bidder_suspended");
    let ring = hall.done("bid", json!({ "source": "room", "bidder": "7" })).await;
    let at_the_desk = ring["desk"]["bids"].as_array().unwrap().iter().map(|bid| &bid["struck"]);
    assert!(at_the_desk.eq([&Value::Null, &json!("lapsed")]), "the lost bids are not listed newest first: {ring}");
    hall.done("sell", json!({})).await;
    assert_eq!(hall.sale.item(0).await["leader"], "7");
    assert_eq!(hall.bids(0).await, [(json!(130), json!("lapsed")), (json!(100), Value::Null)]);
}

#[tokio::test]
async fn the_state_of_an_internet_bid_can_be_read() {
    let mut hall = WebcastFixture::new(json!({}), &[json!({ "reserve": 200 })]).await;
    hall.done("send", json!({})).await;
    hall.done("bid", json!({ "source": "room", "bidder": "7" })).await;
    let low = hall.bid(0, "w-1", 120).await.json();
    let high = hall.bid(0, "w-2", 500).await.json();
    let state = async |hall: &WebcastFixture, bid: &Value| {
        let path = format!("{}/{}", hall.sale.path(0, "internet-bids"), bid["uuid"].as_str().unwrap());
        let answer = hall.sale.get(&path).await;
        (answer["state"].clone(), answer["reason"].clone(), answer["bid"]["amount"].clone())
    };
    assert_eq!(state(&hall, &high).await, (json!("waiting"), Value::Null, Value::Null));
    let ring = hall.done("fair-warning", json!({})).await;
    let waiting = &ring["desk"]["waiting"];
    assert_eq!((&waiting["source"], &waiting["uuid"]), (&json!("internet"), &high["uuid"]), "{ring}");
    assert_eq!((&waiting["bidder"], &waiting["amount"]), (&json!("w-2"), &json!(500)));

    hall.done("bid", json!({ "source": "room", "bidder": "7", "amount": 150 })).await;
    assert_eq!(state(&hall, &low).await, (json!("lost"), json!("bid_taken"), Value::Null));
    for (command, body, code) in [
        ("pass", json!({}), "higher_bid_waits"),
        ("sell", json!({}), "higher_bid_waits"),
        ("sell", json!({ "belowReserve": true }), "higher_bid_waits"),
        ("sell", json!({ "overWaitingBid": true }), "reserve_not_met"),
    ] {
        let refused = hall.tell(command, body).await;
        assert_eq!((refused.status, refused.code().as_str()), (409, code), "{}", refused.text);
    }
    hall.done("sell", json!({ "belowReserve": true, "overWaitingBid": true })).await;
    assert_eq!(state(&hall, &high).await, (json!("lost"), json!("sold_in_ring"), Value::Null));

    hall.done("reopen", json!({ "reason": "The hammer slipped" })).await;
    let second_bid = hall.bid(0, "w-2", 500).await.json();
    hall.done("accept", json!({ "bid": second_bid["uuid"] })).await;
    assert_eq!(state(&hall, &second_bid).await, (json!("accepted"), Value::Null, json!(500)));
    hall.done("sell", json!({})).await;
    assert_eq!(hall.sale.item(0).await["leader"], "w-2");
}

#[tokio::test]
async fn a_large_jump_and_a_price_that_cancels_bids_need_a_confirmation() {
    let mut hall = WebcastFixture::new(json!({}), &[json!({ "highEstimate": 40 })]).await;
    let ring = hall.done("send", json!({})).await;
    // The asking price is 100. The limits are ten increments of 10 above it, and five times the high estimate of 40.
    assert_eq!(ring["desk"]["unconfirmedPriceMax"], 200);
    for (command, body, code) in [
        ("bid", json!({ "source": "room", "amount": 201 }), "large_jump"),
        ("bid", json!({ "source": "internet", "bidder": "w-1", "amount": 201 }), "large_jump"),
        ("asking-price", json!({ "amount": 201 }), "large_jump"),
        ("asking-price", json!({ "amount": 201, "belowStandingBid": true }), "large_jump"),
    ] {
        let refused = hall.tell(command, body.clone()).await;
        assert_eq!((refused.status, refused.code().as_str()), (409, code), "{command} {body}");
    }
    hall.done("bid", json!({ "source": "room", "bidder": "7", "amount": 150 })).await;
    hall.done("bid", json!({ "source": "room", "bidder": "8", "amount": 500, "largeJump": true })).await;
    for body in [json!({ "amount": 117 }), json!({ "amount": 117, "largeJump": true })] {
        let refused = hall.tell("asking-price", body.clone()).await;
        assert_eq!((refused.status, refused.code().as_str()), (409, "cancels_bids"), "{body}");
    }
    let lowered = hall.done("asking-price", json!({ "amount": 117, "belowStandingBid": true })).await;
    assert_eq!((&lowered["offer"]["standing"], &lowered["offer"]["askingPrice"]), (&Value::Null, &json!(117)));
    let restored = hall.done("undo", json!({ "reason": "A slip" })).await;
    let standing = &restored["offer"]["standing"];
    assert_eq!(
        (&standing["bidder"], &standing["amount"], &restored["offer"]["askingPrice"]),
        (&json!("8"), &json!(500), &json!(510))
    );
}

#[tokio::test]
async fn reopening_a_passed_lot_restores_its_standing_bid() {
    let mut hall = WebcastFixture::new(json!({}), &[json!({})]).await;
    hall.done("send", json!({})).await;
    for bidder in ["7", "8"] {
        hall.done("bid", json!({ "source": "room", "bidder": bidder })).await;
    }
    hall.done("pass", json!({})).await;
    assert_eq!(hall.bids(0).await, [(json!(100), json!("lapsed")), (json!(110), json!("lapsed"))]);
    let ring = hall.done("reopen", json!({ "reason": "The hammer slipped" })).await;
    assert_eq!((&ring["item"]["leader"], &ring["item"]["price"]), (&json!("8"), &json!(110)));
    assert_eq!(hall.bids(0).await, [(json!(100), Value::Null), (json!(110), Value::Null)]);
    hall.done("sell", json!({})).await;
    assert_eq!(hall.sale.item(0).await["status"], "SOLD");
}

#[tokio::test]
async fn a_lot_is_not_passed_while_the_ring_is_paused() {
    let mut hall = WebcastFixture::new(json!({}), &[json!({})]).await;
    hall.done("send", json!({})).await;
    let paused = hall.done("pause", json!({})).await;
    assert!(!paused["desk"]["commands"].as_array().unwrap().contains(&json!("pass")), "{paused}");
    let refused = hall.tell("pass", json!({})).await;
    assert_eq!((refused.status, refused.code().as_str()), (409, "ring_paused"), "{}", refused.text);
    hall.done("resume", json!({})).await;
    hall.done("pass", json!({})).await;
}

#[tokio::test]
async fn a_blank_reason_counts_as_missing() {
    let mut hall = WebcastFixture::new(json!({}), &[json!({})]).await;
    hall.done("send", json!({})).await;
    hall.done("pass", json!({})).await;
    for body in [json!({}), json!({ "reason": "" }), json!({ "reason": " \n" })] {
        let refused = hall.tell("reopen", body.clone()).await;
        assert_eq!((refused.status, &refused.json()["errors"][0]["pointer"]), (422, &json!("/reason")), "{body}");
    }
}
