//! The saleroom in a real browser: a house opens it, and everyone follows its sales there, and nothing else.

use std::process::Command;

use serde_json::{Value, json};
use testkit::browser::{ColorScheme, Page};
use testkit::mail_server::MailServer;
use testkit::server::Launch;
use testkit::site::CustomerSite;

use crate::administration::{Administration, assert_accessible, desk_page};
use crate::page_checks::PageChecks;
use crate::support::launch;

/// An amount that no page of the saleroom may show.
const RESERVE: u64 = 271_828;
/// Texts of the reserve, and of the bidder.
const SECRETS: [&str; 3] = ["271828", "2,718.28", "Ann Hartley"];

/// The body and status of a request with this `Host`.
fn get(port: u16, host: &str, path: &str) -> (String, String) {
    ask(port, host, path, &[])
}

/// The body and status of a request with this `Host` and these options of curl.
fn ask(port: u16, host: &str, path: &str, options: &[&str]) -> (String, String) {
    let mut curl = Command::new("curl");
    curl.args(options).args(["--silent", "--write-out", "\n%{http_code}", "--header", &format!("Host: {host}")]);
    let output = curl.arg(format!("http://127.0.0.1:{port}{path}")).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (body, status) = text.rsplit_once('\n').unwrap();
    (body.to_owned(), status.to_owned())
}

/// Sets a separate port for the saleroom. Returns the settings and the port.
fn with_saleroom(launch: Launch) -> (Launch, u16) {
    let listen = launch.second_node().unwrap().platform;
    let url = format!("http://saleroom.localhost:{}", listen.port());
    let launch = launch.set("SALEROOM__LISTEN", &listen.to_string()).set("SALEROOM__PUBLIC_URL", &url);
    (launch, listen.port())
}

/// Ticks or unticks a box, or chooses a radio button.
async fn tick(page: &Page, selector: &str) {
    page.evaluate(&format!("document.querySelector('{selector}').click()")).await.unwrap();
}

