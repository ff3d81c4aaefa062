//! Holds what the streams showed against the log of the lot: no state may differ from it, and no screen may be behind it for long
//! without saying that the link is lost.

use std::collections::HashMap;

use hdrhistogram::Histogram;
use jiff::Timestamp;
use serde_json::Value;

use super::bidders::Presses;
use super::streams::{Event, Record, Shown, Streams};
use crate::RigError;
use crate::bench::histogram;
use crate::site::RigSite;

/// How late a price may be on a screen that does not say that the link is lost. The page notices a lost link this long after a sign of
/// life is due, and near the end of a lot one is due each second.
const LATE_US: i64 = 2_000_000;
const LATE_WITH_BEAT_US: i64 = 3_000_000;

/// A bid of the log.
pub(super) struct LoggedBid {
    pub(super) paddle: String,
    pub(super) amount: i64,
    /// Microseconds since 1970. The server took this time before it wrote the bid.
    at_us: i64,
}

/// What the comparison found.
pub(super) struct Findings {
    /// From a bid to each screen, and to the last screen, microseconds.
    pub(super) to_screen: Histogram<u64>,
    pub(super) to_last: Histogram<u64>,
    /// From the end of the lot to each screen.
    pub(super) to_end: Histogram<u64>,
    /// Streams that never showed the end.
    pub(super) without_end: usize,
    /// Distinct states that streams showed, and those that the log contradicts.
    pub(super) states: usize,
    pub(super) wrong: Vec<String>,
    /// Bids that the server said it had placed and the log does not have, and bids of the log that no answer confirmed.
    pub(super) unlogged: usize,
    pub(super) untold: usize,
    /// Pairs of bid and screen: late, of these without a lost link on the screen, and later than a sign of life allows.
    pub(super) late: usize,
    pub(super) late_unsaid: usize,
    pub(super) very_late_unsaid: usize,
}

/// The bids of a lot, the first one first.
pub(super) async fn logged_bids(site: &RigSite, item: &str) -> Result<Vec<LoggedBid>, RigError> {
    let (mut bids, mut after) = (Vec::new(), String::new());
    loop {
        let page = site.platform.get(&format!("/api/v1/items/{item}/bids?limit=250{after}")).await?;
        for bid in page.body["data"].as_array().into_iter().flatten() {
            let at: Timestamp = bid["at"].as_str().ok_or("a bid without a time")?.parse()?;
            bids.push(LoggedBid {
                paddle: bid["bidder"].as_str().unwrap_or_default().to_owned(),
                amount: bid["amount"].as_i64().ok_or("a bid without an amount")?,
                at_us: at.as_microsecond(),
            });
        }
        match page.body["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => return Ok(bids),
        }
    }
}

/// Compares. `item` is the lot as the API shows it after its end, `until_us` the time at which the streams were closed.
pub(super) fn compare(
    bids: &[LoggedBid],
    item: &Value,
    presses: &Presses,
    (streams, records): (&Streams, &[&Record]),
    until_us: i64,
) -> Result<Findings, RigError> {
    let states = streams.states();
    let shown: Vec<&Shown> = states
        .iter()
        .filter_map(|event| match &**event {
            Event::Lot(shown) => Some(shown),
            Event::Beat(_) | Event::Other => None,
        })
        .collect();
    let mut found = Findings {
        to_screen: histogram()?,
        to_last: histogram()?,
        to_end: histogram()?,
        without_end: 0,
        states: 0,
        wrong: wrong_states(&shown, bids, item),
        unlogged: 0,
        untold: 0,
        late: 0,
        late_unsaid: 0,
        very_late_unsaid: 0,
    };
    let distinct: HashMap<i64, &Shown> = shown.iter().map(|shown| (shown.version, *shown)).collect();
    found.states = distinct.len();
    let logged: HashMap<i64, &str> = bids.iter().map(|bid| (bid.amount, bid.paddle.as_str())).collect();
    let placed: HashMap<i64, &str> = presses.placed.iter().map(|(paddle, amount)| (*amount, paddle.as_str())).collect();
    found.unlogged = presses.placed.iter().filter(|(paddle, amount)| logged.get(amount) != Some(&&**paddle)).count();
    found.untold = bids.iter().filter(|bid| placed.get(&bid.amount) != Some(&&*bid.paddle)).count();

    let mut last_us = vec![0_i64; bids.len()];
    for record in records {
        found.measure_screen(record, bids, &mut last_us, until_us);
    }
    for (bid, last) in bids.iter().zip(&last_us) {
        found.to_last.saturating_record((last - bid.at_us).max(0) as u64);
    }
    let end = item["effectiveEndTime"].as_str().map(str::parse::<Timestamp>).transpose()?;
    let end_us = end.ok_or("the lot has no end")?.as_microsecond();
    for record in records {
        match record.ended_at {
            Some(at) => found.to_end.saturating_record((at - end_us).max(0) as u64),
            None => found.without_end += 1,
        }
    }
    Ok(found)
}

