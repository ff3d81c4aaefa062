//! `cargo xtask failover`: makes a cluster of three PostgreSQL servers fail in ten ways under a sale on two Lotwire nodes, and
//! compares what was acknowledged, stored and delivered.

mod cluster;
mod faults;
mod load;
mod network;
mod observer;
mod setup;
mod teardown;
mod verdict;

use std::process::Command;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};

use self::cluster::Cluster;
use self::faults::Fault;
use self::load::Load;
use self::network::{Node, pause};
use self::observer::Observer;
use self::setup::Replication;
use self::teardown::Teardown;
use self::verdict::{Event, Verdict};
use crate::{Failure, cargo, run, say, target_dir};

const HELP: &str = "\
cargo xtask failover [--minutes N] [--seed N] [--fault NAME]… [--hold SECONDS] [--bids N] [--asynchronous] [--multi-host] [--json]

Runs etcd, Patroni and PostgreSQL on three machines, and HAProxy and two Lotwire nodes on a fourth, all of them network namespaces,
with the files of docs/operate/failover.md. While bids are placed, lots end and a clerk sells, it causes two faults, heals them after
a minute, waits a minute, and verifies the audit log; then the next two. Fails if an acknowledged change is lost, if an event is
missing, wrong or out of order, or if an end is late. Needs root; installs etcd, HAProxy, PostgreSQL and Patroni if they are missing.
Logs and figures are in target/failover.

  --minutes N       time of the run (20); the last faults may end after it
  --seed N          repeat the order and kinds of faults of a run [default: a random seed, which is printed]
  --fault NAME      only this kind; repeat the option for several: crash, unmanaged, freeze, partition, etcd, slow, disk, stale,
                    cancel, switchover
  --hold SECONDS    time of two faults, and time after them (60)
  --bids N          bids a second (60)
  --asynchronous    the control: without synchronous replication it has to lose acknowledged changes
  --multi-host      the nodes name all three servers in their database's URL instead of using HAProxy
  --json            print the figures as JSON, too
";

/// Seconds between two faults of a pair, as a part of the hold.
const SECOND_FAULT_AFTER: u64 = 4;

struct Options {
    minutes: u64,
    seed: u64,
    faults: Vec<Fault>,
    hold_s: u64,
    bids: u64,
    replication: Replication,
    is_multi_host: bool,
    is_json: bool,
}

impl Options {
    fn new(minutes: u64, hold_s: u64) -> Self {
        Self {
            minutes,
            seed: rand::rng().random(),
            faults: Vec::new(),
            hold_s,
            bids: 60,
            replication: Replication::Synchronous,
            is_multi_host: false,
            is_json: false,
        }
    }
}

/// Runs `cargo xtask failover`.
pub(crate) fn run_task(arguments: &[String]) -> Result<(), Failure> {
    let mut options = Options::new(20, 60);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or(format!("{argument} needs a value\n\n{HELP}"));
        let number = |text: &String| text.parse().map_err(|_| format!("{argument}: {text:?} is not a whole number"));
        match argument.as_str() {
            "--minutes" => options.minutes = number(value()?)?,
            "--seed" => options.seed = number(value()?)?,
            "--hold" => options.hold_s = number(value()?)?,
            "--bids" => options.bids = number(value()?)?,
            "--fault" => {
                let name = value()?;
                options.faults.push(Fault::of_name(name).ok_or(format!("there is no fault {name:?}\n\n{HELP}"))?);
            }
            "--asynchronous" => options.replication = Replication::Asynchronous,
            "--multi-host" => options.is_multi_host = true,
            "--json" => options.is_json = true,
            "--help" => {
                say(HELP);
                return Ok(());
            }
            other => return Err(format!("there is no option {other:?}\n\n{HELP}")),
        }
    }
    measure(&options)
}

/// The short form for `release-check`: each fault once, and the control.
pub(crate) fn check() -> Result<(), Failure> {
    measure(&Options::new(6, 30))?;
    let control = Options { faults: vec![Fault::Crash], replication: Replication::Asynchronous, ..Options::new(1, 20) };
    measure(&control)
}

