//! Calls every route of the document without a key, with a key that lacks the scope, with a key that has only the scope,
//! and with a key of another customer.

use std::collections::BTreeSet;

use http::Method;
use platform_core::{Scope, Scopes};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::fixture::Fixture;

/// How a route excludes other customers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Others {
    /// The path names a record of the first customer: 404.
    Record,
    /// The query or body names the first customer or a record of it: 404.
    Named,
    /// It involves no customer's record.
    Nothing,
}

use Others::{Named, Nothing, Record};

/// A route, a valid body, and how it excludes other customers. `CUSTOMER`, `AUCTIONEER`, `AUCTION`, `ITEM` stand for
/// records of the first customer.
#[rustfmt::skip]
fn routes() -> Vec<(&'static str, &'static str, Others, Value)> {
    let auction = json!({ "auctioneer": "AUCTIONEER", "kind": "timed", "currency": "GBP", "timeZone": "UTC" });
    let nothing = Value::Null;
    vec![
        ("POST", "/customers", Nothing, json!({ "name": "Third" })),
        ("GET", "/customers", Nothing, nothing.clone()),
        ("GET", "/customers/{uuid}", Record, nothing.clone()),
        ("PUT", "/customers/{uuid}/consumer", Record, json!({ "applicationId": "app_1" })),
        ("GET", "/customers/{uuid}/consumer", Record, nothing.clone()),
        ("POST", "/customers/{uuid}/consumer/event-types", Record, nothing.clone()),
        ("POST", "/customers/{uuid}/consumer/resume", Record, nothing.clone()),
        ("GET", "/customers/{uuid}/consumer/quarantine", Record, nothing.clone()),
        ("DELETE", "/customers/{uuid}/consumer", Record, nothing.clone()),
        ("POST", "/customers/{uuid}/consumer/quarantine/send", Record, json!({})),
        ("POST", "/customers/{uuid}/consumer/quarantine/drop", Record, json!({ "cursors": [1], "reason": "stale" })),
        ("POST", "/api-keys", Named, json!({ "name": "k", "scopes": ["keys:write"], "customer": "CUSTOMER" })),
        ("GET", "/api-keys?customer=CUSTOMER", Named, nothing.clone()),
        ("GET", "/api-keys/{uuid}", Record, nothing.clone()),
        ("DELETE", "/api-keys/{uuid}", Record, nothing.clone()),
        ("GET", "/access-log", Nothing, nothing.clone()),
        ("POST", "/users", Nothing, json!({ "email": "u@example.com", "role": "viewer" })),
        ("GET", "/users", Nothing, nothing.clone()),
        ("GET", "/users/{uuid}", Record, nothing.clone()),
        ("PATCH", "/users/{uuid}", Record, json!({ "role": "viewer" })),
        ("POST", "/users/{uuid}/password", Record, json!({})),
        ("POST", "/users/{uuid}/second-factor/off", Record, json!({})),
        ("GET", "/users/{uuid}/sessions", Record, nothing.clone()),
        ("DELETE", "/users/{uuid}/sessions", Record, nothing.clone()),
        ("DELETE", "/users/{uuid}", Record, nothing.clone()),
        ("POST", "/auctioneers", Named, json!({ "name": "A", "customer": "CUSTOMER" })),
        ("GET", "/auctioneers?customer=CUSTOMER", Named, nothing.clone()),
        ("GET", "/auctioneers/{uuid}", Record, nothing.clone()),
        ("PATCH", "/auctioneers/{uuid}", Record, json!({ "name": "Smith & Sons" })),
        ("POST", "/auctions", Named, auction),
        ("GET", "/auctions?customer=CUSTOMER", Named, nothing.clone()),
        ("GET", "/auctions/{uuid}", Record, nothing.clone()),
        ("POST", "/auctions/{uuid}/status", Record, json!({ "status": "PREVIEW" })),
        ("PATCH", "/auctions/{uuid}", Record, json!({ "title": "Prints and maps" })),
        ("POST", "/auctions/{uuid}/ends", Record, json!({ "shiftSeconds": 60 })),
        ("POST", "/auctions/{uuid}/clone", Record, json!({ "shiftSeconds": 60 })),
        ("GET", "/auctions/{uuid}/results", Record, nothing.clone()),
        ("GET", "/auctions/{uuid}/results/items", Record, nothing.clone()),
        ("GET", "/auctions/{uuid}/results.csv", Record, nothing.clone()),
        ("GET", "/auctions/{uuid}/history", Record, nothing.clone()),
        ("POST", "/auctions/{uuid}/items", Record, json!({ "lotNumber": "2", "title": "Another" })),
        ("GET", "/auctions/{uuid}/items", Record, nothing.clone()),
        ("POST", "/auctions/{uuid}/catalogue", Record, json!("lot_number,title\n3,A third\n")),
        ("GET", "/auctions/{uuid}/catalogue", Record, nothing.clone()),
        ("POST", "/auctions/{uuid}/catalogue/merge", Record, json!("Lot,Title\n3,A third\n")),
        ("POST", "/auctions/{uuid}/catalogue/mapping", Record, json!({ "headers": ["Lot", "Title"] })),
        ("POST", "/auctions/{uuid}/items/changes", Record, json!({ "items": [{ "item": "ITEM", "patch": {} }] })),
        ("POST", "/auctions/{uuid}/relist", Record, json!({ "into": "AUCTION", "items": [{ "item": "ITEM" }] })),
        ("POST", "/auctions/{uuid}/unpaid", Record, json!({ "buyer": "12", "reason": "Not paid" })),
        ("PATCH", "/items/{uuid}", Record, json!({ "title": "An etching" })),
        ("GET", "/items/{uuid}", Record, nothing.clone()),
        ("POST", "/items/{uuid}/status", Record, json!({ "status": "WITHDRAWN" })),
        ("GET", "/items/{uuid}/history", Record, nothing.clone()),
        ("POST", "/items/{uuid}/buyer", Record, json!({ "buyer": "12" })),
        ("POST", "/items/{uuid}/offer", Record, json!({ "buyer": "12", "amount": 100, "reason": "An offer" })),
        ("GET", "/auctions/{uuid}/telephone-bookings", Record, nothing.clone()),
        ("PUT", "/items/{uuid}/telephone-bookings/{paddle}", Record, json!({ "telephone": "+44 20 7946 0018" })),
        ("DELETE", "/items/{uuid}/telephone-bookings/{paddle}", Record, nothing.clone()),
        ("POST", "/items/{uuid}/hammer-price", Record, json!({ "amount": 100, "reason": "Misheard" })),
        ("PUT", "/items/{uuid}/images/{image}", Record, nothing.clone()),
        ("GET", "/items/{uuid}/images", Record, nothing.clone()),
        ("POST", "/items/{uuid}/images/order", Record, json!({ "images": [] })),
        ("DELETE", "/images/{uuid}", Record, nothing.clone()),
        ("GET", "/items/{uuid}/record", Record, nothing.clone()),
        ("POST", "/items/{uuid}/bids", Record, json!({ "bidder": "12", "amount": 100 })),
        ("GET", "/items/{uuid}/bids", Record, nothing.clone()),
        ("POST", "/items/{uuid}/absentee-bids", Record, json!({ "bidder": "12", "maximum": 100 })),
        ("POST", "/items/{uuid}/absentee-bids/withdraw", Record, json!({ "bidder": "12" })),
        ("POST", "/items/{uuid}/buy-now", Record, json!({ "bidder": "12" })),
        ("POST", "/items/{uuid}/bids/{bid}/cancel", Record, json!({ "reason": "A mistake" })),
        ("POST", "/items/{uuid}/end", Record, json!({ "endTime": "2099-01-01T10:00:00Z", "reason": "Snow" })),
        ("POST", "/auctions/{uuid}/registrations", Record, json!({ "name": "A. Bidder" })),
        ("GET", "/auctions/{uuid}/registrations", Record, nothing.clone()),
        ("GET", "/auctions/{uuid}/registrations/{registration}", Record, nothing.clone()),
        ("PATCH", "/auctions/{uuid}/registrations/{registration}", Record, json!({ "limit": 500 })),
        ("POST", "/auctions/{uuid}/registrations/{registration}/status", Record, json!({ "status": "approved" })),
        ("GET", "/items/{uuid}/live", Record, nothing.clone()),
        ("GET", "/auctions/{uuid}/live", Record, nothing.clone()),
        ("GET", "/auctions/{uuid}/clerks", Record, nothing.clone()),
        ("PUT", "/auctions/{uuid}/clerks/{user}", Record, nothing.clone()),
        ("DELETE", "/auctions/{uuid}/clerks/{user}", Record, nothing.clone()),
        ("GET", "/clerks", Nothing, nothing.clone()),
        ("GET", "/auctions/{uuid}/ring", Record, nothing.clone()),
        ("GET", "/auctions/{uuid}/ring/messages", Record, nothing.clone()),
        ("PUT", "/auctions/{uuid}/ring/message", Record, json!({ "text": "We go on at 14:30." })),
        ("DELETE", "/auctions/{uuid}/ring/message", Record, nothing.clone()),
        ("POST", "/auctions/{uuid}/ring/begin", Record, json!({})),
        ("POST", "/auctions/{uuid}/ring/send", Record, json!({ "item": "ITEM" })),
        ("POST", "/auctions/{uuid}/ring/asking-price", Record, json!({ "amount": 100 })),
        ("POST", "/auctions/{uuid}/ring/bid", Record, json!({ "source": "room", "bidder": "1", "amount": 100 })),
        ("POST", "/auctions/{uuid}/ring/accept", Record, json!({ "bid": "ITEM" })),
        ("POST", "/auctions/{uuid}/ring/commission-bid", Record, json!({ "bidder": "1" })),
        ("POST", "/auctions/{uuid}/ring/undo", Record, json!({ "reason": "misheard" })),
        ("POST", "/auctions/{uuid}/ring/retract", Record, json!({ "bid": "ITEM", "reason": "misheard" })),
        ("POST", "/auctions/{uuid}/ring/fair-warning", Record, json!({})),
        ("POST", "/auctions/{uuid}/ring/pause", Record, json!({})),
        ("POST", "/auctions/{uuid}/ring/resume", Record, json!({})),
        ("POST", "/auctions/{uuid}/ring/sell", Record, json!({})),
        ("POST", "/auctions/{uuid}/ring/pass", Record, json!({})),
        ("POST", "/auctions/{uuid}/ring/remove", Record, json!({})),
        ("POST", "/auctions/{uuid}/ring/offer-again", Record, json!({ "item": "ITEM" })),
        ("POST", "/auctions/{uuid}/clock/advance", Record, json!({ "seconds": 1 })),
        ("GET", "/auctions/{uuid}/clock", Record, nothing.clone()),
        ("POST", "/auctions/{uuid}/ring/reopen", Record, json!({ "reason": "misheard" })),
        ("POST", "/items/{uuid}/internet-bids", Record, json!({ "bidder": "12", "amount": 100 })),
        ("GET", "/items/{uuid}/internet-bids/{bid}", Record, nothing.clone()),
        ("GET", "/events?customer=CUSTOMER", Named, nothing.clone()),
        ("GET", "/reference-data/countries", Nothing, nothing.clone()),
        ("GET", "/reference-data/currencies", Nothing, nothing.clone()),
        ("GET", "/reference-data/item-statuses", Nothing, nothing.clone()),
        ("GET", "/reference-data/auction-statuses", Nothing, nothing.clone()),
        ("GET", "/reference-data/event-types", Nothing, nothing.clone()),
        ("GET", "/reference/countries/{id}", Nothing, nothing.clone()),
        ("GET", "/reference/currencies/{id}", Nothing, nothing.clone()),
        ("GET", "/reference/addresses/{id}", Record, nothing.clone()),
        ("GET", "/reference/auctioneers/{id}", Record, nothing),
    ]
}

