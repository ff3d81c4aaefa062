//! Amounts are never broken, clipped or cut off: every page of a sale with a table, in a browser, with £33,730,000.00 and long
//! titles, on a phone and on desktops.

use serde_json::json;
use testkit::browser::{Browser, Page};
use testkit::server::{Launch, Server};
use testkit::site::{CustomerSite, http_client};

use crate::support::{Clerk, launch};

/// Widths of windows, in CSS pixels.
const WIDTHS: [u32; 4] = [390, 1_280, 1_440, 1_920];
/// £33,730,000.00 in pence.
const AMOUNT: i64 = 3_373_000_000;
const OPERATOR: &str = "operator@example.com";

/// Finds amounts on the page that are broken into lines, leave the window, or are cut off by an element around them. Vertical
/// scrolling is no fault.
pub const AMOUNT_FAULTS: &str = r#"(() => {
    const amount = /[£€]\s?\d[\d,]*(\.\d+)?|[A-Z]{3}\u00a0\d[\d,]*(\.\d+)?/g, faults = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node; (node = walker.nextNode());) {
        if (node.parentElement.closest("script, style, .unseen, caption, option, noscript, [hidden]")) continue;
        for (const found of node.data.matchAll(amount)) {
            const range = document.createRange();
            range.setStart(node, found.index);
            range.setEnd(node, found.index + found[0].length);
            const rects = [...range.getClientRects()].filter((rect) => rect.width > 0);
            if (rects.length === 0) continue;
            if (new Set(rects.map((rect) => Math.round(rect.top))).size > 1) faults.push(`${found[0]} is broken`);
            const box = range.getBoundingClientRect();
            if (box.left < -1 || box.right > innerWidth + 1) faults.push(`${found[0]} leaves the window`);
            let scrolls = false;
            for (let around = node.parentElement; around && around !== document.body; around = around.parentElement) {
                const style = getComputedStyle(around);
                if (style.overflowX === "visible" && style.overflowY === "visible") continue;
                const edge = around.getBoundingClientRect();
                const isCut = box.right > edge.right + 1 || box.left < edge.left - 1;
                const isCutBelow = !scrolls && (box.bottom > edge.bottom + 1 || box.top < edge.top - 1);
                scrolls ||= isCutBelow && style.overflowY === "auto";
                if (isCut || (isCutBelow && !scrolls)) faults.push(`${found[0]} is cut off by ${around.tagName}.${around.className}`);
            }
        }
    }
    if (document.documentElement.scrollWidth > innerWidth) faults.push(`the page is ${document.documentElement.scrollWidth} px wide`);
    return faults.join("; ");
})()"#;

struct LargeSale {
    launch: Launch,
    webcast: String,
    lots: Vec<String>,
    password: String,
    _server: Server,
    _data: tempfile::TempDir,
}

impl LargeSale {
    async fn open() -> Self {
        let data = tempfile::tempdir().unwrap();
        let launch = launch(data.path());
        let server = launch.start(&http_client()).await.unwrap();
        let site = CustomerSite::set_up(&launch, &launch).await.unwrap();
        let title = "A George III ormolu-mounted mahogany and tulipwood commode ".repeat(5).trim().to_owned();
        let lots: Vec<_> = (1..=4)
            .map(|lot| {
                json!({ "lotNumber": lot.to_string(), "title": title, "lowEstimate": AMOUNT, "highEstimate": AMOUNT,
                    "openingBid": AMOUNT, "reserve": AMOUNT })
            })
            .collect();
        let charges =
            json!({ "premiumBasisPoints": 2_500, "hammerTaxBasisPoints": 2_000, "premiumTaxBasisPoints": 2_000 });
        let webcast = json!({ "kind": "webcast", "title": title, "status": "LIVE", "startsAt": site.in_ms(0),
            "charges": charges, "items": lots });
        let webcast = site.create_auction(webcast).await.unwrap();
        let items = site.items(&webcast).await.unwrap();
        let lots: Vec<String> = items.iter().map(|item| item["uuid"].as_str().unwrap().to_owned()).collect();
        let registration = json!({ "paddle": "117", "name": "Alexandra Featherstonehaugh", "limit": AMOUNT });
        site.platform.post(&format!("/api/v1/auctions/{webcast}/registrations"), &registration).await.unwrap();
        let maximum = json!({ "bidder": "117", "maximum": AMOUNT });
        site.platform.post(&format!("/api/v1/items/{}/absentee-bids", lots[3]), &maximum).await.unwrap();
        let clerk = Clerk::new(site.platform.clone(), &webcast);
        clerk.sell(&items[0]).await;
        clerk.sell(&items[1]).await;
        clerk.pass(&items[2]).await;
        let user = launch.run_command(&["user", "create", OPERATOR, "--role", "administrator", "--json"]).unwrap();
        let password = user["password"].as_str().unwrap().to_owned();
        Self { launch, webcast, lots, password, _server: server, _data: data }
    }

