//! Bids at a fixed rate on both nodes, and the record of their responses. Each bid has a bidder of its own, so that it is
//! recognised in the list of bids.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use consumer::{ApiError, ApiResponse};
use jiff::Timestamp;
use kit_runtime::clock::{SharedClock, to_ms};
use rand::RngExt as _;
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::Rig;
use crate::sales::Lot;

/// Bids without a response at the same time. While a database hangs, more are skipped.
const OPEN_BIDS_MAX: usize = 256;
/// Minor units from one bid to the next, above every increment of the common table.
const STEP: i64 = 1_000_000;

/// The lots that receive bids, with the amount of the next bid.
#[derive(Default)]
pub(super) struct OpenLots {
    open: Mutex<Vec<(Lot, i64)>>,
    /// The effective end of each lot that was ever opened.
    ends: Mutex<HashMap<String, Timestamp>>,
}

impl OpenLots {
    pub(super) fn open(&self, lots: Vec<Lot>) {
        let ends = lots.iter().filter_map(|lot| Some((lot.uuid.clone(), lot.end?)));
        guard(&self.ends).extend(ends);
        guard(&self.open).extend(lots.into_iter().map(|lot| {
            let amount = lot.minimum_bid;
            (lot, amount)
        }));
    }

    /// The effective ends of all lots so far that are before `now`.
    pub(super) fn ended(&self, now: Timestamp) -> HashMap<String, Timestamp> {
        let ended = guard(&self.ends);
        ended.iter().filter(|(_, end)| **end < now).map(|(lot, end)| (lot.clone(), *end)).collect()
    }

    /// When the last lot ends that ends before `limit`.
    pub(super) fn last_end(&self, limit: Timestamp) -> Option<Timestamp> {
        guard(&self.ends).values().filter(|end| **end < limit).max().copied()
    }

    /// A lot that has not ended, and the amount of its next bid.
    fn choose(&self, now: Timestamp) -> Option<(String, i64)> {
        let mut open = guard(&self.open);
        open.retain(|(lot, _)| lot.end.is_some_and(|end| end > now));
        let chosen = rand::rng().random_range(0..open.len().max(1));
        let (lot, amount) = open.get_mut(chosen)?;
        let bid = (lot.uuid.clone(), *amount);
        *amount += STEP;
        Some(bid)
    }
}

/// The responses so far.
#[derive(Default)]
pub(super) struct Bids {
    /// Bidders whose bid was acknowledged, by lot, with the time of the response in milliseconds.
    pub(super) acknowledged: Mutex<HashMap<String, HashMap<String, i64>>>,
    /// Bidders whose bid was refused.
    pub(super) refused: Mutex<HashSet<String>>,
    /// Times of acknowledged changes, in milliseconds.
    pub(super) changes_ms: Mutex<Vec<i64>>,
    unknown: AtomicU64,
    skipped: AtomicU64,
}

impl Bids {
    /// Records that a change was acknowledged now.
    pub(super) fn note_change(&self, clock: &SharedClock) -> i64 {
        let now = to_ms(clock.now());
        guard(&self.changes_ms).push(now);
        now
    }

    pub(super) fn count_unknown(&self) {
        self.unknown.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn unknown(&self) -> u64 {
        self.unknown.load(Ordering::Relaxed)
    }

    pub(super) fn skipped(&self) -> u64 {
        self.skipped.load(Ordering::Relaxed)
    }

    fn note(&self, lot: String, bidder: String, answer: &Result<ApiResponse, ApiError>, clock: &SharedClock) {
        match answer {
            Ok(_) => {
                let at = self.note_change(clock);
                guard(&self.acknowledged).entry(lot).or_default().insert(bidder, at);
            }
            Err(error) if error.status().is_some_and(|status| status.is_client_error()) => {
                guard(&self.refused).insert(bidder);
            }
            // Without a response, and after an error of the server, the bid may have been committed.
            Err(_) => self.count_unknown(),
        }
    }
}

/// Places bids until the load is over, and waits for the last response.
pub(super) async fn place(rig: Arc<Rig>, bids_per_s: u64) {
    let open = Arc::new(Semaphore::new(OPEN_BIDS_MAX));
    let mut ticks = tokio::time::interval(Duration::from_secs(1) / u32::try_from(bids_per_s).unwrap_or(1).max(1));
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut calls = JoinSet::new();
    for number in 0_u64.. {
        ticks.tick().await;
        while calls.try_join_next().is_some() {}
        if rig.is_over() {
            break;
        }
        let Ok(permit) = open.clone().try_acquire_owned() else {
            rig.bids.skipped.fetch_add(1, Ordering::Relaxed);
            continue;
        };
        let Some((lot, amount)) = rig.lots.choose(rig.site.clock.now()) else { continue };
        let rig = rig.clone();
        calls.spawn(async move {
            let bidder = format!("bidder-{number}");
            let body = json!({ "bidder": bidder, "amount": amount });
            let node = &rig.nodes[usize::from(number % 2 == 1)];
            let answer = node.post(&format!("/api/v1/items/{lot}/bids"), &body).await;
            rig.bids.note(lot, bidder, &answer, &rig.site.clock);
            drop(permit);
        });
    }
    while calls.join_next().await.is_some() {}
}

/// Locks a record; a panic of another task does not spoil it.
pub(super) fn guard<T>(record: &Mutex<T>) -> MutexGuard<'_, T> {
    record.lock().unwrap_or_else(PoisonError::into_inner)
}
