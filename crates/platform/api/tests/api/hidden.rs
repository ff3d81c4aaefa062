//! No response contains a reserve or a maximum, for any caller.

use contract::models::AddressModel;
use http::Method;
use platform_core::bidders::PartyInput;
use platform_core::port::PartyDetails;
use platform_core::{Caller, Scope};
use serde_json::{Value, json};

use crate::bidding::{RequestHeaders, Sale};
use crate::live::Stream;

/// Amounts that no response may contain. They occur in no time, id or other amount by chance.
const RESERVE: i64 = 7_310_931;
const LEADER_MAXIMUM: i64 = 6_420_842;
const RAISED_MAXIMUM: i64 = 6_530_953;
const ABSENTEE_MAXIMUM: i64 = 5_640_764;
const UNMET_RESERVE: i64 = 3_860_386;

fn check(what: &str, text: &str) {
    for hidden in [RESERVE, LEADER_MAXIMUM, RAISED_MAXIMUM, ABSENTEE_MAXIMUM, UNMET_RESERVE] {
        assert!(!text.contains(&hidden.to_string()), "{what} shows {hidden}: {text}");
    }
}

/// Every GET of the document that names an auction, an item or nothing.
fn addresses(sale: &Sale, registration: &str) -> Vec<String> {
    let document = serde_json::to_value(platform_api::openapi()).unwrap();
    let mut addresses = Vec::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        if operations.get("get").is_none() || path.contains("{id}") {
            continue;
        }
        let path = path.strip_prefix("/api/v1").unwrap();
        let subject =
            if path.starts_with("/auctions/") { std::slice::from_ref(&sale.auction) } else { &sale.items[..] };
        let fill = |uuid: &String| path.replace("{uuid}", uuid).replace("{registration}", registration);
        addresses.extend(subject.iter().map(fill));
    }
    addresses.sort();
    addresses.dedup();
    addresses
}

async fn walk(sale: &Sale, registration: &str) {
    // Only the clerk's desk shows absentee bids.
    let scopes = Scope::ALL.into_iter().filter(|scope| *scope != Scope::RingWrite).collect();
    let key = sale.fixture.key(None, scopes).await;
    let addresses = addresses(sale, registration);
    assert!(addresses.len() > 10, "{addresses:?}");
    for address in addresses {
        // A live stream does not end.
        if address.contains("live") || address.contains("stream") {
            continue;
        }
        let answer = sale.fixture.call(&Method::GET, &format!("/api/v1{address}"), &key, &Value::Null).await;
        check(&address, &answer.text);
    }
}

#[tokio::test]
async fn no_response_about_a_timed_auction_shows_a_reserve_or_a_maximum() {
    let items = [
        json!({ "reserve": 2_000, "buyNow": 9_000_000 }),
        json!({ "reserve": UNMET_RESERVE }),
        json!({ "reserve": RESERVE, "buyNow": 8_000_000 }),
    ];
    let sale = Sale::timed(json!({}), &items).await;
    let registered = json!({ "name": "Ada", "paddle": "1", "limit": 7_000_000 });
    let path = sale.register(registered).await;
    let registration = path.rsplit('/').next().unwrap().to_owned();
    let bids = [
        (0, "1", LEADER_MAXIMUM, 201),
        (0, "2", 50_000, 201),
        (0, "1", RAISED_MAXIMUM, 201),
        (0, "3", 40_000, 409),
        (1, "2", 5_000, 201),
        (2, "2", 5_000, 201),
    ];
    for (place, bidder, amount, status) in bids {
        let answer = sale.bid(place, bidder, amount).await;
        assert_eq!(answer.status, status, "{}", answer.text);
        check("a bid", &answer.text);
        walk(&sale, &registration).await;
    }
    let made = sale.get(&sale.path(0, "bids")).await;
    let bid = made["data"][1]["uuid"].as_str().unwrap().to_owned();
    let version = sale.item(1).await["version"].as_i64().unwrap();
    let posts = [
        (format!("{}/{bid}/cancel", sale.path(0, "bids")), None, json!({ "reason": "A slip" })),
        (sale.path(2, "buy-now"), None, json!({ "bidder": "4" })),
        (sale.path(0, "end"), None, json!({ "endTime": "2099-05-01T10:00:00Z", "reason": "Snow" })),
        (sale.path(1, "status"), Some(version), json!({ "status": "SUSPENDED", "reason": "In doubt" })),
        (sale.path(1, "status"), Some(version + 1), json!({ "status": "WITHDRAWN" })),
    ];
    for (path, version, body) in posts {
        let answer = sale.send(&Method::POST, &path, &RequestHeaders { version, key: None }, &body).await;
        assert!(matches!(answer.status, 200 | 201), "{path}: {}", answer.text);
        check(&path, &answer.text);
        walk(&sale, &registration).await;
    }
    let items = format!("/auctions/{}/items", sale.auction);
    let more = json!({ "lotNumber": "9", "title": "A lot", "reserve": RESERVE });
    check(&items, &sale.post(&items, more).await.text);
    walk(&sale, &registration).await;
}

