//! List filters, and their pages.

use http::Method;
use platform_core::Scopes;
use serde_json::{Value, json};

use crate::bidding::Sale;
use crate::fixture::{Answer, Fixture};

/// A field of all listed rows, read in pages of one row.
async fn listed(sale: &Sale, path: &str, field: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut after = String::new();
    for _ in 0..20 {
        let page = sale.get(&format!("{path}&limit=1{after}")).await;
        let data = page["data"].as_array().unwrap_or_else(|| panic!("{path}: {page}"));
        found.extend(data.iter().map(|one| one[field].as_str().unwrap().to_owned()));
        let Some(next) = page["next"].as_str() else { return found };
        after = format!("&after={next}");
    }
    panic!("{path} does not end");
}

#[tokio::test]
async fn auctions_are_listed_by_status_kind_and_auctioneer() {
    let sale = Sale::timed(json!({}), &[json!({})]).await;
    let first = sale.get(&format!("/auctions/{}", sale.auction)).await;
    let smith = &first["auctioneer"];
    let jones = sale.post("/auctioneers", json!({ "name": "Jones" })).await.json()["uuid"].clone();
    let new = |auctioneer: &Value, kind: &str, title: &str| json!({ "auctioneer": auctioneer, "kind": kind, "title": title, "currency": "GBP", "timeZone": "Europe/London" });
    for auction in [new(smith, "webcast", "b"), new(&jones, "timed", "c"), new(&jones, "webcast", "d")] {
        assert_eq!(sale.post("/auctions", auction).await.status, 201);
    }
    let a = first["title"].as_str().unwrap();
    let jones = jones.as_str().unwrap();
    let customer = first["customer"].as_str().unwrap();
    for (query, titles) in [
        ("status=LIVE".to_owned(), vec![a]),
        ("status=DRAFT".to_owned(), vec!["b", "c", "d"]),
        ("status=DRAFT,LIVE,DRAFT".to_owned(), vec![a, "b", "c", "d"]),
        ("status=ARCHIVED".to_owned(), vec![]),
        ("kind=timed".to_owned(), vec![a, "c"]),
        ("kind=webcast&status=DRAFT,PREVIEW&sandbox=false".to_owned(), vec!["b", "d"]),
        (format!("auctioneer={jones}"), vec!["c", "d"]),
        (format!("auctioneer={jones}&kind=timed&status=DRAFT&customer={customer}"), vec!["c"]),
        (format!("auctioneer={jones}&sandbox=true"), vec![]),
    ] {
        assert_eq!(listed(&sale, &format!("/auctions?{query}"), "title").await, titles, "{query}");
    }
    // A cursor is a position in the whole list.
    let page = sale.get("/auctions?limit=2").await;
    let behind = format!("/auctions?kind=webcast&after={}", page["next"].as_str().unwrap());
    assert_eq!(sale.get(&behind).await["data"][0]["title"], "d");
}

#[tokio::test]
async fn filtering_by_another_customers_auctioneer_is_not_found() {
    let fixture = Fixture::new();
    let (first, second) = (fixture.customer("First").await, fixture.customer("Second").await);
    let (theirs, ours) =
        (fixture.key(Some(first), Scopes::all()).await, fixture.key(Some(second), Scopes::all()).await);
    let staff = fixture.key(None, Scopes::all()).await;
    let foreign_auctioneer =
        fixture.make("/api/v1/auctioneers", &theirs, json!({ "name": "Smith" })).await["uuid"].clone();
    let path = format!("/api/v1/auctions?auctioneer={}", foreign_auctioneer.as_str().unwrap());
    let call = async |key: &str, path: &str| fixture.call(&Method::GET, path, key, &Value::Null).await;
    assert_eq!(call(&ours, &path).await.code(), "not_found");
    assert_eq!(call(&theirs, &path).await.json()["data"], json!([]));
    assert_eq!(call(&staff, &format!("{path}&customer={second}")).await.json()["data"], json!([]));
}

#[tokio::test]
async fn items_are_listed_by_status_and_found_by_lot_number() {
    let lots = [json!({ "lotNumber": "1" }), json!({ "lotNumber": "12A, B" }), json!({ "lotNumber": "3" })];
    let sale = Sale::timed(json!({}), &lots).await;
    let path = format!("/auctions/{}/items", sale.auction);
    let suspended = json!({ "status": "SUSPENDED", "reason": "query" });
    let version = sale.item(2).await["version"].as_i64().unwrap();
    assert_eq!(sale.step(&sale.path(2, "status"), version, suspended).await.status, 200);
    assert_eq!(sale.bid(1, "7", 100).await.status, 201);
    for (query, wanted) in [
        ("status=LIVE", vec!["1", "12A, B"]),
        ("status=SUSPENDED,LIVE", vec!["1", "12A, B", "3"]),
        ("status=SOLD", vec![]),
        ("lotNumber=12A%2C%20B", vec!["12A, B"]),
        ("lotNumber=12", vec![]),
        ("lotNumber=%00", vec![]),
        ("lotNumber=3&status=LIVE", vec![]),
        ("lotNumber=3&status=LIVE,SUSPENDED", vec!["3"]),
    ] {
        assert_eq!(listed(&sale, &format!("{path}?{query}"), "lotNumber").await, wanted, "{query}");
    }
}

#[tokio::test]
async fn registrations_are_listed_by_status_and_paddle() {
    let sale = Sale::timed(json!({ "registration": "required" }), &[json!({})]).await;
    for (paddle, status) in [("1", "pending"), ("2", "approved"), ("3", "pending")] {
        sale.register(json!({ "name": "Ada", "paddle": paddle, "status": status })).await;
    }
    let path = format!("/auctions/{}/registrations", sale.auction);
    for (query, wanted) in [
        ("status=pending", vec!["1", "3"]),
        ("status=approved,pending", vec!["1", "2", "3"]),
        ("status=suspended", vec![]),
        ("status=pending&paddle=2", vec![]),
        ("status=pending&paddle=3", vec!["3"]),
    ] {
        assert_eq!(listed(&sale, &format!("{path}?{query}"), "paddle").await, wanted, "{query}");
    }
}

#[tokio::test]
async fn unknown_filter_values_are_refused() {
    let sale = Sale::timed(json!({}), &[json!({})]).await;
    let of_auction = |below: &str| format!("/auctions/{}{below}", sale.auction);
    for path in [
        "/auctions?status=live".to_owned(),
        "/auctions?status=".to_owned(),
        "/auctions?status=LIVE,".to_owned(),
        "/auctions?status=LIVE&status=DRAFT".to_owned(),
        "/auctions?kind=tender".to_owned(),
        "/auctions?auctioneer=1".to_owned(),
        "/auctions?state=LIVE".to_owned(),
        of_auction("/items?status=NEW"),
        of_auction("/items?lot=1"),
        of_auction("/registrations?status=APPROVED"),
    ] {
        let bearer = format!("Bearer {}", sale.key);
        let headers = [("authorization", bearer.as_str())];
        let answer: Answer = sale.fixture.send(&Method::GET, &format!("/api/v1{path}"), &headers, "").await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "query_invalid"), "{path}: {}", answer.text);
    }
}
