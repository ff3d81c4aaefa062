//! The last minute of a lot in the saleroom: thousands of visitors watch it, and hundreds of bidders bid on it by the page's form.
//!
//! The clients run in this process, the server in one of its own. All clients come through one reverse proxy: the server trusts this
//! machine, and each client has an address of its own, except for bidders who share one as in a saleroom's Wi-Fi. Bidders hold a
//! stream, too. A bid in the last seconds extends the end, so the lot goes on until the bidders stop, and then ends by itself.
//!
//! A price that the log does not have fails the run; times do not.

mod bidders;
mod check;
mod lot;
mod streams;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use tokio::sync::watch;
use tokio::task::JoinSet;

use self::bidders::Presses;
use self::check::{Findings, compare, logged_bids};
use self::lot::{EXTENSION_S, Lot};
use self::streams::{Record, Shown, StreamPlace, Streams, lock};
use super::saleroom::{House, address};
use super::{Options, histogram, live, milliseconds, process};
use crate::site::Engine;
use crate::{RigError, say};

/// Number of the address that bidders share.
const SHARED_ADDRESS: usize = 1 << 20;
/// Time from the beginning of the sale to the end of the lot without a bid. Signs of life come each second from the beginning.
const LAST_SECONDS: Duration = Duration::from_secs(45);
/// Time limit for all streams to have their first state, and for the end of the lot on them after it is due.
const CONNECTED_MAX: Duration = Duration::from_secs(180);
const ENDED_MAX: Duration = Duration::from_secs(15);
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Open files of each process for other purposes.
const FILES_SPARE: u64 = 400;

/// The streams of a run, with what each of them received.
struct Crowd {
    streams: Arc<Streams>,
    records: Vec<Arc<Mutex<Record>>>,
    latest: Vec<watch::Receiver<Option<Shown>>>,
    tasks: JoinSet<()>,
}

/// Where clients connect.
struct Places<'a> {
    house: &'a House,
    lot: &'a Lot,
    /// Bidders who share an address.
    sharing: usize,
}

/// CPU time so far.
struct Costs {
    cpu: Duration,
    clients_cpu: Duration,
    at: Instant,
}

/// Measures, and returns whether every price was right.
pub(super) async fn last_minute(options: &Options) -> Result<bool, RigError> {
    let nodes = usize::from(options.nodes);
    if nodes > 1 && options.store == Engine::Sqlite {
        return Err("a second node needs --store postgres".into());
    }
    let (watchers, bidders) = (options.watchers as usize, options.bidders as usize);
    // A bidder has a connection for the stream and one for the page.
    live::require_files((watchers + 2 * bidders) as u64 + FILES_SPARE)?;
    let mut house = House::open(options.store, nodes).await?;
    let lot = Lot::announce(&house).await?;
    let begin = Instant::now();
    let people = lot.bidders(&mut house, bidders).await?;
    say(&format!("crowd        {bidders} accounts opened and registered in {:.1} s", begin.elapsed().as_secs_f64()));

    let before = memory_mib(&house)?;
    let begin = Instant::now();
    let places = Places { house: &house, lot: &lot, sharing: bidders.min(options.sharing as usize) };
    let mut crowd = Crowd::gather(&places, bidders + watchers);
    crowd.wait_until_connected().await?;
    let after = memory_mib(&house)?;
    say(&format!(
        "             {} streams at {nodes} node(s) in {:.1} s, {} of the bidders share an address; resident {before} MiB, then {after} MiB: \
         {:.1} KiB for each stream",
        crowd.records.len(),
        begin.elapsed().as_secs_f64(),
        places.sharing,
        after.saturating_sub(before) as f64 * 1_024.0 / crowd.records.len().max(1) as f64,
    ));

    lot.begin_sale(&house, LAST_SECONDS).await?;
    let (start, until) = (Costs::of(&house)?, Instant::now() + Duration::from_secs(options.seconds));
    let mean = Duration::from_millis(options.think_ms);
    let mut bidding = JoinSet::new();
    for (number, bidder) in people.into_iter().enumerate() {
        let place = places.of(number);
        let bidder = bidders::Bidder { visitor: bidder.visitor.at(&place.site, place.from), ..bidder };
        let stream = crowd.latest[number].clone();
        bidding.spawn(bidder.bid(stream, until, mean / 2..mean * 3 / 2));
    }
    let mut presses = Presses::default();
    while let Some(bidder) = bidding.join_next().await {
        presses.add(bidder??);
    }
    let end = Costs::of(&house)?;
    report_bids(&presses, start.at.elapsed().min(end.at - start.at))?;
    start.report(&end, &house, crowd.records.len())?;

    crowd.wait_until_ended().await;
    let item = house.site.platform.get(&format!("/api/v1/items/{}", lot.item)).await?.body;
    let bids = logged_bids(&house.site, &lot.item).await?;
    let until_us = crowd.streams.now_us();
    crowd.tasks.shutdown().await;
    let locked: Vec<_> = crowd.records.iter().map(|record| lock(record)).collect();
    let records: Vec<&Record> = locked.iter().map(|record| &**record).collect();
    let found = compare(&bids, &item, &presses, (&crowd.streams, &records), until_us)?;
    report_screens(&found, &records, bids.len());
    Ok(found.is_right())
}

impl Places<'_> {
    /// Where the client with this number has its stream. The first ones are bidders.
    fn of(&self, number: usize) -> StreamPlace {
        let site = self.house.saleroom[number % self.house.saleroom.len()].clone();
        let from = address(if number < self.sharing { SHARED_ADDRESS } else { number });
        StreamPlace { site, path: format!("{}/live", self.lot.path()), from }
    }
}

