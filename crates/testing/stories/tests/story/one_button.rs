//! A new customer is connected with one button, in the browser only, from its account to its first webhook.

use std::sync::Arc;

use consumer::Receiver;
use kit_runtime::clock::SystemClock;
use testkit::browser::Page;

use crate::administration::{Administration, assert_accessible, desk_page};
use crate::portal::reveal;
use crate::support::WAIT_MAX;

/// Sends the form of the button three times at the same time, as a fast finger or a second window would.
const PRESS_THREE_TIMES: &str = "(async () => { \
     const path = location.pathname + '/connect'; \
     const press = () => fetch(path, { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } }); \
     const answers = await Promise.all([press(), press(), press()]); \
     document.title = answers.map((answer) => answer.status + ' ' + answer.url.split('?').pop()).join(); })()";

async fn create_customer(page: &Page, administration: &Administration, name: &str) -> String {
    page.open(&administration.url("/customers/new")).await.unwrap();
    page.wait_until_at("/admin/customers/new").await.unwrap();
    page.fill("name", name).await.unwrap();
    page.click_through("Create customer").await.unwrap();
    page.wait_until_shown("Nothing is sent: the customer is not connected to a provider.").await.unwrap();
    page.text("location.pathname").await.unwrap()
}

fn listed(administration: &Administration, words: &[&str]) -> Vec<String> {
    let output = administration.launch.command().args(words).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_customer_is_connected_with_one_button_and_receives_its_first_webhook() {
    let administration = Administration::open().await;
    let receiver = Receiver::bind("127.0.0.1:0".parse().unwrap(), Arc::new(SystemClock)).await.unwrap();
    let page = desk_page(&administration.browser).await;
    administration.set_up(&page).await;
    let customer = create_customer(&page, &administration, "Hartley & Sons").await;
    assert_accessible(&page).await;
    page.click_through("Connect to the embedded provider").await.unwrap();
    page.wait_until_shown("The customer is connected: the provider answered.").await.unwrap();
    page.wait_until_shown("Working").await.unwrap();
    page.wait_until_shown("made by the platform, never shown").await.unwrap();
    assert_accessible(&page).await;
    let html = page.text("document.documentElement.outerHTML").await.unwrap();
    assert!(!html.contains("lwp_"), "the page shows the key: {html}");

    // Support opens the portal, and adds the endpoint for one event type.
    page.click_through("Open App Portal").await.unwrap();
    assert_accessible(&page).await;
    let link = page.text("document.querySelector('main a.button').href").await.unwrap();
    page.open(&link).await.unwrap();
    page.wait_until_at("/app-portal/endpoints").await.unwrap();
    page.wait_until_shown("Hartley & Sons").await.unwrap();
    page.click("Add endpoint").await.unwrap();
    page.wait_until_at("/app-portal/endpoints/new").await.unwrap();
    page.fill("url", &receiver.url()).await.unwrap();
    page.click("Only these").await.unwrap();
    page.click("AUCTION_STATUS_CHANGEEvent triggered when an auction status changes").await.unwrap();
    page.click("Add endpoint").await.unwrap();
    page.wait_until_shown("The endpoint was added.").await.unwrap();
    receiver.set_secret(&reveal(&page).await).unwrap();

    // The first event: an auction is created.
    page.open(&administration.url("/auctioneers/new")).await.unwrap();
    page.wait_until_at("/admin/auctioneers/new").await.unwrap();
    page.fill("name", "Hartley").await.unwrap();
    page.click_through("Create auctioneer").await.unwrap();
    page.wait_until_shown("The auctioneer was created.").await.unwrap();
    page.open(&administration.url("/auctions/new")).await.unwrap();
    page.wait_until_at("/admin/auctions/new").await.unwrap();
    page.fill("title", "Prints").await.unwrap();
    page.click_through("Create auction").await.unwrap();
    page.wait_until_shown("The auction was created as a draft.").await.unwrap();
    assert!(receiver.wait_until(WAIT_MAX, |record| record.arrivals().len() == 1).await, "the event did not arrive");
    assert_eq!(receiver.read(|record| record.invalid()), 0);
    assert!(receiver.read(|record| record.arrivals()[0].status == "DRAFT"));

    // The house gets a link that shows everything and changes nothing.
    page.open(&format!("{}{customer}", administration.launch.platform_url())).await.unwrap();
    page.wait_until_shown("Working").await.unwrap();
    page.click_through("Create read-only link").await.unwrap();
    let link = page.text("document.getElementById('secret-1').textContent").await.unwrap();
    page.open("about:blank").await.unwrap();
    page.open(&link).await.unwrap();
    page.wait_until_shown("Read only").await.unwrap();
    page.open(&administration.url("/audit")).await.unwrap();
    page.wait_until_shown("Portal link created").await.unwrap();
    let log = page.text("document.body.innerText").await.unwrap();
    assert!(!log.contains("#key="), "{log}");
    assert_eq!(page.console_errors(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_button_that_is_pressed_three_times_or_after_a_kill_makes_nothing_twice() {
    let administration = Administration::open().await;
    let page = desk_page(&administration.browser).await;
    administration.set_up(&page).await;
    let customer = create_customer(&page, &administration, "Hartley & Sons").await;
    page.evaluate(PRESS_THREE_TIMES).await.unwrap();
    page.wait_until("document.title.startsWith('200 done=customer-connected')").await.unwrap();
    assert_eq!(page.text("document.title").await.unwrap(), ["200 done=customer-connected"; 3].join(","));
    let accounts = listed(&administration, &["provider", "account", "list", "--json"]);
    assert_eq!(accounts.len(), 1, "{accounts:?}");
    let account = serde_json::from_str::<serde_json::Value>(&accounts[0]).unwrap()["id"].as_str().unwrap().to_owned();
    let of_account = |what| ["provider", what, "list", "--account", &account, "--json"].map(str::to_owned);
    let count = |administration: &Administration, what| {
        let words = of_account(what);
        listed(administration, &words.iter().map(String::as_str).collect::<Vec<_>>()).len()
    };
    assert_eq!((count(&administration, "key"), count(&administration, "application")), (1, 1));

    // The server is killed while it connects another customer; afterwards the same button makes what is missing.
    let other = create_customer(&page, &administration, "Sale & Co").await;
    page.evaluate("void fetch(location.pathname + '/connect', { method: 'POST' })").await.unwrap();
    let administration = administration.kill_and_restart().await;
    page.open(&format!("{}{other}", administration.launch.platform_url())).await.unwrap();
    page.wait_until_shown("Sale & Co").await.unwrap();
    // How far it came, only the clock knows: nothing was stored, or the key, or all.
    let press = "[...document.querySelectorAll('button')].find((button) => /^(Connect to|Finish|Test)/.test(button.textContent)).click()";
    page.evaluate(press).await.unwrap();
    page.wait_until_shown("Working").await.unwrap();
    let accounts = listed(&administration, &["provider", "account", "list", "--json"]);
    assert_eq!(accounts.len(), 2, "{accounts:?}");
    page.open(&format!("{}{customer}", administration.launch.platform_url())).await.unwrap();
    page.wait_until_shown("Working").await.unwrap();

    // The end of the connection revokes the key. The account stays, and the button makes another key for it.
    page.click("Disconnect").await.unwrap();
    page.wait_until_shown("The API key is revoked and deleted.").await.unwrap();
    page.click_through("Disconnect customer").await.unwrap();
    page.wait_until_shown("The customer is disconnected.").await.unwrap();
    assert_eq!((count(&administration, "key"), count(&administration, "application")), (0, 1));
    page.click_through("Connect to the embedded provider").await.unwrap();
    page.wait_until_shown("Working").await.unwrap();
    assert_eq!((count(&administration, "key"), count(&administration, "application")), (1, 1));
}
