//! Auctions and items, edited by an administrator after their creation.

use std::time::Duration;

use http::Method;
use kit_runtime::clock::Clock as _;
use platform_core::Scopes;
use platform_core::sales::item_ends::ItemEndWorker;
use serde_json::{Value, json};

use crate::bidding::{RequestHeaders, Sale};
use crate::fixture::{Answer, Fixture};

/// A customer's key, and a client that uses it.
struct AdminFixture {
    fixture: Fixture,
    key: String,
    auctioneer: Value,
}

impl AdminFixture {
    async fn new() -> Self {
        let fixture = Fixture::new();
        let customer = fixture.customer("First").await;
        let key = fixture.key(Some(customer), Scopes::all()).await;
        let auctioneer = fixture.make("/api/v1/auctioneers", &key, json!({ "name": "Smith" })).await["uuid"].clone();
        AdminFixture { fixture, key, auctioneer }
    }

    /// A timed auction that closes in an hour, with the fields of `more`.
    async fn auction(&self, more: Value) -> Value {
        let mut auction = json!({
            "auctioneer": self.auctioneer, "kind": "timed", "title": "Prints", "currency": "GBP",
            "timeZone": "Europe/London", "endsAt": self.in_seconds(3_600),
        });
        let fields = auction.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        self.fixture.make("/api/v1/auctions", &self.key, auction).await
    }

    fn in_seconds(&self, seconds: i64) -> String {
        let now = kit_runtime::clock::to_ms(self.fixture.clock.now());
        kit_runtime::clock::rfc3339_ms(kit_runtime::clock::from_ms(now + seconds * 1_000))
    }

