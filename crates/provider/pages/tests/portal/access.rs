//! The pages offer and accept what the capabilities of the link allow.

use provider_core::PortalAccessInput;
use provider_core::model::Capability;

use crate::fixture::{Fixture, application, at};

#[tokio::test]
async fn a_read_only_visitor_sees_everything_but_secrets_and_changes_nothing() {
    let fixture = Fixture::new().await;
    // Sent before the endpoint exists, so that no attempt changes it.
    let message = fixture.message("a.b", "{}", None).await;
    let endpoint = fixture.endpoint(at("https://example.com/")).await;
    let mut reader = fixture.visitor_who_may(&[]).await;
    let path = format!("/endpoints/{}", endpoint.id);
    reader.get("/endpoints").await.is(200).shows("Read only").hides("Add endpoint");
    reader.get(&path).await.is(200).hides("Disable").hides("Settings").hides("Signing secret").hides("Send example");
    reader.get(&format!("{path}/replay")).await.is(200).hides("Count messages");
    reader.get(&format!("/messages/{}", message.id)).await.is(200).hides("Resend");
    for page in ["/settings", "/secret", "/headers", "/example", "/delete", "/replay/confirm?what=failed&hours=1"] {
        reader.get(&format!("{path}{page}")).await.is(403).shows("does not allow this");
    }
    reader.get("/endpoints/new").await.is(403);
    for (path, fields) in [
        ("/endpoints/new".to_owned(), &[("url", "https://example.org/")][..]),
        (format!("{path}/settings"), &[("url", "https://example.org/")]),
        (format!("{path}/disable"), &[]),
        (format!("{path}/delete"), &[]),
        (format!("{path}/secret/reveal"), &[]),
        (format!("{path}/secret/rotate"), &[]),
        (format!("{path}/headers"), &[("name", "x-a"), ("value", "b")]),
        (format!("{path}/headers/remove"), &[("name", "x-a")]),
        (format!("{path}/example"), &[("eventType", "svix.ping")]),
        (format!("{path}/replay"), &[("what", "failed"), ("hours", "1")]),
        (format!("{path}/ordering"), &[("key", "k"), ("messageId", "msg_1")]),
        (format!("/messages/{}/resend", message.id), &[("endpoint", &endpoint.id)]),
    ] {
        reader.post(&path, fields).await.is(403);
    }
    let same = fixture.provider.endpoint(&fixture.account, &fixture.app.id, &endpoint.id).await.unwrap();
    assert_eq!(same, endpoint);
}

#[tokio::test]
async fn a_capability_opens_only_its_pages() {
    let fixture = Fixture::new().await;
    let endpoint = fixture.endpoint(at("https://example.com/")).await;
    let path = |page: &str| format!("/endpoints/{}{page}", endpoint.id);
    for (capability, opened) in [
        (Capability::ViewEndpointSecret, &["/secret"][..]),
        (Capability::ManageEndpointSecret, &["/secret"]),
        (Capability::CreateAttempts, &["/example"]),
        (Capability::ManageEndpoint, &["/settings", "/secret", "/headers", "/delete"]),
    ] {
        let mut visitor = fixture.visitor_who_may(&[capability]).await;
        for page in ["/settings", "/secret", "/headers", "/example", "/delete"] {
            let status = if opened.contains(&page) { 200 } else { 403 };
            visitor.get(&path(page)).await.is(status);
        }
    }
    let mut viewer = fixture.visitor_who_may(&[Capability::ViewEndpointSecret]).await;
    viewer.get(&path("/secret")).await.shows("Reveal").hides("Rotate");
    viewer.post(&path("/secret/reveal"), &[]).await.is(200).shows("whsec_");
    viewer.post(&path("/secret/rotate"), &[]).await.is(403);
}

#[tokio::test]
async fn pages_of_another_application_return_404() {
    let fixture = Fixture::new().await;
    let theirs = application(&fixture.provider, &fixture.account, "Theirs").await;
    let created = fixture
        .provider
        .create_endpoint(&fixture.account, &theirs.id, at("https://theirs.example/"), None, |_| String::new())
        .await
        .unwrap();
    let provider_core::Created::New(endpoint) = created else { panic!("no new endpoint") };
    let mut visitor = fixture.visitor().await;
    visitor.get("/endpoints").await.hides("theirs.example");
    for page in ["", "/settings", "/secret", "/headers", "/example", "/replay", "/ordering", "/delete"] {
        visitor.get(&format!("/endpoints/{}{page}", endpoint.id)).await.is(404).shows("Page not found");
    }
    visitor.post(&format!("/endpoints/{}/delete", endpoint.id), &[]).await.is(404);
    visitor.post(&format!("/endpoints/{}/secret/reveal", endpoint.id), &[]).await.is(404);
    for path in ["/endpoints/ep%00", "/endpoints/%ff", "/messages/a%20b", "/event-types/a%2Fb", "/messages/msg_1"] {
        visitor.get(path).await.is(404);
    }
}

#[tokio::test]
async fn event_types_with_a_flag_are_shown_with_that_flag() {
    let fixture = Fixture::new().await;
    fixture.event_type("open.to.all", "d", None).await;
    let beta = provider_core::EventTypeInput { feature_flags: ["beta".to_owned()].into(), ..Default::default() };
    fixture.provider.create_event_type(&fixture.account, "only.beta", beta, None, |_| String::new()).await.unwrap();
    let mut visitor = fixture.visitor().await;
    for path in ["/event-types", "/endpoints/new", "/messages"] {
        visitor.get(path).await.is(200).shows("open.to.all").hides("only.beta");
    }
    visitor.get("/event-types/only.beta").await.is(404);
    let link =
        fixture.link(PortalAccessInput { feature_flags: ["beta".to_owned()].into(), ..Default::default() }).await;
    visitor.post("/login", &[("key", &link.token)]).await.is(303);
    visitor.get("/event-types").await.shows("only.beta");
}