impl Findings {
    fn measure_screen(&mut self, record: &Record, bids: &[LoggedBid], last_us: &mut [i64], until_us: i64) {
        let mut arrivals = record.arrivals.iter().peekable();
        for ((number, bid), last) in (1..).zip(bids).zip(last_us) {
            // The first state with this bid or a later one.
            while arrivals.next_if(|(bids, _)| *bids < number).is_some() {}
            let at = arrivals.peek().map_or(until_us, |(_, at)| *at);
            let took = at - bid.at_us;
            self.to_screen.saturating_record(took.max(0) as u64);
            *last = (*last).max(at);
            if took > LATE_US {
                self.late += 1;
                let open = record.lost_since.map(|since| (since, until_us));
                let is_said = record.lost.iter().copied().chain(open).any(|(from, to)| from <= at && to > bid.at_us);
                self.late_unsaid += usize::from(!is_said);
                self.very_late_unsaid += usize::from(!is_said && took > LATE_WITH_BEAT_US);
            }
        }
    }

    /// True if every price on every screen is one that the log has.
    pub(super) fn is_right(&self) -> bool {
        self.wrong.is_empty() && self.unlogged + self.untold == 0
    }
}

/// The states that the log contradicts, in words.
fn wrong_states(shown: &[&Shown], bids: &[LoggedBid], item: &Value) -> Vec<String> {
    let mut of_version: HashMap<i64, &Shown> = HashMap::new();
    let mut wrong = Vec::new();
    for state in shown {
        let known = of_version.entry(state.version).or_insert(state);
        let place = usize::try_from(state.bids).unwrap_or_default().checked_sub(1);
        let is_of_log = match place.map(|place| bids.get(place)) {
            None => state.price.is_none() && state.leader.is_none(),
            Some(None) => false,
            Some(Some(bid)) => state.price == Some(bid.amount) && state.leader.as_deref() == Some(&*bid.paddle),
        };
        let is_end_right = !state.has_ended() || Some(state.status.as_str()) == item["status"].as_str();
        if *known != *state || !is_of_log || !is_end_right {
            wrong.push(format!("{state:?}"));
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn bid(paddle: &str, amount: i64, at_us: i64) -> LoggedBid {
        LoggedBid { paddle: paddle.to_owned(), amount, at_us }
    }

    fn state(version: i64, bids: i64, price: Option<i64>, leader: Option<&str>) -> Shown {
        let (status, leader) = ("LIVE".to_owned(), leader.map(str::to_owned));
        Shown { version, status, price, leader, bids, end: None }
    }

    #[test]
    fn a_state_is_wrong_when_the_log_has_another_price_leader_or_number() {
        let bids = [bid("7", 100, 0), bid("9", 110, 1)];
        let item = json!({ "status": "SOLD" });
        let right = [state(1, 0, None, None), state(2, 1, Some(100), Some("7")), state(3, 2, Some(110), Some("9"))];
        assert!(wrong_states(&right.iter().collect::<Vec<_>>(), &bids, &item).is_empty());
        for wrong in [
            state(1, 0, Some(100), None),
            state(2, 1, Some(110), Some("7")),
            state(2, 1, Some(100), Some("9")),
            state(4, 3, Some(120), Some("7")),
            Shown { status: "UNSOLD".to_owned(), ..state(3, 2, Some(110), Some("9")) },
        ] {
            assert_eq!(wrong_states(&[&wrong], &bids, &item).len(), 1, "{wrong:?}");
        }
        // Two states of one version.
        let other = Shown { end: Some(Timestamp::UNIX_EPOCH), ..state(2, 1, Some(100), Some("7")) };
        assert_eq!(wrong_states(&[&right[1], &other], &bids, &item).len(), 1);
    }

    #[test]
    fn a_price_is_late_after_two_seconds_unless_the_screen_says_that_the_link_is_lost() {
        let bids = [bid("7", 100, 0), bid("9", 110, 1_000_000)];
        let measured = |arrivals: &[(i64, i64)], lost: &[(i64, i64)]| {
            let record = Record { arrivals: arrivals.to_vec(), lost: lost.to_vec(), ..Record::default() };
            let item = json!({ "status": "SOLD", "effectiveEndTime": "2026-11-29T10:00:00.000Z" });
            let none = Presses::default();
            let found = compare(&bids, &item, &none, (&Streams::new(), &[&record]), 9_000_000).unwrap();
            (found.late, found.late_unsaid, found.very_late_unsaid)
        };
        assert_eq!(measured(&[(0, 0), (1, 500_000), (2, 1_100_000)], &[]), (0, 0, 0));
        // One state shows both bids.
        assert_eq!(measured(&[(2, 1_100_000)], &[]), (0, 0, 0));
        assert_eq!(measured(&[(1, 10), (2, 3_500_000)], &[]), (1, 1, 0));
        assert_eq!(measured(&[(1, 10), (2, 4_500_000)], &[]), (1, 1, 1));
        assert_eq!(measured(&[(1, 10), (2, 4_500_000)], &[(3_000_000, 4_500_000)]), (1, 0, 0));
        // The state never came.
        assert_eq!(measured(&[(1, 10)], &[]), (1, 1, 1));
    }
}
