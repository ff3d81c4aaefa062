//! Support connects a customer in the browser, from nothing to its first event.

use std::sync::Arc;

use consumer::{ApiClient, Receiver};
use kit_runtime::clock::SystemClock;
use serde_json::json;
use testkit::site::http_client;

use crate::administration::{Administration, assert_accessible, desk_page};
use crate::support::WAIT_MAX;

#[tokio::test(flavor = "multi_thread")]
async fn a_customer_is_connected_from_nothing_to_its_first_event() {
    let administration = Administration::open().await;
    // The customer's account at the provider: an application with one endpoint, and no event type.
    let key = administration.launch.create_provider_key("House").unwrap();
    let provider = ApiClient::new(http_client(), administration.launch.provider_url(), &key).unwrap();
    let application = provider.post("/api/v1/app/", &json!({ "name": "Web site" })).await.unwrap();
    let application = application.text("/id").unwrap().to_owned();
    let receiver = Receiver::bind("127.0.0.1:0".parse().unwrap(), Arc::new(SystemClock)).await.unwrap();
    let endpoints = format!("/api/v1/app/{application}/endpoint/");
    let endpoint = provider.post(&endpoints, &json!({ "url": receiver.url() })).await.unwrap();
    let secret = format!("{endpoints}{}/secret/", endpoint.text("/id").unwrap());
    receiver.set_secret(provider.get(&secret).await.unwrap().text("/key").unwrap()).unwrap();

    let page = desk_page(&administration.browser).await;
    administration.set_up(&page).await;
    page.click("Customers").await.unwrap();
    page.wait_until_shown("No customers yet").await.unwrap();
    page.click("Create customer").await.unwrap();
    page.wait_until_at("/admin/customers/new").await.unwrap();
    page.fill("name", "Hartley & Sons").await.unwrap();
    page.click_through("Create customer").await.unwrap();
    page.wait_until_shown("Nothing is sent: the customer is not connected to a provider.").await.unwrap();
    assert_accessible(&page).await;

    // The page explains a wrong key, and never shows it.
    page.click_through("Enter an existing key").await.unwrap();
    assert_accessible(&page).await;
    page.fill("application", &application).await.unwrap();
    page.fill("apiKey", "lwp_notakeyofthisaccount").await.unwrap();
    page.click_through("Save and test connection").await.unwrap();
    page.wait_until_shown("The provider did not accept it yet").await.unwrap();
    page.wait_until_shown("the provider answered 401").await.unwrap();
    assert_accessible(&page).await;
    let html = page.text("document.documentElement.outerHTML").await.unwrap();
    assert!(!html.contains("lwp_notakey"), "{html}");

    page.click_through("Change connection").await.unwrap();
    page.fill("apiKey", &key).await.unwrap();
    page.click_through("Save and test connection").await.unwrap();
    page.wait_until_shown("the provider accepts the application and the key").await.unwrap();
    page.click_through("Register event types").await.unwrap();
    page.wait_until_shown("Both event types are registered").await.unwrap();
    page.click_through("Create portal link").await.unwrap();
    let link = page.text("document.getElementById('secret-1').textContent").await.unwrap();
    assert!(link.starts_with(&format!("{}/app-portal/login#key=", administration.launch.provider_url())), "{link}");
    page.click_through("Back to the customer").await.unwrap();
    let customer = page.text("location.pathname.split('/').pop()").await.unwrap();

    // The first event: an auction is created.
    let staff = administration.launch.create_staff_key("story").unwrap();
    let platform = ApiClient::new(http_client(), administration.launch.platform_url(), &staff).unwrap();
    let auctioneer = json!({ "customer": customer, "name": "Hartley" });
    let auctioneer = platform.post("/api/v1/auctioneers", &auctioneer).await.unwrap().text("/uuid").unwrap().to_owned();
    let auction = json!({
        "auctioneer": auctioneer, "kind": "timed", "title": "Prints", "currency": "GBP", "timeZone": "Europe/London",
    });
    platform.post("/api/v1/auctions", &auction).await.unwrap();
    assert!(receiver.wait_until(WAIT_MAX, |record| record.arrivals().len() == 1).await, "the event did not arrive");
    assert_eq!(receiver.read(|record| record.invalid()), 0);
    page.open(&administration.url("/")).await.unwrap();
    page.wait_until_shown("Working").await.unwrap();

    // The page says what disconnecting causes. No event is sent afterwards.
    page.open(&administration.url(&format!("/customers/{customer}"))).await.unwrap();
    page.wait_until_shown("Working").await.unwrap();
    page.click_through("Disconnect").await.unwrap();
    page.wait_until_shown("The platform deletes the API key.").await.unwrap();
    assert_accessible(&page).await;
    page.click_through("Disconnect customer").await.unwrap();
    page.wait_until_shown("Nothing is sent: the customer is not connected to a provider.").await.unwrap();
    assert_eq!(page.console_errors(), [""; 0]);
}
