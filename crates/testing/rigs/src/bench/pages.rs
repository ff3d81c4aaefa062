//! The time to the first byte of every page, with a large auction and many messages in the stores; and the grid of that
//! auction's lots, scrolled to its end.
//!
//! The browser measures: from the moment it sent the request to the first byte of the response, without redirects.

use testkit::browser::{Browser, Page, Walk};
use testkit::server::{Launch, built_binary};
use testkit::showcase::{Pages, Showcase};

use super::load::{DRAIN_MAX, LoadGenerator};
use super::timers::{AUCTION_ITEMS_MAX, FAR_MS, create_live_auction, set_status};
use super::{Options, histogram, milliseconds};
use crate::http_io::Sink;
use crate::site::Engine;
use crate::{RigError, say};

/// Times that the large auction returns to preview and is live again. Each time adds two entries per lot to the journal, so
/// that it has more than a million.
const RETURNS: usize = 4;
/// Loads of each page. The first is not counted, because it makes query plans.
const LOADS: usize = 11;
/// Microseconds to the first byte of the page that is open.
const FIRST_BYTE_US: &str = r#"(() => {
    const [timing] = performance.getEntriesByType("navigation");
    return Math.round((timing.responseStart - timing.requestStart) * 1000);
})()"#;

/// Scrolls the grid to its end until it shows further lots. Returns the microseconds, or null after the last lot.
const NEXT_LOTS_US: &str = r#"(async () => {
    const last = () => [...document.querySelectorAll("[data-grid] tbody")].at(-1);
    const before = last();
    if (before.dataset.next === undefined) return null;
    const begin = performance.now();
    while (last() === before) {
        window.scrollTo(0, document.documentElement.scrollHeight);
        await new Promise(requestAnimationFrame);
    }
    return Math.round((performance.now() - begin) * 1000);
})()"#;
/// Changes the title of the last lot as with the keyboard. Returns the microseconds until it is saved.
const EDIT_LAST_US: &str = r#"(async () => {
    const begin = performance.now();
    [...document.querySelectorAll("[data-grid] a.cell[data-c=title]")].at(-1).click();
    const field = document.querySelector("[data-grid] .cell-input");
    field.value += ", changed";
    field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
    const status = document.getElementById("grid-status");
    while (!status.textContent.endsWith("saved.")) await new Promise(requestAnimationFrame);
    return Math.round((performance.now() - begin) * 1000);
})()"#;

/// Prints the median and the maximum of each page, the slowest page last.
pub(super) async fn first_byte(options: &Options) -> Result<(), RigError> {
    let data = tempfile::tempdir()?;
    let mut launch = Launch::new(built_binary("lotwire")?, data.path())?.set("SECRETS__KEY", &"5a".repeat(32));
    if options.store == Engine::Postgres {
        launch = launch.database(&testkit::postgres::fresh_database().await?);
    }
    let mut showcase = Showcase::open(launch).await?;
    let auction = create_live_auction(&showcase.site, AUCTION_ITEMS_MAX, &showcase.site.in_ms(FAR_MS), None).await?;
    for status in ["PREVIEW", "LIVE"].repeat(RETURNS) {
        set_status(&showcase.site, &auction, status).await?;
        showcase.site.wait_for_bulk_change(&auction).await?;
    }
    showcase.application = showcase.site.add_application("Flooded").await?;
    let listener = Sink::listen().await?;
    let secret = showcase.site.add_endpoint(&showcase.application, &format!("http://{}/", listener.1)).await?;
    let sink = Sink::answer(listener, Some(&secret))?;
    let generator = LoadGenerator::to(&showcase.launch, &showcase.site.provider_key, &showcase.application);
    generator.send(options.messages, options.connections).await?;
    sink.wait_for(options.messages, DRAIN_MAX).await?;

    let browser = Browser::with_windows().await?;
    let mut pages = Vec::new();
    for visited in Pages::ALL {
        let page = browser.page().await?;
        showcase.sign_in(&page, *visited).await?;
        let mut walk = Walk::begin(&page, visited.prefix()).await?;
        while let Some(kind) = walk.next(&page).await? {
            let url = page.text("location.href").await?;
            let mut latency = histogram()?;
            for number in 0..LOADS {
                page.open("about:blank").await?;
                page.open(&url).await?;
                page.wait_until("document.readyState === 'complete'").await?;
                if number > 0 {
                    latency.saturating_record(page.evaluate(FIRST_BYTE_US).await?.as_u64().unwrap_or_default());
                }
            }
            pages.push((latency.value_at_quantile(0.5), latency.max(), kind));
        }
        if matches!(visited, Pages::Administration) {
            page.open(&format!("{}/admin/auctions/{auction}/lots", showcase.launch.platform_url())).await?;
            scroll_grid(&page).await?;
        }
    }
    pages.sort();
    for (median, max, kind) in &pages {
        let (median, max) = (milliseconds(*median), milliseconds(*max));
        say(&format!("pages        first byte {median:6.2} ms, at most {max:6.2} ms  {kind}"));
    }
    say(&format!("pages        {} kinds, {} messages, {AUCTION_ITEMS_MAX} lots", pages.len(), options.messages));
    Ok(())
}

/// Scrolls the open grid to its last lot, and changes that lot.
async fn scroll_grid(page: &Page) -> Result<(), RigError> {
    let mut latency = histogram()?;
    while let Some(elapsed) = page.evaluate(NEXT_LOTS_US).await?.as_u64() {
        latency.saturating_record(elapsed);
    }
    let rows = page.evaluate("document.querySelectorAll('[data-grid] tbody tr').length").await?;
    say(&format!(
        "grid         scrolled to its end: {} times further lots after {:.1} ms, p99 {:.1} ms, at most {:.1} ms; {rows} rows in the document",
        latency.len(),
        milliseconds(latency.value_at_quantile(0.5)),
        milliseconds(latency.value_at_quantile(0.99)),
        milliseconds(latency.max()),
    ));
    let edit = page.evaluate(EDIT_LAST_US).await?.as_u64().unwrap_or_default();
    say(&format!("grid         the last lot saved {:.1} ms after its cell was opened", milliseconds(edit)));
    Ok(())
}
