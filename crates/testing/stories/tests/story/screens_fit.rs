//! The clerk's desk, the room screen and the speaker's view fit their window with the longest content: a title of 300
//! characters, a description of 2,000 and millions of pounds. The pictures of the lots are given by addresses of another site.

use std::net::SocketAddr;

use serde_json::json;
use testkit::browser::{Browser, Page};
use testkit::picture::picture;
use testkit::server::{Launch, Server};
use testkit::site::{CustomerSite, http_client};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::amounts_fit::AMOUNT_FAULTS;
use crate::support::{Clerk, launch};

/// Windows, in CSS pixels.
const WINDOWS: [(u32, u32); 4] = [(1_280, 720), (1_440, 900), (1_920, 1_080), (2_560, 1_440)];
const OPERATOR: &str = "operator@example.com";
/// Labels of the desk, which are never cut off, and its figures.
const DESK: &str = "[data-slot=bid], [data-slot=ask], [data-slot=web-amount], [data-slot=reserve], [data-slot=estimate], \
     .desk-top > :not(h1, .grow), .keys .what, .keys label, .keys kbd, .figure-name, .lot-facts dt";
const ROOM: &str = "[data-figure], .word, .about .estimate .who";
const SPEAKER: &str = "[data-figure], .word, .middle > .estimate";

/// Whether each element lies in the window and none of its text is cut off.
fn fault_of(selectors: &str, least: usize) -> String {
    format!(
        r#"(() => {{
            const all = [...document.querySelectorAll({})].filter((one) => one.getClientRects().length > 0), faults = [];
            if (all.length < {least}) faults.push(`only ${{all.length}} elements are shown`);
            for (const one of all) {{
                const name = `${{one.tagName}}.${{one.className}} “${{one.textContent.trim()}}”`;
                const range = document.createRange();
                range.selectNodeContents(one);
                const text = range.getBoundingClientRect(), box = one.getBoundingClientRect();
                if (text.left < 0 || text.top < 0 || text.right > innerWidth || text.bottom > innerHeight) faults.push(`${{name}} leaves the window`);
                if (one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1) faults.push(`${{name}} is cut off`);
                if (text.right > box.right + 1) faults.push(`${{name}} is wider than its box`);
            }}
            if (document.documentElement.scrollHeight > innerHeight) faults.push("the page scrolls");
            return faults.join("; ");
        }})()"#,
        json!(selectors)
    )
}

/// A site with one picture. It answers every request with it, until the test ends.
async fn picture_site() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let picture = picture(7);
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                picture.len()
            );
            let mut request = [0; 4_096];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(&[head.as_bytes(), &picture[..]].concat()).await;
            let _ = stream.shutdown().await;
        }
    });
    address
}

struct LargeWebcast {
    launch: Launch,
    clerk: Clerk,
    webcast: String,
    first_lot: String,
    password: String,
    _server: Server,
    _data: tempfile::TempDir,
}

impl LargeWebcast {
    /// A webcast whose first lot is in the ring at £7,500,000, with web bids and a commission book.
    async fn open() -> Self {
        let data = tempfile::tempdir().unwrap();
        let launch = launch(data.path());
        let server = launch.start(&http_client()).await.unwrap();
        let site = CustomerSite::set_up(&launch, &launch).await.unwrap();
        let picture = format!("http://{}/commode.jpg", picture_site().await);
        let title = format!("{}X", "A George III ormolu-mounted commode, ".repeat(9).get(..299).unwrap());
        let description = format!("{}X", "Of serpentine outline, with a marble top. ".repeat(48).get(..1_999).unwrap());
        let lots: Vec<_> = (1..=6)
            .map(|lot| {
                json!({ "lotNumber": lot.to_string(), "title": title, "description": description, "imageUrl": picture,
                    "lowEstimate": 500_000_000, "highEstimate": 3_373_000_000_i64, "openingBid": 1_000_000,
                    "reserve": 700_000_000 })
            })
            .collect();
        let webcast = json!({ "kind": "webcast", "title": title, "status": "LIVE", "startsAt": site.in_ms(0),
            "increments": [{ "from": 0, "increment": 1_000_000 }], "items": lots });
        let webcast = site.create_auction(webcast).await.unwrap();
        let items = site.items(&webcast).await.unwrap();
        let first_lot = items[0]["uuid"].as_str().unwrap().to_owned();
        for (bidder, maximum) in [("2001", 752_000_000), ("2002", 740_000_000)] {
            let bid = json!({ "bidder": bidder, "maximum": maximum });
            site.platform.post(&format!("/api/v1/items/{first_lot}/absentee-bids"), &bid).await.unwrap();
        }
        let clerk = Clerk::new(site.platform.clone(), &webcast);
        clerk.command("send", &json!({ "item": first_lot })).await;
        clerk
            .command("bid", &json!({ "source": "room", "bidder": "117", "amount": 750_000_000, "largeJump": true }))
            .await;
        for (bidder, amount) in [("W-9", 755_000_000), ("W-10", 753_000_000), ("W-11", 752_000_000)] {
            let bid = json!({ "bidder": bidder, "amount": amount });
            site.platform.post(&format!("/api/v1/items/{first_lot}/internet-bids"), &bid).await.unwrap();
        }
        let user = launch.run_command(&["user", "create", OPERATOR, "--role", "operator", "--json"]).unwrap();
        let password = user["password"].as_str().unwrap().to_owned();
        Self { launch, clerk, webcast, first_lot, password, _server: server, _data: data }
    }

