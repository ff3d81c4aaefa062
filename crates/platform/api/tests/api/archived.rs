//! Operations that an auction in RECONCILIATION or ARCHIVED still accepts (docs/run-sales/auctions.md).

use std::time::Duration;

use http::Method;
use kit_runtime::clock::Clock as _;
use platform_core::sales::item_ends::ItemEndWorker;
use serde_json::{Value, json};

use crate::bidding::{RequestHeaders, Sale};
use crate::fixture::Answer;

/// An advance of the clock past every end.
const LATER: Duration = Duration::from_secs(100 * 366 * 24 * 3600);

struct ArchivedSale {
    sale: Sale,
    /// The path of a bidder's registration.
    bidder: String,
    /// A standing bid.
    bid: String,
    /// Another auction, LIVE, with an unsold lot.
    other: Value,
    unsold: Value,
}

impl ArchivedSale {
    /// An auction with one sold, one unsold and one withdrawn lot.
    async fn new(status: &str) -> Self {
        let sale = Sale::timed(json!({}), &[json!({}), json!({}), json!({})]).await;
        let bidder = sale.register(json!({ "name": "Ada", "paddle": "1", "status": "approved" })).await;
        let bid = sale.bid(0, "1", 100).await.json()["bid"]["uuid"].as_str().unwrap().to_owned();
        let other = json!({
            "auctioneer": sale.get(&format!("/auctions/{}", sale.auction)).await["auctioneer"], "kind": "timed",
            "title": "Maps", "currency": "GBP", "timeZone": "UTC", "status": "LIVE", "endsAt": "2099-01-01T10:00:00.000Z",
            "items": [{ "lotNumber": "1", "title": "A map" }],
        });
        let other = sale.post("/auctions", other).await.json()["uuid"].clone();
        let items = sale.get(&format!("/auctions/{}/items", other.as_str().unwrap())).await;
        let over = ArchivedSale { sale, bidder, bid, other, unsold: items["data"][0]["uuid"].clone() };
        assert_eq!(
            over.write(Method::POST, &over.sale.path(2, "status"), json!({ "status": "WITHDRAWN" })).await.0,
            200
        );
        over.sale.fixture.clock.advance(LATER);
        let now = over.sale.fixture.clock.now();
        ItemEndWorker::new(over.sale.fixture.platform.clone()).run_once(now).await.unwrap();
        let path = format!("{}/status", over.auction());
        for to in ["RECONCILIATION", "ARCHIVED"].into_iter().take(if status == "ARCHIVED" { 2 } else { 1 }) {
            assert_eq!(over.write(Method::POST, &path, json!({ "status": to })).await.0, 200, "{to}");
        }
        let auction = over.sale.get(&over.auction()).await;
        assert_eq!(auction["status"], status);
        over
    }

    fn auction(&self) -> String {
        format!("/auctions/{}", self.sale.auction)
    }

    /// Sends with the present tag; returns the status and the code of an error.
    async fn write(&self, method: Method, path: &str, body: Value) -> (u16, String) {
        let current = path.trim_end_matches("/status").trim_end_matches("/end").trim_end_matches("/ends");
        let current = self.sale.send(&Method::GET, current, &RequestHeaders::default(), &Value::Null).await.json();
        let step = RequestHeaders { version: current["version"].as_i64(), key: None };
        let answer: Answer = self.sale.send(&method, path, &step, &body).await;
        (answer.status, answer.code())
    }

