//! The timed auction: bidders bid over HTTP, and the lots end in groups, one second apart.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use consumer::ApiClient;
use indicatif::ProgressBar;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::catalogue::Catalogue;
use super::sale::{Lot, Sale};
use super::setup::DemoCustomer;
use crate::error::{CommandError, ErrorContext as _};

/// Number of concurrent bidders.
const BIDDERS: usize = 16;

/// When the first lots end, and in how many groups, one second apart, the lots end.
pub(super) struct Timetable {
    pub(super) first_end: Timestamp,
    pub(super) groups: u32,
}

impl Timetable {
    /// Leaves time to import and to bid, then spreads the ends over `seconds`.
    pub(super) fn starting(now: Timestamp, lots: usize, seconds: u32) -> Result<Self, CommandError> {
        let time_to_bid = Duration::from_millis(6_000 + 8 * lots as u64);
        let first_end = now.checked_add(time_to_bid).context("computing the end of the timed auction")?;
        Ok(Timetable { first_end, groups: seconds.clamp(1, u32::try_from(lots).unwrap_or(u32::MAX)) })
    }
}

/// Creates the draft auction.
pub(super) async fn create(
    platform: &ApiClient,
    demo_customer: &DemoCustomer,
    catalogue: &Catalogue,
    timetable: &Timetable,
) -> Result<Sale, CommandError> {
    let items = catalogue.timed_lots.div_ceil(timetable.groups as usize);
    let auction = json!({
        "kind": "timed",
        "title": "Autumn sale, online",
        "endsAt": kit_runtime::clock::rfc3339_ms(timetable.first_end),
        "stagger": { "seconds": 1, "items": items },
        "extensionSeconds": 0,
    });
    Sale::create(platform, demo_customer, auction).await
}

/// Imports the catalogue, puts the auction live and bids. Returns after the last bid; the lots end at their end times.
pub(super) async fn open(
    platform: &ApiClient,
    mut sale: Sale,
    catalogue: &Catalogue,
    progress: &ProgressBar,
) -> Result<Sale, CommandError> {
    sale.import(platform, catalogue.timed.clone(), "").await?;
    sale.change_status(platform, "PREVIEW").await?;
    sale.change_status(platform, "LIVE").await?;
    let lots = Arc::new(sale.lots(platform).await?);

    let mut bidders = JoinSet::new();
    for bidder in 0..BIDDERS {
        let (platform, lots, progress) = (platform.clone(), lots.clone(), progress.clone());
        let reserves = catalogue.reserves.clone();
        bidders.spawn(async move {
            let mut highest = Vec::new();
            for (number, lot) in lots.iter().enumerate().skip(bidder).step_by(BIDDERS) {
                let reserve = reserves.get(&lot.lot_number).copied();
                highest.push((number, bid(&platform, bidder, Interest::of(number), lot, reserve).await?));
                progress.inc(1);
            }
            Ok::<_, CommandError>(highest)
        });
    }
    let mut highest = BTreeMap::new();
    while let Some(done) = bidders.join_next().await {
        highest.extend(done.context("a bidder stopped")??);
    }
    // The lots end by the timetable, so this delays nothing.
    Sale::add_pictures(platform, &lots, 0).await?;
    for (number, amount) in highest {
        let lot = &lots[number];
        let reserve = catalogue.reserves.get(&lot.lot_number).copied().unwrap_or(0);
        let is_sold = amount.is_some_and(|amount| amount >= reserve);
        sale.expect_item(&lot.uuid, if is_sold { "SOLD" } else { "UNSOLD" })?;
    }
    Ok(sale)
}

/// How often a bidder bids for a lot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Interest {
    None,
    /// One bid of the minimum amount.
    Some,
    /// A second bid that meets the reserve.
    Keen,
}

impl Interest {
    /// Of each four lots, one receives no bid, one a single bid, and two a second bid.
    fn of(number: usize) -> Self {
        match number % 4 {
            0 => Interest::None,
            1 => Interest::Some,
            _ => Interest::Keen,
        }
    }
}

/// Bids for a lot. Returns the highest accepted amount, in minor units.
async fn bid(
    platform: &ApiClient,
    bidder: usize,
    interest: Interest,
    lot: &Lot,
    reserve: Option<i64>,
) -> Result<Option<i64>, CommandError> {
    if interest == Interest::None {
        return Ok(None);
    }
    let path = format!("/api/v1/items/{}/bids", lot.uuid);
    let bid = |amount: i64| json!({ "bidder": format!("paddle-{}", 100 + bidder), "amount": amount });
    let placed = platform.post(&path, &bid(lot.minimum_bid)).await?;
    if interest == Interest::Some {
        return Ok(Some(lot.minimum_bid));
    }
    let next = placed.body.pointer("/item/minimumBid").and_then(Value::as_i64).unwrap_or(lot.minimum_bid);
    let amount = next.max(reserve.unwrap_or(0));
    platform.post(&path, &bid(amount)).await?;
    Ok(Some(amount))
}
