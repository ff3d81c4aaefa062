//! Messages, attempts and responses, and resending and replaying messages.

use std::time::Duration;

use provider_core::activity::ActivityQuery;
use provider_core::model::{ActorKind, Capability};
use provider_core::payload::PAYLOAD_BYTES_MAX;
use provider_core::{DeliveryOrder, EndpointInput};
use serde_json::json;

use crate::fixture::{Fixture, at, receiver};

/// The cell of a row. The number alone also occurs in the ports of receivers.
const CODE_503: &str = r#"data-of="Response">503"#;

#[tokio::test]
async fn attempts_are_shown_with_their_responses_and_filtered() {
    let fixture = Fixture::new().await;
    let good = fixture.endpoint(at(&receiver(200, "thank you").await)).await;
    let bad = fixture.endpoint(at(&receiver(503, "come back later").await)).await;
    let mut visitor = fixture.visitor().await;
    let path = |id: &str| format!("/endpoints/{id}");
    visitor.get(&path(&good.id)).await.is(200).shows("No attempts yet");
    let off = fixture.endpoint(EndpointInput { disabled: true, ..at("https://example.com/") }).await;
    visitor.get(&path(&off.id)).await.shows("until it is enabled").hides("To try the endpoint now");
    visitor.get("/messages").await.is(200).shows("No messages yet");
    let message = fixture.message("invoice.paid", "{}", None).await;
    visitor.until_shown(&path(&good.id), &message.id).await.shows("invoice.paid").shows("Delivered").shows("100 %");
    let page = visitor.until_shown(&path(&bad.id), &message.id).await;
    page.shows(CODE_503).shows("Failing").shows("0.0 %");
    visitor.get(&format!("{}?status=success", path(&bad.id))).await.shows("No matching attempts").hides(CODE_503);
    visitor.get(&format!("{}?status=fail", path(&bad.id))).await.shows(CODE_503);
    visitor.get(&format!("{}?status=odd", path(&bad.id))).await.is(400);
    visitor.get(&format!("{}?iterator=odd", path(&bad.id))).await.is(400);
    let page = visitor.get(&format!("/messages/{}", message.id)).await;
    page.shows("thank you").shows("come back later").shows("Failed, will be retried").shows("in ").shows("data-live");
    page.shows("TCP connection").shows("Waiting for the response").hides("TLS handshake");
    visitor.get("/messages?eventType=invoice.paid").await.shows(&message.id);
    visitor.get("/messages?eventType=invoice.lost").await.shows("No matching messages").hides(&message.id);
    visitor.get("/messages?eventType=two+words").await.is(200).shows("id=\"event-type-fault\"");
}

#[tokio::test]
async fn a_400_links_to_the_signature_check_of_its_endpoint() {
    let fixture = Fixture::new().await;
    let refusing = fixture.endpoint(at(&receiver(400, "no signature").await)).await;
    let failing = fixture.endpoint(at(&receiver(500, "boom").await)).await;
    let message = fixture.message("invoice.paid", "{}", None).await;
    let mut visitor = fixture.visitor().await;
    let link = format!("href=\"/app-portal/endpoints/{}/verify#check\"", refusing.id);
    visitor.until_shown(&format!("/endpoints/{}", refusing.id), "Check the signature").await.shows(&link);
    visitor
        .until_shown(&format!("/endpoints/{}", failing.id), "none has succeeded since then")
        .await
        .hides("verify#check");
    visitor
        .get(&format!("/messages/{}", message.id))
        .await
        .is(200)
        .shows(&link)
        .hides(&format!("{}/verify", failing.id));
}

