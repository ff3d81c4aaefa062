//! Benchmarks of deliveries, ends of items, bids, live updates, lists and pages.
//!
//! Generator, receiver and server share the machine. No time fails the run; a wrong price in the part crowd does. Each part starts its own server on a new
//! store. CPU and memory are those of the server process, as the kernel counts them, without PostgreSQL's processes.

pub(crate) mod bids;
mod bulkheads;
mod catalogue;
mod crowd;
pub(crate) mod items;
mod lists;
mod live;
mod load;
mod messages;
mod pages;
mod process;
mod saleroom;
mod setup;
mod timers;
mod visitor;

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
    /// Parts to measure [default: throughput,rate,items].
    #[arg(long, value_enum, value_delimiter = ',')]
    part: Vec<Part>,
    /// Number of messages in the parts throughput, backlog and pages.
    #[arg(long, default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(1_000..=10_000_000))]
    messages: u64,
    /// Number of endpoints of each message in the part throughput.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=50))]
    fan_out: u32,
    /// Duration of each measurement at a fixed rate, and of the bidding in the part crowd, in seconds.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    seconds: u64,
    /// Messages a second in the part rate.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=20_000))]
    rate: u64,
    /// Number of items that end in the same second.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    items: u32,
    /// Number of scheduled items that do not end during the measurement.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    scheduled: u32,
    /// Bids a second in a normal minute. The closing minute has a hundred times as many.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=200))]
    usual_bids: u64,
    /// Number of listeners in the part live.
    #[arg(long, default_value_t = 5_000, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    listeners: u32,
    /// Number of visitors who watch the lot in the part crowd, beside the bidders.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=12_000))]
    watchers: u32,
    /// Number of bidders with accounts in the part crowd.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(2..=900))]
    bidders: u32,
    /// Number of these bidders who share one IP address.
    #[arg(long, default_value_t = 300)]
    sharing: u32,
    /// Mean time between an answer and the bidder's next press, in milliseconds; half as long to half as long again.
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    think_ms: u64,
    /// Number of nodes in the part crowd; two need PostgreSQL.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=2))]
    nodes: u8,
    /// Number of lots in the part catalogue.
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    lots: u32,
    /// Number of concurrent requests of the generator.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1_024))]
    connections: u32,
}

/// A part of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Messages at the highest possible rate.
    Throughput,
    /// Messages at a fixed rate, open loop.
    Rate,
    /// Items that end in the same second.
    Items,
    /// A working endpoint beside 200 hanging ones.
    Hanging,
    /// Messages that wait for a failing endpoint and are delivered when it recovers.
    Backlog,
    /// The cost of scheduled items, and how late other items end meanwhile.
    Scheduled,
    /// How late items end during imports and status changes of large catalogues.
    Setup,
    /// How late items end at the bid rate of a closing minute.
    Closing,
    /// The cost of a bid in a small and in a large auction.
    BidCost,
    /// Bids on one item.
    BidsOnOne,
    /// Bids spread over 10,000 items.
    BidsOnMany,
    /// Bids on an item with thousands of live-update listeners.
    Live,
    /// Pages of lists of a small and of a large auction.
    Lists,
    /// The time to the first byte of every page, in a browser.
    Pages,
    /// The last minute of a lot in the saleroom, with thousands of visitors and hundreds of bidders.
    Crowd,
    /// A large catalogue of the saleroom on a phone with a slow connection, in a browser.
    Catalogue,
}

/// Runs the parts and prints their measurements.
pub(crate) async fn run(options: &Options) -> Result<bool, RigError> {
    let cores = std::thread::available_parallelism()?;
    say(&format!("{:?} on {cores} cores, generator and receiver included", options.store));
    let is_wanted = |part| options.part.contains(&part);
    let is_wanted_by_default = |part| options.part.is_empty() || is_wanted(part);
    if is_wanted_by_default(Part::Throughput) {
        messages::throughput(options).await?;
    }
    if is_wanted_by_default(Part::Rate) {
        messages::at_rate(options).await?;
    }
    if is_wanted_by_default(Part::Items) {
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
    if is_wanted(Part::Pages) {
        pages::first_byte(options).await?;
    }
    let is_right = !is_wanted(Part::Crowd) || crowd::last_minute(options).await?;
    if is_wanted(Part::Catalogue) {
        catalogue::on_a_phone(options).await?;
    }
    Ok(is_right)
}

/// A histogram of microseconds, up to a minute.
fn histogram() -> Result<Histogram<u64>, RigError> {
    Ok(Histogram::new_with_bounds(1, 60_000_000, 3)?)
}

pub(crate) fn milliseconds(microseconds: u64) -> f64 {
    microseconds as f64 / 1_000.0
}
