//! Two records of one person in the register, with bids, purchases and consigned lots, are found and merged in a browser.

use serde_json::{Value, json};
use testkit::browser::Page;
use testkit::server::Launch;
use testkit::site::CustomerSite;

use crate::administration::{Administration, assert_accessible, desk_page};
use crate::support::launch;

/// Adds a record in the form, and returns its UUID. A likely duplicate is added all the same.
async fn add(administration: &Administration, page: &Page, house: &str, fields: &[(&str, &str)]) -> String {
    page.open(&administration.url(&format!("/people/new?house={house}"))).await.unwrap();
    page.wait_until_at("/admin/people/new").await.unwrap();
    for (field, text) in fields {
        page.fill(field, text).await.unwrap();
    }
    page.click("Consigns lots to the house").await.unwrap();
    page.click_through("Add person or firm").await.unwrap();
    if page.text("document.body.innerText").await.unwrap().contains("Nothing was added yet.") {
        assert_accessible(page).await;
        page.click_through("Add as a new record").await.unwrap();
    }
    page.wait_until_shown("The record was added to the register.").await.unwrap();
    page.text("location.pathname.split('/').pop()").await.unwrap()
}

async fn register(site: &CustomerSite, auction: &str, paddle: &str, party: &str) {
    let body = json!({ "paddle": paddle, "party": party });
    site.platform.post(&format!("/api/v1/auctions/{auction}/registrations"), &body).await.unwrap();
}

/// Lots by their numbers.
async fn lots(site: &CustomerSite, auction: &str) -> Vec<String> {
    let listed = site.platform.get(&format!("/api/v1/auctions/{auction}/items")).await.unwrap().body;
    listed["data"].as_array().unwrap().iter().map(|item| item["uuid"].as_str().unwrap().to_owned()).collect()
}

async fn bid(site: &CustomerSite, item: &str, paddle: &str, amount: i64) -> Result<(), String> {
    let body = json!({ "bidder": paddle, "amount": amount });
    site.platform.post(&format!("/api/v1/items/{item}/bids"), &body).await.map(drop).map_err(|error| error.to_string())
}