#[tokio::test]
async fn lists_link_their_pages_in_both_directions() {
    let fixture = Fixture::new().await;
    for number in 0..120 {
        fixture.message("a.b", &json!({ "number": number }).to_string(), None).await;
    }
    let mut visitor = fixture.visitor().await;
    let mut path = "/messages".to_owned();
    let mut seen = Vec::new();
    let mut pages = 0;
    let ids = |text: &str| -> Vec<String> {
        let rows = text.split("href=\"/app-portal/messages/").skip(1);
        rows.map(|row| row.split('"').next().unwrap().to_owned()).collect()
    };
    let link = |text: &str, rel: &str| {
        let at = text.split(&format!("rel=\"{rel}\" href=\"/app-portal")).nth(1)?;
        Some(at.split('"').next()?.to_owned())
    };
    let last = loop {
        let page = visitor.get(&path).await.is(200).text.clone();
        seen.extend(ids(&page));
        pages += 1;
        match link(&page, "next") {
            Some(next) => path = next,
            None => break page,
        }
    };
    assert_eq!((seen.len(), pages), (120, 3));
    assert!(seen.is_sorted_by(|newer, older| newer > older));
    let before = visitor.get(&link(&last, "prev").unwrap()).await;
    assert_eq!(ids(&before.text), seen[50..100]);
    let first = visitor.get(&link(&before.text, "prev").unwrap()).await;
    assert_eq!(ids(&first.text), seen[..50]);
}

#[tokio::test]
async fn an_example_is_sent_to_one_endpoint_and_a_message_resent() {
    let fixture = Fixture::new().await;
    let schema = json!({"1": {"type": "object", "properties": {"lot": {"type": "integer"}}, "required": ["lot"]}});
    fixture.event_type("lot.sold", "The hammer fell.", Some(schema)).await;
    fixture.event_type("lot.lost", "", None).await;
    let endpoint = fixture.endpoint(at(&receiver(200, "").await)).await;
    let other = fixture.endpoint(at(&receiver(200, "").await)).await;
    let mut visitor = fixture.visitor().await;
    visitor.get("/event-types").await.shows("The hammer fell.").shows("lot.lost");
    let page = visitor.get("/event-types/lot.sold").await;
    page.shows("&#34;lot&#34;</span>: <span class=\"code-value\">1</span>")
        .shows("Version 1")
        .shows("Send example to")
        .shows("Receives it");
    visitor.get("/event-types/lot.lost").await.is(200).shows("No example:");

    let path = format!("/endpoints/{}/example", endpoint.id);
    visitor
        .get(&format!("{path}?eventType=lot.sold"))
        .await
        .shows("<option value=\"lot.sold\" selected>lot.sold</option>")
        .shows("svix.ping");
    let edited = [("eventType", "lot.sold"), ("payload", "{\r\n  \"lot\": 7\r\n}")];
    let answer = visitor.post(&path, &edited).await.is(303).location.clone().unwrap();
    let answer = answer.strip_suffix("#answer").unwrap();
    let page = visitor.until_shown(answer, "The response had no body.").await;
    page.shows("Delivered").shows("lot.sold").shows("&#34;lot&#34;: 7");
    let sent =
        fixture.provider.list_messages(&fixture.account, &fixture.app.id, &provider_core::PageRequest::default()).await;
    let message = format!("/messages/{}", sent.unwrap().data[0].id);
    visitor.until_shown(&message, "Delivered").await.shows("Not sent here").shows("The response had no body.");
    visitor.get(&message).await.shows("&#34;lot&#34;</span>: <span class=\"code-value\">7</span>").shows("test");
    visitor.post(&path, &[("eventType", "lot.lost")]).await.is(400).shows("has no schema");
    visitor.post(&path, &[("eventType", "no.such"), ("payload", "{}")]).await.is(422).shows("no event type no.such");
    let show = [("eventType", "lot.sold"), ("payload", "{}"), ("action", "show")];
    visitor.submit(&path, &show).await.is(200).shows("<option value=\"lot.sold\" selected>").shows("&#34;lot&#34;: 1");
    // The payload is the unchanged example of the event type that the form showed before another was selected.
    let example = "{\n  \"lot\": 1\n}";
    let other_type = [("eventType", "svix.ping"), ("shown", "lot.sold"), ("payload", example)];
    let answer = visitor.post(&path, &other_type).await.is(303).location.clone().unwrap();
    let answer = answer.strip_suffix("#answer").unwrap();
    visitor.get(answer).await.is(200).shows("<option value=\"svix.ping\" selected>").hides("&#34;lot&#34;");
    for payload in ["{", "[1]", "null"] {
        let page = visitor.post(&path, &[("eventType", "lot.sold"), ("payload", payload)]).await;
        page.is(422).shows("id=\"payload-fault\"").shows(payload);
    }
    // A text above the limit of other forms is read, so that the page keeps it.
    let large = format!("{{\"lot\":\"{}\"}}", "x".repeat(PAYLOAD_BYTES_MAX));
    let page = visitor.post(&path, &[("eventType", "lot.sold"), ("payload", &large)]).await;
    page.is(413).shows("href=\"#payload\"").shows("more than 2 MiB").shows(&"x".repeat(1_000));

    let resend = format!("{message}/resend");
    visitor.submit(&resend, &[("endpoint", &endpoint.id)]).await.shows("The message is being sent once more.");
    visitor.until_shown(&message, "manual").await;
    visitor.submit(&resend, &[("endpoint", &other.id)]).await.is(200);
    visitor.until_shown(&format!("/endpoints/{}", other.id), "manual").await.shows("Delivered");
    visitor.post(&resend, &[("endpoint", "ep_1")]).await.is(404);
}

