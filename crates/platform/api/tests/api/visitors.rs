//! What visitors of a saleroom receive in a stream: the lots on view as they change, and nothing that is secret.

use std::time::Duration;

use http::Method;
use platform_core::live::Listener;
use platform_core::port::{HouseSaleroom, OutageEnds};
use platform_core::saleroom::{Saleroom, Visitor};
use platform_core::{Caller, PlatformConfig, PlatformError, Scopes};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::fixture::Fixture;

const RESERVE: i64 = 7_310_931;
const LATER_RESERVE: i64 = 7_510_977;
const MAXIMUM: i64 = 6_420_842;
const RAISED_MAXIMUM: i64 = 6_530_953;

/// A LIVE auction in an open saleroom: the first two lots are LIVE, the third is a DRAFT. The first has no reserve.
struct OpenSale {
    fixture: Fixture,
    key: String,
    customer: Uuid,
    saleroom: Saleroom,
    auction: Uuid,
    lots: Vec<Uuid>,
}

impl OpenSale {
    async fn with(config: PlatformConfig) -> Self {
        let fixture = Fixture::with(config);
        let customer = fixture.customer("Hartley & Sons").await;
        let key = fixture.key(Some(customer), Scopes::all()).await;
        let auctioneer = fixture.make("/api/v1/auctioneers", &key, json!({ "name": "Smith" })).await;
        let lot = |number: u32, status: &str, reserve: Option<i64>| json!({ "lotNumber": number.to_string(), "title": "A print", "status": status, "openingBid": 1_000, "reserve": reserve });
        let auction = json!({
            "auctioneer": auctioneer["uuid"], "kind": "timed", "title": "Prints", "currency": "GBP",
            "timeZone": "Europe/London", "endsAt": "2099-01-01T10:00:00.000Z", "status": "LIVE",
            "charges": { "premiumBasisPoints": 2500, "premiumTaxBasisPoints": 2000 },
            "items": [lot(1, "LIVE", None), lot(2, "LIVE", Some(RESERVE)), lot(3, "DRAFT", Some(RESERVE))],
        });
        let auction = fixture.make("/api/v1/auctions", &key, auction).await["uuid"].clone();
        let auction: Uuid = auction.as_str().unwrap().parse().unwrap();
        let path = format!("/api/v1/auctions/{auction}/items");
        let items = fixture.call(&Method::GET, &path, &key, &Value::Null).await.json();
        let uuid = |item: &Value| item["uuid"].as_str().unwrap().parse().unwrap();
        let lots = items["data"].as_array().unwrap().iter().map(uuid).collect();
        let settings = HouseSaleroom {
            address: Some("hartley".into()),
            is_open: true,
            outage_ends: Some(OutageEnds::AtTheirTime),
            ..HouseSaleroom::default()
        };
        fixture.platform.change_saleroom(&Caller::command_line(), customer, settings, None).await.unwrap();
        let saleroom = fixture.platform.saleroom("hartley").await.unwrap();
        Self { fixture, key, customer, saleroom, auction, lots }
    }

    async fn follow_sale(&self, last_event: Option<&str>) -> Stream {
        let from = Visitor { last_event, ..Visitor::default() };
        let listener = self.fixture.platform.follow_sale(&self.saleroom, self.auction, self.lots.clone(), from).await;
        Stream { listener: listener.unwrap() }
    }

    async fn follow_lot(&self, lot: Uuid, last_event: Option<&str>) -> Result<Stream, PlatformError> {
        let from = Visitor { last_event, ..Visitor::default() };
        let listener = self.fixture.platform.follow_lot(&self.saleroom, (self.auction, lot), from).await?;
        Ok(Stream { listener })
    }

    async fn bid(&self, lot: Uuid, bidder: &str, amount: i64) {
        let body = json!({ "bidder": bidder, "amount": amount });
        self.fixture.make(&format!("/api/v1/items/{lot}/bids"), &self.key, body).await;
    }

