//! The message to all visitors, at the desk.

use contract::AuctionStatus;
use http::Method;
use platform_core::Role;
use serde_json::{Value, json};

use crate::fixture::{Desk, Fixture, HOSTILE, named};

impl Desk<'_> {
    async fn message(&self, text: Value) -> testkit::web::Answer {
        self.request("message", "", &json!({ "text": text })).await
    }
}

#[tokio::test]
async fn every_desk_shows_what_visitors_see() {
    let fixture = Fixture::new().await;
    let mut desk = fixture.desk("one").await;
    let mut other = fixture.desk("two").await;
    assert_eq!(desk.at("/message"), &Value::Null);
    desk.give(named("send")).await;
    let shown = desk.message(json!(HOSTILE)).await;
    assert_eq!((shown.status, &shown.json()["message"]["text"]), (200, &json!(HOSTILE)), "{}", shown.text);
    other.load().await;
    assert_eq!(other.at("/message/text"), HOSTILE);
    assert_eq!(other.message(Value::Null).await.json()["message"], Value::Null);
    desk.load().await;
    assert_eq!(desk.at("/message"), &Value::Null);

    // The pages have messages while the sale is live.
    assert_eq!(desk.message(json!("Thank you.")).await.json()["message"]["text"], "Thank you.");
    desk.load().await;
    desk.give(named("remove")).await;
    fixture.end_sale(AuctionStatus::Reconciliation).await;
    desk.load().await;
    assert_eq!(desk.at("/message"), &Value::Null);
    let refused = desk.message(json!("Too late")).await;
    let words = "Visitors see messages while the sale is live. Write it then.";
    assert_eq!((refused.status, &refused.json()["message"]), (409, &json!(words)));
}

#[tokio::test]
async fn a_message_is_refused_in_words_and_of_another_site_and_of_a_clerk_of_other_webcasts() {
    let fixture = Fixture::new().await;
    let desk = fixture.desk("one").await;
    for (text, words) in [
        (json!(""), "The message is empty: fill it in."),
        (json!("x".repeat(201)), "The message has 201 characters: shorten it to at most 200."),
    ] {
        let refused = desk.message(text).await;
        assert_eq!((refused.status, &refused.json()["message"]), (422, &json!(words)));
    }
    assert_eq!(desk.request("message", "", &json!({ "words": "x" })).await.status, 400);
    let path = format!("/admin{}/message", desk.path());
    let (cookie, body) = (format!("lotwire_admin={}", desk.token), json!({ "text": "Hello" }).to_string());
    let other_site =
        [("cookie", cookie.as_str()), ("sec-fetch-site", "cross-site"), ("content-type", "application/json")];
    assert_eq!(fixture.send(Method::POST, &path, &other_site, &body).await.status, 403);
    let clerk = fixture.user("clerk", Role::Clerk).await.1;
    let cookie = format!("lotwire_admin={clerk}");
    let headers =
        [("cookie", cookie.as_str()), ("sec-fetch-site", "same-origin"), ("content-type", "application/json")];
    let refused = fixture.send(Method::POST, &path, &headers, &body).await;
    assert_eq!((refused.status, &refused.json()["code"]), (403, &json!("clerk_not_assigned")), "{}", refused.text);
}