#[tokio::test]
async fn missing_messages_are_replayed_and_the_progress_is_shown() {
    let fixture = Fixture::new().await;
    let message = fixture.message("a.b", "{}", None).await;
    fixture.clock.advance(Duration::from_secs(60));
    let late = fixture.endpoint(at(&receiver(200, "").await)).await;
    let path = format!("/endpoints/{}/replay", late.id);
    let mut visitor = fixture.visitor().await;
    visitor.get(&path).await.is(200).shows("No replays in the last 90 days");
    let page = visitor.submit(&path, &[("what", "missing"), ("hours", "24"), ("since", "")]).await;
    page.is(200).shows("Missing messages").shows("Progress is shown below");
    // Each step of the task waits for the test clock.
    for _ in 0..1_000 {
        if !visitor.get(&path).await.text.contains("Running") {
            break;
        }
        fixture.clock.advance(Duration::from_secs(1));
    }
    let page = visitor.until_shown(&path, "1 of 1 delivered, 0 failed, 0 waiting").await;
    page.shows("Finished").shows("data-of=\"Sent\"><div>1<");
    visitor.until_shown(&format!("/endpoints/{}", late.id), &message.id).await;
    let log =
        fixture.provider.activity(&fixture.account, ActivityQuery { text: "missing", before: None }).await.unwrap();
    let [entry] = &log.entries[..] else { panic!("{log:?}") };
    assert_eq!((entry.action.as_str(), entry.actor_kind), ("endpoint.missing_messages_sent", ActorKind::PortalLink));
    assert!(entry.after.starts_with("background task: qtask_"), "{entry:?}");
    visitor
        .submit(&path, &[("what", "failed"), ("hours", "1"), ("since", "2026-11-21T00:00")])
        .await
        .shows("Failed messages");
    for (what, hours, since, status, said) in [
        ("failed", "24", "2026-10-01T00:00", 422, "must be at most 14 days ago"),
        ("failed", "24", "2027-01-01T00:00", 422, "must not be in the future"),
        ("failed", "24", "yesterday", 422, "must be a date and time"),
        ("failed", "9999", "", 422, "must be a date and time"),
        ("everything", "24", "", 400, "must be &#34;failed&#34; or &#34;missing&#34;"),
    ] {
        let page = visitor.post(&path, &[("what", what), ("hours", hours), ("since", since)]).await;
        page.is(status).shows(said);
        if status == 422 {
            page.shows("id=\"since-fault\"").shows(&format!("value=\"{since}\""));
        }
    }
    let other = fixture.endpoint(at("https://example.com/")).await;
    visitor.get(&format!("/endpoints/{}/replay", other.id)).await.shows("No replays in the last 90 days");
}

