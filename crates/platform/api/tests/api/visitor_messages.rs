//! Messages of the clerk to all visitors: written, shown in streams, replaced and cleared.

use http::Method;
use platform_core::Scope;
use serde_json::{Value, json};

use crate::bidding::Sale;
use crate::fixture::Answer;
use crate::live::Stream;

struct Webcast {
    sale: Sale,
    path: String,
}

impl Webcast {
    async fn new() -> Self {
        let sale = Sale::new("webcast", json!({}), &[json!({}), json!({})]).await;
        let path = format!("/auctions/{}/ring/message", sale.auction);
        Self { sale, path }
    }

    async fn write(&self, text: &str) -> Answer {
        self.sale.send(&Method::PUT, &self.path, &Default::default(), &json!({ "text": text })).await
    }

    async fn clear(&self) {
        let cleared = self.sale.send(&Method::DELETE, &self.path, &Default::default(), &Value::Null).await;
        assert_eq!(cleared.status, 204, "{}", cleared.text);
    }

    /// Text of each message and whether it is on the stage, the newest first.
    async fn listed(&self) -> Vec<(String, bool)> {
        let list = self.sale.get(&format!("{}s", self.path)).await;
        let one =
            |message: &Value| (message["text"].as_str().unwrap().to_owned(), message["onStage"].as_bool().unwrap());
        list["data"].as_array().unwrap().iter().map(one).collect()
    }
}

/// The content of the next event with this name.
async fn event(stream: &mut Stream, name: &str) -> Value {
    loop {
        let next = stream.next().await;
        if next.event == name {
            return next.data;
        }
    }
}

#[tokio::test]
async fn a_message_is_on_the_stage_until_another_one_or_until_it_is_cleared() {
    let webcast = Webcast::new().await;
    let first = webcast.write("  We go on at <b>14:30</b>. ").await;
    assert_eq!(first.status, 200, "{}", first.text);
    let written = first.json();
    assert_eq!((&written["number"], &written["text"]), (&json!(1), &json!("We go on at <b>14:30</b>.")));
    assert!(written["writtenBy"].as_str().unwrap().starts_with("key:"), "{written}");
    assert_eq!(
        (&written["item"], &written["onStage"], &written["clearedAt"]),
        (&Value::Null, &json!(true), &Value::Null)
    );
    // A call that is repeated, such as one whose answer was lost, writes nothing.
    assert_eq!(webcast.write("We go on at <b>14:30</b>.").await.json(), written);

    let item = &webcast.sale.items[0];
    let ring = format!("/auctions/{}/ring", webcast.sale.auction);
    let bearer = format!("Bearer {}", webcast.sale.key);
    let before =
        webcast.sale.fixture.send(&Method::GET, &format!("/api/v1{ring}"), &[("authorization", &bearer)], "").await;
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
        ("if-match", before.header("etag").unwrap()),
    ];
    let sent = webcast.sale.fixture.send(&Method::POST, &format!("/api/v1{ring}/send"), &headers, "{}").await;
    assert_eq!(sent.status, 200, "{}", sent.text);
    let second = webcast.write("Lot 1: the key is lost.").await.json();
    assert_eq!((&second["number"], &second["item"]), (&json!(2), &json!(item)));
    let texts = [("Lot 1: the key is lost.".to_owned(), true), ("We go on at <b>14:30</b>.".to_owned(), false)];
    assert_eq!(webcast.listed().await, texts);

    webcast.clear().await;
    webcast.clear().await;
    assert!(webcast.listed().await.iter().all(|(_, on_stage)| !on_stage));
    let list = webcast.sale.get(&format!("{}s", webcast.path)).await;
    assert!(list["data"][0]["clearedBy"].as_str().unwrap().starts_with("key:"), "{list}");
    // The same words again are a message of their own.
    assert_eq!(webcast.write("Lot 1: the key is lost.").await.json()["number"], 3);
}

