//! A large catalogue of the saleroom on a phone with a slow connection, in a browser with an empty cache: when the first lots and
//! their pictures can be used, the requests until then, and whether anything moved on the screen.
//!
//! The browser slows each request down, and does so on connections that are open; so the times have no handshake of TCP or TLS.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};
use testkit::browser::{Browser, Page};
use testkit::picture::photograph;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::Options;
use super::saleroom::House;
use super::timers::{FAR_MS, set_status};
use crate::{RigError, say};

/// Screen of the phone, and its connection.
const SCREEN: (u32, u32, u32) = (390, 844, 2);
const LATENCY_MS: u32 = 150;
const BITS_PER_S: u32 = 1_600_000;
/// Loads of each page, of which the median counts.
const LOADS: usize = 9;
/// The limit of the script of a page, compressed.
const SCRIPT_BYTES_MAX: u64 = 40_000;
/// Distinct pictures; further lots repeat them.
const PICTURES: u32 = 48;
const UPLOADS_AT_ONCE: usize = 2;

/// Notes when the first lots, or the lot, are on the screen, when all pictures on it are, and how much moves.
const NOTE: &str = r#"(() => {
    const noted = window.noted = { shift: 0, moved: [], lots: null, usable: null };
    const nameOf = ({ node }) => node?.id || node?.className || node?.nodeName || "removed";
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) {
            if (entry.hadRecentInput) continue;
            noted.shift += entry.value;
            noted.moved.push(...entry.sources.map(nameOf));
        }
    }).observe({ type: "layout-shift", buffered: true });
    const isSeen = (element) => {
        const place = element.getBoundingClientRect();
        return place.height > 0 && place.top < innerHeight && place.bottom > 0;
    };
    const look = () => {
        const seen = [...document.querySelectorAll(".lot-cards li, .lot-page")].filter(isSeen);
        if (seen.length > 0) noted.lots ??= performance.now();
        const pictures = [...document.querySelectorAll(".lot-cards img, .pictures img")].filter(isSeen);
        const isComplete = pictures.length > 0 && pictures.every((picture) => picture.complete && picture.naturalWidth > 0);
        if (isComplete && document.readyState !== "loading") noted.usable = performance.now();
        else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
})()"#;
/// The notes of the page, with the requests that were complete by then and their bytes.
const NOTED: &str = r#"(() => {
    const all = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
    const done = all.filter((entry) => entry.responseEnd > 0 && entry.responseEnd <= noted.usable);
    const bytes = done.reduce((sum, entry) => sum + entry.transferSize, 0);
    return { ...noted, requests: done.length, bytes };
})()"#;
/// Bytes of the scripts of the page: as sent, and as gzip makes them.
const SCRIPTS: &str = r#"(async () => {
    const bytes = [0, 0];
    for (const { src } of document.querySelectorAll("script[src]")) {
        const content = await (await fetch(src)).arrayBuffer();
        const packed = new Blob([content]).stream().pipeThrough(new CompressionStream("gzip"));
        bytes[0] += content.byteLength;
        bytes[1] += (await new Response(packed).arrayBuffer()).byteLength;
    }
    return bytes;
})()"#;
const IS_LIVE: &str = "document.getElementById('live')?.dataset.link === 'live'";

