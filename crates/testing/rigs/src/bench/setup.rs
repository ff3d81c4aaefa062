//! How late items end while large catalogues are imported, put on sale and taken off it again.

use std::time::{Duration, Instant};

use jiff::SignedDuration;
use serde_json::json;

use super::items::catalogue;
use super::timers::{EndingItems, set_status};
use super::{Options, process};
use crate::site::RigSite;
use crate::{RigError, say};

/// Time until the catalogues' own items end, which is after the measurement.
const FAR_MS: i64 = 7 * 24 * 3_600 * 1_000;

/// Imports one catalogue after another until the last measured item has ended, and prints how late the ends were. Each
/// end falls into one of the steps.
pub(super) async fn beside_ends(options: &Options) -> Result<(), RigError> {
    let (site, server) = RigSite::set_up(options.store, &[]).await?;
    let ending = EndingItems::create(&site, options.seconds).await?;
    let until = ending.first + SignedDuration::from_secs(i64::try_from(options.seconds)?);
    let wait = ending.first.duration_since(site.clock.now());
    tokio::time::sleep(Duration::try_from(wait).unwrap_or_default()).await;
    let file = catalogue(options.items);
    while site.clock.now() < until {
        let auction = json!({ "kind": "timed", "title": "Beside", "endsAt": site.in_ms(FAR_MS) });
        let auction = site.create_auction(auction).await?;
        let begin = Instant::now();
        site.platform.post_csv(&format!("/api/v1/auctions/{auction}/catalogue"), file.clone().into()).await?;
        let imported = begin.elapsed();
        set_status(&site, &auction, "PREVIEW").await?;
        let begin = Instant::now();
        set_status(&site, &auction, "LIVE").await?;
        let answered = begin.elapsed();
        site.wait_for_bulk_change(&auction).await?;
        let live = begin.elapsed();
        let begin = Instant::now();
        set_status(&site, &auction, "PREVIEW").await?;
        say(&format!(
            "setup        {} items imported in {:.1} s; response to LIVE in {:.0} ms, all of them in {:.1} s; back to PREVIEW in {:.1} s",
            options.items,
            imported.as_secs_f64(),
            answered.as_secs_f64() * 1_000.0,
            live.as_secs_f64(),
            begin.elapsed().as_secs_f64(),
        ));
    }
    say(&format!("             peak {} MiB; ends meanwhile:", process::peak_memory_mib(server.id())?));
    ending.measure(&site).await
}
