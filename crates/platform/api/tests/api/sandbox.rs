//! Clocks of sandbox auctions.

use http::Method;
use platform_core::{Scope, Scopes};
use serde_json::{Value, json};

use crate::fixture::{Answer, Fixture};

struct Sandbox {
    fixture: Fixture,
    key: String,
    auction: String,
}

impl Sandbox {
    async fn new() -> Self {
        let fixture = Fixture::new();
        let customer = fixture.customer("First").await;
        let key = fixture.key(Some(customer), Scopes::all()).await;
        let auctioneer = fixture.make("/api/v1/auctioneers", &key, json!({ "name": "Smith" })).await;
        let auction = json!({
            "auctioneer": auctioneer["uuid"], "kind": "timed", "title": "A try", "currency": "GBP", "timeZone": "UTC",
            "endsAt": kit_runtime::clock::rfc3339_ms(fixture.platform.now() + std::time::Duration::from_secs(3_600)),
            "status": "LIVE", "sandbox": true, "items": [{ "lotNumber": "1", "title": "A print" }],
        });
        let auction = fixture.make("/api/v1/auctions", &key, auction).await;
        assert_eq!(auction["sandbox"], true);
        Self { auction: auction["uuid"].as_str().unwrap().to_owned(), fixture, key }
    }

    async fn advance(&self, body: Value, headers: &[(&str, &str)]) -> Answer {
        let (path, bearer) =
            (format!("/api/v1/auctions/{}/clock/advance", self.auction), format!("Bearer {}", self.key));
        let mut all = vec![("authorization", bearer.as_str()), ("content-type", "application/json")];
        all.extend(headers);
        self.fixture.send(&Method::POST, &path, &all, &body.to_string()).await
    }
}

#[tokio::test]
async fn a_repeated_advance_returns_the_first_answer() {
    let sandbox = Sandbox::new().await;
    let key = [("idempotency-key", "a")];
    let first = sandbox.advance(json!({ "seconds": 7_200 }), &key).await;
    assert_eq!(first.status, 200, "{}", first.text);
    let answered = first.json();
    assert_eq!(
        (&answered["endedCount"], &answered["advancing"], &answered["now"]),
        (&json!(1), &json!(false), &answered["reached"])
    );
    assert_eq!((&answered["ended"][0]["status"], &answered["ended"][0]["lotNumber"]), (&json!("UNSOLD"), &json!("1")));
    let again = sandbox.advance(json!({ "seconds": 7_200 }), &key).await;
    assert_eq!((again.text == first.text, again.header("idempotent-replayed")), (true, Some("true")));
    let path = format!("/api/v1/auctions/{}/clock", sandbox.auction);
    let clock = sandbox.fixture.call(&Method::GET, &path, &sandbox.key, &Value::Null).await;
    assert_eq!((&clock.json()["now"], clock.header("etag")), (&answered["now"], first.header("etag")));
}

#[tokio::test]
async fn an_impossible_advance_is_rejected_with_instructions() {
    let sandbox = Sandbox::new().await;
    for (body, status, code) in [
        (json!({}), 422, "invalid"),
        (json!({ "seconds": 1, "to": "2099-01-01T00:00:00.000Z" }), 422, "invalid"),
        (json!({ "seconds": 0 }), 422, "invalid"),
        (json!({ "seconds": 31_622_401 }), 422, "invalid"),
        (json!({ "to": "1999-01-01T00:00:00.000Z" }), 409, "clock_not_forward"),
        (json!({ "to": "9000-01-01T00:00:00.000Z" }), 409, "clock_too_far"),
    ] {
        let answer = sandbox.advance(body.clone(), &[]).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{body}: {}", answer.text);
    }
    let answer = sandbox.advance(json!({ "seconds": 1 }), &[("if-match", "\"999\"")]).await;
    assert_eq!((answer.status, answer.code().as_str()), (412, "precondition_failed"));
}

#[tokio::test]
async fn advancing_a_clock_needs_its_own_scope() {
    let sandbox = Sandbox::new().await;
    let path = format!("/api/v1/auctions/{}/clock", sandbox.auction);
    let seconds = json!({ "seconds": 1 });
    let everything_else: Scopes = Scope::ALL.into_iter().filter(|scope| *scope != Scope::SandboxWrite).collect();
    let key = sandbox.fixture.key(None, everything_else).await;
    let answer = sandbox.fixture.call(&Method::POST, &format!("{path}/advance"), &key, &seconds).await;
    assert_eq!((answer.status, answer.code().as_str()), (403, "forbidden"));
    let key = sandbox.fixture.key(None, [Scope::SandboxWrite].into_iter().collect()).await;
    assert_eq!(sandbox.fixture.call(&Method::POST, &format!("{path}/advance"), &key, &seconds).await.status, 200);
    assert_eq!(sandbox.fixture.call(&Method::GET, &path, &key, &Value::Null).await.status, 200);
}

#[tokio::test]
async fn an_auction_is_a_sandbox_from_its_creation_on() {
    let sandbox = Sandbox::new().await;
    let list = async |query: &str| {
        let path = format!("/api/v1/auctions?sandbox={query}");
        sandbox.fixture.call(&Method::GET, &path, &sandbox.key, &Value::Null).await
    };
    assert_eq!(list("true").await.json()["data"][0]["uuid"], json!(sandbox.auction));
    assert_eq!(list("false").await.json()["data"], json!([]));
    assert_eq!(list("perhaps").await.status, 400);
    let path = format!("/api/v1/auctions/{}/status", sandbox.auction);
    let body = json!({ "status": "PREVIEW", "sandbox": false });
    let answer = sandbox.fixture.call(&Method::POST, &path, &sandbox.key, &body).await;
    assert!(matches!(answer.status, 400 | 422), "{}", answer.text);
}