fn measure(options: &Options) -> Result<(), Failure> {
    cluster::install()?;
    run(cargo().args(["build", "--quiet", "-p", "lotwire", "-p", "rigs"]))?;
    let logs = target_dir().join("failover");
    // Declared first, so that it is dropped last.
    let _machines = Teardown::prepare()?;
    drop(std::fs::remove_dir_all(&logs));
    std::fs::create_dir_all(&logs).map_err(|error| format!("{}: {error}", logs.display()))?;
    say(&format!("{:?} replication, {} minutes, seed {}", options.replication, options.minutes, options.seed));
    network::create()?;
    let mut cluster = Cluster::start(options.replication, &logs)?;
    say("  the cluster is healthy");
    let setup = cluster.setup();
    let url = if options.is_multi_host { setup.multi_host_url()? } else { setup.database_url.clone() };
    let observer = Observer::start(&logs)?;
    let load = Load::start(&url, &options.bids.to_string(), &logs.join("lotwire.log"))?;
    let verdict = Run { options, cluster: &mut cluster, observer, load, begin: Instant::now() }.run()?;
    say(&format!("\n{}", verdict.describe()));
    let json = verdict.to_json().to_string();
    let file = logs.join("figures.json");
    std::fs::write(&file, &json).map_err(|error| format!("{}: {error}", file.display()))?;
    if options.is_json {
        say(&json);
    }
    match verdict.failure() {
        None => Ok(()),
        Some(failure) => Err(format!("{failure}. Repeat with --seed {}", options.seed)),
    }
}

/// A run under way.
struct Run<'a> {
    options: &'a Options,
    cluster: &'a mut Cluster,
    observer: Observer,
    load: Load,
    begin: Instant,
}

impl Run<'_> {
    fn run(mut self) -> Result<Verdict, Failure> {
        let mut random = StdRng::seed_from_u64(self.options.seed);
        let mut turns = Vec::new();
        let (mut events, mut cycles, mut heal_longest_s) = (Vec::new(), 0, 0);
        let (mut stale_primaries, mut replicas_rebuilt) = (0, 0);
        pause(self.options.hold_s / SECOND_FAULT_AFTER)?;
        while self.begin.elapsed() < Duration::from_secs(self.options.minutes * 60) {
            let mut stale: Vec<Node> = Vec::new();
            for place in 0..2 {
                if turns.is_empty() {
                    turns =
                        if self.options.faults.is_empty() { Fault::ALL.to_vec() } else { self.options.faults.clone() };
                    turns.shuffle(&mut random);
                    // A single kind of fault is tried alone.
                    if place == 1 && turns.len() == 1 {
                        turns.clear();
                        break;
                    }
                }
                let Some(fault) = turns.pop() else { break };
                let at_s = now_s()?;
                let injected = fault.inject(self.cluster, &mut random, self.options.hold_s)?;
                self.say(&format!("{}: {}", fault.name(), injected.what));
                events.push(Event { at_s, what: format!("{}: {}", fault.name(), injected.what) });
                stale.extend(injected.must_not_lead);
                if place == 0 {
                    pause(self.options.hold_s / SECOND_FAULT_AFTER)?;
                }
            }
            pause(self.options.hold_s)?;
            for node in stale.into_iter().filter(|node| self.observer.leads(*node)) {
                self.say(&format!("stale {} is the primary", node.name()));
                stale_primaries += 1;
            }
            let healed = Instant::now();
            self.cluster.heal()?;
            for node in self.cluster.wait_until_healthy()? {
                self.say(&format!("{} could not follow the new primary, and was built anew", node.name()));
                replicas_rebuilt += 1;
            }
            let seconds = healed.elapsed().as_secs();
            heal_longest_s = heal_longest_s.max(seconds);
            pause(self.options.hold_s)?;
            let outcome = self.load.verify()?;
            self.say(&format!("healed, healthy after {seconds} s; {outcome}"));
            cycles += 1;
        }
        let load = self.load.stop()?;
        let Options { replication, seed, minutes, .. } = *self.options;
        let observed = self.observer.observed()?;
        Ok(Verdict {
            replication,
            seed,
            minutes,
            cycles,
            events,
            heal_longest_s,
            stale_primaries,
            replicas_rebuilt,
            observed,
            load,
        })
    }

    fn say(&self, text: &str) {
        say(&format!("  {:>5} s  {text}", self.begin.elapsed().as_secs()));
    }
}

/// The time in seconds since 1970, as the observer counts it.
fn now_s() -> Result<u64, Failure> {
    let output = Command::new("date").arg("+%s").output().map_err(|error| format!("date: {error}"))?;
    String::from_utf8_lossy(&output.stdout).trim().parse().map_err(|_| "date printed no number".to_owned())
}