/// Routes that need no key.
const PUBLIC: [&str; 3] = ["GET /health", "POST /sessions", "GET /images/{uuid}/{variant}"];

/// Routes for signed-in users of every role; refused to every API key.
fn of_users() -> Vec<(&'static str, &'static str, Value)> {
    vec![
        ("GET", "/sessions", Value::Null),
        ("DELETE", "/sessions", Value::Null),
        ("DELETE", "/sessions/{uuid}", Value::Null),
        ("GET", "/me", Value::Null),
        ("GET", "/me/webcasts", Value::Null),
        ("POST", "/me/password", json!({ "old": "a", "new": "b" })),
        ("POST", "/me/second-factor", json!({ "password": "a" })),
        ("POST", "/me/second-factor/confirm", json!({ "code": "123456" })),
        ("POST", "/me/second-factor/off", json!({ "code": "123456" })),
    ]
}

/// The first customer's records.
struct FirstCustomer {
    fixture: Fixture,
    customer: Uuid,
    auctioneer: Value,
    auction: String,
    item: String,
    registration: String,
    bid: String,
    key: String,
    user: String,
    image: String,
}

impl FirstCustomer {
    async fn new() -> Self {
        let fixture = Fixture::new();
        let customer = fixture.customer("First").await;
        let key = fixture.key(Some(customer), Scopes::all()).await;
        let address =
            json!({ "addressLine1": "1 High Street", "addressLine2": "", "postcode": "BA1 1AA", "countryCode": "uk" });
        let auctioneer =
            fixture.make("/api/v1/auctioneers", &key, json!({ "name": "Smith", "address": address })).await;
        let (auction, item) = fixture.sale(&key, auctioneer["uuid"].as_str().unwrap()).await;
        let path = format!("/api/v1/auctions/{auction}/registrations");
        let registration = fixture.make(&path, &key, json!({ "name": "B. Idder" })).await;
        let path = format!("/api/v1/items/{item}/absentee-bids");
        let left = fixture.make(&path, &key, json!({ "bidder": "9", "maximum": 5_000, "unusualAmount": true })).await;
        let spare = fixture.make("/api/v1/api-keys", &key, json!({ "name": "spare", "scopes": ["events:read"] })).await;
        let text = |value: &Value| value["uuid"].as_str().unwrap().to_owned();
        let (registration, bid, key) = (text(&registration), text(&left["bid"]), text(&spare));
        let staff = fixture.key(None, Scopes::all()).await;
        // A second administrator, so that the last one is never changed.
        fixture.make("/api/v1/users", &staff, json!({ "email": "a@example.com", "role": "administrator" })).await;
        let user = fixture.make("/api/v1/users", &staff, json!({ "email": "v@example.com", "role": "viewer" })).await;
        let user = text(&user);
        let image = crate::images::add(&fixture, &item).await.uuid.to_string();
        FirstCustomer { fixture, customer, auctioneer, auction, item, registration, bid, key, user, image }
    }

