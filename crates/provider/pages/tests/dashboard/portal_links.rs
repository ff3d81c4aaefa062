//! Links to the App Portal: made within the user's role, shown once, listed, revoked, and ended with their maker.

use std::time::Duration;

use provider_core::model::Capability;
use provider_core::{Caller, PortalAccessInput, ProviderError};
use testkit::web::Browser;

use crate::fixture::{Fixture, ORIGIN_OF_SERVER};
use crate::left::application;
use crate::users::id_of;

/// The token of the link that a page shows.
fn token_in(url: &str) -> String {
    let (page, key) = url.split_once("#key=").unwrap();
    assert_eq!(page, format!("{ORIGIN_OF_SERVER}/app-portal/login"));
    let key: serde_json::Value =
        serde_json::from_slice(&data_encoding::BASE64.decode(key.as_bytes()).unwrap()).unwrap();
    key["token"].as_str().unwrap().to_owned()
}

/// The token of a link that the user makes.
async fn make(browser: &mut Browser, app: &str, fields: &[(&str, &str)]) -> String {
    let page = browser.post(&format!("/applications/{app}/portal-links/new"), fields).await;
    token_in(&page.is(200).text_of("link"))
}

async fn visitor(fixture: &Fixture, token: &str) -> Option<Caller> {
    match fixture.provider.authenticate(token).await {
        Ok(caller) => Some(caller),
        Err(ProviderError::Unauthenticated) => None,
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn a_link_is_made_shown_once_listed_and_revoked() {
    let fixture = Fixture::new().await;
    let app = application(&fixture).await;
    let path = |page: &str| format!("/applications/{app}{page}");
    let mut ann = fixture.admin().await;
    ann.get(&path("")).await.is(200).shows("No link to the App Portal works at present").shows("Create portal link");
    let form = ann.get(&path("/portal-links/new")).await;
    form.is(200).shows("<option value=\"3600\" selected>One hour").shows("ViewBase").hides(" checked");

    let read = make(&mut ann, &app, &[("life", "3600")]).await;
    let change = [("capabilities", "ManageEndpoint"), ("capabilities", "CreateAttempts"), ("life", "86400")];
    let change = make(&mut ann, &app, &change).await;
    let who = visitor(&fixture, &change).await.unwrap();
    assert!(who.has(Capability::ManageEndpoint) && who.has(Capability::CreateAttempts));
    let all = PortalAccessInput::default();
    let of_key = fixture.provider.create_portal_access(&fixture.key_caller, &app, all).await.unwrap().token;
    ann.post(&path("/preview"), &[]).await.is(303);

    let page = ann.get(&path("")).await;
    page.shows("<strong>Ann</strong>").shows("ViewBase, CreateAttempts, ManageEndpoint").shows(">Never</span>");
    page.shows("<strong>platform</strong> <span class=\"soft small\">API key</span>").shows("All capabilities");
    page.hides(&read).hides("#key=").hides("appsk_");
    assert_eq!(page.text.matches("/revoke\"").count(), 3, "the preview is listed");

    let visitor_of_read = visitor(&fixture, &read).await.unwrap();
    assert!(visitor_of_read.has(Capability::ViewBase) && !visitor_of_read.has(Capability::ViewEndpointSecret));
    let links: Vec<String> = {
        let text = ann.get(&path("/portal-links")).await.text.to_string();
        let parts = text.split("href=\"/dashboard").filter(|part| part.contains("/revoke\""));
        parts.map(|part| part.split('"').next().unwrap().to_owned()).collect()
    };
    assert_eq!(links.len(), 3, "{links:?}");
    // Newest first: the API key's link, the one for changes, the one for reading.
    let page = ann.get(&links[2]).await;
    page.is(200).shows("It was last used").shows("Sessions that were opened with it end at once");
    ann.get(&links[1]).await.shows("ManageEndpoint").shows("It was last used");
    ann.submit(&links[2], &[]).await.is(200).shows("The portal link was revoked.").hides(&links[2]);
    assert!(visitor(&fixture, &read).await.is_none());
    assert!(!fixture.provider.token_goes_on(&visitor_of_read).await.unwrap(), "an open stream ends");
    assert!(visitor(&fixture, &change).await.is_some() && visitor(&fixture, &of_key).await.is_some());
    ann.get(&links[2]).await.is(404);
    ann.post(&links[2], &[]).await.is(404);

    let log = ann.get("/activity").await;
    log.shows("Created a link to the App Portal of")
        .shows("Revoked a link to the App Portal of")
        .shows("capabilities: ");
    log.shows("Previewed the App Portal of").hides(&change).hides(&of_key);
    assert_eq!(log.text.matches("Created a link to the App Portal of").count(), 2, "the API key's link is in the log");

    fixture.clock.advance(Duration::from_secs(24 * 3_600));
    assert!(visitor(&fixture, &change).await.is_none());
}

#[tokio::test]
async fn a_link_allows_no_more_than_its_maker_may_give() {
    let fixture = Fixture::new().await;
    let app = application(&fixture).await;
    let new = format!("/applications/{app}/portal-links/new");
    let mut ann = fixture.admin().await;
    let mut vic = fixture.invited(&mut ann, "viewer", "Vic").await;
    make(&mut ann, &app, &[("life", "3600")]).await;
    vic.get(&format!("/applications/{app}")).await.shows("Portal links").hides("Create portal link").hides("/revoke");
    vic.get(&new).await.is(403).shows("Support");
    vic.post(&new, &[("life", "3600")]).await.is(403);

    let mut sue = fixture.invited(&mut ann, "support", "Sue").await;
    sue.get(&new).await.is(200).shows("needs the role Member").hides("name=\"capabilities\"");
    sue.post(&new, &[("capabilities", "ManageEndpoint"), ("life", "3600")]).await.is(403).shows("Member");
    let token = make(&mut sue, &app, &[("life", "3600")]).await;
    assert!(!visitor(&fixture, &token).await.unwrap().has(Capability::CreateAttempts));

    for (fields, fault) in [
        (&[("life", "60")][..], "id=\"life-fault\""),
        (&[("life", "")], "id=\"life-fault\""),
        (&[("life", "3600"), ("capabilities", "Everything")], "id=\"capabilities-fault\""),
    ] {
        let page = ann.post(&new, fields).await;
        page.is(422).shows(fault).hides("id=\"link\"");
    }
    let kept = ann.post(&new, &[("capabilities", "CreateAttempts"), ("life", "x")]).await;
    kept.shows("value=\"CreateAttempts\" checked");
    ann.get("/applications/app_none/portal-links").await.is(404);
    ann.get(&format!("/applications/{app}/portal-links?iterator=odd")).await.is(400);
}

#[tokio::test]
async fn links_and_their_sessions_end_with_the_membership_of_their_maker() {
    let fixture = Fixture::new().await;
    let app = application(&fixture).await;
    let mut ann = fixture.admin().await;
    let ends = [("role", "admin", false), ("role", "support", true), ("remove", "", true)];
    for (number, (action, role, is_end)) in ends.into_iter().enumerate() {
        let name = format!("Bob{number}");
        let mut bob = fixture.invited(&mut ann, "member", &name).await;
        let token = make(&mut bob, &app, &[("life", "3600")]).await;
        let anns = make(&mut ann, &app, &[("life", "3600")]).await;
        let session = visitor(&fixture, &token).await.unwrap();
        let user = id_of(&mut ann, &name).await;
        ann.get(&format!("{user}/remove")).await.is(200).shows("links to the App Portal that they made");
        ann.submit(&format!("{user}/{action}"), &[("role", role)]).await.is(200);
        assert_eq!(visitor(&fixture, &token).await.is_none(), is_end, "{action} {role}");
        assert_eq!(fixture.provider.token_goes_on(&session).await.unwrap(), !is_end);
        assert!(visitor(&fixture, &anns).await.is_some());
    }
}

#[tokio::test]
async fn a_preview_leads_back_to_the_application_and_a_link_does_not() {
    let fixture = Fixture::new().await;
    let app = application(&fixture).await;
    let mut ann = fixture.admin().await;
    let page = ann.get(&format!("/applications/{app}")).await;
    page.shows("target=\"_blank\" rel=\"noopener\"");
    let location = ann.post(&format!("/applications/{app}/preview"), &[]).await.is(303).location.clone().unwrap();
    let token = make(&mut ann, &app, &[("life", "3600")]).await;
    for (key, is_preview) in [(token_in(&location), true), (token, false)] {
        let mut portal = Browser::of_surface(&fixture.surface, ORIGIN_OF_SERVER, "/app-portal");
        portal.post("/login", &[("key", &key)]).await.leads_to("/endpoints");
        let page = portal.get("/endpoints").await;
        let back = format!("<a href=\"/dashboard/applications/{app}\">Back to dashboard</a>");
        if is_preview {
            page.is(200).shows(&back)
        } else {
            page.is(200).hides("/dashboard")
        };
    }
}