    /// Changes the present version of a lot.
    async fn change(&self, lot: Uuid, method: Method, below: &str, body: &Value) {
        let path = format!("/api/v1/items/{lot}");
        let known = self.fixture.call(&Method::GET, &path, &self.key, &Value::Null).await;
        let bearer = format!("Bearer {}", self.key);
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
            ("if-match", known.header("etag").unwrap()),
        ];
        let answer = self.fixture.send(&method, &format!("{path}{below}"), &headers, &body.to_string()).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
    }
}

struct Stream {
    listener: Listener,
}

struct Event {
    id: String,
    name: String,
    data: Value,
}

impl Stream {
    /// The next event, without `retry` and those of the auction. No byte of the stream is secret.
    async fn next(&mut self) -> Event {
        loop {
            let bytes = self.listener.next().await.unwrap();
            let text = std::str::from_utf8(&bytes).unwrap();
            for secret in [RESERVE, LATER_RESERVE, MAXIMUM, RAISED_MAXIMUM] {
                assert!(!text.contains(&secret.to_string()), "{secret}: {text}");
            }
            assert!(!text.to_lowercase().contains("reserve"), "{text}");
            let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
            if let (Some(name), Some(data)) = (field("event: ").filter(|name| name != "auction"), field("data: ")) {
                let data = serde_json::from_str(&data).unwrap();
                return Event { id: field("id: ").unwrap_or_default(), name, data };
            }
        }
    }
}

