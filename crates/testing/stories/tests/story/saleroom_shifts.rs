//! Nothing moves on the pages of a saleroom, neither while they load nor when bids arrive, and their scripts stay small.

use serde_json::json;
use testkit::browser::Page;

use crate::saleroom_bids::House;
use crate::saleroom_live::IS_LIVE;

/// Limit of the scripts of a page, compressed.
const SCRIPT_BYTES_MAX: u64 = 40_000;

/// Notes what moves on the page without an input, with the elements and their places.
const NOTE_SHIFTS: &str = r#"(() => {
    window.shifts = [];
    const place = ({ x, y, width, height }) => `${x},${y} ${width}x${height}`;
    const moved = ({ node, previousRect, currentRect }) =>
        `${(node?.outerHTML ?? node?.nodeName ?? "").slice(0, 120)}: ${place(previousRect)}, then ${place(currentRect)}`;
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) shifts.push(entry.value, ...entry.sources.map(moved));
    }).observe({ type: "layout-shift", buffered: true });
})()"#;
/// The browser has drawn twice, and has handed over what it noted.
const DRAW: &str =
    "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve))))";
/// All pictures on the screen are drawn.
const HAS_PICTURES: &str = r#"(() => {
    const all = [...document.querySelectorAll("main img")];
    const seen = all.filter((picture) => picture.getBoundingClientRect().top < innerHeight && picture.getClientRects().length > 0);
    return document.readyState === "complete" && all.length > 0 && seen.every((picture) => picture.complete && picture.naturalWidth > 0);
})()"#;
/// Bytes of the scripts of the page as gzip makes them.
const SCRIPT_BYTES: &str = r#"(async () => {
    let bytes = 0;
    for (const { src } of document.querySelectorAll("script[src]")) {
        const packed = (await (await fetch(src)).blob()).stream().pipeThrough(new CompressionStream("gzip"));
        bytes += (await new Response(packed).arrayBuffer()).byteLength;
    }
    return bytes;
})()"#;

/// The line with the number of bids of the first lot.
const BIDS: &str = "document.querySelector('[data-live=bids]').textContent";

async fn assert_still(page: &Page, when: &str) {
    page.evaluate(DRAW).await.unwrap();
    let shifts = page.text("shifts.join('\\n')").await.unwrap();
    assert_eq!(shifts, "", "{}, {when}", page.text("location.pathname").await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_moves_while_a_page_loads_and_when_bids_arrive() {
    let mut house = House::open(None, "at_once").await;
    for (number, lot) in (1_u8..).zip(&house.lots) {
        let image = format!("00000000-0000-7000-8000-00000000001{number}").parse().unwrap();
        let jpeg = testkit::picture::picture(number);
        house.open.site.platform.put_image(lot, image, "clock.jpg", jpeg).await.unwrap();
    }
    let ann = house.bidder("Ann Hartley", "ann@example.com").await;
    house.register(&ann).await;
    ann.wait_until_shown("Your paddle is 1.").await.unwrap();
    let visitor = &house.open.staff;
    let catalogue = format!("{}/sales/{}", house.open.url(), house.auction);
    let mut amount = 50_000;
    for (width, height, pixels) in [(390, 844, 2), (320, 568, 2)] {
        for (page, url) in [(visitor, &catalogue), (visitor, &house.lot(0)), (&ann, &catalogue), (&ann, &house.lot(0))]
        {
            page.emulate_phone(width, height, pixels).await.unwrap();
            page.run_first(NOTE_SHIFTS).await.unwrap();
            page.open("about:blank").await.unwrap();
            page.open(url).await.unwrap();
            page.wait_until(HAS_PICTURES).await.unwrap();
            page.wait_until(IS_LIVE).await.unwrap();
            assert_still(page, "after it was loaded").await;
            for bidder in ["77", "78"] {
                let before = page.text(BIDS).await.unwrap();
                let bid = json!({ "bidder": bidder, "amount": amount });
                house.open.site.platform.post(&format!("/api/v1/items/{}/bids", house.lots[0]), &bid).await.unwrap();
                page.wait_until(&format!("{BIDS} !== {}", json!(before))).await.unwrap();
                // The box of a bidder is read again.
                let next = "document.querySelector('[data-live=next]')?.textContent ?? ''";
                let button = "document.querySelector('[data-bid=next] button')?.textContent ?? ''";
                page.wait_until(&format!("!({button}) || ({button}).includes({next})")).await.unwrap();
                assert_still(page, "after a bid arrived").await;
                amount += 50_000;
            }
            let bytes = page.evaluate(SCRIPT_BYTES).await.unwrap().as_u64().unwrap();
            assert!((1..=SCRIPT_BYTES_MAX).contains(&bytes), "{url}: {bytes} bytes of script");
        }
    }
    // What moves is noted.
    visitor.evaluate("document.querySelector('main').prepend(document.createElement('hr'))").await.unwrap();
    visitor.evaluate(DRAW).await.unwrap();
    assert_ne!(visitor.text("shifts.join('\\n')").await.unwrap(), "");
}
