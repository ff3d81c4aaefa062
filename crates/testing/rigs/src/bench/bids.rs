//! Bids over HTTP, each durable before its response: on one item, and spread over many.
//!
//! The first measurement is a closed loop: each connection waits for the response before its next bid. The second is an
//! open loop at half that rate: each bid is sent at its planned time, and its latency counts from then.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use hdrhistogram::Histogram;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use kit_outbound::{Client, Destination, Headers, Request};
use serde_json::json;
use tokio::task::JoinSet;

use super::{Options, histogram, milliseconds, process};
use crate::site::RigSite;
use crate::{RigError, say};

/// Bidders that take turns.
const BIDDERS: u64 = 200;
/// Bids before the clock starts.
const WARM_UP: Duration = Duration::from_secs(2);
const DEADLINE: Duration = Duration::from_secs(30);
const RESPONSE_BYTES_MAX: usize = 64 << 10;
/// Items to bid on, of the part with many.
const ITEMS: u32 = 10_000;

/// All bids on one item.
pub(super) async fn on_one(options: &Options) -> Result<(), RigError> {
    measure(options, 1).await
}

/// Bids spread over many items.
pub(super) async fn on_many(options: &Options) -> Result<(), RigError> {
    measure(options, ITEMS).await
}

async fn measure(options: &Options, items: u32) -> Result<(), RigError> {
    let (site, server) = RigSite::set_up(options.store, &[("PLATFORM__RATE_LIMIT", "0")]).await?;
    let sale = Arc::new(Sale::open(&site, items).await?);
    sale.closed_loop(options.connections, WARM_UP).await?;

    let cpu_before = process::cpu_time(server.id())?;
    let begin = Instant::now();
    let outcome = sale.closed_loop(options.connections, Duration::from_secs(options.seconds)).await?;
    let elapsed = begin.elapsed().as_secs_f64();
    let cpu = process::cpu_time(server.id())?.saturating_sub(cpu_before);
    let rate = outcome.accepted as f64 / elapsed;
    say(&format!(
        "bids         {} connections on {items} item(s): {rate:.0} accepted/s, {:.0} refused/s, p50 {:.2} ms, p99 {:.2} ms; {:.0} µs of \
         server CPU for each answer",
        options.connections,
        outcome.refused as f64 / elapsed,
        milliseconds(outcome.latency.value_at_quantile(0.5)),
        milliseconds(outcome.latency.value_at_quantile(0.99)),
        cpu.as_micros() as f64 / (outcome.accepted + outcome.refused).max(1) as f64,
    ));

    // New items, because the number of bids on an item is limited.
    let sale = Arc::new(Sale::open(&site, items).await?);
    let half = ((rate / 2.0) as u64).max(1);
    let cpu_before = process::cpu_time(server.id())?;
    let paced = sale.at_rate(half, options.seconds).await?;
    let cpu = process::cpu_time(server.id())?.saturating_sub(cpu_before);
    say(&format!(
        "             at {half}/s, {} accepted and {} refused: p50 {:.2} ms, p99 {:.2} ms, max {:.1} ms; {:.0} µs of server CPU for \
         each answer, peak {} MiB",
        paced.accepted,
        paced.refused,
        milliseconds(paced.latency.value_at_quantile(0.5)),
        milliseconds(paced.latency.value_at_quantile(0.99)),
        milliseconds(paced.latency.max()),
        cpu.as_micros() as f64 / (paced.accepted + paced.refused).max(1) as f64,
        process::peak_memory_mib(server.id())?,
    ));
    Ok(())
}

/// Items of a timed auction to bid on.
pub(crate) struct Sale {
    client: Client,
    headers: Headers,
    lots: Vec<Lot>,
    next: AtomicU64,
    accepted: AtomicU64,
}

struct Lot {
    to: Destination,
    /// The amount of the next bid, in minor units.
    amount: AtomicI64,
}

/// The outcome of a bid.
enum Answer {
    Accepted,
    /// Refused, because a higher bid was faster.
    Refused,
}

/// The outcomes of bids, with latencies in microseconds.
pub(crate) struct Answers {
    pub(crate) accepted: u64,
    refused: u64,
    pub(crate) latency: Histogram<u64>,
}

impl Answers {
    fn none() -> Result<Self, RigError> {
        Ok(Self { accepted: 0, refused: 0, latency: histogram()? })
    }

    fn add(&mut self, answer: Answer, took: Duration) {
        match answer {
            Answer::Accepted => self.accepted += 1,
            Answer::Refused => self.refused += 1,
        }
        self.latency.saturating_record(took.as_micros() as u64);
    }
}