    async fn show(&self, page: &Page, path: &str, shown: &str) {
        page.open(&format!("{}/admin{path}", self.launch.platform_url())).await.unwrap();
        page.wait_until(shown).await.unwrap();
    }

    async fn sign_in(&self, page: &Page) {
        self.show(page, "/sign-in", "document.readyState === 'complete'").await;
        page.fill("email", OPERATOR).await.unwrap();
        page.fill("password", &self.password).await.unwrap();
        page.press("Enter").await.unwrap();
        page.wait_until("!location.pathname.endsWith('sign-in') && document.readyState === 'complete'").await.unwrap();
    }
}

/// The picture inside of this element was loaded.
fn has_picture(around: &str) -> String {
    format!(
        "(() => {{ const image = document.querySelector('{around} img'); return Boolean(image) && image.complete && \
         image.naturalWidth > 0 && image.getClientRects().length > 0; }})()"
    )
}

async fn faults_in_all_windows(page: &Page, name: &str, check: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for (width, height) in WINDOWS {
        page.resize_to(width, height).await.unwrap();
        page.wait_until(&format!("innerWidth === {width} && innerHeight === {height}")).await.unwrap();
        for found in [page.text(check).await.unwrap(), page.text(AMOUNT_FAULTS).await.unwrap()] {
            if !found.is_empty() {
                faults.push(format!("{name} at {width} by {height}: {found}"));
            }
        }
    }
    faults
}

#[tokio::test(flavor = "multi_thread")]
async fn price_asking_price_and_waiting_bid_fit_every_window_and_the_picture_stays_at_the_hammer() {
    let sale = LargeWebcast::open().await;
    let browser = Browser::start().await.unwrap();
    let [desk, room, speaker] =
        [browser.page().await.unwrap(), browser.page().await.unwrap(), browser.page().await.unwrap()];
    sale.sign_in(&desk).await;
    let path = format!("/webcasts/{}", sale.webcast);
    sale.show(&desk, &format!("{path}/desk"), "document.getElementById('desk')?.dataset.link === 'connected'").await;
    let ring = "document.body.innerText.includes('£7,510,000')";
    sale.show(&room, &format!("{path}/room"), ring).await;
    sale.show(&speaker, &format!("{path}/speaker"), ring).await;
    for (page, around) in [(&desk, ".picture"), (&room, ".picture"), (&speaker, ".picture")] {
        page.wait_until(&has_picture(around)).await.unwrap();
    }

    let mut faults = faults_in_all_windows(&desk, "desk", &fault_of(DESK, 25)).await;
    faults.extend(faults_in_all_windows(&room, "room", &fault_of(ROOM, 4)).await);
    faults.extend(faults_in_all_windows(&speaker, "speaker", &fault_of(SPEAKER, 7)).await);
    // The banner of a lost connection covers neither the title nor the controls.
    desk.resize_to(1_280, 720).await.unwrap();
    let banner = "(() => { const banner = document.getElementById('banner'); banner.hidden = false; \
         banner.textContent = 'The link is lost.'; const top = banner.getBoundingClientRect().top; \
         const covered = [...document.querySelectorAll('.desk-top, .lot, .offer, .around')].filter((part) => \
         part.getBoundingClientRect().bottom > top + 1).map((part) => part.className); banner.hidden = true; \
         return covered.join(', '); })()";
    faults.extend(Some(desk.text(banner).await.unwrap()).filter(|covered| !covered.is_empty()));
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    let waiting = speaker.text("document.querySelector('[data-figure=waiting]').textContent").await.unwrap();
    assert_eq!(waiting, "Web £7,550,000");

    // After the hammer, each screen shows the picture until the next lot is sent.
    sale.clerk.command("sell", &json!({ "overWaitingBid": true })).await;
    desk.wait_until("document.querySelector('[data-slot=bid-name]').textContent.startsWith('Sold')").await.unwrap();
    for page in [&room, &speaker] {
        page.wait_until("document.querySelector('.word').textContent === 'Sold'").await.unwrap();
    }
    for page in [&desk, &room, &speaker] {
        assert_eq!(page.evaluate(&has_picture(".picture")).await.unwrap(), json!(true));
    }
    let sold = "[data-slot=bid], .desk-top > :not(h1, .grow), .keys .what";
    let mut faults = faults_in_all_windows(&desk, "desk after the sale", &fault_of(sold, 10)).await;
    let sold = fault_of("[data-figure], .word", 2);
    faults.extend(faults_in_all_windows(&room, "room after the sale", &sold).await);
    faults.extend(faults_in_all_windows(&speaker, "speaker after the sale", &sold).await);
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    // The pages of lots show it, too. Only the page in front loads pictures as they come into view.
    for (page, around) in [("", "tbody th"), (&*format!("/{}", sale.first_lot), ".picture-box")] {
        let path = format!("/auctions/{}/lots{page}", sale.webcast);
        sale.show(&speaker, &path, &has_picture(around)).await;
    }
    for page in [&desk, &room, &speaker] {
        assert_eq!(page.console_errors(), Vec::<String>::new());
    }
}