    /// All writing operations below the auction, except changes of its own status.
    async fn everything(&self) -> Vec<(&'static str, (u16, String))> {
        let (auction, lot) = (self.auction(), |below: &str| self.sale.path(0, below));
        let bid = json!({ "bidder": "1", "amount": 5_000 });
        let reason = json!({ "reason": "late" });
        let other = format!("/auctions/{}/relist", self.other.as_str().unwrap());
        let mut answers = Vec::new();
        for (what, method, path, body) in [
            ("title", Method::PATCH, auction.clone(), json!({ "title": "Late" })),
            ("charges", Method::PATCH, auction.clone(), json!({ "charges": { "premiumBasisPoints": 1 } })),
            ("ends", Method::POST, format!("{auction}/ends"), json!({ "shiftSeconds": 60, "reason": "late" })),
            (
                "ends of lots",
                Method::POST,
                format!("{auction}/ends"),
                json!({ "shiftSeconds": 60, "reason": "late", "items": [self.sale.items[0]] }),
            ),
            ("lot", Method::POST, format!("{auction}/items"), json!({ "lotNumber": "9", "title": "A lot" })),
            ("lot's title", Method::PATCH, format!("/items/{}", self.sale.items[0]), json!({ "title": "Late" })),
            ("lot's status", Method::POST, lot("status"), json!({ "status": "LIVE", "reason": "late" })),
            ("withdrawn lot's status", Method::POST, self.sale.path(2, "status"), json!({ "status": "DRAFT" })),
            ("lot's end", Method::POST, lot("end"), json!({ "endTime": "2199-01-01T00:00:00Z", "reason": "late" })),
            ("cancel", Method::POST, lot(&format!("bids/{}/cancel", self.bid)), reason),
            ("bid", Method::POST, lot("bids"), bid.clone()),
            ("buy-now", Method::POST, lot("buy-now"), json!({ "bidder": "1" })),
            (
                "relist into",
                Method::POST,
                other,
                json!({ "into": self.sale.auction, "items": [{ "item": self.unsold }] }),
            ),
            (
                "relist",
                Method::POST,
                format!("{auction}/relist"),
                json!({ "into": self.other, "items": [{ "item": self.sale.items[1] }] }),
            ),
            ("clone", Method::POST, format!("{auction}/clone"), json!({ "withItems": true })),
            ("register", Method::POST, format!("{auction}/registrations"), json!({ "name": "Bob" })),
            ("bidder", Method::PATCH, self.bidder.clone(), json!({ "name": "Ada L.", "email": "ada@example.com" })),
            (
                "bidder's status",
                Method::POST,
                format!("{}/status", self.bidder),
                json!({ "status": "suspended", "reason": "did not pay" }),
            ),
        ] {
            answers.push((what, self.write(method, &path, body).await));
        }
        let changes = json!({ "items": [
            { "item": self.sale.items[0], "patch": { "title": "Late", "lotNumber": "17" } },
            { "item": self.sale.items[2], "status": "DRAFT" },
        ] });
        let changed = self.sale.post(&format!("{auction}/items/changes"), changes).await.json();
        for result in changed["results"].as_array().unwrap() {
            answers.push(("changes", (200, result["code"].as_str().unwrap().to_owned())));
        }
        for (what, query) in
            [("catalogue", ""), ("catalogue, dry", "?dryRun=true"), ("catalogue, live", "?status=LIVE")]
        {
            let bearer = format!("Bearer {}", self.sale.key);
            let headers = [("authorization", bearer.as_str()), ("content-type", "text/csv")];
            let path = format!("/api/v1{auction}/catalogue{query}");
            let answer = self.sale.fixture.send(&Method::POST, &path, &headers, "lot_number,title\n99,A lot\n").await;
            answers.push((what, (answer.status, answer.code())));
        }
        answers
    }
}

/// The accepted operations, and the code with which others are rejected.
fn expect(answers: &[(&str, (u16, String))], taken: &[&str], otherwise: &[(&str, &str)]) {
    for (what, (status, code)) in answers {
        let named = otherwise.iter().find(|(named, _)| named == what).map_or("auction_closed", |(_, code)| *code);
        if taken.contains(what) {
            assert!((200..300).contains(status), "{what}: {status} {code}");
        } else if *what == "changes" {
            assert_eq!(code, "auction_closed");
        } else {
            assert_eq!((*status, code.as_str()), (409, named), "{what}");
        }
    }
}

/// Operations that need a LIVE auction.
const BIDS: [(&str, &str); 3] =
    [("bid", "auction_not_live"), ("buy-now", "auction_not_live"), ("catalogue, live", "auction_not_live")];

#[tokio::test]
async fn reconciliation_locks_lots_but_not_registrations() {
    let over = ArchivedSale::new("RECONCILIATION").await;
    let taken = ["title", "relist", "clone", "register", "bidder", "bidder's status"];
    expect(&over.everything().await, &taken, &[&BIDS[..], &[("charges", "fields_locked")]].concat());
}

#[tokio::test]
async fn an_archived_auction_is_locked_except_relisting_its_unsold_lots() {
    let over = ArchivedSale::new("ARCHIVED").await;
    let before = over.sale.get(&over.auction()).await;
    let locked = [("title", "fields_locked"), ("charges", "fields_locked")];
    expect(&over.everything().await, &["relist", "clone"], &[&BIDS[..], &locked].concat());
    assert_eq!(over.sale.get(&over.auction()).await, before, "a refused operation changed the auction");
    assert!(over.sale.item(1).await["relistedAs"].is_string());
    let bidder = over.sale.get(&over.bidder).await;
    assert_eq!((&bidder["name"], &bidder["legalNextStatuses"]), (&json!("Ada"), &json!([])));
    let listed = over.sale.get(over.bidder.rsplit_once('/').unwrap().0).await;
    assert_eq!(listed["data"], json!([bidder]));
    // A repeated request returns its first answer.
    let again = json!({ "status": "LIVE" });
    assert_eq!(over.write(Method::POST, &format!("{}/status", over.auction()), again).await.1, "illegal_transition");
    for path in ["results", "results/items", "results.csv", "catalogue", "items", "registrations", "history"] {
        let path = format!("{}/{path}", over.auction());
        assert_eq!(
            over.sale.send(&Method::GET, &path, &RequestHeaders::default(), &Value::Null).await.status,
            200,
            "{path}"
        );
    }
}

