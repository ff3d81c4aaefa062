//! Kills the server with SIGKILL during sales, repeatedly.
//!
//! Each round puts a timed auction and a webcast live, kills the server at a random time while lots end and the clerk
//! sells, and starts it again. At the end, every committed event (the event feed) and every acknowledged sale (the
//! responses to the clerk) must have reached the receiver. Duplicates are allowed and counted.

use std::time::{Duration, Instant};

use clap::Args;
use rand::RngExt as _;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde::Serialize;
use testkit::server::Server;

use crate::sales::{self, Acknowledged, Schedule};
use crate::site::{Engine, RigSite};
use crate::tally::Tally;
use crate::{RigError, say};

/// Time without a new webhook after which missing events count as lost. It counts from the last start.
pub(crate) const IDLE_MAX: Duration = Duration::from_secs(30);

/// Short retry pauses, so that a round does not wait for the retries of the round before.
pub(crate) const SETTINGS: &[(&str, &str)] = &[
    ("PROVIDER__RETRY_SCHEDULE", "50ms,100ms,200ms,500ms,1s,2s,5s,5s,5s,5s"),
    ("PLATFORM__PUBLISH_BACKOFF_BASE", "20ms"),
    ("PLATFORM__PUBLISH_BACKOFF_CAP", "500ms"),
];

/// Options of `crash`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Number of kills.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    kills: u32,
    /// Database engine.
    #[arg(long, value_enum, default_value = "sqlite")]
    store: Engine,
    /// Lots of each of the two auctions of a round.
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    lots: u32,
    /// Longest time between a start and the kill, in milliseconds.
    #[arg(long, default_value_t = 1_500, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    uptime_ms_max: u64,
    /// Seed of the random times of the kills [default: a random seed, which the rig prints].
    #[arg(long)]
    seed: Option<u64>,
    /// Print the results as one JSON object.
    #[arg(long)]
    json: bool,
}

/// Milliseconds from the start of a round to the first end of a lot.
const FIRST_END_MS: i64 = 900;

/// The results of a run.
#[derive(Debug, Serialize)]
struct Figures {
    store: String,
    seed: u64,
    kills: u32,
    #[serde(flatten)]
    tally: Tally,
    seconds: u64,
}

/// Runs the rig. True if no event is missing or wrong.
pub(crate) async fn run(options: &Options) -> Result<bool, RigError> {
    let begin = Instant::now();
    let seed = options.seed.unwrap_or_else(rand_seed);
    let mut random = StdRng::seed_from_u64(seed);
    say(&format!("{} kills on {:?}, seed {seed}", options.kills, options.store));

    let (site, mut server) = RigSite::set_up(options.store, SETTINGS).await?;
    let mut acknowledged = Acknowledged::default();
    for round in 1..=options.kills {
        let uptime = Duration::from_millis(random.random_range(1..=options.uptime_ms_max));
        server = one_round(&site, server, options.lots, uptime, &mut acknowledged).await?;
        if round % 10 == 0 || round == options.kills {
            let arrived = site.receiver.read(|record| record.arrivals().len());
            say(&format!(
                "  {round} of {} kills, {arrived} events received, {:.0} s",
                options.kills,
                begin.elapsed().as_secs_f32()
            ));
        }
    }
    let tally = wait_for_deliveries(&site, &acknowledged, IDLE_MAX).await?;
    let store = format!("{:?}", options.store).to_lowercase();
    let figures = Figures { store, seed, kills: options.kills, tally, seconds: begin.elapsed().as_secs() };
    drop(server);
    report(&figures, options.json)?;
    Ok(figures.tally.is_complete())
}

/// Starts the load, kills the server during it, and starts a new server on the same data.
async fn one_round(
    site: &RigSite,
    server: Server,
    lots: u32,
    uptime: Duration,
    acknowledged: &mut Acknowledged,
) -> Result<Server, RigError> {
    let schedule = Schedule { lots, first_end_ms: FIRST_END_MS, ends_per_s: lots.div_ceil(2) };
    let sale = sales::prepare(site, &schedule).await?;
    tokio::select! {
        () = sale.sell(site, acknowledged) => {}
        () = tokio::time::sleep(uptime) => {}
    }
    server.kill();
    Ok(site.launch.start(&site.http).await?)
}

/// Waits until the receiver has every event of the feed, or until no new webhook arrives for `idle_max`. Then counts.
pub(crate) async fn wait_for_deliveries(
    site: &RigSite,
    acknowledged: &Acknowledged,
    idle_max: Duration,
) -> Result<Tally, RigError> {
    let mut quiet_since = Instant::now();
    let mut arrived_before = 0;
    loop {
        let live = sales::live_items(site).await?;
        let tally = Tally::count(site, acknowledged).await?;
        let arrived = site.receiver.requests();
        if arrived != arrived_before {
            (arrived_before, quiet_since) = (arrived, Instant::now());
        }
        if (live == 0 && tally.missing == 0) || quiet_since.elapsed() > idle_max {
            return Ok(tally);
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
}

fn report(figures: &Figures, json: bool) -> Result<(), RigError> {
    say(&format!("\n  kills {}\n{}\n  {} s\n", figures.kills, figures.tally.describe(), figures.seconds));
    if json {
        say(&serde_json::to_string(figures)?);
    }
    say(if figures.tally.is_complete() {
        "Every committed event was delivered."
    } else {
        "Events are missing or wrong."
    });
    Ok(())
}

fn rand_seed() -> u64 {
    rand::rng().random()
}
