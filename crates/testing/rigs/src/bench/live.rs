//! Live updates: the time from a bid until thousands of listeners have received it.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::sync::mpsc;

use super::{Options, histogram, milliseconds, process};
use crate::site::RigSite;
use crate::{RigError, say};

/// Number of measured bids, one after the other.
const BIDS: i64 = 20;
/// Number of first bids that are not counted, because caches are cold.
const BIDS_BEFORE: i64 = 3;
/// Time limit until the last listener has received a bid.
const REACH_MAX: Duration = Duration::from_secs(60);
/// File descriptors of each process for other purposes.
const FILES_SPARE: u64 = 200;
/// Number of listeners that connect at the same time.
const CONNECTING_MAX: usize = 64;

/// Connects the listeners, bids, and measures from before the bid until each listener has read its update.
pub(super) async fn listening(options: &Options) -> Result<(), RigError> {
    let listeners = options.listeners as usize;
    require_files(u64::from(options.listeners) + FILES_SPARE)?;
    let (site, server) = RigSite::set_up(options.store, &[]).await?;
    let key = site.launch.run_command(&["key", "create", "--name", "listener", "--scope", "all", "--json"])?;
    let key = key["key"].as_str().ok_or("no key")?.to_owned();
    let auction = json!({ "kind": "timed", "title": "Followed", "status": "LIVE", "endsAt": site.in_ms(3_600_000),
        "items": [{ "lotNumber": "1", "title": "A lot that all look at", "openingBid": 100, "fixedIncrement": 100 }] });
    let auction = site.create_auction(auction).await?;
    let items = site.items(&auction).await?;
    let item = items.first().and_then(|item| item["uuid"].as_str()).ok_or("no item")?.to_owned();

    let (heard, mut hearing) = mpsc::channel(listeners);
    let begin = Instant::now();
    for number in 0..listeners {
        let heard = heard.clone();
        let key = key.clone();
        let item = item.clone();
        let address = site.launch.platform;
        tokio::spawn(async move {
            if let Err(error) = listen(address, &key, &item, &heard).await {
                say(&format!("             a listener ended: {error}"));
            }
        });
        // Each new connection waits until an earlier listener has its snapshot.
        if number >= CONNECTING_MAX {
            next(&mut hearing).await?;
        }
    }
    for _ in 0..listeners.min(CONNECTING_MAX) {
        next(&mut hearing).await?;
    }
    say(&format!("live         {listeners} listeners in {:.1} s", begin.elapsed().as_secs_f64()));

    let (mut latencies, mut last, mut answers) = (histogram()?, histogram()?, histogram()?);
    let cpu_before = process::cpu_time(server.id())?;
    for number in 1..=BIDS_BEFORE + BIDS {
        let bid = json!({ "bidder": format!("paddle-{number}"), "amount": 1_000 * number });
        let sent = Instant::now();
        let bids = format!("/api/v1/items/{item}/bids");
        let site = &site;
        let answer = async {
            site.platform.post(&bids, &bid).await?;
            Ok::<_, RigError>(sent.elapsed())
        };
        let reached = async {
            let mut reached = Vec::with_capacity(listeners);
            for _ in 0..listeners {
                reached.push(next(&mut hearing).await?.duration_since(sent));
            }
            Ok::<_, RigError>(reached)
        };
        let (answer, reached) = tokio::try_join!(answer, reached)?;
        if number > BIDS_BEFORE {
            answers.saturating_record(answer.as_micros() as u64);
            reached.iter().for_each(|span| latencies.saturating_record(span.as_micros() as u64));
            last.saturating_record(reached.iter().max().map_or(0, |span| span.as_micros() as u64));
        }
    }
    let cpu = process::cpu_time(server.id())?.saturating_sub(cpu_before);
    say(&format!(
        "             a bid reaches a listener after p50 {:.1} ms, p99 {:.1} ms, max {:.1} ms; all of them after p50 {:.1} ms, max {:.1} ms",
        milliseconds(latencies.value_at_quantile(0.5)),
        milliseconds(latencies.value_at_quantile(0.99)),
        milliseconds(latencies.max()),
        milliseconds(last.value_at_quantile(0.5)),
        milliseconds(last.max()),
    ));
    say(&format!(
        "             the bidder's answer p50 {:.1} ms, max {:.1} ms; {:.1} µs of server CPU for each listener and bid, peak {} MiB",
        milliseconds(answers.value_at_quantile(0.5)),
        milliseconds(answers.max()),
        cpu.as_micros() as f64 / (listeners as f64 * (BIDS + BIDS_BEFORE) as f64),
        process::peak_memory_mib(server.id())?,
    ));
    Ok(())
}

async fn next(hearing: &mut mpsc::Receiver<Instant>) -> Result<Instant, RigError> {
    let heard = tokio::time::timeout(REACH_MAX, hearing.recv()).await;
    Ok(heard.map_err(|_| "not all listeners were reached")?.ok_or("no listener is connected")?)
}

/// Reports the time of each complete event. It uses much less CPU than an HTTP client, because it shares the cores.
async fn listen(
    address: std::net::SocketAddr,
    key: &str,
    item: &str,
    heard: &mpsc::Sender<Instant>,
) -> Result<(), RigError> {
    let mut stream = TcpStream::connect(address).await?;
    let request =
        format!("GET /api/v1/items/{item}/live HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut lines = BufReader::with_capacity(1_024, stream).lines();
    let status = lines.next_line().await?.unwrap_or_default();
    if !status.starts_with("HTTP/1.1 200") {
        return Err(status.into());
    }
    while let Some(line) = lines.next_line().await? {
        if line.starts_with("data: ") && heard.send(Instant::now()).await.is_err() {
            break;
        }
    }
    // The stream ends with the server after the measurement. An earlier end makes the measurement fail.
    Ok(())
}

/// Checks the limit on open files, which the server inherits from this process.
pub(super) fn require_files(wanted: u64) -> Result<(), RigError> {
    let limits = std::fs::read_to_string("/proc/self/limits")?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files")).ok_or("no limit in /proc")?;
    let soft = line.split_whitespace().next().unwrap_or_default();
    match soft.parse::<u64>() {
        Ok(soft) if soft < wanted => {
            Err(format!("{wanted} open files are needed and {soft} allowed: run `ulimit -n {wanted}` first").into())
        }
        _ => Ok(()),
    }
}