impl Crowd {
    fn gather(places: &Places<'_>, count: usize) -> Self {
        let streams = Arc::new(Streams::new());
        let (mut records, mut receivers, mut tasks) = (Vec::new(), Vec::new(), JoinSet::new());
        for number in 0..count {
            let record = Arc::<Mutex<Record>>::default();
            let (latest, receiver) = watch::channel(None);
            tasks.spawn(Arc::clone(&streams).follow(places.of(number), Arc::clone(&record), latest));
            records.push(record);
            receivers.push(receiver);
        }
        Self { streams, records, latest: receivers, tasks }
    }

    async fn wait_until_connected(&mut self) -> Result<(), RigError> {
        let deadline = Instant::now() + CONNECTED_MAX;
        for latest in &mut self.latest {
            let first = tokio::time::timeout_at(deadline.into(), latest.wait_for(Option::is_some)).await;
            first.map_err(|_| "not every stream received a state in time")??;
        }
        // What went wrong while all of them connected is no part of the measurement.
        for record in &self.records {
            let arrivals = std::mem::take(&mut lock(record).arrivals);
            *lock(record) = Record { arrivals, ..Record::default() };
        }
        Ok(())
    }

    /// Waits until every stream shows the end of the lot, at most for [`ENDED_MAX`] after it is due.
    async fn wait_until_ended(&self) {
        let deadline = Instant::now() + Duration::from_secs(EXTENSION_S.into()) + LAST_SECONDS + ENDED_MAX;
        for record in &self.records {
            while lock(record).ended_at.is_none() && Instant::now() < deadline {
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        }
    }
}

impl Costs {
    fn of(house: &House) -> Result<Self, RigError> {
        let mut cpu = Duration::ZERO;
        for server in &house.servers {
            cpu += process::cpu_time(server.id())?;
        }
        Ok(Self { cpu, clients_cpu: process::cpu_time(std::process::id())?, at: Instant::now() })
    }

    fn report(&self, end: &Self, house: &House, streams: usize) -> Result<(), RigError> {
        let mut peak = 0;
        for server in &house.servers {
            peak += process::peak_memory_mib(server.id())?;
        }
        say(&format!(
            "             CPU in {:.0} s: {:.1} s of the server, {:.1} s of the clients; peak {peak} MiB with {streams} streams",
            (end.at - self.at).as_secs_f64(),
            end.cpu.saturating_sub(self.cpu).as_secs_f64(),
            end.clients_cpu.saturating_sub(self.clients_cpu).as_secs_f64(),
        ));
        Ok(())
    }
}

fn memory_mib(house: &House) -> Result<u64, RigError> {
    house.servers.iter().map(|server| process::memory_mib(server.id())).sum()
}

fn report_bids(presses: &Presses, elapsed: Duration) -> Result<(), RigError> {
    let (mut answers, mut reads) = (histogram()?, histogram()?);
    presses.answers_us.iter().for_each(|span| answers.saturating_record(*span));
    presses.reads_us.iter().for_each(|span| reads.saturating_record(*span));
    let a_second = |count: u64| count as f64 / elapsed.as_secs_f64();
    say(&format!(
        "             bids: {:.1} accepted/s, {:.1} refused/s; answer {}; the box read again {:.0} times/s, {}",
        a_second(presses.placed.len() as u64),
        a_second(presses.refused),
        quantiles(&answers),
        a_second(reads.len()),
        quantiles(&reads),
    ));
    if presses.other > 0 {
        say(&format!(
            "             {} other answers, such as: {}",
            presses.other,
            presses.other_words.as_deref().unwrap_or_default()
        ));
    }
    Ok(())
}

fn report_screens(found: &Findings, records: &[&Record], bids: usize) {
    let sum = |of: fn(&Record) -> u32| records.iter().map(|record| u64::from(of(record))).sum::<u64>();
    say(&format!(
        "             a bid is on a screen after {}; on the last screen after {}",
        quantiles(&found.to_screen),
        quantiles(&found.to_last)
    ));
    say(&format!(
        "             the end is on a screen after {}; {} screens did not show it",
        quantiles(&found.to_end),
        found.without_end
    ));
    say(&format!(
        "             streams: {} cut, {} refused, {} silent for too long, {} times behind; \"Link lost\" {} times",
        sum(|record| record.cut),
        sum(|record| record.refused),
        sum(|record| record.silent),
        sum(|record| record.behind),
        records.iter().map(|record| record.lost.len() + usize::from(record.lost_since.is_some())).sum::<usize>(),
    ));
    say(&format!(
        "             {} states shown, held against {bids} bids of the log: {} wrong; {} answers without their bid, {} bids without an answer",
        found.states,
        found.wrong.len(),
        found.unlogged,
        found.untold,
    ));
    say(&format!(
        "             of {} prices on screens, {} came after 2 s, {} of them without \"Link lost\", {} of these after 3 s",
        bids * records.len(),
        found.late,
        found.late_unsaid,
        found.very_late_unsaid,
    ));
    for wrong in found.wrong.iter().take(5) {
        say(&format!("             WRONG: {wrong}"));
    }
}

/// p50, p99 and the maximum of microseconds.
fn quantiles(spans: &Histogram<u64>) -> String {
    format!(
        "p50 {:.1} ms, p99 {:.1} ms, max {:.1} ms",
        milliseconds(spans.value_at_quantile(0.5)),
        milliseconds(spans.value_at_quantile(0.99)),
        milliseconds(spans.max())
    )
}
