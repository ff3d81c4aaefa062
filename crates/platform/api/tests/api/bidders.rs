//! Bidders: registration, approval, spending limits and paddles.

use http::Method;
use platform_core::Scope;
use serde_json::{Value, json};

use crate::bidding::{RequestHeaders, Sale};

#[tokio::test]
async fn a_bidder_is_registered_approved_suspended_and_approved_again() {
    let sale = Sale::timed(json!({ "registration": "required" }), &[json!({})]).await;
    let registrations = format!("/auctions/{}/registrations", sale.auction);
    assert_eq!(sale.bid(0, "1", 100).await.code(), "bidder_not_approved");
    let fetched = sale.post(&registrations, json!({ "name": "Ada", "email": "ada@example.com" })).await;
    assert_eq!((fetched.status, fetched.header("etag")), (201, Some("\"1\"")), "{}", fetched.text);
    let fetched = fetched.json();
    assert_eq!((&fetched["paddle"], &fetched["status"]), (&json!("1"), &json!("pending")));
    assert_eq!(fetched["legalNextStatuses"], json!(["approved", "refused"]));
    assert_eq!(sale.bid(0, "1", 100).await.code(), "bidder_not_approved");

    let path = format!("{registrations}/{}", fetched["uuid"].as_str().unwrap());
    let status = format!("{path}/status");
    assert_eq!(sale.post(&status, json!({ "status": "approved" })).await.status, 428);
    assert_eq!(sale.step(&status, 9, json!({ "status": "approved" })).await.code(), "precondition_failed");
    assert_eq!(sale.step(&status, 1, json!({ "status": "suspended" })).await.code(), "illegal_transition");
    assert_eq!(sale.step(&status, 1, json!({ "status": "approved" })).await.status, 200);
    assert_eq!(sale.bid(0, "1", 100).await.status, 201);

    assert_eq!(sale.step(&status, 2, json!({ "status": "suspended" })).await.code(), "reason_required");
    let reason = json!({ "status": "suspended", "reason": "Did not pay" });
    assert_eq!(sale.step(&status, 2, reason).await.json()["reason"], "Did not pay");
    assert_eq!(sale.bid(0, "1", 500).await.code(), "bidder_suspended");
    assert_eq!(sale.item(0).await["leader"], "1", "the suspension removed a standing bid");
    assert_eq!(sale.step(&status, 3, json!({ "status": "approved" })).await.json()["reason"], Value::Null);
    assert_eq!(sale.bid(0, "1", 500).await.status, 201);

    let second = sale.post(&registrations, json!({ "name": "Bob", "status": "approved" })).await.json();
    assert_eq!((&second["paddle"], &second["status"]), (&json!("2"), &json!("approved")));
    assert_eq!(sale.bid(0, "2", 120).await.status, 201);
    let listed = sale.get(&registrations).await;
    assert_eq!(listed["data"].as_array().unwrap().len(), 2);
    assert_eq!(sale.get(&format!("{registrations}?paddle=2")).await["data"], json!([second]));
    let first = sale.get(&format!("{registrations}?limit=1")).await;
    let next = format!("{registrations}?limit=1&after={}", first["next"].as_str().unwrap());
    assert_eq!(sale.get(&next).await["data"], json!([second]));
}

#[tokio::test]
async fn an_existing_registration_is_enforced_in_an_open_auction() {
    let vendor = "019a0000-0000-7000-8000-00000000000a";
    let sale = Sale::timed(json!({}), &[json!({ "vendor": vendor })]).await;
    assert_eq!(sale.bid(0, "walk-in", 100).await.status, 201);
    let party = json!({ "name": "The owner", "paddle": "7", "party": vendor });
    sale.register(party.clone()).await;
    assert_eq!(sale.bid(0, "7", 200).await.code(), "vendor_barred");
    let again = sale.post(&format!("/auctions/{}/registrations", sale.auction), party).await;
    assert_eq!((again.status, again.code().as_str()), (409, "taken"));
    // In an open auction a pending bidder may bid; a declined one may not.
    let pending = sale.register(json!({ "name": "Cy", "paddle": "8" })).await;
    assert_eq!(sale.bid(0, "8", 300).await.status, 201);
    let refused = json!({ "status": "refused", "reason": "Unknown" });
    assert_eq!(sale.step(&format!("{pending}/status"), 1, refused).await.status, 200);
    assert_eq!(sale.bid(0, "8", 400).await.code(), "bidder_not_approved");
}

