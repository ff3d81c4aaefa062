//! The final comparison: what the nodes acknowledged against what the database has, and the journal against the receiver.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use consumer::FeedEvent;
use jiff::Timestamp;
use kit_runtime::clock::{from_ms, rfc3339_ms, to_ms};
use serde::Serialize;

use super::Rig;
use super::anchors::Anchors;
use super::bids::guard;
use crate::RigError;
use crate::tally::Tally;

/// Time without a new webhook after which missing events count as lost.
const IDLE_MAX: Duration = Duration::from_secs(60);
/// Time within which lots of the load end. Those that end later end after the run.
const ENDS_WITHIN_MS: i64 = 3_600_000;
/// An end is late if bids were acknowledged in more than this number of seconds between the effective end and its decision.
const LATE_MIN_S: usize = 3;
/// Lost bids in the output.
const SHOWN_MAX: usize = 20;

/// The figures of a run.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    #[serde(flatten)]
    tally: Tally,
    bids_acknowledged: u64,
    bids_refused: u64,
    /// Calls whose effect is unknown: no response, or an error of the server.
    calls_unknown: u64,
    /// Bids that were not placed, because too many had no response.
    bids_skipped: u64,
    /// Acknowledged bids that the database does not have.
    bids_lost: u64,
    /// Refused bids that the database has.
    bids_unexpected: u64,
    /// The first of the lost bids: time of the response, lot and bidder.
    lost: Vec<String>,
    /// Longest time without an acknowledged change.
    pause_longest_ms: i64,
    pause_longest_at: String,
    ends: u64,
    /// Ends without an event.
    ends_missing: u64,
    /// Ends that were decided late although bids were acknowledged meanwhile.
    ends_late: u64,
    /// Longest time from an effective end to its decision, outages included.
    end_latest_ms: i64,
    /// Anchors of the audit log that were noted during the run.
    anchors: usize,
    /// What `lotwire verify` found broken.
    broken: Vec<String>,
}

impl Figures {
    /// True if nothing is lost, unexpected or out of order. Late ends are reported, and are no loss.
    pub(super) fn is_complete(&self) -> bool {
        let wrong = self.bids_lost + self.bids_unexpected + self.ends_missing;
        self.tally.is_complete() && wrong == 0 && self.broken.is_empty()
    }
}

/// Waits until every lot has ended and every event has arrived, or until no webhook arrives for [`IDLE_MAX`]. Then counts.
pub(super) async fn settle(rig: &Rig, anchors: &mut Anchors) -> Result<Figures, RigError> {
    let limit = from_ms(to_ms(rig.site.clock.now()) + ENDS_WITHIN_MS);
    let last_end = rig.lots.last_end(limit).unwrap_or_default();
    let (mut quiet_since, mut arrived_before) = (Instant::now(), 0);
    loop {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let arrived = rig.site.receiver.requests();
        if arrived != arrived_before || rig.site.clock.now() < last_end {
            (arrived_before, quiet_since) = (arrived, Instant::now());
            continue;
        }
        let feed = consumer::read_feed(&rig.site.platform, &rig.site.customer).await?;
        let ends = Ends::compare(rig, &feed, limit);
        let sold = std::mem::take(&mut *guard(&rig.sold));
        let tally = Tally::count(&rig.site, &sold).await;
        *guard(&rig.sold) = sold;
        let tally = tally?;
        if (ends.missing == 0 && tally.missing == 0) || quiet_since.elapsed() > IDLE_MAX {
            return count(rig, anchors, tally, ends).await;
        }
    }
}

async fn count(rig: &Rig, anchors: &mut Anchors, tally: Tally, ends: Ends) -> Result<Figures, RigError> {
    let acknowledged = guard(&rig.bids.acknowledged).clone();
    let refused = guard(&rig.bids.refused).clone();
    let (mut lost, mut unexpected) = (Vec::new(), 0);
    for (lot, bidders) in &acknowledged {
        let stored = stored_bidders(rig, lot).await?;
        let missing = bidders.iter().filter(|(bidder, _)| !stored.contains(*bidder));
        lost.extend(missing.map(|(bidder, at)| format!("{} {lot} {bidder}", rfc3339_ms(from_ms(*at)))));
        unexpected += stored.intersection(&refused).count() as u64;
    }
    lost.sort();
    let bids_lost = lost.len() as u64;
    lost.truncate(SHOWN_MAX);
    let (pause_longest_ms, since_ms) = longest_pause(&guard(&rig.bids.changes_ms));
    let (anchors, broken) = anchors.check_all(&rig.first).await;
    Ok(Figures {
        tally,
        bids_acknowledged: acknowledged.values().map(|bidders| bidders.len() as u64).sum(),
        bids_refused: refused.len() as u64,
        calls_unknown: rig.bids.unknown(),
        bids_skipped: rig.bids.skipped(),
        bids_lost,
        bids_unexpected: unexpected,
        lost,
        pause_longest_ms,
        pause_longest_at: rfc3339_ms(from_ms(since_ms)),
        ends: ends.count,
        ends_missing: ends.missing,
        ends_late: ends.late,
        end_latest_ms: ends.latest_ms,
        anchors,
        broken,
    })
}

