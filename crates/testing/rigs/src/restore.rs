//! Backs up an installation during a sale, restores it elsewhere, and compares both.
//!
//! While the backup is made, bids come at a fixed rate, lots end and a clerk sells. The restored installation has to be on hold;
//! its audit log has to hold against an anchor from before the backup, with every auction and item; it has to have every bid that
//! was acknowledged before the backup began; and its event feed has to be the beginning of the original's, with every event of the
//! time before the backup.

mod ways;

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use consumer::{ApiClient, FeedEvent, read_feed};
use hdrhistogram::Histogram;
use jiff::SignedDuration;
use serde::Serialize;
use testkit::server::Launch;

use self::ways::{MadeBackup, Original};
use crate::bench::bids::{Answers, Sale};
use crate::bench::milliseconds;
use crate::sales::{self, Acknowledged, Schedule};
use crate::site::RigSite;
use crate::{RigError, say};

/// Items that receive the bids.
const ITEMS: u32 = 1_000;
/// Lots of each of the two auctions that take place meanwhile, and the time of a round.
const SCHEDULE: Schedule = Schedule { lots: 40, first_end_ms: 900, ends_per_s: 20 };
const ROUND: Duration = Duration::from_secs(3);
/// An event is decided before it is committed, by at most this time.
const COMMIT_MAX: SignedDuration = SignedDuration::from_secs(1);

/// Options of `restore`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How the backup is made.
    #[arg(long, value_enum, default_value = "lotwire")]
    way: Way,
    /// Bids a second.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..=20_000))]
    rate: u64,
    /// Duration of the load without a backup, and again of the load with one, in seconds.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(3..=3_600))]
    seconds: u64,
    /// Print the results as one JSON object.
    #[arg(long)]
    json: bool,
}

/// How a backup is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Way {
    /// SQLite, by `lotwire backup`.
    Lotwire,
    /// PostgreSQL, by `pg_dump`.
    PgDump,
    /// PostgreSQL, by a base backup and archived WAL, from which a moment is restored.
    Archive,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Figures {
    way: String,
    bids_a_second: u64,
    alone: Latency,
    with_backup: Latency,
    backup_seconds: f64,
    locked_ms: Option<f64>,
    restore_seconds: f64,
    /// Bids that were acknowledged before the backup began.
    acknowledged_bids: u64,
    restored_bids: u64,
    /// Entries of the restored audit log, each verified.
    log_entries: u64,
    /// Events of both feeds before they differ.
    equal_events: usize,
    /// Events of the time before the backup that the restored feed does not have.
    missing_events: usize,
    /// Events of the time before the backup that only the restored feed has.
    unexpected_events: usize,
    /// Events that the original announced after the backup.
    later_events: usize,
    was_on_hold: bool,
}

/// How long bids took, in milliseconds.
#[derive(Debug, Serialize)]
struct Latency {
    p50: f64,
    p99: f64,
    longest: f64,
}

impl Latency {
    fn of(latency: &Histogram<u64>) -> Self {
        let at = |quantile| milliseconds(latency.value_at_quantile(quantile));
        Self { p50: at(0.5), p99: at(0.99), longest: milliseconds(latency.max()) }
    }
}

impl Figures {
    fn is_complete(&self) -> bool {
        let is_compared = self.equal_events > 0 && self.later_events > 0;
        let has_bids = self.restored_bids >= self.acknowledged_bids;
        is_compared && has_bids && self.was_on_hold && self.missing_events + self.unexpected_events == 0
    }
}