#[tokio::test]
async fn no_rejected_edit_shows_the_reserve() {
    let sale = Sale::timed(json!({}), &[json!({ "reserve": RESERVE, "openingBid": 100 })]).await;
    let version = sale.item(0).await["version"].as_i64();
    for change in [json!({ "openingBid": RESERVE + 1 }), json!({ "highEstimate": 100 }), json!({ "buyNow": 200 })] {
        let path = format!("/items/{}", sale.items[0]);
        let step = RequestHeaders { version, key: None };
        let answer = sale.send(&Method::PATCH, &path, &step, &change).await;
        assert_eq!(answer.status, 422, "{change}: {}", answer.text);
        check(&change.to_string(), &answer.text);
        let many = json!({ "changes": [{ "item": sale.items[0], "set": change }] });
        check("many", &sale.post(&format!("/auctions/{}/items/changes", sale.auction), many).await.text);
    }
}

#[tokio::test]
async fn no_response_about_a_webcast_shows_an_absentee_bid() {
    let sale = Sale::new("webcast", json!({}), &[json!({ "reserve": RESERVE }), json!({})]).await;
    let path = sale.register(json!({ "name": "Ada", "paddle": "1" })).await;
    let registration = path.rsplit('/').next().unwrap().to_owned();
    let leave = sale.path(0, "absentee-bids");
    let answer = sale.post(&leave, json!({ "bidder": "1", "maximum": ABSENTEE_MAXIMUM, "unusualAmount": true })).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    check(&leave, &answer.text);
    walk(&sale, &registration).await;
}

/// What a record of the register has. No answer, event or stream contains any of it, nor the record's UUID.
const CONSIGNOR: [&str; 5] = ["Annabella Quillfeather", "CQ-7719", "quill@example.com", "7946 0991", "Nightjar Lane"];

#[tokio::test]
async fn no_response_event_or_stream_shows_anything_of_a_consignor() {
    let sale = Sale::timed(json!({}), &[json!({}), json!({})]).await;
    let auction = sale.get(&format!("/auctions/{}", sale.auction)).await;
    let address = r#"{"addressLine1":"3 Nightjar Lane","addressLine2":"","postcode":"BA1 1AA","countryCode":"uk"}"#;
    let details = PartyDetails {
        name: CONSIGNOR[0].into(),
        reference: Some(CONSIGNOR[1].into()),
        email: Some(CONSIGNOR[2].into()),
        phone: Some(format!("020 {}", CONSIGNOR[3])),
        addresses: vec![AddressModel::from_json(address).unwrap()],
        is_consignor: true,
        ..PartyDetails::default()
    };
    let staff = Caller::command_line();
    let auctioneer =
        auction["auctioneer"]["uuid"].as_str().or(auction["auctioneer"].as_str()).unwrap().parse().unwrap();
    let house = sale.fixture.platform.auctioneer(&staff, auctioneer).await.unwrap().customer;
    let input = PartyInput { details, document: None };
    let party = sale.fixture.platform.create_party(&staff, house, &input).await.unwrap().uuid.to_string();
    let check = |what: &str, text: &str| {
        for hidden in CONSIGNOR.iter().copied().chain([party.as_str()]) {
            assert!(!text.contains(hidden), "{what} shows {hidden}: {text}");
        }
    };
    let live = format!("/api/v1/auctions/{}/live", sale.auction);
    let mut stream = Stream::open(&sale.fixture, &sale.key, &live).await;
    stream.next().await;

    let step = RequestHeaders { version: sale.item(0).await["version"].as_i64(), key: None };
    let path = format!("/items/{}", sale.items[0]);
    let changed = sale.send(&Method::PATCH, &path, &step, &json!({ "vendor": party })).await;
    assert_eq!(changed.status, 200, "{}", changed.text);
    check("an edit", &changed.text);
    let file = "Lot,Title,Consignor\n1,A chair,CQ-7719\n3,A clock,CQ-7719\n";
    let headers = [("authorization", format!("Bearer {}", sale.key)), ("content-type", "text/csv".to_owned())];
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let merge = format!("/api/v1/auctions/{}/catalogue/merge", sale.auction);
    let merged = sale.fixture.send(&Method::POST, &merge, &headers, file).await;
    assert_eq!(merged.status, 200, "{}", merged.text);
    check("a merge", &merged.text);
    let stored = sale.fixture.platform.item(&staff, sale.items[1].parse().unwrap()).await.unwrap().0;
    assert_eq!(stored.vendor.map(|vendor| vendor.to_string()), Some(party.clone()), "the merge named the consignor");
    assert_eq!(sale.bid(0, "9", 500).await.status, 201);
    check("the stream", &stream.next().await.data.to_string());
    let whole = Stream::open(&sale.fixture, &sale.key, &live).await.next().await;
    check("a snapshot", &whole.data.to_string());

    let path = sale.register(json!({ "name": "Ada", "paddle": "1" })).await;
    let registration = path.rsplit('/').next().unwrap().to_owned();
    let key = sale.fixture.key(None, Scope::ALL.into_iter().filter(|scope| *scope != Scope::RingWrite).collect()).await;
    for address in addresses(&sale, &registration) {
        if address.contains("live") || address.contains("stream") {
            continue;
        }
        let answer = sale.fixture.call(&Method::GET, &format!("/api/v1{address}"), &key, &Value::Null).await;
        check(&address, &answer.text);
    }
}
