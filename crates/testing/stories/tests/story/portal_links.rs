//! Links of the App Portal that expired, are read-only, or belong to another application, in a real browser.

use svix::models::{AppPortalAccessIn, AppPortalCapability, ApplicationIn, ApplicationTokenExpireIn, EndpointIn};
use testkit::browser::Browser;

use crate::portal::{DESK, PortalFixture, assert_accessible};

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_link_is_reported_on_the_open_page_and_when_it_is_opened_again() {
    let shop = PortalFixture::open().await;
    let browser = Browser::start().await.unwrap();
    let page = browser.page().await.unwrap();
    page.resize(DESK).await.unwrap();
    let (link, _) = shop.link().await;
    page.open(&link).await.unwrap();
    page.wait_until_at("/app-portal/endpoints").await.unwrap();
    shop.svix.authentication().expire_all(shop.app.clone(), ApplicationTokenExpireIn::new(), None).await.unwrap();
    page.click("Messages").await.unwrap();
    page.wait_until_shown("Your session has ended").await.unwrap();
    page.wait_until_shown("Get a new link from the service that you received this one from.").await.unwrap();
    assert_accessible(&page).await;
    page.open("about:blank").await.unwrap();
    page.open(&link).await.unwrap();
    page.wait_until_shown("This link has expired or was revoked.").await.unwrap();
    assert_accessible(&page).await;
    page.open(&shop.link().await.0).await.unwrap();
    page.wait_until_at("/app-portal/endpoints").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_link_shows_everything_but_secrets_and_offers_no_change() {
    let shop = PortalFixture::open().await;
    let endpoint = EndpointIn::new("https://example.com/hook".to_owned());
    let endpoint = shop.svix.endpoint().create(shop.app.clone(), endpoint, None).await.unwrap().id;
    let asked =
        AppPortalAccessIn { capabilities: Some([AppPortalCapability::ViewBase].into()), ..AppPortalAccessIn::new() };
    let access = shop.svix.authentication().app_portal_access(shop.app.clone(), asked, None).await.unwrap();
    let browser = Browser::start().await.unwrap();
    let page = browser.page().await.unwrap();
    page.resize(DESK).await.unwrap();
    page.open(&access.url).await.unwrap();
    page.wait_until_at("/app-portal/endpoints").await.unwrap();
    page.wait_until_shown("Read only").await.unwrap();
    page.wait_until("!document.body.innerText.includes('Add endpoint')").await.unwrap();
    page.click("https://example.com/hook").await.unwrap();
    page.wait_until_shown("Endpoint id").await.unwrap();
    page.wait_until("!document.body.innerText.includes('Disable endpoint')").await.unwrap();
    page.click("Verify").await.unwrap();
    page.wait_until_shown("The secret is hidden: your link does not allow seeing it.").await.unwrap();
    assert_accessible(&page).await;
    page.open(&format!("{}/app-portal/endpoints/{endpoint}/secret", shop.launch.provider_url())).await.unwrap();
    page.wait_until_shown("Your link does not allow this.").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_of_one_application_does_not_open_anothers_pages() {
    let shop = PortalFixture::open().await;
    let theirs = shop.svix.application().create(ApplicationIn::new("Theirs".into()), None).await.unwrap().id;
    let endpoint = EndpointIn::new("https://theirs.example/hook".to_owned());
    let endpoint = shop.svix.endpoint().create(theirs, endpoint, None).await.unwrap().id;
    let browser = Browser::start().await.unwrap();
    let page = browser.page().await.unwrap();
    page.resize(DESK).await.unwrap();
    page.open(&shop.link().await.0).await.unwrap();
    page.wait_until_at("/app-portal/endpoints").await.unwrap();
    page.wait_until("!document.body.innerText.includes('theirs.example')").await.unwrap();
    for path in ["", "/verify", "/settings", "/replay"] {
        page.open(&format!("{}/app-portal/endpoints/{endpoint}{path}", shop.launch.provider_url())).await.unwrap();
        page.wait_until_shown("Page not found").await.unwrap();
        page.wait_until("!document.body.innerText.includes('theirs.example')").await.unwrap();
    }
}