    async fn get(&self, path: &str) -> Value {
        let answer = self.fixture.call(&Method::GET, path, &self.key, &Value::Null).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text);
        answer.json()
    }

    async fn items(&self, auction: &Value) -> Vec<Value> {
        let path = format!("/api/v1/auctions/{}/items?limit=250", text(&auction["uuid"]));
        self.get(&path).await["data"].as_array().unwrap().clone()
    }

    /// Sends a request with the record's version in `If-Match`.
    async fn send(&self, method: Method, path: &str, current: &Value, body: Value) -> Answer {
        let (bearer, tag) = (format!("Bearer {}", self.key), format!("\"{}\"", current["version"]));
        let headers = [("authorization", &*bearer), ("content-type", "application/json"), ("if-match", &*tag)];
        self.fixture.send(&method, path, &headers, &body.to_string()).await
    }

    async fn patch(&self, what: &str, record: &Value, body: Value) -> Answer {
        let path = format!("/api/v1/{what}/{}", text(&record["uuid"]));
        self.send(Method::PATCH, &path, record, body).await
    }

    async fn bid(&self, item: &Value, bidder: &str, amount: i64) {
        let path = format!("/api/v1/items/{}/bids", text(&item["uuid"]));
        self.fixture.make(&path, &self.key, json!({ "bidder": bidder, "amount": amount })).await;
    }

    /// Advances the clock and ends the items that are due.
    async fn pass(&self, seconds: u64) {
        self.fixture.clock.advance(Duration::from_secs(seconds));
        let now = self.fixture.clock.now();
        ItemEndWorker::new(self.fixture.platform.clone()).run_once(now).await.unwrap();
    }

    async fn csv(&self, path: &str) -> Answer {
        self.fixture.call(&Method::GET, path, &self.key, &Value::Null).await
    }

    async fn import(&self, auction: &Value, file: &str) -> Answer {
        let bearer = format!("Bearer {}", self.key);
        let path = format!("/api/v1/auctions/{}/catalogue", text(&auction["uuid"]));
        self.fixture.send(&Method::POST, &path, &[("authorization", &bearer), ("content-type", "text/csv")], file).await
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

#[tokio::test]
async fn an_edit_of_an_auction_moves_its_planned_ends() {
    let desk = AdminFixture::new().await;
    let items = json!([{ "lotNumber": "1", "title": "A" }, { "lotNumber": "2", "title": "B" },
        { "lotNumber": "3", "title": "C", "endTime": desk.in_seconds(9_000) }]);
    let auction = desk.auction(json!({ "items": items })).await;
    let patch = json!({
        "title": "Prints and maps", "endsAt": desk.in_seconds(7_200), "stagger": { "seconds": 60, "items": 1 },
        "extensionSeconds": null, "charges": { "premiumBasisPoints": 2500, "premiumTaxBasisPoints": 2000 },
        "attachments": [{ "url": "https://youtu.be/dQw4w9WgXcQ", "label": "The view" }],
        "address": { "addressLine1": "1 High Street", "addressLine2": "", "postcode": "BA1 1AA", "countryCode": "gb" },
    });
    let answer = desk.patch("auctions", &auction, patch).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let changed = answer.json();
    assert!(answer.header("etag").unwrap().starts_with("\"2-"));
    assert_eq!(changed["charges"]["premiumBasisPoints"], 2500);
    assert_eq!((&changed["extensionSeconds"], &changed["kind"]), (&Value::Null, &json!("timed")));
    assert_eq!(changed["attachments"][0]["url"], "dQw4w9WgXcQ");
    let address = desk.get(&format!("/api/v1/reference/addresses/{}", changed["addressId"])).await;
    assert_eq!(address["countryCode"], "uk");
    let ends: Vec<Value> = desk.items(&auction).await.iter().map(|item| item["effectiveEndTime"].clone()).collect();
    assert_eq!(ends, [desk.in_seconds(7_200), desk.in_seconds(7_260), desk.in_seconds(9_000)]);

    let stale = desk.patch("auctions", &auction, json!({ "title": "Late" })).await;
    assert_eq!((stale.status, stale.code().as_str()), (412, "precondition_failed"));
    let locked = desk.patch("auctions", &changed, json!({ "currency": "EUR" })).await;
    assert_eq!((locked.status, locked.code().as_str()), (409, "fields_locked"), "{}", locked.text);
    let unknown = desk.patch("auctions", &changed, json!({ "kind": "webcast" })).await;
    assert_eq!(unknown.status, 422, "{}", unknown.text);
    let wrong = desk.patch("auctions", &changed, json!({ "timeZone": "Mars" })).await;
    assert_eq!(wrong.json()["errors"][0]["pointer"], "/timeZone", "{}", wrong.text);
    let wrong = desk.patch("auctions", &changed, json!({ "timeZone": "europe/london", "currency": "HRK" })).await;
    assert_eq!(wrong.json()["errors"].as_array().map(Vec::len), Some(2), "{}", wrong.text);
    let same = desk.patch("auctions", &changed, json!({ "title": "Prints and maps" })).await;
    assert_eq!(same.header("etag"), answer.header("etag"), "an edit without an effect changed the tag");
}

#[tokio::test]
async fn an_item_can_be_edited_until_bids_lock_its_terms() {
    let desk = AdminFixture::new().await;
    let auction = desk.auction(json!({ "status": "LIVE", "items": [{ "lotNumber": "1", "title": "A" }] })).await;
    let item = desk.items(&auction).await.remove(0);
    assert_eq!(item["legalNextStatuses"], json!(["DRAFT", "SUSPENDED", "WITHDRAWN"]));
    let patch = json!({ "openingBid": 500, "reserve": 900, "buyNow": 5_000, "lowEstimate": 800, "description": "Framed",
        "attachments": [{ "url": "https://images.example/1.pdf" }] });
    let answer = desk.patch("items", &item, patch).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let changed = answer.json();
    assert_eq!((&changed["minimumBid"], &changed["reserveMet"]), (&json!(500), &json!(false)));
    assert!(!answer.text.contains("\"reserve\""), "{}", answer.text);
    desk.bid(&changed, "7", 600).await;
    let item = desk.get(&format!("/api/v1/items/{}", text(&item["uuid"]))).await;
    let locked = desk.patch("items", &item, json!({ "reserve": null, "title": "B" })).await;
    assert_eq!((locked.status, locked.code().as_str()), (409, "fields_locked"), "{}", locked.text);
    assert!(locked.text.contains("reserve"), "{}", locked.text);
    let words = desk.patch("items", &item, json!({ "title": "B", "description": "" })).await;
    assert_eq!((words.status, &words.json()["title"]), (200, &json!("B")), "{}", words.text);
}

#[tokio::test]
async fn ends_only_move_later_and_extended_ones_stay() {
    let desk = AdminFixture::new().await;
    let items: Vec<Value> = (1..=4).map(|lot| json!({ "lotNumber": lot.to_string(), "title": "A" })).collect();
    let auction = desk.auction(json!({ "status": "LIVE", "extensionSeconds": 600, "items": items })).await;
    let path = format!("/api/v1/auctions/{}/ends", text(&auction["uuid"]));
    let zero = kit_runtime::clock::to_ms(desk.fixture.clock.now());
    let ends = async || -> Vec<i64> {
        let end = |item: &Value| {
            let end: jiff::Timestamp = text(&item["effectiveEndTime"]).parse().unwrap();
            (kit_runtime::clock::to_ms(end) - zero) / 1_000
        };
        desk.items(&auction).await.iter().map(end).collect()
    };
    // A bid five minutes before the end extends that end by five minutes.
    desk.pass(3_300).await;
    desk.bid(&desk.items(&auction).await[0], "7", 100).await;
    assert_eq!(ends().await, [3_900, 3_600, 3_600, 3_600]);
    let shift = json!({ "shiftSeconds": 120, "reason": "the site was slow" });
    let earlier = desk.send(Method::POST, &path, &auction, json!({ "shiftSeconds": -60, "reason": "x" })).await;
    assert_eq!((earlier.status, earlier.code().as_str()), (409, "end_not_later"), "{}", earlier.text);
    let unreasoned = desk.send(Method::POST, &path, &auction, json!({ "shiftSeconds": 60 })).await;
    assert_eq!(unreasoned.code(), "reason_required");
    let moved = desk.send(Method::POST, &path, &auction, shift).await;
    assert_eq!((moved.status, &moved.json()["moved"]), (200, &json!(4)), "{}", moved.text);
    assert_eq!(ends().await, [3_900, 3_720, 3_720, 3_720]);
    let auction = moved.json()["auction"].clone();
    let stagger =
        json!({ "endsAt": desk.in_seconds(500), "stagger": { "seconds": 60, "items": 2 }, "reason": "calmer" });
    let staggered = desk.send(Method::POST, &path, &auction, stagger).await;
    assert_eq!(staggered.status, 200, "{}", staggered.text);
    assert_eq!(ends().await, [3_900, 3_800, 3_860, 3_860]);
    let auction = staggered.json()["auction"].clone();
    let last = desk.items(&auction).await[3]["uuid"].clone();
    let one = json!({ "shiftSeconds": 30, "items": [last], "reason": "on request" });
    let one = desk.send(Method::POST, &path, &auction, one).await;
    assert_eq!((one.status, &one.json()["moved"]), (200, &json!(1)), "{}", one.text);
    assert_eq!(ends().await, [3_900, 3_800, 3_860, 3_890]);
    assert_eq!(one.json()["auction"]["endsAt"], auction["endsAt"]);
}

#[tokio::test]
async fn a_bulk_edit_reports_each_rejected_entry() {
    let desk = AdminFixture::new().await;
    let items: Vec<Value> = (1..=4).map(|lot| json!({ "lotNumber": lot.to_string(), "title": "A" })).collect();
    let auction = desk.auction(json!({ "items": items })).await;
    let items = desk.items(&auction).await;
    let of = |place: usize| items[place]["uuid"].clone();
    let path = format!("/api/v1/auctions/{}/items/changes", text(&auction["uuid"]));
    let newcomer = "019a0000-0000-7000-8000-000000000000";
    let body = json!({ "items": [
        { "item": of(0), "patch": { "title": "Chair", "lotNumber": "1A" }, "status": "PREVIEW" },
        { "item": of(1), "patch": { "lotNumber": "3" } },
        { "item": of(2), "version": 7, "patch": { "title": "Table" } },
        { "item": of(3), "status": "SOLD" },
        { "item": newcomer, "patch": {} },
    ] });
    let answer = desk.send(Method::POST, &path, &auction, body.clone()).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let done = answer.json();
    let codes: Vec<&str> =
        done["results"].as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap_or("done")).collect();
    assert_eq!(codes, ["done", "taken", "precondition_failed", "illegal_transition", "not_found"]);
    assert_eq!((&done["done"], &done["refused"]), (&json!(1), &json!(4)));
    let now = desk.items(&auction).await;
    let current =
        |place: usize| (text(&now[place]["lotNumber"]), text(&now[place]["title"]), text(&now[place]["status"]));
    assert_eq!([current(0), current(1)], [("1A", "Chair", "PREVIEW"), ("2", "A", "DRAFT")]);
}

