//! Pages escape the texts of senders, receivers and customers.

use provider_core::payload::media_type::MediaType;
use provider_core::{EndpointInput, Payload};
use serde_json::json;

use crate::fixture::{Fixture, at, receiver};

const HOSTILE: &str = "</code></pre><script>alert('x')</script><img src=x onerror=alert(1)>\"'&";
const SHOWN: &str = "&#60;script&#62;alert(&#39;x&#39;)";

#[tokio::test]
async fn user_input_is_escaped() {
    let fixture = Fixture::new().await;
    let schema = json!({"1": {"type": "object", "title": HOSTILE, "examples": [{"text": HOSTILE}]}});
    fixture.event_type("hostile.kind", HOSTILE, Some(schema)).await;
    let url = receiver(500, "{\"why\": \"</pre><script>alert('x')</script>\"}").await;
    let endpoint = fixture
        .endpoint(EndpointInput {
            description: HOSTILE.into(),
            headers: Some([("x-hostile".to_owned(), HOSTILE.to_owned())].into()),
            ..at(&format!("{url}?<script>alert('x')</script>"))
        })
        .await;
    let message = fixture.message("hostile.kind", &json!({ HOSTILE: HOSTILE }).to_string(), None).await;
    let mut visitor = fixture.visitor().await;
    let of_endpoint = |page: &str| format!("/endpoints/{}{page}", endpoint.id);
    let of_message = format!("/messages/{}", message.id);
    visitor.until_shown(&of_message, "Failed").await.shows(SHOWN);
    let mut pages = vec![
        "/overview".to_owned(),
        "/endpoints".to_owned(),
        "/endpoints/new".to_owned(),
        "/messages".to_owned(),
        "/event-types".to_owned(),
        "/event-types/hostile.kind".to_owned(),
        of_message,
        format!("/messages?eventType={}", form_urlencoded::byte_serialize(HOSTILE.as_bytes()).collect::<String>()),
    ];
    pages.extend(
        ["", "/settings", "/secret", "/headers", "/example", "/replay", "/ordering", "/delete"].map(of_endpoint),
    );
    for path in pages {
        let page = visitor.get(&path).await;
        page.is(200).hides("<script>").hides("<img src=x").hides("onerror=alert(1)>\"");
        // Every page shows the application's name.
        page.shows("&#60;script&#62;alert(&#39;name&#39;)");
    }
    visitor.get("/event-types/hostile.kind").await.shows(SHOWN);
    visitor.get(&of_endpoint("/headers")).await.shows(SHOWN);
    // A refused form shows the entered values, escaped.
    let typed = [("url", HOSTILE), ("description", HOSTILE), ("channels", HOSTILE), ("throttleRate", HOSTILE)];
    visitor.post("/endpoints/new", &typed).await.is(422).hides("<script>").shows(SHOWN);
    let typed = [("name", HOSTILE), ("value", HOSTILE)];
    visitor.post(&of_endpoint("/headers"), &typed).await.is(422).hides("<script>").shows(SHOWN);
    visitor.post(&of_endpoint("/example"), &[("eventType", HOSTILE)]).await.is(422).hides("<script>").shows(SHOWN);
}

#[tokio::test]
async fn a_payload_is_shown_indented_and_downloaded_unchanged() {
    let fixture = Fixture::new().await;
    let written = "{\"n\":12345678901234567890.10,\"t\":\"\\u003cb\\u003e\",\"l\":[1,2]}";
    let message = fixture.message("a.b", written, None).await;
    let mut visitor = fixture.visitor().await;
    let path = format!("/messages/{}", message.id);
    visitor
        .get(&path)
        .await
        .shows("&#34;n&#34;</span>: <span class=\"code-value\">12345678901234567890.10</span>,")
        .shows("\\u003cb\\u003e");
    let file = visitor.get(&format!("{path}/payload")).await;
    assert_eq!(
        (file.is(200).text.as_str(), &file.headers["content-type"]),
        (written, &"application/json".parse().unwrap())
    );
    assert!(file.headers["content-disposition"].to_str().unwrap().starts_with("attachment; "));
    fixture.provider.expunge_message(&fixture.account, &fixture.app.id, &message.id).await.unwrap();
    visitor.get(&path).await.is(200).shows("The payload was removed").hides("Download");
    visitor.get(&format!("{path}/payload")).await.is(404);
}

#[tokio::test]
async fn a_payload_of_another_media_type_is_labelled_and_never_downloaded_as_a_page() {
    let fixture = Fixture::new().await;
    let written = "<html><script>alert('payload')</script></html>";
    let payload = Payload::from_text(written.into()).unwrap();
    let payload = payload.with_media_type(MediaType::parse("text/html; q=\"<b>\"").unwrap());
    let message = fixture.send("a.b", payload, None).await;
    let mut visitor = fixture.visitor().await;
    let path = format!("/messages/{}", message.id);
    let page = visitor.get(&path).await;
    page.is(200).shows("text/html; q=&#34;&#60;b&#62;&#34;").shows("&#60;html&#62;").hides("<html><script>");
    let file = visitor.get(&format!("{path}/payload")).await;
    assert_eq!(
        (file.is(200).text.as_str(), &file.headers["content-type"]),
        (written, &"application/octet-stream".parse().unwrap())
    );
    let disposition = format!("attachment; filename=\"{}.txt\"", message.id);
    assert_eq!(file.headers["content-disposition"], disposition);
    visitor.get("/messages").await.is(200).shows(&message.id);
}
