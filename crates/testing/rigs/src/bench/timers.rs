//! How late items end: with many scheduled items, and at the bid rate of a closing minute.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use testkit::site::CustomerSite;
use tokio::task::JoinSet;

use super::items::catalogue;
use super::{Options, histogram, milliseconds, process};
use crate::site::RigSite;
use crate::{RigError, say};

/// Maximum number of items of one auction.
pub(super) const AUCTION_ITEMS_MAX: u32 = 100_000;
/// Time until the scheduled items end, which is after the measurement.
pub(super) const FAR_MS: i64 = 7 * 24 * 3_600 * 1_000;
/// Number of items that end in each second of a measurement.
const ENDS_PER_S: u32 = 100;
/// Time from creating a sale to its first end: for each item, and at least.
const LEAD_MS_PER_ITEM: f64 = 0.4;
const LEAD_MS_MIN: f64 = 4_000.0;
/// Number of further items that receive bids in the closing minute.
const BACKGROUND_ITEMS: u32 = 1_000;
/// Minor units from one bid to the next, above every increment of the common table.
const STEP: u64 = 1_000_000;
/// Time limit for the last event.
const DRAIN_MAX: Duration = Duration::from_secs(120);

/// Measures the cost of scheduled items, and how late other items end meanwhile.
pub(super) async fn scheduled(options: &Options) -> Result<(), RigError> {
    let (site, server) = RigSite::set_up(options.store, &[]).await?;
    let mut left = options.scheduled;
    let begin = Instant::now();
    while left > 0 {
        let items = left.min(AUCTION_ITEMS_MAX);
        create_live_auction(&site, items, &site.in_ms(FAR_MS), None).await?;
        left -= items;
    }
    let setting_up = begin.elapsed();
    let peak = process::peak_memory_mib(server.id())?;
    let cpu_before = process::cpu_time(server.id())?;
    tokio::time::sleep(Duration::from_secs(10)).await;
    let idle = process::cpu_time(server.id())?.saturating_sub(cpu_before);
    say(&format!(
        "scheduled    {} items on sale after {:.0} s; {} MiB resident, {} MiB while they were set up; {:.1} ms of CPU a second",
        options.scheduled,
        setting_up.as_secs_f64(),
        process::memory_mib(server.id())?,
        peak,
        idle.as_secs_f64() * 100.0,
    ));
    let ending = EndingItems::create(&site, options.seconds).await?;
    ending.measure(&site).await?;
    say(&format!("             {} MiB resident after these", process::memory_mib(server.id())?));
    Ok(())
}

/// Bids at a hundred times the normal rate while items end. Half of the bids are on the items that end next.
pub(super) async fn closing(options: &Options) -> Result<(), RigError> {
    let (site, _server) = RigSite::set_up(options.store, &[]).await?;
    let crowd = create_live_auction(&site, BACKGROUND_ITEMS, &site.in_ms(FAR_MS), None).await?;
    let crowd: Vec<String> = site.items(&crowd).await?.iter().filter_map(uuid).collect();
    let ending = EndingItems::create(&site, options.seconds).await?;
    let rate = options.usual_bids * 100;
    let lead = ending.first.duration_since(site.clock.now()) - SignedDuration::from_secs(1);
    tokio::time::sleep(Duration::try_from(lead).unwrap_or_default()).await;
    let bids = Bids::none()?;
    let count = rate * (options.seconds + 1);
    let begin = tokio::time::Instant::now();
    let mut bidders = JoinSet::new();
    for number in 0..count {
        tokio::time::sleep_until(begin + Duration::from_secs_f64(number as f64 / rate as f64)).await;
        let nth = (number / 2) as usize;
        let is_for_crowd = number % 2 == 0;
        let item = if is_for_crowd { crowd.get(nth % crowd.len()) } else { ending.next(nth, site.clock.now()) };
        let Some(item) = item else { continue };
        let (platform, bids, path) = (site.platform.clone(), bids.clone(), format!("/api/v1/items/{item}/bids"));
        bidders.spawn(async move {
            let body = json!({ "bidder": format!("paddle-{}", number % 97), "amount": (number + 1) * STEP });
            let sent = Instant::now();
            let answer = platform.post(&path, &body).await;
            bids.note(&answer, sent.elapsed());
        });
    }
    while let Some(bidder) = bidders.join_next().await {
        bidder?;
    }
    say(&format!(
        "closing      {rate} bids a second, a hundred times the normal rate: {}",
        bids.report(begin.elapsed())?
    ));
    ending.measure(&site).await
}