#[tokio::test]
async fn sold_items_are_totalled_and_unsold_ones_relisted() {
    let desk = AdminFixture::new().await;
    let items: Vec<Value> =
        (1..=3).map(|lot| json!({ "lotNumber": lot.to_string(), "title": "A", "reserve": 200 })).collect();
    let charges = json!({ "premiumBasisPoints": 2500, "premiumTaxBasisPoints": 2000 });
    let live = json!({ "status": "LIVE", "extensionSeconds": 0, "charges": charges, "items": items });
    let auction = desk.auction(live).await;
    let lots = desk.items(&auction).await;
    desk.bid(&lots[0], "=7", 333).await;
    desk.bid(&lots[1], "9", 250).await;
    desk.pass(3_600).await;
    let path = format!("/api/v1/auctions/{}", text(&auction["uuid"]));
    let results = desk.get(&format!("{path}/results?limit=1")).await;
    // Each lot is sold at its reserve: hammer price 200, premium 50, tax on the premium 10.
    assert_eq!(results["totals"], json!({ "hammer": 400, "premium": 100, "tax": 20, "total": 520 }));
    assert_eq!((&results["sold"], &results["unsold"], &results["final"]), (&json!(2), &json!(1), &json!(false)));
    assert_eq!(
        results["data"][0],
        json!({ "bidder": "9", "items": 1, "hammer": 200, "premium": 50, "tax": 10, "total": 260 })
    );
    let rest = desk.get(&format!("{path}/results?limit=1&after={}", text(&results["next"]))).await;
    assert_eq!((&rest["data"][0]["bidder"], &rest["next"]), (&json!("=7"), &Value::Null));
    let one = desk.get(&format!("{path}/results/items")).await["data"][2].clone();
    assert_eq!((&one["status"], &one["result"]), (&json!("UNSOLD"), &Value::Null));
    let file = desk.csv(&format!("{path}/results.csv")).await;
    assert!(!file.text.contains("reserve") && !file.text.contains("vendor"), "{}", file.text);
    assert_eq!(file.header("content-type"), Some("text/csv; charset=utf-8"));
    assert!(file.text.contains(",SOLD,'=7,2.00,0.50,0.10,2.60\r\n"), "{}", file.text);

    let into = desk.auction(json!({ "items": [{ "lotNumber": "2", "title": "First there" }] })).await;
    let relist = json!({ "into": into["uuid"] });
    let relisted = desk.fixture.make(&format!("{path}/relist"), &desk.key, relist.clone()).await;
    let new = relisted["items"][0].clone();
    assert_eq!(
        (&new["relistedFrom"], &new["lotNumber"], &new["status"]),
        (&lots[2]["uuid"], &json!("3"), &json!("DRAFT"))
    );
    let old = desk.get(&format!("/api/v1/items/{}", text(&lots[2]["uuid"]))).await;
    assert_eq!(old["relistedAs"], new["uuid"]);
    let again = json!({ "into": into["uuid"], "items": [{ "item": lots[2]["uuid"] }] });
    let again = desk.send(Method::POST, &format!("{path}/relist"), &auction, again).await;
    assert_eq!((again.status, again.code().as_str()), (409, "already_relisted"));
    let nothing = desk.send(Method::POST, &format!("{path}/relist"), &auction, relist).await;
    assert_eq!((nothing.status, nothing.code().as_str()), (409, "nothing_to_relist"));
    let imported = desk.import(&desk.auction(json!({})).await, &file.text).await;
    assert_eq!((imported.status, &imported.json()["imported"]), (201, &json!(3)), "{}", imported.text);
}

