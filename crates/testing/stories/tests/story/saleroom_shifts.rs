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

/// What has moved on the page so far, if anything.
async fn moved(page: &Page, when: &str) -> Option<String> {
    page.evaluate(DRAW).await.unwrap();
    let shifts = page.text("shifts.splice(0).join('\\n')").await.unwrap();
    let path = page.text("location.pathname").await.unwrap();
    (!shifts.is_empty()).then(|| format!("{path}, {when}: {shifts}\n"))
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_moves_while_a_page_loads_and_when_bids_arrive() {
    let mut house = House::open(None, "at_once").await;
    let lot = |number: &str, title: &str| json!({ "lotNumber": number, "title": title, "status": "LIVE", "openingBid": 2_000 });
    let titles =
        ["Carriage clock, brass, about 1890", "Chest", "Study of two hares, pencil on paper, framed and glazed"];
    let sale = json!({
        "kind": "timed", "title": "Clocks, silver and furniture", "status": "LIVE", "endsAt": house.open.site.in_ms(604_800_000),
        "items": [lot("1", titles[0]), lot("2", titles[1]), lot("3", titles[2])],
        "charges": { "premiumBasisPoints": 2_500, "premiumTaxBasisPoints": 2_000 },
    });
    house.follow(house.open.site.create_auction(sale).await.unwrap()).await;
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
    let (mut amount, mut faults) = (2_000, String::new());
    for (width, height, pixels) in [(390, 844, 2), (390, 2_000, 1), (320, 568, 2)] {
        for (page, url) in [(visitor, &catalogue), (visitor, &house.lot(0)), (&ann, &catalogue), (&ann, &house.lot(0))]
        {
            page.emulate_phone(width, height, pixels).await.unwrap();
            // The page is drawn before its scripts and pictures arrive.
            page.emulate_network(150, 1_600_000).await.unwrap();
            page.run_first(NOTE_SHIFTS).await.unwrap();
            page.open("about:blank").await.unwrap();
            page.clear_cache().await.unwrap();
            page.open(url).await.unwrap();
            page.wait_until(HAS_PICTURES).await.unwrap();
            page.wait_until(IS_LIVE).await.unwrap();
            faults.extend(moved(page, "while it was loaded").await);
            for bidder in ["77", "78"] {
                let before = page.text(BIDS).await.unwrap();
                let bid = json!({ "bidder": bidder, "amount": amount });
                house.open.site.platform.post(&format!("/api/v1/items/{}/bids", house.lots[0]), &bid).await.unwrap();
                page.wait_until(&format!("{BIDS} !== {}", json!(before))).await.unwrap();
                // The box of a bidder is read again.
                let next = "document.querySelector('[data-live=next]')?.textContent ?? ''";
                let button = "document.querySelector('[data-bid=next] button')?.textContent ?? ''";
                page.wait_until(&format!("!({button}) || ({button}).includes({next})")).await.unwrap();
                faults.extend(moved(page, "when a bid arrived").await);
                amount += 2_000;
            }
            let bytes = page.evaluate(SCRIPT_BYTES).await.unwrap().as_u64().unwrap();
            assert!((1..=SCRIPT_BYTES_MAX).contains(&bytes), "{url}: {bytes} bytes of script");
        }
    }
    assert!(faults.is_empty(), "{faults}");
    // What moves is noted.
    visitor.evaluate("document.querySelector('main').prepend(document.createElement('hr'))").await.unwrap();
    assert!(moved(visitor, "when a line was added").await.is_some());
}
