//! Messages that a user sends by hand.

use provider_core::model::{PayloadCheck, UnknownEventTypes};
use provider_core::{EventTypeInput, PageRequest, PortalAccessInput};
use serde_json::json;
use testkit::web::Browser;

use crate::fixture::{Fixture, ORIGIN_OF_SERVER};
use crate::left::application;
use crate::users::id_of;

/// An account that rejects what it does not know, with two event types.
async fn strict() -> (Fixture, String) {
    let fixture = Fixture::new().await;
    let app = application(&fixture).await;
    for (name, field) in [("lot.sold", "price"), ("lot.opened", "opens")] {
        let schema = json!({"1": {"type": "object", "properties": {field: {"type": "integer"}}, "required": [field],
            "examples": [{field: 250}]}});
        let input = EventTypeInput { schemas: Some(schema), ..EventTypeInput::default() };
        fixture.provider.create_event_type(&fixture.key_caller, name, input, None, |_| String::new()).await.unwrap();
    }
    let mut account = fixture.account.clone();
    account.settings.payload_check = PayloadCheck::Reject;
    account.settings.unknown_event_types = UnknownEventTypes::Reject;
    fixture.provider.update_account(account).await.unwrap();
    (fixture, app)
}

async fn sent(fixture: &Fixture, app: &str) -> usize {
    let page = PageRequest::default();
    fixture.provider.list_messages(&fixture.key_caller, app, &page).await.unwrap().data.len()
}

#[tokio::test]
async fn a_message_is_sent_once_with_its_example_and_names_its_sender() {
    let (fixture, app) = strict().await;
    let path = format!("/applications/{app}/send-message");
    let mut ann = fixture.admin().await;
    let mut bob = fixture.invited(&mut ann, "member", "Bob").await;
    bob.get(&format!("/applications/{app}")).await.shows("Send message");
    let form = bob.get(&format!("{path}?eventType=lot.sold")).await;
    form.is(200).shows("&#34;price&#34;: 250").shows("<option value=\"lot.sold\" selected>");
    form.shows("No enabled endpoint of this application receives lot.sold at present");
    let key = form.between("name=\"key\" value=\"", "\"");

    let fields = [
        ("key", key.as_str()),
        ("shown", "lot.sold"),
        ("eventType", "lot.sold"),
        ("payload", "{\r\n  \"price\": 300\r\n}"),
        ("eventId", "by-hand.1"),
        ("channels", "north, south"),
    ];
    let mut twin = fixture.browser();
    twin.set_cookie("lotwire_dashboard", &bob.cookie("lotwire_dashboard"));
    let (first, second) = tokio::join!(bob.post(&path, &fields), twin.post(&path, &fields));
    let third = bob.post(&path, &fields).await;
    let [first, second, third] = [first, second, third].map(|answer| answer.is(303).location.clone().unwrap());
    assert_eq!(sent(&fixture, &app).await, 1, "a form that was sent three times sends one message");
    assert_eq!([&second, &third], [&first; 2]);
    let message = fixture.provider.message(&fixture.key_caller, &app, "by-hand.1").await.unwrap();
    assert_eq!(message.payload.unwrap().text(), b"{\n  \"price\": 300\n}");
    assert_eq!(message.channels, Some(vec!["north".to_owned(), "south".to_owned()]));

    let bobs = id_of(&mut ann, "Bob").await;
    let page = bob.get(&first).await;
    page.is(200).shows("The message was accepted").shows("Sent by hand").shows("by-hand.1");
    page.shows(&format!("<a href=\"/dashboard{bobs}\">Bob</a>"));
    let log = ann.get("/activity").await;
    log.shows("Sent by hand the message").shows("event type: lot.sold").shows("event id: by-hand.1");
    assert_eq!(log.text.matches("Sent by hand the message").count(), 1);

    // The same form with another content is another message.
    let edited = fields.map(|(name, value)| (name, if name == "eventId" { "by-hand.2" } else { value }));
    bob.post(&path, &edited).await.is(303);
    assert_eq!(sent(&fixture, &app).await, 2);

    // The portal says that a person sent it, and not who.
    let link = fixture.provider.create_portal_access(&fixture.key_caller, &app, PortalAccessInput::default()).await;
    let mut portal = Browser::of_surface(&fixture.surface, ORIGIN_OF_SERVER, "/app-portal");
    portal.post("/login", &[("key", &link.unwrap().token)]).await.leads_to("/endpoints");
    let page = portal.get("/messages/by-hand.1").await;
    page.is(200).shows("Sent by hand").shows("A person, on the sender's dashboard").hides("Bob").hides("usr_");

    ann.submit(&format!("{bobs}/remove"), &[]).await.is(200);
    ann.get(&first).await.is(200).shows("A user who was removed since").hides("Bob");
}