/// Measures a bid in an auction of 10 items and in one of 100,000, in turn.
pub(super) async fn bid_cost(options: &Options) -> Result<(), RigError> {
    const ROUNDS: u64 = 20;
    const BIDS: u64 = 500;
    let (site, server) = RigSite::set_up(options.store, &[]).await?;
    let mut sales = Vec::new();
    for items in [10, AUCTION_ITEMS_MAX] {
        let auction = create_live_auction(&site, items, &site.in_ms(FAR_MS), None).await?;
        let page = site.platform.get(&format!("/api/v1/auctions/{auction}/items?limit=10")).await?.body;
        let ten: Vec<String> = page["data"].as_array().into_iter().flatten().filter_map(uuid).collect();
        sales.push((items, ten, Bids::none()?, Duration::ZERO));
    }
    for round in 0..ROUNDS {
        for (_, items, bids, cpu) in &mut sales {
            let before = process::cpu_time(server.id())?;
            let mut bidders = JoinSet::new();
            // Each item has one bidder at a time, so that no concurrent bid is refused.
            for item in items.iter() {
                let (platform, bids, path) =
                    (site.platform.clone(), bids.clone(), format!("/api/v1/items/{item}/bids"));
                bidders.spawn(async move {
                    for number in 0..BIDS / 10 {
                        let body = json!({ "bidder": format!("paddle-{}", number % 7), "amount": (round * BIDS + number + 1) * STEP });
                        let sent = Instant::now();
                        let answer = platform.post(&path, &body).await;
                        bids.note(&answer, sent.elapsed());
                    }
                });
            }
            while let Some(bidder) = bidders.join_next().await {
                bidder?;
            }
            // The first round fills caches and is not counted.
            if round > 0 {
                *cpu += process::cpu_time(server.id())?.saturating_sub(before);
            }
        }
    }
    let mut medians = Vec::new();
    for (items, _, bids, cpu) in &sales {
        let (median, p99) = (bids.at(0.5)?, bids.at(0.99)?);
        let cpu = cpu.as_micros() as f64 / ((ROUNDS - 1) * BIDS) as f64;
        say(&format!(
            "bid cost     in an auction of {items}: p50 {median:.2} ms, p99 {p99:.2} ms, {cpu:.0} µs of server CPU; {}",
            bids.counts()
        ));
        medians.push((median, cpu));
    }
    if let [(small, small_cpu), (large, large_cpu)] = medians[..] {
        say(&format!(
            "             ratio of the two: {:.2} in time, {:.2} in CPU",
            large / small,
            large_cpu / small_cpu
        ));
    }
    Ok(())
}

/// Items of which a hundred end in each second.
pub(super) struct EndingItems {
    pub(super) first: Timestamp,
    /// UUIDs in the order of the ends.
    items: Vec<(String, Timestamp)>,
}

impl EndingItems {
    pub(super) async fn create(site: &RigSite, seconds: u64) -> Result<Self, RigError> {
        let count = ENDS_PER_S * u32::try_from(seconds)?;
        let first = site.in_ms((LEAD_MS_MIN + f64::from(count) * LEAD_MS_PER_ITEM) as i64);
        let stagger = json!({ "seconds": 1, "items": ENDS_PER_S });
        let auction = create_live_auction(site, count, &first, Some(stagger)).await?;
        let mut items = Vec::new();
        for item in site.items(&auction).await? {
            let end = item["effectiveEndTime"].as_str().ok_or("an item without an end")?.parse()?;
            items.push((uuid(&item).ok_or("an item without a UUID")?, end));
        }
        let first: Timestamp = first.parse()?;
        if first <= site.clock.now() {
            return Err("items ended before they were on sale; give fewer seconds".into());
        }
        Ok(Self { first, items })
    }

    /// An item that ends within the next second.
    fn next(&self, nth: usize, now: Timestamp) -> Option<&String> {
        let second = usize::try_from((now.duration_since(self.first).as_millis() + 1_000).max(0) / 1_000).ok()?;
        self.items.get(second * ENDS_PER_S as usize + nth % ENDS_PER_S as usize).map(|(item, _)| item)
    }