#[tokio::test]
async fn a_spending_limit_includes_leading_bids_and_purchases() {
    let items = [json!({}), json!({}), json!({ "buyNow": 300 }), json!({})];
    let sale = Sale::timed(json!({}), &items).await;
    let ada = sale.register(json!({ "name": "Ada", "paddle": "1", "limit": 1_000 })).await;
    assert_eq!(sale.bid(0, "1", 600).await.status, 201);
    let refused = sale.bid(1, "1", 401).await;
    assert_eq!((refused.status, refused.code().as_str()), (409, "spending_limit_reached"));
    // A new maximum on the same item replaces the earlier one in the committed amount.
    assert_eq!(sale.bid(0, "1", 700).await.status, 201);
    assert_eq!(sale.bid(1, "1", 300).await.status, 201);
    // The limit is free again after the bidder is outbid.
    assert_eq!(sale.bid(0, "2", 900).await.status, 201);
    assert_eq!(sale.post(&sale.path(2, "buy-now"), json!({ "bidder": "1" })).await.status, 201);
    // The bidder leads with 300 and has bought for 300.
    assert_eq!(sale.bid(3, "1", 401).await.code(), "spending_limit_reached");
    assert_eq!(sale.bid(3, "1", 400).await.status, 201);
    let raised = sale.patch(&ada, json!({ "limit": 1_200 })).await;
    assert_eq!((raised.status, &raised.json()["limit"]), (200, &json!(1_200)), "{}", raised.text);
    assert_eq!(sale.bid(3, "1", 600).await.status, 201);
    assert_eq!(sale.bid(3, "1", 601).await.code(), "spending_limit_reached");
    assert_eq!(sale.patch(&ada, json!({ "limit": null })).await.json()["limit"], Value::Null);
    assert_eq!(sale.bid(3, "1", 50_000).await.status, 201);
}

#[tokio::test]
async fn bids_before_the_limit_was_set_count_towards_it() {
    let sale = Sale::timed(json!({}), &[json!({}), json!({}), json!({})]).await;
    assert_eq!(sale.bid(0, "1", 600).await.status, 201, "the bid before the registration was refused");
    let ada = sale.register(json!({ "name": "Ada", "paddle": "1" })).await;
    assert_eq!(sale.bid(1, "1", 300).await.status, 201, "the bid before the limit was refused");
    assert_eq!(sale.patch(&ada, json!({ "limit": 1_000 })).await.status, 200);
    assert_eq!(sale.bid(2, "1", 101).await.code(), "spending_limit_reached");
    assert_eq!(sale.bid(2, "1", 100).await.status, 201);
}

#[tokio::test]
async fn concurrent_bids_on_many_items_stay_within_the_limit() {
    let items: Vec<Value> = (0..40).map(|_| json!({})).collect();
    let sale = Sale::timed(json!({}), &items).await;
    sale.register(json!({ "name": "Ada", "paddle": "1", "limit": 2_000 })).await;
    let bids = (0..40).map(|place| sale.bid(place, "1", 100));
    let answers = futures_util::future::join_all(bids).await;
    let taken = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!(taken, 20, "{:?}", answers.iter().map(crate::fixture::Answer::code).collect::<Vec<_>>());
}