#[tokio::test]
async fn a_copy_has_the_original_fields_and_later_ends() {
    let desk = AdminFixture::new().await;
    let item = json!({ "lotNumber": "1", "title": "A", "openingBid": 100, "reserve": 150, "buyNow": 900 });
    let more = json!({ "status": "LIVE", "stagger": { "seconds": 60, "items": 1 },
        "charges": { "premiumBasisPoints": 2000 }, "items": [item] });
    let auction = desk.auction(more).await;
    desk.bid(&desk.items(&auction).await[0], "7", 100).await;
    let path = format!("/api/v1/auctions/{}/clone", text(&auction["uuid"]));
    let copy = json!({ "title": "Prints II", "shiftSeconds": 604_800, "withItems": true });
    let copy = desk.fixture.make(&path, &desk.key, copy).await;
    assert_eq!((&copy["status"], &copy["charges"]), (&json!("DRAFT"), &auction["charges"]));
    assert_eq!(copy["endsAt"], desk.in_seconds(3_600 + 604_800));
    let lot = desk.items(&copy).await.remove(0);
    assert_eq!((&lot["price"], &lot["bidCount"], &lot["reserveMet"]), (&Value::Null, &json!(0), &json!(false)));
    assert_eq!(lot["endTime"], desk.in_seconds(3_600 + 604_800));
    let bare = desk.fixture.make(&path, &desk.key, json!({})).await;
    assert_eq!((desk.items(&bare).await.len(), &bare["title"]), (0, &json!("Prints")));
}