/// Prints the figures of the catalogue and of a lot's page.
pub(super) async fn on_a_phone(options: &Options) -> Result<(), RigError> {
    let house = House::open(options.store, 1).await?;
    let auction = json!({ "kind": "timed", "title": "Clocks, silver and furniture", "endsAt": house.site.in_ms(FAR_MS),
        "charges": { "premiumBasisPoints": 2_500, "premiumTaxBasisPoints": 2_000 } });
    let auction = house.site.create_auction(auction).await?;
    let path = format!("/api/v1/auctions/{auction}/catalogue");
    house.site.platform.post_csv(&path, lots(options.lots).into()).await?;
    let items: Vec<String> =
        house.site.items(&auction).await?.iter().filter_map(|item| item["uuid"].as_str().map(str::to_owned)).collect();
    add_pictures(&house, &items).await?;
    for status in ["PREVIEW", "LIVE"] {
        set_status(&house.site, &auction, status).await?;
        house.site.wait_for_bulk_change(&auction).await?;
    }
    let first = items.first().ok_or("the catalogue has no lots")?;
    say(&format!(
        "catalogue    {} lots with pictures, {} x {} pixels at {}, {} Mbit/s, {LATENCY_MS} ms, empty cache, median of {LOADS}",
        items.len(),
        SCREEN.0,
        SCREEN.1,
        SCREEN.2,
        f64::from(BITS_PER_S) / 1_000_000.0
    ));
    let browser = Browser::start().await?;
    let page = browser.page().await?;
    let (width, height, pixels) = SCREEN;
    page.emulate_phone(width, height, pixels).await?;
    page.run_first(NOTE).await?;
    page.emulate_network(LATENCY_MS, BITS_PER_S).await?;
    let sale = format!("{}/sales/{auction}", house.url());
    for (name, url, amount) in [("catalogue", sale.clone(), 100_000), ("lot", format!("{sale}/lots/{first}"), 200_000)]
    {
        let mut loads = Vec::new();
        for _ in 0..LOADS {
            page.open("about:blank").await?;
            page.clear_cache().await?;
            page.open(&url).await?;
            page.wait_until("window.noted?.usable > 0 && document.readyState === 'complete'").await?;
            page.wait_until(IS_LIVE).await?;
            loads.push(page.evaluate(NOTED).await?);
        }
        let before = page.text("document.querySelector('[data-live=price]').textContent").await?;
        let bid = json!({ "bidder": "214", "amount": amount });
        house.site.platform.post(&format!("/api/v1/items/{first}/bids"), &bid).await?;
        let bid = json!({ "bidder": "7", "amount": amount + 50_000 });
        house.site.platform.post(&format!("/api/v1/items/{first}/bids"), &bid).await?;
        page.wait_until(&format!("document.querySelector('[data-live=price]').textContent !== {}", json!(before)))
            .await?;
        report(name, &page, &loads).await?;
    }
    Ok(())
}

async fn report(name: &str, page: &Page, loads: &[Value]) -> Result<(), RigError> {
    let median = |field: &str| {
        let mut values: Vec<f64> = loads.iter().filter_map(|load| load[field].as_f64()).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or_default()
    };
    let shifts = loads.iter().filter_map(|load| load["shift"].as_f64()).fold(0.0, f64::max);
    let moved: BTreeSet<&str> =
        loads.iter().filter_map(|load| load["moved"].as_array()).flatten().filter_map(Value::as_str).collect();
    // Entries of the last frames come with the next one.
    page.evaluate("new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))").await?;
    let shift = page.evaluate("noted.shift").await?.as_f64().unwrap_or_default();
    let scripts = page.evaluate(SCRIPTS).await?;
    say(&format!(
        "             {name}: on the screen after {:.2} s, with its pictures after {:.2} s; {} requests and {:.0} KB until then",
        median("lots") / 1_000.0,
        median("usable") / 1_000.0,
        median("requests"),
        median("bytes") / 1_000.0,
    ));
    say(&format!(
        "             {name}: script {} bytes, {} compressed (limit {SCRIPT_BYTES_MAX}); layout shift {shifts} until idle, {shift} with two bids",
        scripts[0], scripts[1],
    ));
    if !moved.is_empty() {
        say(&format!("             {name}: moved: {}", moved.into_iter().collect::<Vec<_>>().join(", ")));
    }
    Ok(())
}

/// A catalogue as CSV, with titles of different lengths.
fn lots(count: u32) -> String {
    const THINGS: [&str; 6] = [
        "Carriage clock, brass, about 1890",
        "Pair of silver candlesticks, Sheffield 1902, with engraved arms and beaded borders",
        "Mahogany chest of drawers",
        "Microscope in its case, with six slides of mosses and a letter of its first owner",
        "Persian rug, 190 by 120 cm",
        "Study of two hares, pencil on paper",
    ];
    let line = |lot: u32| format!("{lot},\"{}\",{}.00\n", THINGS[lot as usize % THINGS.len()], 20 + lot % 180);
    std::iter::once("lot_number,title,opening_bid\n".to_owned()).chain((1..=count).map(line)).collect()
}

/// Adds a picture to each lot.
async fn add_pictures(house: &House, items: &[String]) -> Result<(), RigError> {
    let pictures: Arc<Vec<Bytes>> = Arc::new((0..PICTURES).map(photograph).collect());
    let mut uploads = JoinSet::new();
    for (number, item) in items.iter().enumerate() {
        if uploads.len() >= UPLOADS_AT_ONCE {
            uploads.join_next().await.transpose()?.transpose()?;
        }
        let (platform, pictures, item) = (house.site.platform.clone(), Arc::clone(&pictures), item.clone());
        uploads.spawn(async move {
            let (image, name) = (Uuid::from_u128(number as u128 + 1), format!("{}.jpg", number + 1));
            let picture = pictures[number % pictures.len()].clone();
            platform.put_image(&item, image, &name, picture).await.map(drop)
        });
    }
    while let Some(upload) = uploads.join_next().await {
        upload??;
    }
    Ok(())
}
