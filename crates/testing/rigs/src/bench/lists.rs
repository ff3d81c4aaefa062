//! Pages of lists over HTTP, measured in turn in an auction of 10 items and in one of 100,000.
//!
//! The cost of a page should depend on its rows only, not on the size of the list, the position of the page or the
//! filters.

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use serde_json::{Value, json};

use super::timers::{AUCTION_ITEMS_MAX, FAR_MS, create_live_auction};
use super::{Options, histogram, milliseconds};
use crate::site::RigSite;
use crate::{RigError, say};

/// Number of measured pages of each kind and auction.
const PAGES: usize = 1_000;
/// Number of first pages that are not counted, because they open connections and make query plans.
const WARM_UP: usize = 20;
/// Rows on a page, so that the last page of the small auction is full.
const LIMIT: usize = 5;
const SMALL: u32 = 2 * LIMIT as u32;

/// A measured page: its name and its paths.
struct Page {
    name: &'static str,
    /// The path in the small auction and in the large one.
    asked: [String; 2],
}

/// Prints p50 and p99 of each page at 10 and at 100,000 items, and their ratios.
pub(super) async fn pages(options: &Options) -> Result<(), RigError> {
    let (site, _server) = RigSite::set_up(options.store, &[("PLATFORM__RATE_LIMIT", "0")]).await?;
    let small = create_live_auction(&site, SMALL, &site.in_ms(FAR_MS), None).await?;
    let customer = &site.customer;
    // Lists across auctions are measured before and after the large auction is created.
    let wide = [
        ("auctions, none", "/api/v1/auctions?status=ARCHIVED".to_owned()),
        ("auctions, LIVE", "/api/v1/auctions?status=LIVE&limit=1".to_owned()),
        ("events, first", format!("/api/v1/events?customer={customer}&limit={LIMIT}")),
        ("events, last", format!("/api/v1/events?customer={customer}&after={}", last_event(&site).await?)),
    ];
    let mut before = Vec::new();
    for (_, path) in &wide {
        let mut latency = histogram()?;
        for number in 0..WARM_UP + PAGES {
            time(&site, path, number, &mut latency).await?;
        }
        before.push(latency);
    }

    let large = create_live_auction(&site, AUCTION_ITEMS_MAX, &site.in_ms(FAR_MS), None).await?;
    let auctions = [Sale::read(&site, &small).await?, Sale::read(&site, &large).await?];
    for Page { name, asked } in pages_of(&auctions) {
        let mut latency = [histogram()?, histogram()?];
        for number in 0..WARM_UP + PAGES {
            for (asked, latency) in asked.iter().zip(&mut latency) {
                time(&site, asked, number, latency).await?;
            }
        }
        report(name, &latency);
    }
    for ((name, path), before) in wide.into_iter().zip(before) {
        let mut after = histogram()?;
        for number in 0..WARM_UP + PAGES {
            time(&site, &path, number, &mut after).await?;
        }
        report(name, &[before, after]);
    }
    Ok(())
}

fn pages_of(auctions: &[Sale; 2]) -> Vec<Page> {
    let page = |name, asked: fn(&Sale) -> String| {
        let path = |sale: &Sale| format!("{}?limit={LIMIT}{}", sale.path, asked(sale));
        Page { name, asked: auctions.each_ref().map(path) }
    };
    vec![
        page("items, first page", |_| String::new()),
        page("items, in the middle", |sale| format!("&after={}", sale.middle)),
        page("items, last page", |sale| format!("&after={}", sale.end)),
        page("one status, none there", |_| "&status=SOLD".to_owned()),
        page("one status, first page", |_| "&status=LIVE".to_owned()),
        page("one status, last page", |sale| format!("&status=LIVE&after={}", sale.end)),
        page("one status, last item", |_| "&status=WITHDRAWN".to_owned()),
        page("statuses, last item", |sale| format!("&status=SOLD,UNSOLD,PASSED,WITHDRAWN&after={}", sale.middle)),
        page("a lot number", |sale| format!("&lotNumber={}", sale.last_lot)),
        page("no lot of that number", |_| "&lotNumber=none".to_owned()),
    ]
}

/// An auction whose last item was withdrawn.
struct Sale {
    /// Path of its list of items.
    path: String,
    /// Cursors at which the middle and the last page begin.
    middle: String,
    end: String,
    last_lot: String,
}

impl Sale {
    async fn read(site: &RigSite, auction: &str) -> Result<Self, RigError> {
        let path = format!("/api/v1/auctions/{auction}/items");
        let items = site.items(auction).await?;
        let after = async |count: usize| -> Result<String, RigError> {
            // The API returns the cursor at the end of a page.
            let mut left = count;
            let mut after = String::new();
            while left > 0 {
                let limit = left.min(250);
                let page = site.platform.get(&format!("{path}?limit={limit}{after}")).await?;
                after = format!("&after={}", page.text("/next")?);
                left -= limit;
            }
            Ok(after.trim_start_matches("&after=").to_owned())
        };
        let last = items.last().ok_or("an auction without items")?;
        let text = |field: &str| last[field].as_str().map(str::to_owned).ok_or("an item without a field");
        let item = format!("/api/v1/items/{}", text("uuid")?);
        let seen = site.platform.get(&item).await?.etag;
        let withdrawn = json!({ "status": "WITHDRAWN", "reason": "Not found" });
        site.platform.post_if_match(&format!("{item}/status"), seen.as_ref(), &withdrawn).await?;
        let (middle, end) = (after(items.len() / 2).await?, after(items.len() - LIMIT).await?);
        Ok(Sale { middle, end, last_lot: text("lotNumber")?, path })
    }
}

/// The cursor of the last event in the feed.
async fn last_event(site: &RigSite) -> Result<i64, RigError> {
    let path = format!("/api/v1/events?customer={}&limit=250", site.customer);
    let mut after = 0;
    loop {
        let page: Value = site.platform.get(&format!("{path}&after={after}")).await?.body;
        after = page["next"].as_i64().ok_or("a feed without a cursor")?;
        if page["done"] == true {
            return Ok(after);
        }
    }
}

async fn time(site: &RigSite, path: &str, number: usize, latency: &mut Histogram<u64>) -> Result<(), RigError> {
    let begin = Instant::now();
    site.platform.get(path).await?;
    let took: Duration = begin.elapsed();
    if number >= WARM_UP {
        latency.saturating_record(took.as_micros() as u64);
    }
    Ok(())
}

fn report(name: &str, [small, large]: &[Histogram<u64>; 2]) {
    let at = |latency: &Histogram<u64>, share| milliseconds(latency.value_at_quantile(share));
    let (small, large) = ((at(small, 0.5), at(small, 0.99)), (at(large, 0.5), at(large, 0.99)));
    say(&format!(
        "lists        {name:<24} p50 {:.2} and {:.2} ms, p99 {:.2} and {:.2} ms: {:.2} and {:.2} times as long",
        small.0,
        large.0,
        small.1,
        large.1,
        large.0 / small.0,
        large.1 / small.1,
    ));
}