#[tokio::test]
async fn a_blocked_key_is_shown_and_its_message_retried_and_skipped() {
    let fixture = Fixture::new().await;
    let in_order = EndpointInput { ordering: Some(DeliveryOrder::PerKey), ..at(&receiver(500, "").await) };
    let endpoint = fixture.endpoint(in_order).await;
    let deliveries = format!("/endpoints/{}", endpoint.id);
    let path = format!("{deliveries}/ordering");
    let mut visitor = fixture.visitor().await;
    visitor.get(&path).await.is(200).shows("No blocked keys");
    visitor.get(&deliveries).await.is(200).hides("id=\"blocked\"");
    let first = fixture.message("a.b", "{}", Some("lot/1")).await;
    let second = fixture.message("a.b", "{}", Some("lot/1")).await;
    let page = visitor.until_shown(&path, "failed once; waits for its next retry").await;
    page.shows("lot/1").shows(&first.id).hides(&second.id).shows("data-of=\"Waiting behind it\">1<");
    page.shows("Retry now").shows("Skip message");
    visitor.get(&format!("/messages/{}", second.id)).await.shows("Waits to be sent, in order of its key");
    let banner = visitor.get(&deliveries).await;
    banner.shows("<code>lot/1</code> has been blocked").shows("1 message waits").shows("Retry now");
    banner.shows("data-lasts");

    // A retry keeps the order: the head fails again, and the second message still waits.
    let head = [("key", "lot/1"), ("messageId", &*first.id)];
    let retry = format!("{path}/retry");
    assert_eq!(visitor.post(&retry, &[("key", "lot/1"), ("messageId", &second.id)]).await.status, 404);
    visitor.submit(&retry, &head).await.is(200).shows("The message is being retried.");
    visitor.until_shown(&path, "failed 2 times; waits for its next retry").await.shows(&first.id).hides(&second.id);

    // A question comes before the skip and names the lost message.
    let question = |message: &str| format!("{path}/skip?key=lot%2F1&messageId={message}");
    let page = visitor.get(&question(&first.id)).await;
    page.is(200).shows("Skip this message?").shows(&first.id).shows("<code>a.b</code>").shows("2, which failed");
    page.shows("unless it is resent").shows("1 message of this key goes on after it").shows(&endpoint.url);
    visitor.get(&question(&second.id)).await.leads_to(&format!("{path}?done=unblocked"));
    let skip = async |visitor: &mut testkit::web::Browser, message: &str| {
        visitor.post(&path, &[("key", "lot/1"), ("messageId", message)]).await.status
    };
    assert_eq!(skip(&mut visitor, &second.id).await, 404, "a message that is not the head of the key was skipped");
    assert_eq!(skip(&mut visitor, &first.id).await, 303);
    visitor.until_shown(&path, &second.id).await.hides(&first.id);
    visitor.get("/messages?state=skipped").await.is(200).shows(&first.id).hides(&second.id);
    visitor.get(&format!("/messages/{}", first.id)).await.shows("<span class=\"status off\">Skipped</span>");
    let log =
        fixture.provider.activity(&fixture.account, ActivityQuery { text: "message", before: None }).await.unwrap();
    let actions: Vec<_> = log.entries.iter().take(2).map(|entry| entry.action.as_str()).collect();
    assert_eq!(actions, ["endpoint.message_skipped", "endpoint.message_retried"]);
    assert_eq!(log.entries[0].after, format!("message: {}\nordering key: lot/1", first.id));

    // Who only reads is offered neither, and who may send messages may retry.
    fixture.visitor_who_may(&[]).await.get(&path).await.is(200).hides("Retry now").hides("Skip message");
    let mut sender = fixture.visitor_who_may(&[Capability::CreateAttempts]).await;
    sender.until_shown(&path, "Retry now").await.hides("Skip message");
    sender.get(&question(&second.id)).await.is(403);
    // An endpoint without ordering has no tab for this page.
    let other = fixture.endpoint(at("https://example.com/")).await;
    let page = visitor.get(&format!("/endpoints/{}/ordering", other.id)).await;
    page.is(200).shows("in any order, so no key is blocked").hides("one after the other");
}