async fn bidders_follow_the_sales_of_a_house(database: Option<String>) {
    let data = tempfile::tempdir().unwrap();
    let mut launch = launch(data.path()).set("PROVIDER__ALLOW_SUBNETS", "127.0.0.0/8");
    if let Some(database) = &database {
        launch = launch.database(database);
    }
    let mails = MailServer::start().await.unwrap();
    let launch = launch.set("MAIL__SMTP_URL", &mails.url).set("MAIL__FROM", "Lotwire <mails@example.org>");
    let (launch, port) = with_saleroom(launch);
    let administration = Administration::open_on(launch, data).await;
    let site = CustomerSite::set_up(&administration.launch, &administration.launch).await.unwrap();
    let host = format!("saleroom.localhost:{port}");
    let lots = |statuses: [&str; 3]| -> Vec<Value> {
        let item = |(lot, status): (usize, &str)| {
            json!({
                "lotNumber": lot.to_string(), "title": format!("Clock <{lot}>"), "status": status, "openingBid": 100_000,
                "reserve": RESERVE, "lowEstimate": 200_000, "highEstimate": 300_000,
            })
        };
        (1..).zip(statuses).map(item).collect()
    };
    let sale = |title: &str, status: &str, items: Vec<Value>| {
        let ends_at = site.in_ms(3_600_000);
        json!({ "kind": "timed", "title": title, "status": status, "endsAt": ends_at, "items": items })
    };
    let timed = site.create_auction(sale("Clocks & watches", "LIVE", lots(["LIVE", "LIVE", "DRAFT"]))).await.unwrap();
    let draft = site.create_auction(sale("Not announced", "DRAFT", lots(["DRAFT"; 3]))).await.unwrap();
    let mut tried = sale("Not announced either", "LIVE", lots(["LIVE"; 3]));
    tried["sandbox"] = json!(true);
    let tried = site.create_auction(tried).await.unwrap();
    let items = site.items(&timed).await.unwrap();
    let registration = json!({ "paddle": "214", "name": "Ann Hartley", "status": "approved" });
    site.platform.post(&format!("/api/v1/auctions/{timed}/registrations"), &registration).await.unwrap();
    let first = items[0]["uuid"].as_str().unwrap();
    let bid = json!({ "bidder": "214", "amount": 150_000 });
    site.platform.post(&format!("/api/v1/items/{first}/bids"), &bid).await.unwrap();

    // Closed: nothing is there, whatever the host.
    assert_eq!(get(port, &host, "/hartley-sons").1, "404");
    let page = desk_page(&administration.browser).await;
    administration.set_up(&page).await;
    page.open(&administration.url(&format!("/customers/{}", site.customer))).await.unwrap();
    page.wait_until_shown("closed").await.unwrap();
    page.click_through("Saleroom").await.unwrap();
    assert_accessible(&page).await;
    page.fill("address", "Hartley Sons").await.unwrap();
    page.click("Save saleroom").await.unwrap();
    page.wait_until_shown("lower-case letters, digits, and hyphens").await.unwrap();
    // An open one needs a choice about outages, and a colour that can be read.
    page.fill("address", "hartley-sons").await.unwrap();
    tick(&page, "[name=open]").await;
    page.fill("colour", "#ffcc00").await.unwrap();
    page.click("Save saleroom").await.unwrap();
    page.wait_until_shown("choose a darker colour").await.unwrap();
    page.fill("colour", "#7a1f3d").await.unwrap();
    page.click("Save saleroom").await.unwrap();
    page.wait_until_shown("choose one of the two").await.unwrap();
    assert_accessible(&page).await;
    tick(&page, "[name=outageEnds][value=go_on]").await;
    page.fill("outageMinutes", "soon").await.unwrap();
    page.click("Save saleroom").await.unwrap();
    page.wait_until_shown("from 1 to 1440").await.unwrap();
    page.fill("outageMinutes", "15").await.unwrap();
    tick(&page, "[name=asksPhone]").await;
    page.click("Save saleroom").await.unwrap();
    page.wait_until_shown("The saleroom was saved.").await.unwrap();

    // Everyone reads it under its own host, and only there.
    let checks = PageChecks::of_story_on(database.as_ref());
    let url = format!("http://{host}/hartley-sons");
    page.open(&url).await.unwrap();
    page.wait_until_shown("Open for bids").await.unwrap();
    page.wait_until_shown("Clocks & watches").await.unwrap();
    page.prefer(ColorScheme::Light).await.unwrap();
    let border = page.text("getComputedStyle(document.querySelector('.house')).borderTopColor").await.unwrap();
    assert_eq!(border, "rgb(122, 31, 61)");
    checks.assert_faultless(&page).await;
    let text = page.text("document.body.textContent").await.unwrap();
    assert!(text.contains("2 lots") && !text.contains("Not announced"), "{text}");
    page.click_through("Clocks & watches").await.unwrap();
    page.wait_until_shown("Clock <1>").await.unwrap();
    checks.assert_faultless(&page).await;
    let text = page.text("document.body.textContent").await.unwrap();
    assert!(text.contains("Current bid, 1 bid") && !text.contains("Clock <3>"), "{text}");
    page.fill("q", "<2>").await.unwrap();
    page.click_through("Search").await.unwrap();
    let text = page.text("document.body.textContent").await.unwrap();
    assert!(text.contains("Clock <2>") && !text.contains("Clock <1>"), "{text}");
    page.open(&format!("{url}/sales/{timed}/lots/{first}?q=Clock")).await.unwrap();
    page.wait_until_shown("Paddle 214").await.unwrap();
    checks.assert_faultless(&page).await;
    page.click_through("‹ Clocks & watches").await.unwrap();
    assert_eq!(page.text("location.search").await.unwrap(), "?q=Clock");

    // No answer has what bidders may not know, and drafts are not found.
    let (third, of_draft) = (items[2]["uuid"].as_str().unwrap(), site.items(&draft).await.unwrap());
    let of_draft = of_draft[0]["uuid"].as_str().unwrap();
    let sale = format!("/hartley-sons/sales/{timed}");
    for path in ["/hartley-sons".to_owned(), sale.clone(), format!("{sale}/lots/{first}")] {
        let (body, status) = get(port, &host, &path);
        assert_eq!(status, "200", "{path}");
        for secret in SECRETS {
            assert!(!body.contains(secret), "{path} has {secret}");
        }
        for other in ["localhost", "saleroom.localhost", &format!("127.0.0.1:{port}"), "evil.example"] {
            assert_eq!(get(port, other, &path).1, "404", "{other}{path}");
        }
    }
    for path in [
        format!("{sale}/lots/{third}"),
        format!("/hartley-sons/sales/{draft}"),
        format!("/hartley-sons/sales/{draft}/lots/{of_draft}"),
        format!("{sale}/lots/{of_draft}"),
        format!("/hartley-sons/sales/{tried}"),
        format!("{sale}/conditions"),
        "/".to_owned(),
        "/other-house".to_owned(),
        "/admin".to_owned(),
        "/api/v1/health".to_owned(),
        format!("/hartley-sons/images/{first}/320"),
    ] {
        assert_eq!(get(port, &host, &path).1, "404", "{path}");
    }
    // An error page leads to the sales of its house, and to nothing without one.
    let (body, _) = get(port, &host, "/hartley-sons/nothing/here");
    assert!(body.contains("<a class=\"button\" href=\"/hartley-sons\">Show the sales</a>"), "{body}");
    let (body, _) = get(port, &host, "/other-house");
    assert!(
        body.contains("Page not found") && !body.contains("class=\"button\"") && !body.contains("href=\"/\""),
        "{body}"
    );
    // A page takes no form.
    for (path, status) in
        [("/hartley-sons", "405"), (sale.as_str(), "405"), ("/other-house/x", "404"), ("/colours", "403")]
    {
        assert_eq!(ask(port, &host, path, &["--request", "POST"]).1, status, "{path}");
    }
    // Search engines and messengers learn what visitors see.
    let (robots, _) = get(port, &host, "/robots.txt");
    assert!(robots.ends_with(&format!("Sitemap: http://{host}/sitemap.xml\n")), "{robots}");
    let (index, _) = get(port, &host, "/sitemap.xml");
    assert!(index.contains(&format!("<sitemap><loc>{url}/sitemap.xml</loc></sitemap>")), "{index}");
    let (map, _) = get(port, &host, "/hartley-sons/sitemap.xml");
    let second = items[1]["uuid"].as_str().unwrap();
    let expected = [
        url.clone(),
        format!("{url}/sales/{timed}"),
        format!("{url}/sales/{timed}/lots/{first}"),
        format!("{url}/sales/{timed}/lots/{second}"),
    ];
    let listed: Vec<&str> = map.split("<loc>").skip(1).filter_map(|part| part.split("</loc>").next()).collect();
    assert_eq!(listed, expected);
    let (body, _) = get(port, &host, &format!("{sale}/lots/{first}"));
    let facts = body.split("<script type=\"application/ld+json\">").nth(1).unwrap().split("</script>").next().unwrap();
    let facts: Value = serde_json::from_str(facts).unwrap();
    assert_eq!((&facts["@type"], &facts["name"], &facts["sku"]), (&json!("Product"), &json!("Clock <1>"), &json!("1")));
    assert!(facts["offers"].is_null(), "a bid is no price at which the lot can be bought: {facts}");

    // The other ports know nothing of it.
    assert_eq!(get(administration.launch.platform.port(), "127.0.0.1", &sale).1, "404");

    // It closes at once, also after a kill.
    let path = format!("/customers/{}/saleroom", site.customer);
    page.open(&administration.url(&path)).await.unwrap();
    page.wait_until("document.readyState === 'complete' && document.querySelector('[name=open]').checked")
        .await
        .unwrap();
    let chosen =
        "document.querySelector('[name=asksPhone]').checked + document.querySelector('[name=outageMinutes]').value";
    assert_eq!(page.text(chosen).await.unwrap(), "true15");
    tick(&page, "[name=open]").await;
    page.click("Save saleroom").await.unwrap();
    page.wait_until_shown("The saleroom was saved.").await.unwrap();
    assert_eq!(get(port, &host, "/hartley-sons").1, "404");
    drop(page);
    let _administration = administration.kill_and_restart().await;
    assert_eq!(get(port, &host, "/hartley-sons").1, "404");
}