#[tokio::test]
async fn an_invalid_registration_is_rejected_with_a_pointer() {
    let sale = Sale::timed(json!({}), &[json!({})]).await;
    let path = format!("/auctions/{}/registrations", sale.auction);
    for (body, pointer) in [
        (json!({ "name": "" }), "/name"),
        (json!({ "name": "Ada", "email": "nobody" }), "/email"),
        (json!({ "name": "Ada", "limit": -1 }), "/limit"),
        (json!({ "name": "Ada", "paddle": "" }), "/paddle"),
        (json!({ "name": "Ada", "status": "suspended" }), "/status"),
        (json!({ "name": "Ada", "status": "gone" }), "/status"),
    ] {
        let refused = sale.post(&path, body.clone()).await;
        assert_eq!((refused.status, &refused.json()["errors"][0]["pointer"]), (422, &json!(pointer)), "{body}");
    }
    let step = RequestHeaders { key: Some("once"), version: None };
    let first = sale.send(&Method::POST, &path, &step, &json!({ "name": "Ada" })).await;
    let again = sale.send(&Method::POST, &path, &step, &json!({ "name": "Ada" })).await;
    assert_eq!((first.status, &first.text), (201, &again.text));
    assert_eq!(sale.get(&path).await["data"].as_array().unwrap().len(), 1);
    // The e-mail address is shown only to callers who may read registrations.
    let reader = sale.fixture.key(None, [Scope::AuctionsRead].into_iter().collect()).await;
    let answer = sale.fixture.call(&Method::GET, &format!("/api/v1{path}"), &reader, &Value::Null).await;
    assert_eq!((answer.status, answer.code().as_str()), (403, "forbidden"));
}

#[tokio::test]
async fn a_clerk_can_not_enter_bids_of_bidders_who_may_not_bid() {
    let vendor = "019a0000-0000-7000-8000-00000000000a";
    let sale = Sale::new("webcast", json!({ "registration": "required" }), &[json!({ "vendor": vendor })]).await;
    for bidder in [
        json!({ "name": "The owner", "paddle": "7", "party": vendor, "status": "approved" }),
        json!({ "name": "Pending", "paddle": "8" }),
        json!({ "name": "Limited", "paddle": "9", "status": "approved", "limit": 150 }),
        json!({ "name": "Absent", "paddle": "10", "status": "approved" }),
    ] {
        sale.register(bidder).await;
    }
    let left = sale
        .post(&sale.path(0, "absentee-bids"), json!({ "bidder": "10", "maximum": 900, "unusualAmount": true }))
        .await;
    assert_eq!(left.status, 201, "{}", left.text);
    let ring = format!("/auctions/{}/ring", sale.auction);
    let give = async |command: &str, body: Value| {
        let current = sale.send(&Method::GET, &ring, &RequestHeaders::default(), &Value::Null).await;
        let tag = current.header("etag").unwrap();
        let bearer = format!("Bearer {}", sale.key);
        let headers = [("authorization", &*bearer), ("content-type", "application/json"), ("if-match", tag)];
        let path = format!("/api/v1{ring}/{command}");
        let answer = sale.fixture.send(&Method::POST, &path, &headers, &body.to_string()).await;
        if answer.status == 200 { String::new() } else { answer.code() }
    };
    assert_eq!(give("send", json!({})).await, "");
    let bid = |source: &str, bidder: &str, amount: i64| json!({ "source": source, "bidder": bidder, "amount": amount });
    for (source, bidder, amount, code) in [
        ("internet", "7", 100, "vendor_barred"),
        ("room", "7", 100, "vendor_barred"),
        ("internet", "8", 100, "bidder_not_approved"),
        ("internet", "nobody", 100, "bidder_not_approved"),
        ("internet", "9", 160, "spending_limit_reached"),
        ("internet", "9", 100, ""),
        ("internet", "9", 110, "already_leading"),
        // The clerk may enter bids of these bidders.
        ("room", "8", 120, ""),
        ("room", "nobody", 130, ""),
        ("room", "9", 160, ""),
    ] {
        assert_eq!(give("bid", bid(source, bidder, amount)).await, code, "{source} {bidder} {amount}");
    }
    assert_eq!(give("commission-bid", json!({ "bidder": "10" })).await, "");
    assert_eq!(give("commission-bid", json!({ "bidder": "10" })).await, "already_leading");
}
