//! Consumer applications and the first page.

use std::time::Duration;

use provider_core::model::Role;
use provider_core::{ApplicationInput, ApplicationPatch, Caller, Created, IfExists, PatchField};

use crate::workplace::{HOSTILE, Workplace, at, receiver};

#[tokio::test]
async fn the_first_page_shows_a_new_account_its_next_set_up_step() {
    let place = Workplace::open().await;
    let mut ann = place.user(Role::Admin).await;
    let page = ann.get("/").await;
    page.is(200).shows("0 of 5 steps done").shows("Create an API key").shows("href=\"/dashboard/event-types\"");
    page.hides("key-figures");
    place.provider.create_api_key(&place.account.account, "Platform").await.unwrap();
    place.event_type("ITEM_STATUS_CHANGE").await;
    let app = place.application("Hammer & Sons").await;
    ann.get("/").await.shows("3 of 5 steps done").shows(&format!("href=\"/dashboard/applications/{}\"", app.id));
    place.endpoint(&app.id, at(&receiver(204, "").await)).await;
    ann.get("/").await.shows("4 of 5 steps done").shows("Receive the first event");
    place.send(&app.id, "ITEM_STATUS_CHANGE", "{}").await;
    // The cached figures expire, and the page counts again.
    ann.until_shown(&format!("/applications/{}", app.id), "100 %").await;
    place.clock.advance(Duration::from_secs(20));
    let page = ann.until_shown("/", "1 succeeded, 0 failed").await;
    page.hides("Set up your account").shows("100 %").shows("No endpoint is failing.");
}

#[tokio::test]
async fn an_application_is_created_changed_and_deleted() {
    let place = Workplace::open().await;
    let mut ann = place.user(Role::Member).await;
    ann.get("/applications").await.is(200).shows("No applications yet").shows("Create application");
    let form = [("name", "Hammer & Sons"), ("uid", "hammer"), ("throttleRate", "20")];
    let page = ann.submit("/applications/new", &form).await;
    page.is(200).shows("The application was created").shows("<h1>Hammer &#38; Sons</h1>").shows("20 messages/s");
    page.shows("id=\"application-id\">app_").shows("Copy application id").shows("No endpoints yet");

    let application = place.provider.application(&place.account, "hammer").await.unwrap();
    let list = ann.get("/applications").await;
    list.shows(&format!("id=\"id-{0}\">{0}</code>", application.id)).shows("uid <code>hammer</code>");

    let path = |page: &str| format!("/applications/{}{page}", application.id);
    let edit = ann.get(&path("/edit")).await;
    edit.is(200).shows("value=\"Hammer &#38; Sons\"").shows("value=\"20\"");
    let metadata = ApplicationPatch {
        metadata: PatchField::Set([("region".to_owned(), "north".to_owned())].into()),
        ..ApplicationPatch::default()
    };
    place.provider.patch_application(&place.account, &application.id, metadata).await.unwrap();
    let form = [("name", "Hammer"), ("uid", ""), ("throttleRate", "")];
    ann.submit(&path("/edit"), &form).await.is(200).shows("The application was saved.").shows("<h1>Hammer</h1>");
    let saved = place.provider.application(&place.account, &application.id).await.unwrap();
    assert_eq!(
        (saved.uid, saved.throttle_rate, saved.metadata.len()),
        (None, None, 1),
        "the form removed the metadata"
    );

    place.endpoint(&application.id, at("https://example.com/")).await;
    ann.submit("/operational-webhooks/new", &[("url", "https://ops.example/"), ("types", "all")]).await.is(200);
    let page = ann.get(&path("/delete")).await;
    page.is(200)
        .shows("Its endpoint receives no more messages")
        .shows("https://ops.example/")
        .shows("Keep application");
    ann.submit(&path("/delete"), &[]).await.shows("The application was deleted").shows("No applications yet");
    ann.get(&path("")).await.is(404);
}