async fn assert_shows(page: &Page, texts: &[&str]) {
    let shown = page.text("document.body.innerText").await.unwrap();
    for text in texts {
        assert!(shown.contains(text), "the page has no “{text}”:\n{shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_records_of_a_person_are_merged_on_sqlite() {
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path());
    merge_two_records(launch, data).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_records_of_a_person_are_merged_on_postgres() {
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path()).database(&testkit::postgres::fresh_database().await.unwrap());
    merge_two_records(launch, data).await;
}

async fn merge_two_records(launch: Launch, data: tempfile::TempDir) {
    let launch = launch.set("PROVIDER__ALLOW_SUBNETS", "127.0.0.0/8");
    let administration = Administration::open_on(launch, data).await;
    let site = CustomerSite::set_up(&administration.launch, &administration.launch).await.unwrap();
    let page = desk_page(&administration.browser).await;
    administration.set_up(&page).await;
    let house = site.customer.clone();
    let anna = [
        ("name", "Anna Featherstone"),
        ("reference", "C-1042"),
        ("email", "anna@featherstone.example"),
        ("phone", "+44 20 7946 0018"),
        ("line1", "12 Cooper Street"),
        ("city", "Bath"),
        ("postcode", "BA1 1AA"),
        ("currency", "GBP"),
        ("deposit", "500"),
        ("limit", "9000"),
        ("note", "Collects on Mondays."),
    ];
    let anna = add(&administration, &page, &house, &anna).await;
    let double = [
        ("name", "Featherstone, A."),
        ("reference", "V-77"),
        ("email", "Anna@Featherstone.example"),
        ("phone", "020 7946 0018"),
        ("currency", "GBP"),
        ("deposit", "200"),
        ("limit", "4000"),
        ("note", "Gate code 12."),
    ];
    let double = add(&administration, &page, &house, &double).await;
    assert_ne!(anna, double);

    // An earlier sale with a purchase of the second record, and a sale in which both have a paddle.
    let lot = |number: &str, title: &str, vendor: Option<&str>| {
        let mut lot = json!({ "lotNumber": number, "title": title, "openingBid": 10_000, "buyNow": 300_000 });
        lot["vendor"] = json!(vendor);
        lot
    };
    let sale = |title: &str, items: Vec<Value>| json!({ "title": title, "kind": "timed", "status": "LIVE", "endsAt": site.in_ms(3_600_000), "items": items });
    let clocks = vec![lot("1", "A bracket clock", None), lot("2", "A carriage clock", Some(anna.as_str()))];
    let clocks = site.create_auction(sale("Clocks", clocks)).await.unwrap();
    register(&site, &clocks, "7", &double).await;
    let clock = lots(&site, &clocks).await;
    let buyer = json!({ "bidder": "7" });
    site.platform.post(&format!("/api/v1/items/{}/buy-now", clock[0]), &buyer).await.unwrap();
    let chairs = vec![
        lot("1", "A Windsor chair", None),
        lot("2", "A ladder-back chair", Some(double.as_str())),
        lot("3", "A settle", None),
    ];
    let chairs = site.create_auction(sale("Chairs", chairs)).await.unwrap();
    register(&site, &chairs, "12", &anna).await;
    register(&site, &chairs, "15", &double).await;
    let chair = lots(&site, &chairs).await;
    bid(&site, &chair[0], "12", 20_000).await.unwrap();
    bid(&site, &chair[2], "15", 20_000).await.unwrap();

    // The register proposes the pair, and the person compares it.
    page.open(&administration.url(&format!("/people?house={house}"))).await.unwrap();
    page.wait_until_shown("2 records").await.unwrap();
    page.click_through("Likely duplicates").await.unwrap();
    page.wait_until_shown("Same e-mail, same telephone").await.unwrap();
    assert_accessible(&page).await;
    page.click_through("Compare Featherstone, A. (V-77) with Anna Featherstone (C-1042)").await.unwrap();
    page.wait_until_shown("A merge can’t be undone.").await.unwrap();
    assert_accessible(&page).await;
    assert_shows(
        &page,
        &[
            "2 registrations, 1 purchase and 1 consigned lot of Featherstone, A. (V-77) belong to the record that stays.",
            "Both are registered in “Chairs”",
            "£700.00",
            "12 Cooper Street",
        ],
    )
    .await;
    page.evaluate("document.querySelector('input[name=deposit][value=both]').click()").await.unwrap();
    page.click_through("Merge records").await.unwrap();
    page.wait_until_shown("The records were merged.").await.unwrap();
    assert_accessible(&page).await;
    assert_shows(
        &page,
        &[
            "Anna Featherstone",
            "£700.00",
            "£4,000.00",
            "Gate code 12.",
            "Lot 1: A bracket clock",
            "Lot 2: A ladder-back chair",
            "Lot 2: A carriage clock",
            "Featherstone, A. (V-77)",
            "Leads now",
        ],
    )
    .await;

    // Neither paddle bids on a lot of either record from now on, and both bid on others.
    for paddle in ["12", "15"] {
        let refused = bid(&site, &chair[1], paddle, 20_000).await.unwrap_err();
        assert!(refused.contains("vendors and auctioneers can't bid on items that they sell"), "{refused}");
    }
    bid(&site, &chair[0], "15", 30_000).await.unwrap();

    // The other record leads here, and the list has one.
    page.open(&administration.url(&format!("/people/{double}"))).await.unwrap();
    page.wait_until_shown("You opened a record that was merged into this one.").await.unwrap();
    assert_eq!(page.text("location.pathname.split('/').pop()").await.unwrap(), anna);
    page.open(&administration.url(&format!("/people?house={house}&text=V-77"))).await.unwrap();
    page.wait_until_shown("1 record").await.unwrap();
    assert_shows(&page, &["Anna Featherstone"]).await;
    page.open(&administration.url(&format!("/people/duplicates?house={house}"))).await.unwrap();
    page.wait_until_shown("No likely duplicates").await.unwrap();
    assert_eq!(page.console_errors(), [""; 0]);

    // The logs verify, and no event names a person.
    administration.launch.run_command(&["verify", "--all", "--json"]).unwrap();
    let names = site.receiver.read(|record| format!("{:?}", record.arrivals()));
    assert!(!names.contains("Featherstone") && !names.contains(&double), "{names}");
}
