//! The activity log: who changed what, by page and by API key, without secrets.

use provider_core::{
    ApplicationInput, Created, EndpointInput, EndpointPatch, EventTypeInput, IfExists, PatchField, ProviderError,
};

use crate::fixture::{Fixture, PASSWORD};

#[tokio::test]
async fn changes_of_users_and_keys_are_listed_with_values_and_without_secrets() {
    let fixture = Fixture::new().await;
    let mut ann = fixture.admin().await;
    let invitation = ann.post("/users/invite", &[("note", "Bob"), ("role", "viewer")]).await.text_of("link");
    let mut bob = fixture.join(&invitation, "Bob", "bob@example.com").await;
    let key =
        ann.post("/api-access/new", &[("name", "Shop"), ("access", "full"), ("expiry", "never")]).await.text_of("key");
    ann.post("/profile/name", &[("name", "Anna")]).await.is(303);
    let page = bob.get("/activity").await;
    page.is(200).shows("Made a sign-in code for").shows("Operator of the server").shows("Joined as");
    page.shows("Created the API key").shows("<del>Ann</del>").shows("<ins>Anna</ins>");
    let code = invitation.split_once("#key=").unwrap().1;
    page.hides(&key).hides(code).hides(PASSWORD).hides("argon2");

    bob.get("/activity?q=SHOP").await.is(200).shows("Created the API key").hides("Joined as");
    bob.get("/activity?q=nothing").await.is(200).shows("No activity matches").shows("Clear search");
    bob.get("/activity?before=act_1").await.is(400);
    bob.get("/activity/live?after=act_1").await.is(400);

    // Newer entries are counted with the search of the page.
    let page = bob.get("/activity?q=shop").await;
    let (_, tail) = page.text.split_once("data-tail=\"/dashboard/activity/live?q=shop&#38;after=").unwrap();
    let after = tail.split('"').next().unwrap().to_owned();
    let newer = async |text| fixture.provider.newer_activity(&fixture.key_caller, text, &after, 2).await.unwrap();
    assert_eq!((newer("").await, newer("shop").await), (1, 0), "the name was changed after the key was created");
    for name in ["Web shop", "Office", "Shop of books"] {
        ann.post("/api-access/new", &[("name", name), ("access", "full"), ("expiry", "never")]).await.is(200);
    }
    assert_eq!((newer("").await, newer("shop").await, newer("office").await), (2, 2, 1));
    let later = page_two(&page.text);
    bob.get(&format!("/activity?q=shop&before={later}")).await.is(200).hides("data-tail");
    bob.get(&format!("/activity?q={}", "a".repeat(201))).await.is(400);
}

/// The newest entry of a page, which is where an older page begins.
fn page_two(text: &str) -> String {
    text.split_once("after=").unwrap().1.split('"').next().unwrap().to_owned()
}