impl Sale {
    /// Creates an auction with this number of LIVE items and an increment of one.
    pub(crate) async fn open(site: &RigSite, items: u32) -> Result<Self, RigError> {
        let auction = json!({ "kind": "timed", "title": "Bids", "endsAt": site.in_ms(3_600_000), "extensionSeconds": 0,
            "increments": [{ "from": 0, "increment": 1 }] });
        let auction = site.create_auction(auction).await?;
        let path = format!("/api/v1/auctions/{auction}");
        site.platform.post_csv(&format!("{path}/catalogue"), super::items::catalogue(items).into()).await?;
        for status in ["PREVIEW", "LIVE"] {
            let seen = site.platform.get(&path).await?.etag;
            site.platform.post_if_match(&format!("{path}/status"), seen.as_ref(), &json!({ "status": status })).await?;
        }
        site.wait_for_bulk_change(&auction).await?;
        let mut lots = Vec::with_capacity(items as usize);
        for item in site.items(&auction).await? {
            let uuid = item["uuid"].as_str().ok_or("an item without a UUID")?;
            let to = format!("{}/api/v1/items/{uuid}/bids", site.launch.platform_url()).parse()?;
            lots.push(Lot { to, amount: AtomicI64::new(100) });
        }
        let key = site.launch.run_command(&["key", "create", "--name", "bids", "--scope", "all", "--json"])?;
        let bearer = format!("Bearer {}", key["key"].as_str().ok_or("no key was created")?);
        let headers = HeaderMap::from_iter([
            (AUTHORIZATION, HeaderValue::try_from(bearer)?),
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        ]);
        Ok(Self {
            client: site.http.clone(),
            headers: headers.into(),
            lots,
            next: AtomicU64::new(0),
            accepted: AtomicU64::new(0),
        })
    }

    /// Bids that were accepted so far.
    pub(crate) fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }

    /// Sends the next bid.
    async fn bid(&self) -> Result<Answer, RigError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let lot = &self.lots[(number % self.lots.len() as u64) as usize];
        let amount = lot.amount.fetch_add(1, Ordering::Relaxed);
        let body = format!("{{\"bidder\":\"paddle-{}\",\"amount\":{amount}}}", number % BIDDERS);
        let request = Request {
            method: Method::POST,
            to: lot.to.clone(),
            headers: self.headers.clone(),
            body: Bytes::from(body),
            deadline: DEADLINE,
            response_bytes_max: RESPONSE_BYTES_MAX,
        };
        let response = self.client.send(request).await?;
        match response.status {
            StatusCode::CREATED => {
                self.accepted.fetch_add(1, Ordering::Relaxed);
                Ok(Answer::Accepted)
            }
            StatusCode::CONFLICT | StatusCode::UNPROCESSABLE_ENTITY => Ok(Answer::Refused),
            status => Err(format!("{status}: {}", String::from_utf8_lossy(&response.body)).into()),
        }
    }

    /// Closed loop: each connection bids again after the response.
    async fn closed_loop(self: &Arc<Self>, connections: u32, duration: Duration) -> Result<Answers, RigError> {
        let until = Instant::now() + duration;
        let mut bidders = JoinSet::new();
        for _ in 0..connections {
            let sale = Arc::clone(self);
            bidders.spawn(async move {
                let mut answers = Answers::none()?;
                while Instant::now() < until {
                    let begin = Instant::now();
                    let answer = sale.bid().await?;
                    answers.add(answer, begin.elapsed());
                }
                Ok::<_, RigError>(answers)
            });
        }
        let mut all = Answers::none()?;
        while let Some(answers) = bidders.join_next().await {
            let answers = answers??;
            all.accepted += answers.accepted;
            all.refused += answers.refused;
            all.latency.add(&answers.latency)?;
        }
        Ok(all)
    }

    /// Open loop: bids at a fixed rate, regardless of the responses.
    pub(crate) async fn at_rate(self: &Arc<Self>, rate: u64, seconds: u64) -> Result<Answers, RigError> {
        let begin = Instant::now();
        let mut bids = JoinSet::new();
        let mut answers = Answers::none()?;
        for number in 0..rate * seconds {
            let due = begin + Duration::from_secs_f64(number as f64 / rate as f64);
            tokio::time::sleep_until(due.into()).await;
            let sale = Arc::clone(self);
            bids.spawn(async move { Ok::<_, RigError>((sale.bid().await?, due.elapsed())) });
            while let Some(answer) = bids.try_join_next() {
                let (answer, took) = answer??;
                answers.add(answer, took);
            }
        }
        while let Some(answer) = bids.join_next().await {
            let (answer, took) = answer??;
            answers.add(answer, took);
        }
        Ok(answers)
    }
}