/// Runs the rig. True if the restored installation has what the original had.
pub(crate) async fn run(options: &Options) -> Result<bool, RigError> {
    let mut original = Original::start(options.way).await?;
    let sale = Arc::new(Sale::open(original.site(), ITEMS).await?);
    let alone = sale.at_rate(options.rate, options.seconds).await?;
    let anchor = text(&original.site().launch.run_command(&["verify", "--log", "--json"])?, "anchor")?;
    original.prepare()?;
    let (acknowledged_bids, bids, backup) = back_up_during_a_sale(&original, &sale, options).await?;
    let feed = read_feed(&original.site().platform, &original.site().customer).await?;
    original.kill();

    let begin = Instant::now();
    let restored = original.restore(&backup).await?;
    let restore_took = begin.elapsed();
    let launch = &restored.launch;
    let hold = launch.run_command(&["resume", "--list", "--json"])?;
    let verified = launch.run_command(&["verify", "--all", "--anchor", &anchor, "--json"])?;
    if verified["holds"] != true || verified["anchorsHeld"] != 1 {
        return Err(format!("the restored audit log does not hold: {verified}").into());
    }
    launch.run_command(&["resume", "--yes", "--json"])?;
    let restored_feed = feed_of(launch, original.site()).await?;
    let equal = feed.iter().zip(&restored_feed).take_while(|(left, right)| left == right).count();
    let before = |events: &[FeedEvent], moment| events[equal..].iter().filter(|event| event.at < moment).count();
    let figures = Figures {
        way: format!("{:?}", options.way),
        bids_a_second: options.rate,
        alone: Latency::of(&alone.latency),
        with_backup: Latency::of(&bids.latency),
        backup_seconds: backup.took.as_secs_f64(),
        locked_ms: backup.locked_ms,
        restore_seconds: restore_took.as_secs_f64(),
        acknowledged_bids,
        restored_bids: restored.bids,
        log_entries: verified["entries"].as_u64().unwrap_or_default(),
        equal_events: equal,
        missing_events: before(&feed, backup.at - COMMIT_MAX),
        unexpected_events: before(&restored_feed, backup.at),
        later_events: feed.len() - equal,
        was_on_hold: hold["isOnHold"] == true,
    };
    report(&figures, options.json)?;
    Ok(figures.is_complete())
}

/// Bids at a fixed rate while lots end and a clerk sells, with a backup in the middle. Returns the number of bids that were
/// acknowledged before it began, and all bids.
async fn back_up_during_a_sale(
    original: &Original,
    sale: &Arc<Sale>,
    options: &Options,
) -> Result<(u64, Answers, MadeBackup), RigError> {
    let until = Instant::now() + Duration::from_secs(options.seconds);
    let site = original.site();
    let auctions = async {
        while Instant::now() < until {
            let round = sales::prepare(site, &SCHEDULE).await?;
            let mut sold = Acknowledged::default();
            tokio::select! {
                () = round.sell(site, &mut sold) => {}
                () = tokio::time::sleep(ROUND) => {}
            }
        }
        Ok::<_, RigError>(())
    };
    let backup = async {
        tokio::time::sleep(Duration::from_secs(options.seconds / 2)).await;
        let acknowledged = sale.accepted();
        Ok::<_, RigError>((acknowledged, original.back_up().await?))
    };
    let (bids, (), (acknowledged, made)) =
        tokio::try_join!(sale.at_rate(options.rate, options.seconds), auctions, backup)?;
    Ok((acknowledged, bids, made))
}

/// Starts the restored installation and reads its feed.
async fn feed_of(restored: &Launch, site: &RigSite) -> Result<Vec<FeedEvent>, RigError> {
    let _server = restored.start(&site.http).await?;
    let key = restored.create_staff_key("after the restore")?;
    let platform = ApiClient::new(site.http.clone(), restored.platform_url(), &key)?;
    Ok(read_feed(&platform, &site.customer).await?)
}

fn text(answer: &serde_json::Value, field: &str) -> Result<String, RigError> {
    Ok(answer[field].as_str().ok_or_else(|| format!("no {field} in {answer}"))?.to_owned())
}

fn report(figures: &Figures, json: bool) -> Result<(), RigError> {
    let latency = |name: &str, latency: &Latency| {
        format!("  {name}: p50 {:.2} ms, p99 {:.2} ms, longest {:.1} ms\n", latency.p50, latency.p99, latency.longest)
    };
    let locked = figures.locked_ms.map(|ms| format!(", writers waited for {ms:.2} ms")).unwrap_or_default();
    say(&format!(
        "{}, {} bids a second\n{}{}  backup {:.1} s{locked}; restore {:.1} s\n  bids acknowledged before the backup {}, restored {}\n  \
         audit log verified: {} entries\n  feed: {} events are equal, {} missing, {} unexpected; {} came after the backup\n  on hold: {}",
        figures.way,
        figures.bids_a_second,
        latency("bids without a backup", &figures.alone),
        latency("bids with a backup", &figures.with_backup),
        figures.backup_seconds,
        figures.restore_seconds,
        figures.acknowledged_bids,
        figures.restored_bids,
        figures.log_entries,
        figures.equal_events,
        figures.missing_events,
        figures.unexpected_events,
        figures.later_events,
        figures.was_on_hold,
    ));
    if json {
        say(&serde_json::to_string(figures)?);
    }
    say(if figures.is_complete() {
        "The restored installation has what the original had."
    } else {
        "The restore is not complete."
    });
    Ok(())
}