    fn fill(&self, text: &str) -> String {
        text.replace("CUSTOMER", &self.customer.to_string())
            .replace("AUCTIONEER", self.auctioneer["uuid"].as_str().unwrap())
            .replace("AUCTION", &self.auction)
            .replace("ITEM", &self.item)
    }

    fn address(&self, path: &str) -> String {
        let subject = match path.split('/').nth(1) {
            Some("customers") => self.customer.to_string(),
            Some("auctioneers") => self.auctioneer["uuid"].as_str().unwrap().to_owned(),
            Some("items") => self.item.clone(),
            Some("images") => self.image.clone(),
            Some("api-keys") => self.key.clone(),
            Some("users") => self.user.clone(),
            _ => self.auction.clone(),
        };
        let id = match path.split('/').nth(2) {
            Some("addresses") => self.auctioneer["addressId"].to_string(),
            // The ISO numbers of Great Britain and of its currency.
            Some("countries" | "currencies") => "826".to_owned(),
            _ => self.auctioneer["id"].to_string(),
        };
        let path = path.replace("{uuid}", &subject).replace("{id}", &id);
        let path = path.replace("{registration}", &self.registration).replace("{bid}", &self.bid);
        let path = path.replace("{user}", &self.user).replace("{image}", &self.image).replace("{paddle}", "117");
        format!("/api/v1{}", self.fill(&path))
    }

