//! Users who left: their previews and links end with their session, role and membership.

use std::time::Duration;

use provider_core::model::Capability;
use provider_core::{ApplicationInput, Created, IfExists, ProviderError};

use crate::fixture::{Fixture, PASSWORD};
use crate::users::id_of;
use testkit::web::Browser;

/// An application of the account.
pub(crate) async fn application(fixture: &Fixture) -> String {
    let input = ApplicationInput { name: "Web shop".into(), ..ApplicationInput::default() };
    let caller = &fixture.key_caller;
    let created = fixture.provider.create_application(caller, input, IfExists::Refuse, None, |_| String::new()).await;
    let Created::New(app) = created.unwrap() else { panic!("no new application") };
    app.id.to_string()
}

/// The code of a preview that the user opens.
async fn preview_code(browser: &mut Browser, app: &str) -> String {
    let location = browser.post(&format!("/applications/{app}/preview"), &[]).await.is(303).location.clone().unwrap();
    let (_, key) = location.split_once("#key=").unwrap();
    let key: serde_json::Value =
        serde_json::from_slice(&data_encoding::BASE64.decode(key.as_bytes()).unwrap()).unwrap();
    key["token"].as_str().unwrap().to_owned()
}

/// The token of a preview that the user opened.
async fn preview(fixture: &Fixture, browser: &mut Browser, app: &str) -> String {
    fixture.provider.redeem_portal_code(&preview_code(browser, app).await).await.unwrap()
}

#[track_caller]
fn is_refused<T: std::fmt::Debug>(answer: Result<T, ProviderError>) {
    assert!(matches!(answer, Err(ProviderError::Unauthenticated)), "{answer:?}");
}

#[tokio::test]
async fn a_preview_ends_with_the_user_the_role_and_the_session() {
    let fixture = Fixture::new().await;
    let app = application(&fixture).await;
    let mut ann = fixture.admin().await;
    let ends: [(&str, &[(&str, &str)]); 4] =
        [("role", &[("role", "viewer")]), ("role", &[("role", "admin")]), ("sessions/end", &[]), ("remove", &[])];
    for (number, (action, fields)) in ends.into_iter().enumerate() {
        let name = format!("Bob{number}");
        let mut bob = fixture.invited(&mut ann, "member", &name).await;
        let token = preview(&fixture, &mut bob, &app).await;
        let code = preview_code(&mut bob, &app).await;
        let visitor = fixture.provider.authenticate(&token).await.unwrap();
        assert!(visitor.has(Capability::ManageEndpoint) && fixture.provider.token_goes_on(&visitor).await.unwrap());
        let path = format!("{}/{action}", id_of(&mut ann, &name).await);
        ann.submit(&path, fields).await.is(200);
        is_refused(fixture.provider.authenticate(&token).await);
        assert!(!fixture.provider.token_goes_on(&visitor).await.unwrap(), "{action}: an open stream ends");
        // A preview code that was not exchanged yet is refused, too: that of a removed user no longer exists.
        match fixture.provider.redeem_portal_code(&code).await {
            Ok(redeemed) => is_refused(fixture.provider.authenticate(&redeemed).await),
            refused => is_refused(refused),
        }
    }
    let mut bob = fixture.invited(&mut ann, "member", "Bob").await;
    let token = preview(&fixture, &mut bob, &app).await;
    bob.post("/sign-out", &[]).await.is(303);
    is_refused(fixture.provider.authenticate(&token).await);

    bob.post("/sign-in", &[("email", "bob@example.com"), ("password", PASSWORD)]).await.leads_to("/");
    fixture.clock.advance(Duration::from_secs(1_000));
    let token = preview(&fixture, &mut bob, &app).await;
    fixture.clock.advance(Duration::from_secs(3_599));
    fixture.provider.authenticate(&token).await.unwrap();
    fixture.clock.advance(Duration::from_secs(1));
    is_refused(fixture.provider.authenticate(&token).await);
}

#[tokio::test]
async fn a_preview_by_support_is_read_only() {
    let fixture = Fixture::new().await;
    let app = application(&fixture).await;
    let mut ann = fixture.admin().await;
    let mut sue = fixture.invited(&mut ann, "support", "Sue").await;
    let token = preview(&fixture, &mut sue, &app).await;
    let visitor = fixture.provider.authenticate(&token).await.unwrap();
    let has: Vec<_> = Capability::ALL.into_iter().filter(|capability| visitor.has(*capability)).collect();
    assert_eq!(has, [Capability::ViewBase]);
}

#[tokio::test]
async fn the_open_links_of_a_former_admin_are_listed_and_withdrawn() {
    let fixture = Fixture::new().await;
    let mut ann = fixture.admin().await;
    for (action, role) in [("role", "viewer"), ("remove", "")] {
        let name = format!("Bob {action}").replace(' ', "");
        let mut bob = fixture.invited(&mut ann, "admin", &name).await;
        let bobs = id_of(&mut ann, &name).await;
        let anns = id_of(&mut ann, "Ann").await;
        let invited = bob.post("/users/invite", &[("note", "Eve <of> sales"), ("role", "admin")]).await.text_of("link");
        let made = [invited, bob.post(&format!("{anns}/password-link"), &[]).await.text_of("link")];
        let kept = ann.post("/users/invite", &[("note", "Kept"), ("role", "viewer")]).await.text_of("link");

        // The page lists the links that the change withdraws. They work until the change is confirmed.
        let path = format!("{bobs}/{action}");
        let page = match action {
            "role" => ann.post(&path, &[("role", role)]).await,
            _ => ann.get(&path).await,
        };
        page.is(200).shows("are withdrawn").shows("Eve &#60;of&#62; sales, role Admin").shows("New password of Ann");
        page.hides("Kept").hides("lwpi_");
        for url in &made {
            fixture.browser().post("/join", &[("key", url)]).await.leads_to("/join/account");
        }
        ann.submit(&path, &[("role", role), ("confirmed", "yes")]).await.is(200);
        for url in &made {
            fixture.browser().post("/join", &[("key", url)]).await.is(422).shows("was withdrawn");
        }
        fixture.browser().post("/join", &[("key", &kept)]).await.leads_to("/join/account");
        ann.get("/activity").await.is(200).shows("open links: ").shows("Eve &#60;of&#62; sales (Admin)");
    }
}