    fn url(&self, path: &str) -> String {
        format!("{}/admin{path}", self.launch.platform_url())
    }

    async fn sign_in(&self, page: &Page) {
        page.open(&self.url("/sign-in")).await.unwrap();
        page.wait_until("document.readyState === 'complete'").await.unwrap();
        page.fill("email", OPERATOR).await.unwrap();
        page.fill("password", &self.password).await.unwrap();
        page.press("Enter").await.unwrap();
        page.wait_until("!location.pathname.endsWith('sign-in') && document.readyState === 'complete'").await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn amounts_are_unbroken_on_every_page_with_a_table() {
    let sale = LargeSale::open().await;
    let browser = Browser::start().await.unwrap();
    let page = browser.page().await.unwrap();
    sale.sign_in(&page).await;
    let (auction, webcast) = (format!("/auctions/{}", sale.webcast), format!("/webcasts/{}", sale.webcast));
    let paths = [
        "/".to_owned(),
        "/auctions".to_owned(),
        auction.clone(),
        format!("{auction}/lots"),
        format!("{auction}/lots/{}", sale.lots[0]),
        format!("{auction}/lots/{}", sale.lots[3]),
        format!("{auction}/registrations"),
        format!("{auction}/results"),
        format!("{auction}/results/totals"),
        format!("{auction}/timeline"),
        format!("{webcast}/book"),
        format!("{webcast}/screens"),
    ];
    let mut faults = Vec::new();
    let mut pages_with_amounts = 0;
    for path in &paths {
        page.open(&sale.url(path)).await.unwrap();
        page.wait_until("document.readyState === 'complete'").await.unwrap();
        page.evaluate("document.querySelectorAll('main details').forEach((more) => { more.open = true; }); null")
            .await
            .unwrap();
        let shown = page.text("document.querySelector('main').innerText").await.unwrap();
        pages_with_amounts += usize::from(shown.contains("£33,730,000"));
        for width in WIDTHS {
            page.resize(width).await.unwrap();
            page.wait_until(&format!("innerWidth === {width}")).await.unwrap();
            let found = page.text(AMOUNT_FAULTS).await.unwrap();
            if !found.is_empty() {
                faults.push(format!("{path} at {width} px: {found}"));
            }
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    assert!(pages_with_amounts >= 6, "only {pages_with_amounts} pages show the amount");
    assert_eq!(page.console_errors(), Vec::<String>::new());

    // The caption of the results names the currency.
    page.open(&sale.url(&format!("{auction}/results"))).await.unwrap();
    page.wait_until("document.readyState === 'complete'").await.unwrap();
    let captions =
        page.text("[...document.querySelectorAll('caption')].map((one) => one.textContent).join('; ')").await.unwrap();
    assert!(captions.contains("Results in running order, amounts in GBP"), "{captions}");
}