#[tokio::test]
async fn a_repeated_registration_is_answered_after_the_auction_is_archived() {
    let sale = Sale::timed(json!({}), &[json!({})]).await;
    let path = format!("/auctions/{}/registrations", sale.auction);
    let ada = json!({ "name": "Ada" });
    let step = RequestHeaders { key: Some("ada"), version: None };
    let first = sale.send(&Method::POST, &path, &step, &ada).await;
    let lead = async |path: String, status: &str| {
        let current = sale.get(path.trim_end_matches("/status")).await["version"].as_i64().unwrap();
        assert_eq!(sale.step(&path, current, json!({ "status": status })).await.status, 200, "{status}");
    };
    lead(sale.path(0, "status"), "WITHDRAWN").await;
    for status in ["RECONCILIATION", "ARCHIVED"] {
        lead(format!("/auctions/{}/status", sale.auction), status).await;
    }
    let again = sale.send(&Method::POST, &path, &step, &ada).await;
    assert_eq!((again.status, again.text), (201, first.text));
    assert_eq!(sale.post(&path, json!({ "name": "Bob" })).await.code(), "auction_closed");
}

#[tokio::test]
async fn an_archived_webcast_accepts_no_clerk_and_an_archived_sandbox_no_advance() {
    let sale = Sale::new("webcast", json!({ "sandbox": true }), &[json!({})]).await;
    let auction = format!("/auctions/{}", sale.auction);
    let lead = async |path: String, status: &str| {
        let current = sale.get(path.trim_end_matches("/status")).await["version"].as_i64().unwrap();
        assert_eq!(sale.step(&path, current, json!({ "status": status })).await.status, 200, "{status}");
    };
    lead(sale.path(0, "status"), "WITHDRAWN").await;
    for status in ["RECONCILIATION", "ARCHIVED"] {
        assert_eq!(
            sale.post(&format!("{auction}/clock/advance"), json!({ "seconds": 60 })).await.status,
            200,
            "{status}"
        );
        lead(format!("{auction}/status"), status).await;
    }
    let late = sale.post(&format!("{auction}/clock/advance"), json!({ "seconds": 60 })).await;
    assert_eq!((late.status, late.code().as_str()), (409, "auction_closed"), "{}", late.text);
    for (path, body) in [
        (sale.path(0, "absentee-bids"), json!({ "bidder": "1", "maximum": 500 })),
        (sale.path(0, "internet-bids"), json!({ "bidder": "1", "amount": 500 })),
    ] {
        assert_eq!(sale.post(&path, body).await.code(), "auction_not_live", "{path}");
    }
    let ring = sale.send(&Method::GET, &format!("{auction}/ring"), &RequestHeaders::default(), &Value::Null).await;
    let bearer = format!("Bearer {}", sale.key);
    let tag = ring.header("etag").unwrap().to_owned();
    for command in ["begin", "send", "reopen", "offer-again", "undo"] {
        let body = match command {
            "reopen" | "undo" => json!({ "reason": "late" }),
            "offer-again" => json!({ "item": sale.items[0] }),
            _ => json!({}),
        };
        let headers = [("authorization", bearer.as_str()), ("if-match", tag.as_str())];
        let path = format!("/api/v1{auction}/ring/{command}");
        let refused = sale.fixture.send(&Method::POST, &path, &headers, &body.to_string()).await;
        assert_eq!((refused.status, refused.code().as_str()), (409, "auction_closed"), "{command}: {}", refused.text);
    }
    let session = sale.fixture.session().await;
    let unknown_id = uuid::Uuid::from_u128(7);
    let clerk = async |method: Method| {
        let path = format!("/api/v1{auction}/clerks/{unknown_id}");
        sale.fixture.call(&method, &path, &session, &Value::Null).await.code()
    };
    assert_eq!(clerk(Method::PUT).await, "auction_closed");
    assert_eq!(clerk(Method::DELETE).await, "not_found", "removing a clerk was refused");
}