    async fn call(&self, method: &str, path: &str, key: Option<&str>, body: &Value) -> (u16, String, String) {
        let method: Method = method.parse().unwrap();
        let bearer = key.map(|key| format!("Bearer {key}"));
        let (kind, text) = match body {
            Value::String(csv) => ("text/csv", csv.clone()),
            Value::Null => ("application/json", String::new()),
            body => ("application/json", self.fill(&body.to_string())),
        };
        // A version that no record has, so that no call changes anything.
        let tag = if path.contains("/ring") { "\"0.0\"" } else { "\"999\"" };
        let mut headers = vec![("content-type", kind), ("if-match", tag)];
        headers.extend(bearer.as_deref().map(|bearer| ("authorization", bearer)));
        let answer = self.fixture.send(&method, &self.address(path), &headers, &text).await;
        (answer.status, answer.code(), answer.text.to_string())
    }
}

/// The scopes in the document: one of them is enough; `None` for public operations.
fn needed(operation: &Value) -> Option<Vec<Scope>> {
    let security = operation["security"].as_array().unwrap();
    if security.iter().any(|one| one == &json!({})) {
        return None;
    }
    let names = security.iter().flat_map(|one| one["key"].as_array().unwrap());
    Some(names.map(|name| Scope::parse(name.as_str().unwrap()).unwrap()).collect())
}