#[tokio::test]
async fn errors_are_shown_beside_their_field_and_entered_values_stay() {
    let place = Workplace::open().await;
    let mut ann = place.user(Role::Member).await;
    place
        .provider
        .patch_application(
            &place.account,
            &place.application("Other").await.id,
            ApplicationPatch { uid: PatchField::Set(Some("taken".into())), ..ApplicationPatch::default() },
        )
        .await
        .unwrap();
    for (field, form, status) in [
        ("name", [("name", ""), ("uid", "kept")], 422),
        ("uid", [("name", "Kept"), ("uid", "two words")], 422),
        ("uid", [("name", "Kept"), ("uid", "taken")], 409),
        ("throttleRate", [("name", "Kept"), ("throttleRate", "many")], 422),
    ] {
        let page = ann.post("/applications/new", &form).await;
        page.is(status).shows(&format!("id=\"{field}-fault\"")).shows(&format!("<li><a href=\"#{field}\">"));
        for (_, value) in form.iter().filter(|(_, value)| !value.is_empty()) {
            page.shows(&format!("value=\"{value}\""));
        }
    }
}

#[tokio::test]
async fn failing_applications_come_first_and_a_search_finds_the_others() {
    let place = Workplace::open().await;
    let mut ann = place.user(Role::Viewer).await;
    let calm = place.application("Calm").await;
    for number in 0..30 {
        place.application(&format!("House {number}")).await;
    }
    let failing = place.application(HOSTILE).await;
    place.endpoint(&failing.id, at(&receiver(500, "boom").await)).await;
    place.send(&failing.id, "a.b", "{}").await;
    let page = ann.until_shown("/applications", "1 failing").await;
    page.hides("<script>alert").hides("Create application");
    let place_of = |id: &str| page.text.find(&format!("/applications/{id}\"")).unwrap();
    assert!(
        place_of(&failing.id) < place_of(&calm.id),
        "the failing application, which is the last of 32, is not listed first"
    );
    page.shows("100 %").shows("rel=\"next\"").hides("rel=\"prev\"");
    let next = page.text.split("rel=\"next\" href=\"/dashboard").nth(1).unwrap().split('"').next().unwrap().to_owned();
    ann.get(&next.replace("&#38;", "&")).await.is(200).hides(&failing.id).shows("House 29").shows("rel=\"prev\"");

    ann.get("/applications?q=house+2").await.shows("House 29").hides("Calm").shows("Clear search");
    ann.get(&format!("/applications?q={}", calm.id)).await.shows("Calm").hides("House");
    ann.get("/applications?q=nothing").await.shows("No matching applications");
    ann.get("/applications?iterator=odd").await.is(400);

    let detail = ann.get(&format!("/applications/{}", failing.id)).await;
    detail.is(200).shows("Failing").shows("Recent failures").shows("500: The receiver").hides("<script>alert");
    detail.hides("Preview App Portal").hides("Delete application");
    let messages = format!("application={}&#38;cause=any-server&#38;from=2026-11-20T07%3A00", failing.id);
    detail.shows(&format!("<a href=\"/dashboard/messages?{messages}\">Receiver failed (5xx) <strong>1</strong>"));
    ann.get("/").await.shows("Endpoints that need attention").hides("<script>alert");
}

#[tokio::test]
async fn each_role_opens_its_pages_and_a_refusal_names_the_needed_role() {
    let place = Workplace::open().await;
    let app = place.application("Hammer").await;
    let preview = format!("/applications/{}/preview", app.id);
    let mut viewer = place.user(Role::Viewer).await;
    viewer.post(&preview, &[]).await.is(403).shows("Support");
    viewer.get("/applications/new").await.is(403).shows("Member");
    viewer.post("/payload-check", &[("check", "off")]).await.is(403).shows("Admin");
    let mut support = place.user(Role::Support).await;
    support.get(&format!("/applications/{}", app.id)).await.shows("Preview App Portal").hides("Edit application");
    let answer = support.post(&preview, &[]).await;
    let location = answer.is(303).location.clone().unwrap();
    assert!(location.contains("/app-portal/login#key="), "the code is not in the fragment: {location}");
    let other = Caller::operator(&place.provider.create_account("Other").await.unwrap());
    let input = ApplicationInput { name: "Foreign".into(), ..ApplicationInput::default() };
    let foreign = place.provider.create_application(&other, input, IfExists::Refuse, None, |_| String::new()).await;
    let Created::New(foreign) = foreign.unwrap() else { panic!("no new application") };
    support.get(&format!("/applications/{}", foreign.id)).await.is(404);
}