fn numbers(items: &Value) -> Vec<&str> {
    items.as_array().unwrap().iter().map(|item| item["lotNumber"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn visitors_receive_prices_with_totals_and_bids_and_no_secret() {
    let sale = OpenSale::with(PlatformConfig::default()).await;
    let (mut whole, mut lot) = (sale.follow_sale(None).await, sale.follow_lot(sale.lots[0], None).await.unwrap());
    let snapshot = whole.next().await;
    assert_eq!((snapshot.name.as_str(), numbers(&snapshot.data["items"])), ("snapshot", vec!["1", "2"]));
    assert_eq!(numbers(&lot.next().await.data["items"]), ["1"]);

    sale.bid(sale.lots[0], "214", MAXIMUM).await;
    for stream in [&mut whole, &mut lot] {
        let event = stream.next().await;
        let item = &event.data["item"];
        let amounts = [&item["price"], &item["priceTotal"], &item["minimumBid"], &item["minimumBidTotal"]];
        assert_eq!(amounts.map(|amount| amount.as_i64().unwrap()), [1_000, 1_300, 1_100, 1_430]);
        let bid = &item["bids"][0];
        assert_eq!((&bid["number"], &bid["bidder"], &bid["amount"]), (&json!(1), &json!("214"), &json!(1_000)));
        assert_eq!((item["bids"].as_array().unwrap().len(), &bid["withdrawn"]), (1, &json!(false)));
    }
    // The bid that does not lead shows its amount, and the leader's shows the price.
    sale.bid(sale.lots[0], "7", 50_000).await;
    let event = lot.next().await;
    let bids = event.data["item"]["bids"].as_array().unwrap().clone();
    assert_eq!(bids[1]["amount"], 50_000);
    assert!(bids.iter().all(|bid| bid["amount"].as_i64().unwrap() < 100_000), "{bids:?}");

    sale.bid(sale.lots[0], "214", RAISED_MAXIMUM).await;
    assert_eq!(lot.next().await.data["item"]["bidCount"], 3);

    // A reserve that is edited, and a lot that is not on view, send no event.
    sale.change(sale.lots[1], Method::PATCH, "", &json!({ "reserve": LATER_RESERVE })).await;
    sale.change(sale.lots[2], Method::PATCH, "", &json!({ "title": "Hidden" })).await;
    sale.bid(sale.lots[1], "8", 1_000).await;
    for _ in 0..2 {
        assert_eq!(whole.next().await.data["item"]["lotNumber"], "1");
    }
    let event = whole.next().await;
    assert_eq!((&event.data["item"]["lotNumber"], &event.data["item"]["bidCount"]), (&json!("2"), &json!(1)));
    assert!(matches!(sale.follow_lot(sale.lots[2], None).await, Err(PlatformError::NotFound(_))));
}

#[tokio::test]
async fn a_lot_that_is_hidden_leaves_the_stream_also_for_visitors_who_reconnect() {
    let sale = OpenSale::with(PlatformConfig::default()).await;
    let mut whole = sale.follow_sale(None).await;
    let first = whole.next().await.id;
    sale.change(sale.lots[1], Method::PATCH, "", &json!({ "buyNow": 8_000_000 })).await;
    assert_eq!(whole.next().await.data["item"]["buyNow"], 8_000_000);
    sale.change(sale.lots[1], Method::POST, "/status", &json!({ "status": "SUSPENDED", "reason": "Checked" })).await;
    assert_eq!(whole.next().await.data["item"]["status"], "SUSPENDED");
    sale.change(sale.lots[1], Method::POST, "/status", &json!({ "status": "WITHDRAWN", "reason": "Broken" })).await;
    let gone = whole.next().await;
    assert_eq!((gone.name.as_str(), &gone.data["gone"]), ("gone", &json!(sale.lots[1])));
    sale.bid(sale.lots[0], "214", 1_000).await;
    assert_eq!(whole.next().await.data["item"]["lotNumber"], "1");

    let mut again = sale.follow_sale(Some(&first)).await;
    assert_eq!(again.next().await.name, "gone");
    assert_eq!(again.next().await.data["item"]["lotNumber"], "1");
    assert_eq!(numbers(&sale.follow_sale(None).await.next().await.data["items"]), ["1"]);
    assert!(matches!(sale.follow_lot(sale.lots[1], None).await, Err(PlatformError::NotFound(_))));
}

#[tokio::test]
async fn the_stream_of_a_visitor_ends_when_the_saleroom_closes() {
    let sale = OpenSale::with(PlatformConfig::default()).await;
    let mut whole = sale.follow_sale(None).await;
    whole.next().await;
    let closed = HouseSaleroom { address: Some("hartley".into()), is_open: false, ..HouseSaleroom::default() };
    sale.fixture.platform.change_saleroom(&Caller::command_line(), sale.customer, closed, None).await.unwrap();
    sale.fixture.clock.advance(Duration::from_secs(5));
    while whole.listener.next().await.is_some() {}
    assert!(whole.listener.was_refused());
}

#[tokio::test]
async fn a_crowd_of_visitors_takes_no_stream_from_the_house() {
    let mut config = PlatformConfig::default();
    (config.live.visitors_per_address_max, config.live.listeners_max) = (2, 1);
    let sale = OpenSale::with(config).await;
    let follow = async |address: [u8; 4]| {
        let from = Visitor { address: Some(address.into()), last_event: None };
        sale.fixture.platform.follow_lot(&sale.saleroom, (sale.auction, sale.lots[0]), from).await
    };
    let _crowd = [follow([192, 0, 2, 1]).await.unwrap(), follow([192, 0, 2, 1]).await.unwrap()];
    assert!(matches!(follow([192, 0, 2, 1]).await, Err(PlatformError::ListenersFull { .. })));
    assert!(follow([192, 0, 2, 2]).await.is_ok());
    crate::live::Stream::open(&sale.fixture, &sale.key, &format!("/api/v1/items/{}/live", sale.lots[0])).await;
}

#[tokio::test]
async fn signs_of_life_are_frequent_near_the_end_of_a_lot() {
    let sale = OpenSale::with(PlatformConfig::default()).await;
    let mut lot = sale.follow_lot(sale.lots[0], None).await.unwrap();
    lot.next().await;
    let clock = sale.fixture.clock.clone();
    let end: jiff::Timestamp = "2099-01-01T10:00:00Z".parse().unwrap();
    let mut next_ms = async |by: Duration| {
        clock.advance(by);
        let event = lot.next().await;
        assert_eq!(event.name, "beat");
        event.data["nextMs"].as_u64().unwrap()
    };
    assert_eq!(next_ms(Duration::from_secs(16)).await, 15_000);
    assert_eq!(next_ms(Duration::from_secs(16)).await, 15_000);
    drop(lot);
    // The stream lasts an hour.
    clock.set(end - Duration::from_secs(60));
    let mut lot = sale.follow_lot(sale.lots[0], None).await.unwrap();
    lot.next().await;
    clock.advance(Duration::from_secs(1));
    assert_eq!(lot.next().await.data["nextMs"], 1_000);
}