    /// Waits for every end, and prints how late each was decided and its webhook received.
    pub(super) async fn measure(&self, site: &RigSite) -> Result<(), RigError> {
        let ends: std::collections::HashMap<uuid::Uuid, Timestamp> =
            self.items.iter().map(|(item, end)| Ok((item.parse()?, *end))).collect::<Result<_, RigError>>()?;
        let arrived = |record: &consumer::ArrivalLog| {
            record.arrivals().iter().filter(|arrival| ends.contains_key(&arrival.subject)).count() >= ends.len()
        };
        let is_whole = site.receiver.wait_until(DRAIN_MAX, arrived).await;
        let (mut decided, mut received) = (histogram()?, histogram()?);
        for event in consumer::read_feed(&site.platform, &site.customer).await? {
            if let Some(end) = ends.get(&event.event.subject) {
                decided.saturating_record(lateness_us(event.at, *end));
            }
        }
        site.receiver.read(|record| {
            for arrival in record.arrivals() {
                if let Some(end) = ends.get(&arrival.subject) {
                    received.saturating_record(lateness_us(arrival.at, *end));
                }
            }
        });
        for (what, late) in [("decided", &decided), ("announced to the receiver", &received)] {
            say(&format!(
                "             {} of {} ends {what}: p50 {:.1}, p99 {:.1}, worst {:.1} ms after the effective end",
                late.len(),
                ends.len(),
                milliseconds(late.value_at_quantile(0.5)),
                milliseconds(late.value_at_quantile(0.99)),
                milliseconds(late.max()),
            ));
        }
        if is_whole { Ok(()) } else { Err("not every end was announced".into()) }
    }
}

fn lateness_us(at: Timestamp, end: Timestamp) -> u64 {
    u64::try_from(at.duration_since(end).as_micros()).unwrap_or(0)
}

/// Outcomes of bids.
#[derive(Clone)]
struct Bids {
    times: Arc<std::sync::Mutex<hdrhistogram::Histogram<u64>>>,
    refused: Arc<AtomicU64>,
}

impl Bids {
    fn none() -> Result<Self, RigError> {
        Ok(Self { times: Arc::new(histogram()?.into()), refused: Arc::default() })
    }

    fn note(&self, answer: &Result<consumer::ApiResponse, consumer::ApiError>, took: Duration) {
        if answer.is_err() {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return;
        }
        if let Ok(mut times) = self.times.lock() {
            times.saturating_record(took.as_micros() as u64);
        }
    }

    /// The latency at this quantile, in milliseconds.
    fn at(&self, share: f64) -> Result<f64, RigError> {
        let times = self.times.lock().map_err(|error| error.to_string())?;
        Ok(milliseconds(times.value_at_quantile(share)))
    }

    fn counts(&self) -> String {
        let accepted = self.times.lock().map_or(0, |times| times.len());
        format!("{accepted} accepted, {} refused", self.refused.load(Ordering::Relaxed))
    }

    fn report(&self, within: Duration) -> Result<String, RigError> {
        let counts = self.counts();
        let (p50, p99) = (self.at(0.5)?, self.at(0.99)?);
        Ok(format!("{counts} in {:.1} s, answered at p50 {p50:.1}, p99 {p99:.1} ms", within.as_secs_f64()))
    }
}

fn uuid(item: &Value) -> Option<String> {
    item["uuid"].as_str().map(str::to_owned)
}

/// Creates a LIVE auction with this number of items.
pub(super) async fn create_live_auction(
    site: &CustomerSite,
    items: u32,
    ends_at: &str,
    stagger: Option<Value>,
) -> Result<String, RigError> {
    let mut auction = json!({ "kind": "timed", "title": "On sale", "endsAt": ends_at, "extensionSeconds": 0 });
    if let Some(stagger) = stagger {
        auction["stagger"] = stagger;
    }
    let auction = site.create_auction(auction).await?;
    let path = format!("/api/v1/auctions/{auction}");
    site.platform.post_csv(&format!("{path}/catalogue"), catalogue(items).into()).await?;
    for status in ["PREVIEW", "LIVE"] {
        set_status(site, &auction, status).await?;
    }
    site.wait_for_bulk_change(&auction).await?;
    Ok(auction)
}

/// Changes the status of an auction.
pub(super) async fn set_status(site: &CustomerSite, auction: &str, status: &str) -> Result<(), RigError> {
    let path = format!("/api/v1/auctions/{auction}");
    let seen = site.platform.get(&path).await?.etag;
    site.platform.post_if_match(&format!("{path}/status"), seen.as_ref(), &json!({ "status": status })).await?;
    Ok(())
}
