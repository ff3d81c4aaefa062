//! A repeated request returns its first answer with its `ETag`, so that a caller who lost it can continue.

use http::Method;
use serde_json::{Value, json};

use crate::bidding::{RequestHeaders, Sale};

#[tokio::test]
async fn a_clerk_continues_with_the_tag_of_a_replayed_response() {
    let sale = Sale::new("webcast", json!({}), &[json!({})]).await;
    let ring = format!("/api/v1/auctions/{}/ring", sale.auction);
    let bearer = format!("Bearer {}", sale.key);
    let command = async |name: &str, key: &str, tag: &str, body: Value| {
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
            ("idempotency-key", key),
            ("if-match", tag),
        ];
        sale.fixture.send(&Method::POST, &format!("{ring}/{name}"), &headers, &body.to_string()).await
    };
    let current = sale.fixture.call(&Method::GET, &ring, &sale.key, &Value::Null).await;
    let current = current.header("etag").unwrap().to_owned();
    let first = command("send", "k1", &current, json!({})).await;
    assert_eq!(first.status, 200, "{}", first.text);
    let again = command("send", "k1", &current, json!({})).await;
    assert_eq!((again.header("idempotent-replayed"), &again.text), (Some("true"), &first.text));
    let tag = again.header("etag").unwrap();
    assert_eq!(Some(tag), first.header("etag"));
    let bid = command("bid", "k2", tag, json!({ "source": "room", "bidder": "7" })).await;
    assert_eq!(bid.status, 200, "{}", bid.text);
}

#[tokio::test]
async fn a_replayed_creation_has_the_tag_of_the_first_response() {
    let sale = Sale::timed(json!({}), &[json!({})]).await;
    let path = format!("/auctions/{}/registrations", sale.auction);
    for (path, body) in [
        (path.as_str(), json!({ "name": "Ada" })),
        (sale.path(0, "bids").as_str(), json!({ "bidder": "9", "amount": 100 })),
        ("/auctioneers", json!({ "name": "Jones" })),
    ] {
        let sent = RequestHeaders { key: Some(path_key(path)), version: None };
        let first = sale.send(&Method::POST, path, &sent, &body).await;
        let again = sale.send(&Method::POST, path, &sent, &body).await;
        assert_eq!((first.status, again.status, &again.text), (201, 201, &first.text), "{path}");
        assert_eq!((again.header("etag"), again.header("idempotent-replayed")), (first.header("etag"), Some("true")));
        assert!(first.header("etag").is_some(), "{path}");
    }
}

fn path_key(path: &str) -> &'static str {
    match path.rsplit('/').next() {
        Some("registrations") => "registration",
        Some("bids") => "bid",
        _ => "auctioneer",
    }
}

#[tokio::test]
async fn a_registration_changes_only_in_the_version_that_the_caller_read() {
    let sale = Sale::timed(json!({}), &[json!({})]).await;
    let ada = sale.register(json!({ "name": "Ada", "paddle": "1", "note": "rings at noon" })).await;
    let patch = async |version, body: Value| {
        sale.send(&Method::PATCH, &ada, &RequestHeaders { key: None, version: Some(version) }, &body).await
    };
    let changed = patch(1, json!({ "limit": 500, "note": null, "email": "ada@example.com" })).await;
    assert_eq!((changed.status, changed.header("etag")), (200, Some("\"2\"")), "{}", changed.text);
    let changed = changed.json();
    assert_eq!((&changed["limit"], &changed["note"], &changed["name"]), (&json!(500), &Value::Null, &json!("Ada")));
    assert_eq!(patch(1, json!({ "limit": 900 })).await.code(), "precondition_failed");
    assert_eq!(patch(2, json!({ "note": "x".repeat(1_001) })).await.json()["errors"][0]["pointer"], "/note");
    assert_eq!(patch(2, json!({ "uuid": "2" })).await.status, 422);
    assert_eq!(sale.get(&ada).await, changed);
}

#[tokio::test]
async fn a_paddle_can_change_until_a_bid_names_it() {
    let sale = Sale::timed(json!({}), &[json!({}), json!({})]).await;
    let ada = sale.register(json!({ "name": "Ada", "paddle": "1", "limit": 5_000 })).await;
    let bob = sale.register(json!({ "name": "Bob", "paddle": "2" })).await;
    assert_eq!(sale.bid(1, "walk-in", 100).await.status, 201);
    let to = async |who: &str, paddle: &str| sale.patch(who, json!({ "paddle": paddle })).await;
    let refused = |answer: crate::fixture::Answer| (answer.status, answer.code());
    assert_eq!(refused(to(&ada, "2").await), (409, "taken".into()));
    assert_eq!(refused(to(&ada, "walk-in").await), (409, "paddle_has_bid".into()));
    assert_eq!(to(&ada, " ").await.json()["errors"][0]["pointer"], "/paddle");
    assert_eq!(sale.patch(&ada, json!({ "paddle": null })).await.status, 422);
    let moved = to(&ada, "12").await;
    assert_eq!((moved.status, &moved.json()["paddle"], moved.header("etag")), (200, &json!("12"), Some("\"2\"")));
    // The limit stays with the registration, and its former paddle can be assigned again.
    assert_eq!(sale.bid(0, "12", 5_001).await.code(), "spending_limit_reached");
    assert_eq!(to(&bob, "1").await.status, 200);
    assert_eq!(sale.bid(0, "12", 500).await.status, 201);
    let refused_move = to(&ada, "13").await;
    assert_eq!((refused_move.status, refused_move.code().as_str()), (409, "paddle_has_bid"), "{}", refused_move.text);
    assert_eq!(to(&ada, "12").await.status, 200, "the same paddle was refused");
    let next = sale.post(&format!("/auctions/{}/registrations", sale.auction), json!({ "name": "Cy" })).await.json();
    assert_eq!(next["paddle"], "13", "a new paddle does not follow the highest number");
    let verified = sale.fixture.platform.verify_all(&[], &|_| ()).await.unwrap();
    assert_eq!(verified.broken.iter().map(|broken| &broken.what).collect::<Vec<_>>(), Vec::<&String>::new());
}
