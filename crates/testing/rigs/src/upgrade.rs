//! Upgrades an installation from one binary to another during sales, with `kill -9`, and goes back.
//!
//! On PostgreSQL two nodes run: one after the other is upgraded while the other one goes on, and each is killed in between and starts
//! again. On SQLite one server is upgraded; its copy of the databases is then restored by the old binary. On both engines the old
//! binary starts again on the upgraded tables and goes on with them, or refuses them with the reason. At the end every committed
//! event and every acknowledged sale has to have reached the receiver, and the audit log has to hold.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde::Serialize;
use testkit::server::{Launch, Server, built_binary};

use crate::crash::{IDLE_MAX, SETTINGS};
use crate::sales::{self, Acknowledged, Schedule};
use crate::site::{Engine, RigSite};
use crate::tally::Tally;
use crate::{RigError, say};

/// Lots of each of the two auctions of a round.
const SCHEDULE: Schedule = Schedule { lots: 40, first_end_ms: 900, ends_per_s: 20 };
/// Longest time between a start and the kill.
const UPTIME_MS_MAX: u64 = 1_500;

/// Options of `upgrade`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Binary of the last release.
    #[arg(long)]
    from: PathBuf,
    /// Binary that follows it [default: the one that was built last].
    #[arg(long)]
    to: Option<PathBuf>,
    /// Database engine.
    #[arg(long, value_enum, default_value = "sqlite")]
    store: Engine,
    /// Kills of each node in each stage.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    kills: u32,
    /// Seed of the random times of the kills [default: a random seed, which the rig prints].
    #[arg(long)]
    seed: Option<u64>,
    /// Print the results as one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Figures {
    store: String,
    seed: u64,
    kills: u32,
    /// Versions of the platform's and the provider's tables before and after the upgrade.
    tables_before: [u32; 2],
    tables_after: [u32; 2],
    /// The old binary starts on the upgraded tables.
    goes_on_with_newer_tables: bool,
    /// The copy that the upgrade made was restored by the old binary and verified; none if no table changed, and on PostgreSQL.
    copy_was_restored: Option<bool>,
    /// Entries of the audit log at the end, each verified.
    log_entries: u64,
    #[serde(flatten)]
    tally: Tally,
    seconds: u64,
}

impl Figures {
    fn is_complete(&self, store: Engine) -> bool {
        let needs_copy = store == Engine::Sqlite && self.tables_before != self.tables_after;
        let has_copy = !needs_copy || self.copy_was_restored == Some(true);
        self.tally.is_complete() && self.log_entries > 0 && has_copy
    }
}

/// A node with the servers that it can run.
struct Node {
    launch: Launch,
    server: Option<Server>,
}

/// The installation that is upgraded.
struct Installation {
    site: RigSite,
    nodes: Vec<Node>,
    acknowledged: Acknowledged,
    random: StdRng,
    kills: u32,
}

/// Runs the rig. True if no event is missing or wrong.
pub(crate) async fn run(options: &Options) -> Result<bool, RigError> {
    let begin = Instant::now();
    let seed = options.seed.unwrap_or_else(|| rand::rng().random());
    let to = options.to.clone().map_or_else(|| built_binary("lotwire"), Ok)?;
    say(&format!("from {} to {} on {:?}, seed {seed}", options.from.display(), to.display(), options.store));
    let mut installed = Installation::set_up(options, seed).await?;
    let tables_before = installed.table_versions().await?;
    installed.sell("the old version", options.kills).await?;
    for node in 0..installed.nodes.len() {
        installed.change_to(node, &to).await?;
        installed.sell(&format!("node {} upgraded", node + 1), options.kills).await?;
    }
    let tables_after = installed.table_versions().await?;
    let goes_on = installed.change_to(0, &options.from).await.is_ok();
    if goes_on {
        installed.sell("node 1 with the old version again", options.kills).await?;
    }
    installed.change_to(0, &to).await?;
    let tally = installed.wait_for_deliveries().await?;
    let verified = installed.nodes[0].launch.run_command(&["verify", "--all", "--json"])?;
    if verified["holds"] != true {
        return Err(format!("the audit log does not hold: {verified}").into());
    }
    let copy_was_restored = match installed.copy()? {
        Some(copy) => Some(restore(&installed.nodes[0].launch.with_binary(&options.from), &copy)?),
        None => None,
    };
    let figures = Figures {
        store: format!("{:?}", options.store).to_lowercase(),
        seed,
        kills: installed.kills,
        tables_before,
        tables_after,
        goes_on_with_newer_tables: goes_on,
        copy_was_restored,
        log_entries: verified["entries"].as_u64().unwrap_or_default(),
        tally,
        seconds: begin.elapsed().as_secs(),
    };
    report(&figures, options)?;
    Ok(figures.is_complete(options.store))
}