/// The bidders of all bids on a lot that the database has.
async fn stored_bidders(rig: &Rig, lot: &str) -> Result<HashSet<String>, RigError> {
    let mut bidders = HashSet::new();
    let mut after = String::new();
    loop {
        let page = rig.site.platform.get(&format!("/api/v1/items/{lot}/bids?limit=250{after}")).await?.body;
        let bids = page["data"].as_array().into_iter().flatten();
        bidders.extend(bids.filter_map(|bid| bid["bidder"].as_str().map(str::to_owned)));
        let Some(next) = page["next"].as_str() else { return Ok(bidders) };
        after = format!("&after={next}");
    }
}

/// The longest time between two changes, and when it began.
fn longest_pause(changes_ms: &[i64]) -> (i64, i64) {
    let mut sorted = changes_ms.to_vec();
    sorted.sort_unstable();
    let pauses = sorted.windows(2).map(|pair| (pair[1] - pair[0], pair[0]));
    pauses.max().unwrap_or_default()
}

/// The ends of timed lots.
#[derive(Debug, Default, PartialEq, Eq)]
struct Ends {
    count: u64,
    missing: u64,
    late: u64,
    latest_ms: i64,
}

impl Ends {
    fn compare(rig: &Rig, feed: &[FeedEvent], limit: Timestamp) -> Self {
        let ended = rig.lots.ended(limit);
        let decided = feed.iter().filter(|event| matches!(event.event.status.as_str(), "SOLD" | "UNSOLD"));
        let decided = decided.map(|event| (event.event.subject.to_string(), to_ms(event.at))).collect();
        let ended = ended.into_iter().map(|(lot, end)| (lot, to_ms(end))).collect();
        Self::between(&ended, &decided, &guard(&rig.bids.changes_ms))
    }

    /// Compares effective ends with the times at which they were decided, in milliseconds.
    fn between(ended: &HashMap<String, i64>, decided: &HashMap<String, i64>, changes_ms: &[i64]) -> Self {
        let accepting: HashSet<i64> = changes_ms.iter().map(|at| at / 1_000).collect();
        let mut ends = Self { count: ended.len() as u64, ..Self::default() };
        for (lot, end) in ended {
            let Some(decided) = decided.get(lot) else {
                ends.missing += 1;
                continue;
            };
            ends.latest_ms = ends.latest_ms.max(decided - end);
            let accepted = (end / 1_000 + 1..decided / 1_000).filter(|second| accepting.contains(second)).count();
            ends.late += u64::from(accepted > LATE_MIN_S);
        }
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(pairs: &[(&str, i64)]) -> HashMap<String, i64> {
        pairs.iter().map(|(lot, at)| ((*lot).to_owned(), *at)).collect()
    }

    #[test]
    fn the_longest_pause_is_between_neighbours_in_time() {
        assert_eq!(longest_pause(&[10_000, 1_000, 2_000, 9_500]), (7_500, 2_000));
        assert_eq!(longest_pause(&[]), (0, 0));
    }

    #[test]
    fn an_end_is_late_only_if_bids_were_accepted_meanwhile() {
        let ended = times(&[("a", 1_000), ("b", 1_000), ("c", 1_000)]);
        let decided = times(&[("a", 11_000), ("b", 1_200)]);
        let outage = Ends::between(&ended, &decided, &[900, 10_900]);
        assert_eq!(outage, Ends { count: 3, missing: 1, late: 0, latest_ms: 10_000 });
        let bids: Vec<i64> = (0..12).map(|second| second * 1_000).collect();
        assert_eq!(Ends::between(&ended, &decided, &bids).late, 1);
    }
}