#[tokio::test]
async fn a_stream_has_the_messages_and_each_change_of_them() {
    let webcast = Webcast::new().await;
    let path = format!("/api/v1/auctions/{}/live", webcast.sale.auction);
    let mut stream = Stream::open(&webcast.sale.fixture, &webcast.sale.key, &path).await;
    assert_eq!(event(&mut stream, "snapshot").await["messages"], json!([]));
    webcast.write("We go on at 14:30.").await;
    let messages = event(&mut stream, "messages").await["messages"].clone();
    assert_eq!(
        (&messages[0]["number"], &messages[0]["text"], &messages[0]["onStage"]),
        (&json!(1), &json!("We go on at 14:30."), &json!(true))
    );
    assert!(messages[0].get("writtenBy").is_none() && messages[0].get("actor").is_none(), "{messages}");
    webcast.clear().await;
    assert_eq!(event(&mut stream, "messages").await["messages"][0]["onStage"], json!(false));
    webcast.write("Now lot 7.").await;
    let messages = event(&mut stream, "messages").await["messages"].clone();
    let numbers: Vec<&Value> = messages.as_array().unwrap().iter().map(|message| &message["number"]).collect();
    assert_eq!(numbers, [&json!(1), &json!(2)], "the oldest first");
    let mut later = Stream::open(&webcast.sale.fixture, &webcast.sale.key, &path).await;
    assert_eq!(event(&mut later, "snapshot").await["messages"], messages);
}

#[tokio::test]
async fn only_those_who_clerk_a_live_webcast_write_and_only_a_line() {
    let webcast = Webcast::new().await;
    for (text, why) in [
        (String::new(), "is empty"),
        ("  ".to_owned(), "is empty"),
        ("a\nb".to_owned(), "line break"),
        ("ü".repeat(201), "at most 200"),
    ] {
        let refused = webcast.write(&text).await;
        assert_eq!((refused.status, refused.code()), (422, "invalid".to_owned()), "{text}");
        assert!(refused.text.contains(why), "{}", refused.text);
    }
    assert_eq!(webcast.write(&"ü".repeat(200)).await.status, 200);
    let bidder = webcast.sale.fixture.key(None, [Scope::AuctionsRead, Scope::BidsWrite].into_iter().collect()).await;
    let path = format!("/api/v1{}", webcast.path);
    for (method, path) in
        [(Method::PUT, path.clone()), (Method::DELETE, path.clone()), (Method::GET, format!("{path}s"))]
    {
        let refused = webcast.sale.fixture.call(&method, &path, &bidder, &json!({ "text": "Mine" })).await;
        assert_eq!((refused.status, refused.code()), (403, "forbidden".to_owned()), "{method}");
    }

    let timed = Sale::timed(json!({}), &[json!({})]).await;
    let path = format!("/auctions/{}/ring/message", timed.auction);
    let refused = timed.send(&Method::PUT, &path, &Default::default(), &json!({ "text": "Hello" })).await;
    assert_eq!((refused.status, refused.code()), (409, "wrong_auction_kind".to_owned()));
    let early = Sale::new("webcast", json!({ "status": "PREVIEW" }), &[json!({})]).await;
    let path = format!("/auctions/{}/ring/message", early.auction);
    let refused = early.send(&Method::PUT, &path, &Default::default(), &json!({ "text": "Hello" })).await;
    assert_eq!((refused.status, refused.code()), (409, "auction_not_live".to_owned()));
}

#[tokio::test]
async fn a_sale_has_at_most_500_messages_and_20_in_a_minute() {
    let webcast = Webcast::new().await;
    for number in 1..=500 {
        assert_eq!(webcast.write(&format!("Message {number}")).await.status, 200);
        if number % 20 == 0 {
            let refused = webcast.write("One more").await;
            assert_eq!((refused.status, refused.code()), (422, "invalid".to_owned()));
            assert!(refused.text.contains("20 messages were written in the last minute"), "{}", refused.text);
            webcast.sale.fixture.clock.advance(std::time::Duration::from_secs(61));
        }
    }
    for unseen in ["1\u{202e}000", "\u{200b}", "two\u{2028}lines"] {
        assert_eq!(webcast.write(unseen).await.status, 422, "{unseen:?}");
    }
    let refused = webcast.write("One more").await;
    assert_eq!((refused.status, refused.code()), (422, "invalid".to_owned()));
    assert!(refused.text.contains("at most 500 messages"), "{}", refused.text);
    // The message on the stage can be cleared, and the list has the latest messages.
    webcast.clear().await;
    let listed = webcast.listed().await;
    assert_eq!((listed.len(), listed[0].clone()), (20, ("Message 500".to_owned(), false)));
}