impl Installation {
    /// Sets up a customer on the old binary: one server on SQLite, two nodes on PostgreSQL.
    async fn set_up(options: &Options, seed: u64) -> Result<Self, RigError> {
        let (site, server) = RigSite::set_up_with(&options.from, options.store, SETTINGS).await?;
        let mut nodes = vec![Node { launch: site.launch.clone(), server: Some(server) }];
        if options.store == Engine::Postgres {
            let launch = site.launch.node_in(&site.folder().join("second"))?;
            let server = Some(launch.start(&site.http).await?);
            nodes.push(Node { launch, server });
        }
        let random = StdRng::seed_from_u64(seed);
        Ok(Self { site, nodes, acknowledged: Acknowledged::default(), random, kills: 0 })
    }

    /// Versions of the platform's and the provider's tables.
    async fn table_versions(&self) -> Result<[u32; 2], RigError> {
        let mut versions = [0; 2];
        for (version, database) in versions.iter_mut().zip(["platform", "provider"]) {
            let metric = format!("lotwire_database_schema_version{{database=\"{database}\"}}");
            *version = self.nodes[0].launch.metric(&metric).await? as u32;
        }
        Ok(versions)
    }

    /// Holds a round of sales at each node by turns and kills the node during it.
    async fn sell(&mut self, stage: &str, kills: u32) -> Result<(), RigError> {
        for _ in 0..kills {
            for node in 0..self.nodes.len() {
                self.site.use_platform(&self.nodes[node].launch);
                let uptime = Duration::from_millis(self.random.random_range(1..=UPTIME_MS_MAX));
                let sale = sales::prepare(&self.site, &SCHEDULE).await?;
                tokio::select! {
                    () = sale.sell(&self.site, &mut self.acknowledged) => {}
                    () = tokio::time::sleep(uptime) => {}
                }
                self.kill(node);
                self.start(node).await?;
            }
        }
        let arrived = self.site.receiver.read(|record| record.arrivals().len());
        say(&format!("  {stage}: {} kills in all, {arrived} events received", self.kills));
        Ok(())
    }

    /// Kills a node during a round of sales and starts another binary in its place.
    async fn change_to(&mut self, node: usize, binary: &Path) -> Result<(), RigError> {
        self.kill(node);
        self.nodes[node].launch = self.nodes[node].launch.with_binary(binary);
        self.start(node).await
    }

    fn kill(&mut self, node: usize) {
        if let Some(server) = self.nodes[node].server.take() {
            server.kill();
            self.kills += 1;
        }
    }

    async fn start(&mut self, node: usize) -> Result<(), RigError> {
        let server = self.nodes[node].launch.start(&self.site.http).await?;
        self.nodes[node].server = Some(server);
        Ok(())
    }

    /// Waits until the receiver has every event of the feed, or until no new webhook arrives for [`IDLE_MAX`].
    async fn wait_for_deliveries(&mut self) -> Result<Tally, RigError> {
        self.site.use_platform(&self.nodes[0].launch);
        crate::crash::wait_for_deliveries(&self.site, &self.acknowledged, IDLE_MAX).await
    }

    /// The copy of the databases that the upgrade made.
    fn copy(&self) -> Result<Option<PathBuf>, RigError> {
        let folder = self.site.folder().join("before-upgrade");
        if !folder.exists() {
            return Ok(None);
        }
        let mut copies = Vec::new();
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.join("manifest.json").is_file() {
                copies.push(path);
            }
        }
        match copies.as_slice() {
            [copy] => Ok(Some(copy.clone())),
            _ => Err(format!("{} does not have one copy: {copies:?}", folder.display()).into()),
        }
    }
}

/// Restores a copy with the old binary. True if it is on hold and its audit log holds.
fn restore(old: &Launch, copy: &Path) -> Result<bool, RigError> {
    let folder = tempfile::tempdir()?;
    let launch = old.node_in(&folder.path().join("restored"))?;
    launch.run_command(&["restore", &copy.display().to_string(), "--json"])?;
    let hold = launch.run_command(&["resume", "--list", "--json"])?;
    let verified = launch.run_command(&["verify", "--all", "--json"])?;
    Ok(hold["isOnHold"] == true && verified["holds"] == true && verified["entries"].as_u64() > Some(0))
}

fn report(figures: &Figures, options: &Options) -> Result<(), RigError> {
    let versions = |[platform, provider]: [u32; 2]| format!("platform {platform}, provider {provider}");
    let copy = match figures.copy_was_restored {
        None => "none was made",
        Some(true) => "restored by the old version, on hold, verified",
        Some(false) => "does not hold",
    };
    say(&format!(
        "\n  kills {}\n  tables: {}; after the upgrade {}\n  the old version on the newer tables: {}\n  copy before the upgrade: {copy}\n{}\n  \
         audit log verified: {} entries\n  {} s\n",
        figures.kills,
        versions(figures.tables_before),
        versions(figures.tables_after),
        if figures.goes_on_with_newer_tables { "goes on" } else { "refuses them" },
        figures.tally.describe(),
        figures.log_entries,
        figures.seconds,
    ));
    if options.json {
        say(&serde_json::to_string(figures)?);
    }
    say(if figures.is_complete(options.store) { "The upgrade lost nothing." } else { "The upgrade is not complete." });
    Ok(())
}
