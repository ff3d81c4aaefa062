//! The load of `cargo xtask failover`: two nodes on one PostgreSQL that another program makes fail.
//!
//! Bids go to both nodes at a fixed rate, timed lots end, and a clerk sells. The rig reads commands from its standard input:
//! `anchor` verifies the audit log against all anchors noted so far and notes a new one; `stop` (or the end of the input) ends
//! the load. Then the rig waits for the last deliveries, compares calls, journal and receiver, and prints the figures as one
//! line of JSON.

mod anchors;
mod bids;
mod figures;

use std::io::BufRead as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use consumer::{ApiClient, ExpectedEvent};
use serde_json::json;
use testkit::server::{Launch, Server, built_binary};
use testkit::site::{CustomerSite, http_client};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use self::anchors::Anchors;
use self::bids::{Bids, OpenLots};
use crate::sales::{self, Sale, Schedule};
use crate::{RigError, say};

/// Time between two sales.
const SALE_EVERY: Duration = Duration::from_secs(15);
/// The lots of each sale and their ends.
const SALE: Schedule = Schedule { lots: 20, first_end_ms: 8_000, ends_per_s: 2 };
/// Pause of the clerk after each command.
const CLERK_PAUSE: Duration = Duration::from_millis(150);
/// Pause before a call that failed is repeated.
const RETRY_PAUSE: Duration = Duration::from_millis(500);
/// Lots that receive bids during the whole run.
const LONG_LOTS: u32 = 40;
/// When these lots end, which is after the run.
const LONG_MS: i64 = 7 * 24 * 3_600 * 1_000;

/// Short retry pauses, and as many as an outage needs.
const SETTINGS: &[(&str, &str)] = &[
    ("PROVIDER__RETRY_SCHEDULE", "50ms,100ms,200ms,500ms,1s,2s,5s,5s,5s,5s,5s,5s"),
    ("PLATFORM__PUBLISH_BACKOFF_BASE", "20ms"),
    ("PLATFORM__PUBLISH_BACKOFF_CAP", "500ms"),
    ("PLATFORM__RATE_LIMIT", "0"),
];

/// Options of `failover`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The database of both nodes.
    #[arg(long)]
    database_url: String,
    /// Bids a second.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=2_000))]
    bids: u64,
    /// The `lotwire` binary [default: the one beside this program].
    #[arg(long)]
    binary: Option<PathBuf>,
}

/// Two nodes with a customer, and what the load records.
struct Rig {
    site: CustomerSite,
    nodes: [ApiClient; 2],
    first: Launch,
    lots: OpenLots,
    bids: Bids,
    /// Sales and passes that a node acknowledged to the clerk.
    sold: std::sync::Mutex<sales::Acknowledged>,
    is_over: AtomicBool,
    _servers: [Server; 2],
    _data: [tempfile::TempDir; 2],
}

/// Runs the rig. True if nothing is missing or wrong.
pub(crate) async fn run(options: &Options) -> Result<bool, RigError> {
    let rig = Arc::new(Rig::set_up(options).await?);
    let mut load = JoinSet::new();
    load.spawn(bids::place(rig.clone(), options.bids));
    load.spawn(hold_sales(rig.clone()));
    say("ready");
    let mut anchors = Anchors::default();
    let mut commands = commands();
    while let Some(command) = commands.recv().await {
        match command.as_str() {
            "anchor" => say(&format!("anchor: {}", anchors.check(&rig.first).await)),
            "stop" => break,
            other => return Err(format!("there is no command {other:?}").into()),
        }
    }
    rig.is_over.store(true, Ordering::Release);
    while let Some(part) = load.join_next().await {
        part?;
    }
    let figures = figures::settle(&rig, &mut anchors).await?;
    say(&serde_json::to_string(&figures)?);
    Ok(figures.is_complete())
}

/// The lines of the standard input. A thread reads them, because reading blocks.
fn commands() -> mpsc::UnboundedReceiver<String> {
    let (sender, receiver) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

impl Rig {
    async fn set_up(options: &Options) -> Result<Self, RigError> {
        let data = [tempfile::tempdir()?, tempfile::tempdir()?];
        let binary = match &options.binary {
            Some(binary) => binary.clone(),
            None => built_binary("lotwire")?,
        };
        let mut first = Launch::new(binary, data[0].path())?.set("SECRETS__KEY", &"5a".repeat(32));
        for (key, value) in SETTINGS {
            first = first.set(key, value);
        }
        let first = first.database(&options.database_url);
        let second = first.node_in(data[1].path())?;
        let http = http_client();
        let servers = [first.start(&http).await?, second.start(&http).await?];
        let site = CustomerSite::set_up(&first, &first).await?;
        let key = second.create_staff_key("second node")?;
        let nodes = [site.platform.clone(), ApiClient::new(http, second.platform_url(), &key)?];
        let lots = OpenLots::default();
        let long =
            json!({ "kind": "timed", "title": "Whole run", "endsAt": site.in_ms(LONG_MS), "extensionSeconds": 0 });
        lots.open(sales::create(&site, long, LONG_LOTS).await?.1);
        Ok(Self {
            site,
            nodes,
            first,
            lots,
            bids: Bids::default(),
            sold: std::sync::Mutex::default(),
            is_over: AtomicBool::new(false),
            _servers: servers,
            _data: data,
        })
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    fn note_sold(&self, event: ExpectedEvent) {
        self.bids.note_change(&self.site.clock);
        if let Ok(mut sold) = self.sold.lock() {
            sold.events.push(event);
        }
    }
}

/// Puts a timed auction and a webcast on sale again and again. A clerk for each webcast works at one of the nodes.
async fn hold_sales(rig: Arc<Rig>) {
    let mut clerks = JoinSet::new();
    let mut number = 0;
    while !rig.is_over() {
        let Ok(sale) = sales::prepare(&rig.site, &SALE).await else {
            rig.bids.count_unknown();
            tokio::time::sleep(RETRY_PAUSE).await;
            continue;
        };
        rig.lots.open(sale.timed.clone());
        clerks.spawn(sell_all(rig.clone(), sale, number % 2));
        number += 1;
        tokio::time::sleep(SALE_EVERY).await;
    }
    while clerks.join_next().await.is_some() {}
}

/// Sells every lot of a webcast. After a command that was not acknowledged, the clerk looks at the ring, passes the lot that is
/// in it, and goes on with the next.
async fn sell_all(rig: Arc<Rig>, sale: Sale, node: usize) {
    let platform = &rig.nodes[node];
    let note = |event| rig.note_sold(event);
    let mut first = 0;
    while let Err((lot, _)) = sale.clerk(platform, first, CLERK_PAUSE, &note).await {
        rig.bids.count_unknown();
        first = lot + 1;
        while sale.clear_ring(platform, &note).await.is_err() {
            if rig.is_over() {
                return;
            }
            tokio::time::sleep(RETRY_PAUSE).await;
        }
        if rig.is_over() {
            return;
        }
    }
}
