//! Telephone bookings. Callers who may see the commission book enter, change, list and withdraw them.

use http::Method;
use platform_core::Scope;
use serde_json::{Value, json};

use crate::bidding::Sale;

#[tokio::test]
async fn a_telephone_bid_is_booked_changed_and_withdrawn() {
    let sale = Sale::new("webcast", json!({}), &[json!({}), json!({})]).await;
    let (list, path) =
        (format!("/auctions/{}/telephone-bookings", sale.auction), sale.path(1, "telephone-bookings/117"));
    let call =
        async |method: Method, path: &str, body: Value| sale.send(&method, path, &Default::default(), &body).await;
    for (telephone, line) in
        [("nothing", ""), ("", "Line 2"), ("+44 20 7946 0018", "a\nb"), ("+44 20 7946 0018 call early", "")]
    {
        let wrong = json!({ "telephone": telephone, "line": line });
        let refused = call(Method::PUT, &path, wrong).await;
        assert_eq!((refused.status, &refused.json()["code"]), (422, &json!("invalid")), "{telephone} {line}");
    }
    let booking = json!({ "telephone": "+44 20 7946 0018", "line": "Line 2" });
    let booked = call(Method::PUT, &path, booking).await;
    assert_eq!((booked.status, &booked.json()["paddle"]), (200, &json!("117")), "{}", booked.text);
    let changed = json!({ "telephone": "+44 20 7946 0019" });
    assert_eq!(call(Method::PUT, &path, changed).await.json()["line"], "");
    call(Method::PUT, &sale.path(0, "telephone-bookings/9"), json!({ "telephone": "12345" })).await;
    let listed = sale.get(&list).await;
    let numbers: Vec<&Value> = listed["data"].as_array().unwrap().iter().map(|one| &one["telephone"]).collect();
    assert_eq!(numbers, ["12345", "+44 20 7946 0019"], "the bookings are not in running order");

    // Only callers who may see the commission book can read telephone numbers.
    let reader = sale.fixture.key(None, [Scope::AuctionsRead, Scope::BiddersRead].into_iter().collect()).await;
    let refused = sale.fixture.call(&Method::GET, &format!("/api/v1{list}"), &reader, &Value::Null).await;
    assert_eq!(refused.status, 403);
    assert!(!sale.get(&sale.path(1, "record")).await.to_string().contains("7946"));

    // A booking of a suspended paddle is refused.
    let registrations = format!("/auctions/{}/registrations", sale.auction);
    let registered = json!({ "name": "Ada", "paddle": "31", "status": "approved" });
    let registered = sale.post(&registrations, registered).await.json();
    let status = format!("{registrations}/{}/status", registered["uuid"].as_str().unwrap());
    assert_eq!(sale.step(&status, 1, json!({ "status": "suspended", "reason": "Did not pay" })).await.status, 200);
    let refused = call(Method::PUT, &sale.path(1, "telephone-bookings/31"), json!({ "telephone": "12345" })).await;
    assert_eq!((refused.status, refused.code()), (409, "bidder_suspended".to_owned()));

    assert_eq!(call(Method::DELETE, &path, Value::Null).await.status, 204);
    assert_eq!(call(Method::DELETE, &path, Value::Null).await.status, 404);
    let timed = Sale::timed(json!({}), &[json!({})]).await;
    let path = timed.path(0, "telephone-bookings/117");
    let refused = timed.send(&Method::PUT, &path, &Default::default(), &json!({ "telephone": "12345" })).await;
    assert_eq!((refused.status, &refused.json()["code"]), (409, &json!("wrong_auction_kind")));
}
