//! Items of a timed auction that all end in the same second.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{Options, process};
use crate::site::RigSite;
use crate::{RigError, say};

/// Time until the items end, long enough for import, status changes and their events on any machine.
const LEAD_MS_PER_ITEM: f64 = 0.4;
const LEAD_MS_MIN: f64 = 5_000.0;
/// Time limit for the last event.
const DRAIN_MAX: Duration = Duration::from_secs(300);
/// Time between two polls of the number of ended items.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Imports the items, waits for their end, and measures until the last webhook arrives.
pub(super) async fn ending_together(options: &Options) -> Result<(), RigError> {
    let (site, server) = RigSite::set_up(options.store, &[]).await?;
    let sink = site.use_sink().await?;
    let lead_ms = LEAD_MS_MIN + f64::from(options.items) * LEAD_MS_PER_ITEM;
    let end = jiff::Timestamp::from_millisecond(site.clock.now().as_millisecond() + lead_ms as i64)?;
    let auction = json!({ "kind": "timed", "title": "Ending together", "endsAt": kit_runtime::clock::rfc3339_ms(end), "extensionSeconds": 0 });
    let auction = site.create_auction(auction).await?;
    let path = format!("/api/v1/auctions/{auction}");

    let begin = Instant::now();
    site.platform.post_csv(&format!("{path}/catalogue"), catalogue(options.items).into()).await?;
    let imported = begin.elapsed();
    let begin = Instant::now();
    for status in ["PREVIEW", "LIVE"] {
        let seen = site.platform.get(&path).await?.etag;
        site.platform.post_if_match(&format!("{path}/status"), seen.as_ref(), &json!({ "status": status })).await?;
    }
    site.wait_for_bulk_change(&auction).await?;
    let live = begin.elapsed();
    let left = end.duration_since(site.clock.now());
    if left.is_negative() {
        return Err("the items ended before they were live; give fewer".into());
    }
    say(&format!(
        "items        {} imported in {:.1} s, live in {:.1} s; they end in {:.0} s",
        options.items,
        imported.as_secs_f64(),
        live.as_secs_f64(),
        left.as_secs_f64()
    ));

    tokio::time::sleep(Duration::try_from(left)?).await;
    let begin = Instant::now();
    let cpu_before = process::cpu_time(server.id())?;
    let (received, closed) =
        tokio::join!(sink.wait_for(u64::from(options.items), DRAIN_MAX), closed(&site, options.items, begin));
    let elapsed = begin.elapsed();
    let closed = closed?;
    let cpu = process::cpu_time(server.id())?.saturating_sub(cpu_before);
    let end_ms = end.as_millisecond();
    let mut lateness: Vec<i64> = sink.times().iter().map(|at| at.as_millisecond() - end_ms).collect();
    lateness.sort_unstable();
    let at = |share: f64| lateness.get((lateness.len() as f64 * share) as usize).copied().unwrap_or(0) as f64 / 1_000.0;
    say(&format!("             all ends committed {:.1} s after the end", closed.as_secs_f64()));
    say(&format!(
        "             {} of {} webhooks received {:.1} s after the end ({:.0}/s): half by {:.1} s, 99 of 100 by {:.1} s; {:.0} µs of server \
         CPU each, peak {} MiB, {} copies{}",
        lateness.len(),
        options.items,
        elapsed.as_secs_f64(),
        lateness.len() as f64 / elapsed.as_secs_f64(),
        at(0.5),
        at(0.99),
        cpu.as_micros() as f64 / lateness.len().max(1) as f64,
        process::peak_memory_mib(server.id())?,
        sink.duplicates(),
        if received.is_ok() { "" } else { "; THE REST DID NOT ARRIVE" },
    ));
    Ok(())
}

/// Time from `begin` until the server counts every item as ended, which means committed.
async fn closed(site: &RigSite, items: u32, begin: Instant) -> Result<Duration, RigError> {
    while begin.elapsed() < DRAIN_MAX {
        if site.launch.metric("lotwire_platform_end_lateness_seconds_count").await? >= f64::from(items) {
            return Ok(begin.elapsed());
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    Err("not all items ended".into())
}

/// A CSV catalogue with this number of lots.
pub(crate) fn catalogue(items: u32) -> String {
    let mut csv = String::from("lot_number,title,opening_bid\n");
    for lot in 1..=items {
        let _ = writeln!(csv, "{lot},A lot that ends with all the others,1.00");
    }
    csv
}