#[tokio::test]
async fn every_route_refuses_callers_without_access() {
    let rig = FirstCustomer::new().await;
    let other = rig.fixture.customer("Other").await;
    let other = rig.fixture.key(Some(other), Scopes::all()).await;
    let document = serde_json::to_value(platform_api::openapi()).unwrap();
    let mut untried: BTreeSet<String> = BTreeSet::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for method in operations.as_object().unwrap().keys() {
            untried.insert(format!("{} {}", method.to_uppercase(), path.strip_prefix("/api/v1").unwrap()));
        }
    }
    for route in PUBLIC {
        assert!(untried.remove(route), "{route} is not in the document");
    }
    let any = rig.fixture.key(None, Scopes::all()).await;
    for (method, path, body) in of_users() {
        let route = format!("{method} {path}");
        assert!(untried.remove(&route), "{route} is not in the document");
        let security = &document["paths"][format!("/api/v1{path}")][method.to_lowercase()]["security"];
        assert_eq!(security, &json!([{ "session": [] }]), "{route}");
        for (key, refusal) in [
            (None, (401, "authorization_missing")),
            (Some("lws_wrong"), (401, "unauthenticated")),
            (Some(any.as_str()), (403, "forbidden")),
            (Some(other.as_str()), (403, "forbidden")),
        ] {
            let (status, code, text) = rig.call(method, path, key, &body).await;
            assert_eq!((status, code.as_str()), refusal, "{route} by {key:?}: {text}");
        }
    }
    for (method, path, others, body) in routes() {
        let bare = path.split('?').next().unwrap();
        let route = format!("{method} {bare}");
        assert!(untried.remove(&route), "{route} is not in the document");
        let operation = &document["paths"][format!("/api/v1{bare}")][method.to_lowercase()];
        let needed = needed(operation).unwrap();

        for (key, refusal) in
            [(None, "authorization_missing"), (Some("lw_wrong"), "unauthenticated"), (Some("wrong"), "unauthenticated")]
        {
            let (status, code, _) = rig.call(method, path, key, &body).await;
            assert_eq!((status, code.as_str()), (401, refusal), "{route} with the key {key:?}");
        }

        // A key of the platform's own staff reaches all customers, but only with the scope of the route.
        let without: Scopes = Scope::ALL.into_iter().filter(|scope| !needed.contains(scope)).collect();
        for customer in [Some(rig.customer), None] {
            let key = rig.fixture.key(customer, without).await;
            let (status, code, text) = rig.call(method, path, Some(&key), &body).await;
            if needed.is_empty() {
                assert_eq!(status, 200, "{route} with any key: {text}");
            } else {
                assert_eq!((status, code.as_str()), (403, "forbidden"), "{route} without {needed:?}: {text}");
            }
        }

        for scope in &needed {
            let key = rig.fixture.key(None, [*scope].into_iter().collect()).await;
            let (status, code, text) = rig.call(method, path, Some(&key), &body).await;
            // With this scope alone, a caller may only correct a sale or a pass.
            if (route.as_str(), *scope) == ("POST /items/{uuid}/status", Scope::RingWrite) {
                continue;
            }
            // A caller with this scope alone can't create or change a user with more scopes.
            let is_told_why = text.contains("has scopes that you do not have");
            // The request passed the scope check: the customer has no connection, and the absentee bid is no internet bid.
            let found = text.contains("connection") || text.contains("no such internet bid");
            let is_let_in = !matches!(status, 401 | 403 | 500) && (status != 404 || found);
            let is_let_in = is_let_in || is_told_why;
            assert!(is_let_in, "{route} with {scope:?} alone: {status} {code} {text}");
        }

        let (status, code, text) = rig.call(method, path, Some(&other), &body).await;
        match others {
            Nothing => {
                let is_public = bare.starts_with("/reference/countries/") || bare.starts_with("/reference/currencies/");
                assert!(is_public || !bare.contains('{'), "{route} names a record");
            }
            Record | Named => assert_eq!((status, code.as_str()), (404, "not_found"), "{route} by another: {text}"),
        }
    }
    assert!(untried.is_empty(), "routes of the document that this table does not try: {untried:?}");
}

#[tokio::test]
async fn only_the_platforms_own_staff_creates_customers() {
    let rig = FirstCustomer::new().await;
    let own = rig.fixture.key(Some(rig.customer), Scopes::all()).await;
    let (status, code, _) = rig.call("POST", "/customers", Some(&own), &json!({ "name": "Mine" })).await;
    assert_eq!((status, code.as_str()), (403, "forbidden"));
    let answer = rig.fixture.call(&Method::GET, "/api/v1/customers", &own, &Value::Null).await;
    let current = answer.json()["data"].as_array().unwrap().len();
    assert_eq!(current, 1, "a customer sees only itself: {}", answer.text);
}
