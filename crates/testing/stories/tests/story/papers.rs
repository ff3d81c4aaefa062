//! Papers of a sale as Chromium prints them: pages, repeated headers, page numbers, and nothing that is cut.

use serde_json::json;
use testkit::browser::{ColorScheme, Page};
use testkit::pdf::page_texts;
use testkit::site::CustomerSite;

use crate::administration::{Administration, assert_accessible, desk_page};

const LOTS: usize = 100;
/// €1,250,000 and more, in cents.
const LARGE: u64 = 125_000_000;

/// Opens a paper, and returns the texts of its printed pages.
async fn print(administration: &Administration, page: &Page, path: &str) -> Vec<String> {
    page.open(&administration.url(path)).await.unwrap();
    page.wait_until("document.readyState === 'complete' && document.querySelector('[data-print]')?.disabled === false")
        .await
        .unwrap();
    let pages = page_texts(&page.print().await.unwrap()).unwrap();
    for (number, text) in (1..).zip(&pages) {
        let footer = format!("Page {number} of {}", pages.len());
        assert!(text.contains(&footer), "{path}: page {number} has no “{footer}”:\n{text}");
        // What the page shows around the paper on screen is not printed.
        for left_out in ["use the print command", "Sign out", "Auctions"] {
            assert!(!text.contains(left_out), "{path}: page {number} has “{left_out}”:\n{text}");
        }
    }
    pages
}

/// Asserts that each printed page has each of these texts.
fn assert_on_each(pages: &[String], texts: &[&str]) {
    for (number, page) in (1..).zip(pages) {
        for text in texts {
            assert!(page.contains(text), "page {number} of {} has no “{text}”:\n{page}", pages.len());
        }
    }
}

/// The lines that begin with a lot number, over all pages.
fn lots_of(pages: &[String]) -> Vec<usize> {
    let lines = pages.iter().flat_map(|page| page.lines());
    lines.filter_map(|line| line.split("   ").next()?.trim().parse().ok()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_of_a_hundred_lots_take_four_pages_each_with_its_header() {
    let administration = Administration::open().await;
    let site = CustomerSite::set_up(&administration.launch, &administration.launch).await.unwrap();
    let long = "A George III ormolu-mounted mahogany and tulipwood commode ".repeat(6);
    let item = |lot: usize| {
        let title = if lot % 10 == 3 { long.trim().to_owned() } else { format!("A clock, number {lot}") };
        let mut item = json!({ "lotNumber": lot.to_string(), "title": title, "openingBid": 10_000 * lot });
        if !lot.is_multiple_of(4) {
            item["lowEstimate"] = json!(LARGE);
            item["highEstimate"] = json!(LARGE + 40_000_000);
            item["reserve"] = json!(LARGE - 7_000_000);
        }
        item
    };
    let items: Vec<_> = (1..=LOTS).map(item).collect();
    let auction =
        json!({ "kind": "webcast", "title": "Clocks", "status": "LIVE", "startsAt": site.in_ms(0), "items": items });
    let auction = site.create_auction(auction).await.unwrap();
    for paddle in 1..=90 {
        let body = json!({ "paddle": (100 + paddle).to_string(), "name": format!("Bidder {paddle}"), "limit": LARGE });
        site.platform.post(&format!("/api/v1/auctions/{auction}/registrations"), &body).await.unwrap();
    }
    let page = desk_page(&administration.browser).await;
    administration.set_up(&page).await;

    // The sale leads to its papers.
    page.open(&administration.url(&format!("/auctions/{auction}"))).await.unwrap();
    page.wait_until_shown("Clocks").await.unwrap();
    page.click_through("Print").await.unwrap();
    assert_accessible(&page).await;
    page.click_through("Show clerking sheets").await.unwrap();
    page.wait_until_shown("100 lots").await.unwrap();
    assert_accessible(&page).await;

    // A visitor who prefers dark pages prints a light paper.
    page.prefer(ColorScheme::Dark).await.unwrap();
    let prints = format!("/auctions/{auction}/print");
    let own = ["Clocks", "ann@hartley.example", "GMT", &auction];
    let all: Vec<usize> = (1..=LOTS).collect();
    let sheets = print(&administration, &page, &format!("{prints}/clerking")).await;
    assert!(sheets.len() <= 4, "{} pages", sheets.len());
    assert_on_each(&sheets, &own);
    assert_on_each(&sheets, &["Confidential", "Clerking sheets", "Lot ", "Title", "Reserve", "Paddle"]);
    assert_eq!(lots_of(&sheets), all, "each lot is on one page");
    assert!(sheets[0].contains("£1,250,000") && sheets[0].contains("£1,650,000"), "{}", sheets[0]);

    let paddles = print(&administration, &page, &format!("{prints}/paddles?which=all")).await;
    assert!(paddles.len() <= 3, "{} pages", paddles.len());
    assert_on_each(&paddles, &["Confidential", "Paddle list", "Bidder", "£1,250,000"]);
    assert_eq!(lots_of(&paddles), (101..=190).collect::<Vec<_>>());

    let catalogue = print(&administration, &page, &format!("{prints}/catalogue?size=a4&pictures=no")).await;
    let small = print(&administration, &page, &format!("{prints}/catalogue?size=a5&pictures=no")).await;
    assert!(small.len() > catalogue.len(), "A5 {}, A4 {}", small.len(), catalogue.len());
    for pages in [&catalogue, &small] {
        assert_on_each(pages, &own);
        assert_eq!(lots_of(pages), all, "each lot is on one page");
        assert!(pages.iter().all(|page| !page.contains("Confidential") && !page.contains("£1,180,000")), "no reserve");
    }
    assert_eq!(page.console_errors(), Vec::<String>::new());
}