#[tokio::test]
async fn an_exported_catalogue_equals_the_imported_one_and_contains_no_formula() {
    let desk = AdminFixture::new().await;
    let items = json!([
        { "lotNumber": "1", "title": "=1+1", "description": "\"Quoted\", and\n+ two lines", "openingBid": 5,
          "vendor": "019a0000-0000-7000-8000-000000000001", "buyNow": 900, "fixedIncrement": 7,
          "attachments": [{ "url": "https://images.example/a,b.jpg", "label": "Back" }, { "url": "https://vimeo.com/76979871" }] },
        { "lotNumber": "-2", "title": "'=tricky", "endTime": desk.in_seconds(9_000), "lowEstimate": 10, "highEstimate": 20 },
    ]);
    let auction = desk.auction(json!({ "items": items })).await;
    let file = desk.csv(&format!("/api/v1/auctions/{}/catalogue", text(&auction["uuid"]))).await.text;
    assert!(file.contains("\r\n1,'=1+1,") && file.contains("\r\n'-2,''=tricky,"), "{file}");
    let again = desk.auction(json!({})).await;
    let imported = desk.import(&again, &file).await;
    assert_eq!(imported.status, 201, "{}", imported.text);
    let entered = |items: Vec<Value>| -> Vec<Value> {
        let own = ["uuid", "auction", "version", "serverTime"];
        let strip = |mut item: Value| {
            own.iter().for_each(|field| item[field] = Value::Null);
            item
        };
        items.into_iter().map(strip).collect()
    };
    assert_eq!(entered(desk.items(&again).await), entered(desk.items(&auction).await));
    let second = desk.csv(&format!("/api/v1/auctions/{}/catalogue", text(&again["uuid"]))).await.text;
    assert_eq!(second, file);
}

#[tokio::test]
async fn a_catalogue_of_many_chunks_is_exported_whole_and_in_order() {
    let desk = AdminFixture::new().await;
    let auction = desk.auction(json!({})).await;
    let path = format!("/api/v1/auctions/{}/catalogue", text(&auction["uuid"]));
    let header = desk.csv(&path).await.text;
    let rows: String = (1..=600).map(|lot| format!("{lot},Sheet {lot},,,,GBP,,,{lot}.00,,,,\r\n")).collect();
    let file = format!("{header}{rows}");
    let imported = desk.import(&auction, &file).await;
    assert_eq!((imported.status, &imported.json()["imported"]), (201, &json!(600)), "{}", imported.text);
    assert_eq!(desk.csv(&path).await.text, file);
}

#[tokio::test]
async fn an_item_has_only_fields_that_its_kind_of_auction_uses() {
    let start = "2098-01-01T10:00:00.000Z";
    let sale = Sale::timed(json!({ "startsAt": start }), &[json!({})]).await;
    let items = format!("/auctions/{}/items", sale.auction);
    let lot = |number: &str, more: Value| {
        let mut lot = json!({ "lotNumber": number, "title": "A lot" });
        lot.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        lot
    };
    let early = sale.post(&items, lot("2", json!({ "endTime": start }))).await;
    assert_eq!(early.json()["errors"][0]["pointer"], "/endTime", "{}", early.text);
    assert_eq!(sale.post(&items, lot("2", json!({ "endTime": "2098-01-01T10:00:01.000Z" }))).await.status, 201);
    let webcast = Sale::new("webcast", json!({}), &[json!({})]).await;
    let items = format!("/auctions/{}/items", webcast.auction);
    for (field, value) in [("endTime", json!("2099-01-01T10:00:00.000Z")), ("buyNow", json!(500))] {
        let refused = webcast.post(&items, lot("2", json!({ field: value }))).await;
        assert_eq!(refused.json()["errors"][0]["pointer"], format!("/{field}"), "{}", refused.text);
        let version = webcast.item(0).await["version"].as_i64();
        let path = format!("/items/{}", webcast.items[0]);
        let step = RequestHeaders { version, key: None };
        let refused = webcast.send(&Method::PATCH, &path, &step, &json!({ field: value })).await;
        assert!(matches!(refused.status, 409 | 422), "{}", refused.text);
    }
}
