//! The media type with which a receiver gets a payload.

use provider_core::model::{Endpoint, Message, TaskKind};
use provider_core::payload::media_type::MediaType;
use provider_core::{Created, MessageInput, Payload, ReplayInput};
use standardwebhooks::Webhook;

use crate::fixture::{Fixture, message, quick};
use crate::receiver::{Receiver, Reply};

const XML: &str = "<lot status=\"SOLD\">größe</lot>";
const MEDIA_TYPE: &str = "text/xml; charset=utf-8";

async fn arrives(fixture: &Fixture, receiver: &mut Receiver, endpoint: &Endpoint, content_type: &str, body: &str) {
    let arrival = receiver.next().await;
    assert_eq!((arrival.headers["content-type"].to_str().unwrap(), &*arrival.body), (content_type, body.as_bytes()));
    assert_eq!(arrival.headers.get_all("content-type").iter().count(), 1);
    let secret = fixture.provider.endpoint_secret(&fixture.caller, "app", &endpoint.id).await.unwrap();
    Webhook::new(&secret).unwrap().verify(&arrival.body, &arrival.headers).unwrap();
}

async fn resend(fixture: &Fixture, message: &Message, endpoint: &Endpoint) {
    let resent =
        fixture.provider.resend(&fixture.caller, "app", &message.id, &endpoint.id, None, String::new).await.unwrap();
    assert_eq!(resent, Created::New(()));
}

#[tokio::test]
async fn a_payload_keeps_its_media_type_on_every_attempt() {
    let fixture = Fixture::new(quick()).await;
    let mut receiver = Receiver::start(|n| Reply::Status(if n < 2 { 500 } else { 200 })).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    let payload = Payload::from_text(XML.into()).unwrap().with_media_type(MediaType::parse(MEDIA_TYPE).unwrap());
    let sent = fixture.try_send(MessageInput { payload, ..message() }, None).await.unwrap();
    // The first attempt and its two scheduled retries.
    for _ in 0..3 {
        arrives(&fixture, &mut receiver, &endpoint, MEDIA_TYPE, XML).await;
    }
    fixture.finished(&endpoint).await;
    resend(&fixture, &sent, &endpoint).await;
    arrives(&fixture, &mut receiver, &endpoint, MEDIA_TYPE, XML).await;
    fixture.finished(&endpoint).await;
    let all = ReplayInput::time_range(TaskKind::BulkReplay, sent.created_at, None);
    let task = fixture.replay(&endpoint, TaskKind::BulkReplay, all).await;
    assert_eq!(fixture.finished_with(&task).await, (1, 1));
    arrives(&fixture, &mut receiver, &endpoint, MEDIA_TYPE, XML).await;
    let read = fixture.provider.message(&fixture.caller, "app", &sent.id).await.unwrap().payload.unwrap();
    assert_eq!((read.media_type(), read.text()), (Some(MEDIA_TYPE), XML.as_bytes()));
}

#[tokio::test]
async fn a_payload_without_a_media_type_is_sent_as_json_and_stored_unchanged() {
    let fixture = Fixture::new(quick()).await;
    let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    let list = Payload::from_text("[1]".into()).unwrap();
    let json = MediaType::parse("application/json").unwrap();
    for payload in [list.clone(), list.with_media_type(json)] {
        let sent = fixture.try_send(MessageInput { payload, ..message() }, None).await.unwrap();
        assert_eq!(sent.payload.unwrap().as_stored(), b"[1]");
        arrives(&fixture, &mut receiver, &endpoint, "application/json", "[1]").await;
    }
}