#[tokio::test]
async fn all_errors_are_shown_at_once_and_the_edit_stays() {
    let (fixture, app) = strict().await;
    let path = format!("/applications/{app}/send-message");
    let mut ann = fixture.admin().await;
    let page = ann
        .post(
            &path,
            &[
                ("eventType", "lot sold"),
                ("payload", "{\"price\": "),
                ("eventId", "two words"),
                ("channels", "a,b,c,d,e,f"),
            ],
        )
        .await;
    page.is(422).shows("Nothing was sent").shows("id=\"event-type-fault\"").shows("id=\"payload-fault\"");
    page.shows("id=\"eventId-fault\"").shows("id=\"channels-fault\"");
    page.shows(">{&#34;price&#34;:").shows("value=\"two words\"").shows("value=\"a,b,c,d,e,f\"");

    let page = ann.post(&path, &[("eventType", "lot.unknown"), ("payload", "[]")]).await;
    page.is(422).shows("the account has no event type lot.unknown").shows("must be an object").shows(">[]<");
    let page = ann.post(&path, &[("eventType", "lot.sold"), ("payload", "{\"price\": \"high\"}")]).await;
    page.is(422).shows("id=\"payload-fault\"").shows("&#34;high&#34;");
    let large = format!("{{\"price\": 1, \"note\": \"{}\"}}", "x".repeat(2 * 1_024 * 1_024));
    ann.post(&path, &[("eventType", "lot.sold"), ("payload", &large)]).await.is(422).shows("has more than 2 MiB");
    assert_eq!(sent(&fixture, &app).await, 0);

    let sold = [("eventType", "lot.sold"), ("payload", "{\"price\": 1}"), ("eventId", "taken")];
    ann.post(&path, &[&sold[..], &[("key", "a")]].concat()).await.is(303);
    let page = ann.post(&path, &[&sold[..], &[("key", "b")]].concat()).await;
    page.is(409).shows("A message with this id was accepted before").shows("value=\"taken\"");
    assert_eq!(sent(&fixture, &app).await, 1);
}

#[tokio::test]
async fn the_example_follows_the_selected_event_type_and_an_edit_does_not() {
    let (fixture, app) = strict().await;
    let path = format!("/applications/{app}/send-message");
    let mut ann = fixture.admin().await;
    let example = "{\n  \"price\": 250\n}";
    let form = [("shown", "lot.sold"), ("eventType", "lot.opened"), ("payload", example), ("eventId", "kept")];
    let page = ann.post(&path, &form).await;
    page.is(200).shows("Nothing was sent yet").shows("&#34;opens&#34;: 250").shows("value=\"kept\"");
    let shown = [&form[..], &[("action", "show")]].concat();
    ann.post(&path, &shown).await.is(200).shows("&#34;opens&#34;: 250").hides("Nothing was sent");
    let edited = [("shown", "lot.sold"), ("eventType", "lot.opened"), ("payload", "{\"opens\": 7}")];
    ann.post(&path, &edited).await.is(303);
    assert_eq!(sent(&fixture, &app).await, 1);
}

#[tokio::test]
async fn only_members_send_and_only_to_their_account() {
    let (fixture, app) = strict().await;
    let path = format!("/applications/{app}/send-message");
    let mut ann = fixture.admin().await;
    let mut sue = fixture.invited(&mut ann, "support", "Sue").await;
    sue.get(&format!("/applications/{app}")).await.is(200).hides("Send message");
    sue.get(&path).await.is(403).shows("Member");
    sue.post(&path, &[("eventType", "lot.sold"), ("payload", "{\"price\": 1}")]).await.is(403).shows("Member");
    ann.get("/applications/app_none/send-message").await.is(404);
    ann.post("/applications/app_none/send-message", &[("eventType", "lot.sold")]).await.is(404);
    assert_eq!(sent(&fixture, &app).await, 0);
}