#[tokio::test(flavor = "multi_thread")]
async fn bidders_follow_the_sales_of_a_house_on_sqlite() {
    bidders_follow_the_sales_of_a_house(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bidders_follow_the_sales_of_a_house_on_postgres() {
    bidders_follow_the_sales_of_a_house(Some(testkit::postgres::fresh_database().await.unwrap())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn salerooms_are_closed_while_the_server_sends_no_mail() {
    let data = tempfile::tempdir().unwrap();
    let (launch, port) = with_saleroom(launch(data.path()).set("PROVIDER__ALLOW_SUBNETS", "127.0.0.0/8"));
    let administration = Administration::open_on(launch, data).await;
    let site = CustomerSite::set_up(&administration.launch, &administration.launch).await.unwrap();
    let page = desk_page(&administration.browser).await;
    administration.set_up(&page).await;
    page.open(&administration.url(&format!("/customers/{}/saleroom", site.customer))).await.unwrap();
    page.wait_until_shown("the operator sets mail.smtp_url and mail.from").await.unwrap();
    assert_accessible(&page).await;
    page.fill("address", "hartley-sons").await.unwrap();
    tick(&page, "[name=open]").await;
    tick(&page, "[name=outageEnds][value=at_their_time]").await;
    page.click("Save saleroom").await.unwrap();
    page.wait_until_shown("closed: no mail server is set").await.unwrap();
    let host = format!("saleroom.localhost:{port}");
    for path in ["/hartley-sons", "/other-house"] {
        let (body, status) = get(port, &host, path);
        assert!(status == "503" && body.contains("The saleroom is closed for the moment"), "{status} {body}");
    }
    page.open(&format!("http://{host}/hartley-sons")).await.unwrap();
    PageChecks::new().assert_faultless(&page).await;
}