#[tokio::test]
async fn changes_by_api_key_are_listed_with_the_keys_name() {
    let fixture = Fixture::new().await;
    let (provider, caller) = (&fixture.provider, &fixture.key_caller);
    let input = ApplicationInput { name: "Web shop".into(), ..ApplicationInput::default() };
    let created = provider.create_application(caller, input, IfExists::Refuse, None, |_| String::new()).await;
    let Created::New(app) = created.unwrap() else { panic!("no new application") };
    let input = EventTypeInput { description: "It changed.".into(), ..EventTypeInput::default() };
    provider.create_event_type(caller, "ITEM_STATUS_CHANGE", input, None, |_| String::new()).await.unwrap();
    let headers = [("x-token".to_owned(), "a-secret-header".to_owned())].into();
    let input = EndpointInput {
        url: "https://shop.example/hook?token=a-secret-token".into(),
        headers: Some(headers),
        ..EndpointInput::default()
    };
    let created = provider.create_endpoint(caller, &app.id, input, None, |_| String::new()).await.unwrap();
    let Created::New(endpoint) = created else { panic!("no new endpoint") };
    let secret = provider.endpoint_secret(caller, &app.id, &endpoint.id).await.unwrap();
    let patch = EndpointPatch { disabled: PatchField::Set(true), ..EndpointPatch::default() };
    provider.patch_endpoint(caller, &app.id, &endpoint.id, patch.clone()).await.unwrap();
    // A change that changes nothing is not listed.
    provider.patch_endpoint(caller, &app.id, &endpoint.id, patch).await.unwrap();
    provider.rotate_endpoint_secret(caller, &app.id, &endpoint.id, None, None, None).await.unwrap();
    provider.archive_event_type(caller, "ITEM_STATUS_CHANGE").await.unwrap();
    provider.delete_endpoint(caller, &app.id, &endpoint.id).await.unwrap();
    provider.delete_application(caller, &app.id).await.unwrap();

    let mut ann = fixture.admin().await;
    let page = ann.get("/activity?q=platform").await;
    for words in [
        "Created the application",
        "Deleted the application",
        "Created the endpoint",
        "Changed the endpoint",
        "<del>enabled</del> <ins>disabled</ins>",
        "Rotated the signing secret",
        "Deleted the endpoint",
        "Created the event type",
        "Archived the event type",
        "https://shop.example/hook?…",
        "x-token",
    ] {
        page.is(200).shows(words);
    }
    page.hides("a-secret").hides(&secret);
    assert_eq!(page.text.matches("Changed the endpoint").count(), 1, "{}", page.text);
}

#[tokio::test]
async fn many_entries_are_shown_page_by_page() {
    let fixture = Fixture::new().await;
    let mut ann = fixture.admin().await;
    for number in 0..60 {
        let created = fixture.provider.create_api_key(&fixture.account.id, &format!("Key {number}.")).await;
        created.unwrap();
    }
    let page = ann.get("/activity").await;
    page.is(200).shows("Key 59.").hides("Key 9.").shows(">Older<").hides(">Newest<");
    let (_, rest) = page.text.split_once("rel=\"next\" href=\"/dashboard").unwrap();
    let older = rest.split_once('"').unwrap().0.replace("&#38;", "&");
    ann.get(&older).await.is(200).shows("Key 9.").hides("Key 59.").shows(">Newest<").hides(">Older<");
}

#[tokio::test]
async fn a_preview_of_the_portal_works_once_and_is_listed() {
    let fixture = Fixture::new().await;
    let input = ApplicationInput { name: "Web shop".into(), ..ApplicationInput::default() };
    let caller = &fixture.key_caller;
    let created = fixture.provider.create_application(caller, input, IfExists::Refuse, None, |_| String::new()).await;
    let Created::New(app) = created.unwrap() else { panic!("no new application") };
    let mut ann = fixture.admin().await;
    let session = ann.cookie("lotwire_dashboard");
    let user = fixture.provider.authenticate_session(&session).await.unwrap().caller;
    let link = fixture.provider.create_portal_preview(&user, &app.id).await.unwrap();
    assert!(link.url.starts_with("https://hooks.example/app-portal/login#key="), "{}", link.url);
    assert!(matches!(fixture.provider.authenticate(&link.token).await, Err(ProviderError::Unauthenticated)));
    let token = fixture.provider.redeem_portal_code(&link.token).await.unwrap();
    let visitor = fixture.provider.authenticate(&token).await.unwrap();
    assert!(fixture.provider.can_access(&visitor, &app.id).await.unwrap());
    let again = fixture.provider.redeem_portal_code(&link.token).await;
    assert!(matches!(again, Err(ProviderError::Unauthenticated)));
    assert_eq!(fixture.provider.redeem_portal_code("appsk_x").await.unwrap(), "appsk_x");
    ann.get("/activity").await.is(200).shows("Previewed the App Portal of").hides(&link.token);

    let mut viewer = fixture.invited(&mut ann, "viewer", "Vic").await;
    let session = viewer.cookie("lotwire_dashboard");
    viewer.get("/").await.is(200);
    let user = fixture.provider.authenticate_session(&session).await.unwrap().caller;
    let refused = fixture.provider.create_portal_preview(&user, &app.id).await.unwrap_err();
    assert!(refused.to_string().contains("the role Support"), "{refused}");
}
