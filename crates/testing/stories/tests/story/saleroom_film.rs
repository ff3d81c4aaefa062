//! The film of a webcast: staff enter its address, the pages of the live sale show it, and no other page may load anything of its
//! origin. The stories load no film: they read the markup and the content security policy.

use std::process::Command;

use serde_json::json;
use testkit::browser::Page;

use crate::open_saleroom::OpenHouse;
use crate::support::Clerk;

const ORIGIN: &str = "https://live.example.com";
const PLAYER: &str = "https://player.example.net";

/// Status line, headers and content of a page of the saleroom.
fn fetched(house: &OpenHouse, path: &str) -> String {
    let port = house.host.rsplit(':').next().unwrap();
    let resolve = format!("saleroom.localhost:{port}:127.0.0.1");
    let url = format!("{}{path}", house.url());
    let output = Command::new("curl").args(["--silent", "--include", "--resolve", &resolve, &url]).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn policy(page: &str) -> &str {
    page.lines().find_map(|line| line.strip_prefix("content-security-policy: ")).unwrap().trim()
}

/// Enters a film in the form of the sale.
async fn enter(house: &OpenHouse, auction: &str, address: &str, delay: &str) -> Page {
    let page = house.administration.browser.page().await.unwrap();
    page.open(&house.administration.url(&format!("/auctions/{auction}/edit"))).await.unwrap();
    page.wait_until_shown("Address of the film").await.unwrap();
    page.fill("film", address).await.unwrap();
    page.fill("filmDelay", delay).await.unwrap();
    page.click_through("Save auction").await.unwrap();
    page
}

async fn a_film_is_on_the_pages_of_its_live_sale_alone(database: Option<String>) {
    let origins = format!("{ORIGIN},{PLAYER}");
    let mut house = OpenHouse::with(database, "closed", &[("SALEROOM__FILM_ORIGINS", &origins)]).await;
    let lot = |number: &str, status: &str| json!({ "lotNumber": number, "title": format!("Clock {number}"), "status": status, "openingBid": 50_000 });
    let webcast = |title: &str, status: &str| {
        let of_lot = if status == "LIVE" { status } else { "DRAFT" };
        let lots = json!([lot("1", of_lot), lot("2", of_lot)]);
        json!({ "kind": "webcast", "title": title, "status": status, "startsAt": house.site.in_ms(0), "items": lots })
    };
    let auction = house.site.create_auction(webcast("Clocks, live", "LIVE")).await.unwrap();
    let coming = house.site.create_auction(webcast("Clocks, later", "PREVIEW")).await.unwrap();
    let first = house.site.items(&auction).await.unwrap()[0]["uuid"].as_str().unwrap().to_owned();
    // The sale runs and has bids, when the house finds that the address is another one.
    let clerk = Clerk::new(house.site.platform.clone(), &auction);
    clerk.command("send", &json!({})).await;
    clerk.command("bid", &json!({ "source": "room", "bidder": "12" })).await;
    let (sale, of_lot) = (format!("/sales/{auction}"), format!("/sales/{auction}/lots/{first}"));
    let strict = policy(&fetched(&house, &sale)).to_owned();
    assert!(!strict.contains("media-src") && !strict.contains("frame-src"), "{strict}");

    // What can't be shown is refused, with the reason.
    for (address, delay, why) in [
        ("http://live.example.com/a.m3u8", "", "Must begin with https://"),
        ("https://other.example.com/a.m3u8", "", "which the operator has not listed"),
        ("https://live.example.com/a.m3u8", "121", "1 to 120 seconds"),
        ("https://live.example.com/a.m3u8", "soon", "Write whole seconds"),
    ] {
        let page = enter(&house, &auction, address, delay).await;
        page.wait_until(&format!("document.body.innerText.includes({})", json!(why))).await.unwrap();
    }

    // A stream that browsers play. Both pages of the live sale may load it, and no other page.
    let page = enter(&house, &auction, "https://live.example.com/clocks.m3u8?a=1&b=2", "10").await;
    page.wait_until_shown("about 10 s late").await.unwrap();
    enter(&house, &coming, "https://live.example.com/clocks.m3u8", "").await;
    for path in [&sale, &of_lot] {
        let answer = fetched(&house, path);
        assert_eq!(policy(&answer), format!("{strict}; media-src {ORIGIN}"), "{path}");
        assert!(answer.contains("The picture is about 10 s late. Trust the button."), "{answer}");
        let start = answer.find("<video").unwrap();
        let element = answer[start..].split('>').next().unwrap();
        for part in ["controls", "playsinline", "muted", "preload=\"none\"", "clocks.m3u8?a=1&"] {
            assert!(element.contains(part), "{part}: {element}");
        }
    }
    for path in ["", &format!("{sale}/conditions"), &format!("{sale}/register"), &format!("/sales/{coming}")] {
        let answer = fetched(&house, path);
        assert_eq!(policy(&answer), strict, "{path}");
        assert!(!answer.contains("<video") && !answer.contains("<iframe"), "{path}");
    }

    // Anything else is a page in a frame that can't lead the window away.
    enter(&house, &auction, "https://player.example.net/embed/clocks", "").await;
    let answer = fetched(&house, &sale);
    assert_eq!(policy(&answer), format!("{strict}; frame-src {PLAYER}"));
    let start = answer.find("<iframe").unwrap();
    let element = answer[start..].split('>').next().unwrap();
    for part in [
        "src=\"https://player.example.net/embed/clocks\"",
        "sandbox=\"allow-scripts allow-same-origin allow-presentation\"",
        "referrerpolicy=\"no-referrer\"",
        "loading=\"lazy\"",
        "title=\"Live picture of the sale\"",
    ] {
        assert!(element.contains(part), "{part}: {element}");
    }
    assert!(answer.contains("The picture is late. Trust the button."), "{answer}");

    // On a phone the film leaves the lot's button where it is, and the page is as accessible as before.
    let phone = house.administration.browser.page().await.unwrap();
    phone.resize(390).await.unwrap();
    for path in [&sale, &of_lot] {
        phone.open(&format!("{}{path}", house.url())).await.unwrap();
        phone
            .wait_until("document.readyState === 'complete' && !!document.querySelector('.film iframe')")
            .await
            .unwrap();
        let shape = "(({ width, height }) => Math.abs(width / height - 16 / 9) < 0.02 && width <= innerWidth)(document.querySelector('.film iframe').getBoundingClientRect())";
        assert!(phone.evaluate(shape).await.unwrap().as_bool().unwrap());
        house.checks.assert_faultless(&phone).await;
    }

    // The operator takes the origin off the list: no film, and the house's page says why.
    house.administration.launch = house.administration.launch.set("SALEROOM__FILM_ORIGINS", ORIGIN);
    house.administration = house.administration.kill_and_restart().await;
    let answer = fetched(&house, &sale);
    assert!(
        policy(&answer) == strict && !answer.contains("<iframe") && !answer.contains("Trust the button"),
        "{answer}"
    );
    let staff = &house.staff;
    staff.open(&house.administration.url(&format!("/auctions/{auction}"))).await.unwrap();
    staff.wait_until_shown("The saleroom does not show it: it is at https://player.example.net").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_film_is_on_the_pages_of_its_live_sale_alone_on_sqlite() {
    a_film_is_on_the_pages_of_its_live_sale_alone(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_film_is_on_the_pages_of_its_live_sale_alone_on_postgres() {
    let database = testkit::postgres::fresh_database().await.unwrap();
    a_film_is_on_the_pages_of_its_live_sale_alone(Some(database)).await;
}
