//! The way of a message, the ending of items, and bids, at load.
//!
//! Generator, receiver and server share the machine; nothing here judges. Each part starts a server of its own on a fresh
//! store. CPU and memory are the server process's own, as the kernel counts them (PostgreSQL's are not among them).

mod bids;
mod bulkheads;
mod items;
mod lists;
mod live;
mod load;
mod messages;
mod process;
mod setup;
mod timers;

use clap::{Args, ValueEnum};
use hdrhistogram::Histogram;

use crate::site::Engine;
use crate::{RigError, say};

/// Options of `bench`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Database engine.
    #[arg(long, value_enum, default_value = "sqlite")]
    store: Engine,
    /// What to measure; the first three when none is named.
    #[arg(long, value_enum, value_delimiter = ',')]
    part: Vec<Part>,
    /// Messages of the throughput and backlog parts.
    #[arg(long, default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(1_000..=10_000_000))]
    messages: u64,
    /// Endpoints that each message of the throughput part goes to.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=50))]
    fan_out: u32,
    /// Seconds of each measurement at a fixed rate.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    seconds: u64,
    /// Messages a second of it.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=20_000))]
    rate: u64,
    /// Items that end in the same second.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    items: u32,
    /// Items that are scheduled, and do not end, while others do.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    scheduled: u32,
    /// Bids a second on a usual minute; the closing one has a hundred times as many.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=200))]
    usual_bids: u64,
    /// Listeners of the live part.
    #[arg(long, default_value_t = 5_000, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    listeners: u32,
    /// Requests of the generator under way at the same time.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1_024))]
    connections: u32,
}

/// A part of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// As many messages as go through.
    Throughput,
    /// Messages at a fixed rate, open loop.
    Rate,
    /// Items that end in the same second.
    Items,
    /// An endpoint that works beside 200 that hang.
    Hanging,
    /// Messages that wait for a dead endpoint, and go out when it lives again.
    Backlog,
    /// Items that are scheduled, and how late others end beside them.
    Scheduled,
    /// How late items end while large catalogues are set up beside them.
    Setup,
    /// How late items end while bids come in as in the closing minute.
    Closing,
    /// A bid in a small auction and in a large one.
    BidCost,
    /// Bids on one item.
    BidsOnOne,
    /// Bids spread over 10,000 items.
    BidsOnMany,
    /// Bids on an item that thousands listen to.
    Live,
    /// Pages of lists, of a small auction and of a large one.
    Lists,
}

/// Runs the parts and prints their figures.
pub(crate) async fn run(options: &Options) -> Result<bool, RigError> {
    let cores = std::thread::available_parallelism()?;
    say(&format!("{:?} on {cores} cores, generator and receiver included", options.store));
    let is_wanted = |part| options.part.contains(&part);
    let is_wanted_unasked = |part| options.part.is_empty() || is_wanted(part);
    if is_wanted_unasked(Part::Throughput) {
        messages::throughput(options).await?;
    }
    if is_wanted_unasked(Part::Rate) {
        messages::at_rate(options).await?;
    }
    if is_wanted_unasked(Part::Items) {
        items::ending_together(options).await?;
    }
    if is_wanted(Part::Hanging) {
        bulkheads::hanging(options).await?;
    }
    if is_wanted(Part::Backlog) {
        bulkheads::backlog(options).await?;
    }
    if is_wanted(Part::Scheduled) {
        timers::scheduled(options).await?;
    }
    if is_wanted(Part::Setup) {
        setup::beside_ends(options).await?;
    }
    if is_wanted(Part::Closing) {
        timers::closing(options).await?;
    }
    if is_wanted(Part::BidCost) {
        timers::bid_cost(options).await?;
    }
    if is_wanted(Part::BidsOnOne) {
        bids::on_one(options).await?;
    }
    if is_wanted(Part::BidsOnMany) {
        bids::on_many(options).await?;
    }
    if is_wanted(Part::Live) {
        live::listening(options).await?;
    }
    if is_wanted(Part::Lists) {
        lists::pages(options).await?;
    }
    Ok(true)
}

/// Microseconds, to a minute.
fn histogram() -> Result<Histogram<u64>, RigError> {
    Ok(Histogram::new_with_bounds(1, 60_000_000, 3)?)
}

fn milliseconds(microseconds: u64) -> f64 {
    microseconds as f64 / 1_000.0
}
