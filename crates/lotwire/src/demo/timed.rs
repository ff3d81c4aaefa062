//! The timed auction: bids come in, and the server's clock ends one group of lots after another.

use std::sync::Arc;
use std::time::Duration;

use consumer::Api;
use indicatif::ProgressBar;
use jiff::Timestamp;
use serde_json::json;
use tokio::task::JoinSet;

use super::catalogue::Catalogue;
use super::sale::{Lot, Sale};
use super::setup::House;
use crate::fault::{Fault, While as _};

/// Bidders at the same time.
const BIDDERS: usize = 16;

/// When the first lots end, and how many seconds later the last ones do.
pub(super) struct Timetable {
    pub(super) first_end: Timestamp,
    pub(super) groups: u32,
}

impl Timetable {
    /// Leaves time to import and to bid, then ends the lots over `seconds`.
    pub(super) fn starting(now: Timestamp, lots: usize, seconds: u32) -> Result<Self, Fault> {
        let lead = Duration::from_millis(6_000 + 8 * lots as u64);
        let first_end = now.checked_add(lead).while_("the end of the timed auction")?;
        Ok(Timetable { first_end, groups: seconds.clamp(1, u32::try_from(lots).unwrap_or(u32::MAX)) })
    }
}

/// Creates the auction as a draft.
pub(super) async fn create(platform: &Api, house: &House, catalogue: &Catalogue, timetable: &Timetable) -> Result<Sale, Fault> {
    let items = catalogue.timed_lots.div_ceil(timetable.groups as usize);
    let auction = json!({
        "kind": "timed",
        "title": "Autumn sale, online",
        "endsAt": runtime::clock::rfc3339_ms(timetable.first_end),
        "stagger": { "seconds": 1, "items": items },
    });
    Sale::create(platform, house, auction).await
}

/// Imports the catalogue, goes live, bids; returns when all bids are in. The lots end by themselves.
pub(super) async fn open(platform: &Api, mut sale: Sale, catalogue: &Catalogue, progress: &ProgressBar) -> Result<Sale, Fault> {
    sale.import(platform, catalogue.timed.clone(), "").await?;
    sale.change_status(platform, "PREVIEW").await?;
    sale.change_status(platform, "LIVE").await?;
    let lots = Arc::new(sale.lots(platform).await?);

    let mut bidders = JoinSet::new();
    for bidder in 0..BIDDERS {
        let (platform, lots, progress) = (platform.clone(), lots.clone(), progress.clone());
        let reserves = catalogue.reserves.clone();
        bidders.spawn(async move {
            for (number, lot) in lots.iter().enumerate().skip(bidder).step_by(BIDDERS) {
                for amount in bids(number, lot, reserves.get(&lot.lot_number).copied()) {
                    let bid = json!({ "bidder": format!("paddle-{}", 100 + bidder), "amount": amount });
                    platform.post(&format!("/api/v1/items/{}/bids", lot.uuid), &bid).await?;
                }
                progress.inc(1);
            }
            Ok::<_, Fault>(())
        });
    }
    while let Some(done) = bidders.join_next().await {
        done.while_("a bidder stopped")??;
    }
    for (number, lot) in lots.iter().enumerate() {
        let reserve = catalogue.reserves.get(&lot.lot_number).copied();
        let highest = bids(number, lot, reserve).into_iter().max();
        let sold = highest.is_some_and(|amount| amount >= reserve.unwrap_or(0));
        sale.expect_item(&lot.uuid, if sold { "SOLD" } else { "UNSOLD" })?;
    }
    Ok(sale)
}

/// What is bid for a lot: nothing for every fourth; else the minimum, and for two of three of the rest enough to sell.
fn bids(number: usize, lot: &Lot, reserve: Option<i64>) -> Vec<i64> {
    let minimum = lot.minimum_bid;
    match number % 4 {
        0 => Vec::new(),
        1 => vec![minimum],
        _ => vec![minimum, (minimum * 2).max(reserve.unwrap_or(0))],
    }
}
