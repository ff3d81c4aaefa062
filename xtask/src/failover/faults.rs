//! The ten kinds of fault. A fault acts on the primary of the moment, unless it says otherwise. [`Cluster::heal`] ends it.

use rand::RngExt as _;
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom as _, SliceRandom as _};

use super::cluster::{Cluster, filler};
use super::network::{Cut, Node, cut, pause, signal};
use super::setup::Replication;
use crate::Failure;

/// Time without replication before a crash. An asynchronous primary goes on meanwhile.
const BEHIND_S: u64 = 4;
/// Times that the waits of commits are cancelled, once a second.
const CANCELS: u32 = 3;
/// Switchovers of one fault, if the time suffices.
const SWITCHOVERS_MAX: u64 = 20;
/// Time of a switchover and of the replicas to follow.
const SWITCHOVER_S: u64 = 6;

/// A kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    Crash,
    Unmanaged,
    Freeze,
    Partition,
    Etcd,
    Slow,
    Disk,
    Stale,
    Cancel,
    Switchover,
}

impl Fault {
    pub(super) const ALL: [Self; 10] = [
        Self::Crash,
        Self::Unmanaged,
        Self::Freeze,
        Self::Partition,
        Self::Etcd,
        Self::Slow,
        Self::Disk,
        Self::Stale,
        Self::Cancel,
        Self::Switchover,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Crash => "crash",
            Self::Unmanaged => "unmanaged",
            Self::Freeze => "freeze",
            Self::Partition => "partition",
            Self::Etcd => "etcd",
            Self::Slow => "slow",
            Self::Disk => "disk",
            Self::Stale => "stale",
            Self::Cancel => "cancel",
            Self::Switchover => "switchover",
        }
    }

    pub(super) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fault| fault.name() == name)
    }
}

/// What a fault did.
pub(super) struct Injected {
    pub(super) what: String,
    /// A machine that must not become the primary before the fault is healed.
    pub(super) must_not_lead: Option<Node>,
}

impl From<String> for Injected {
    fn from(what: String) -> Self {
        Self { what, must_not_lead: None }
    }
}

impl Fault {
    /// Causes the fault. `hold_s` is the time for which it will last.
    pub(super) fn inject(self, cluster: &mut Cluster, random: &mut StdRng, hold_s: u64) -> Result<Injected, Failure> {
        let leader = cluster.leader();
        let name = leader.name();
        match self {
            Self::Crash => crash(cluster, random, leader),
            Self::Unmanaged => {
                cluster.kill_patroni(leader);
                Ok(format!("kill -9 Patroni on {name}").into())
            }
            Self::Freeze => {
                if random.random() {
                    signal("STOP", cluster.patroni(leader).as_slice());
                    return Ok(format!("SIGSTOP Patroni on {name}").into());
                }
                signal("STOP", &leader.processes("postgres"));
                Ok(format!("SIGSTOP PostgreSQL on {name}").into())
            }
            Self::Partition => {
                let kind = choose(random, &Cut::ALL)?;
                cut(leader, kind)?;
                Ok(format!("{name} {}", kind.describe()).into())
            }
            Self::Etcd => {
                let mut nodes = Node::ALL;
                nodes.shuffle(random);
                let killed = &nodes[..random.random_range(1..=nodes.len())];
                killed.iter().for_each(|node| cluster.kill_etcd(*node));
                let names: Vec<String> = killed.iter().map(|node| node.name()).collect();
                Ok(format!("kill -9 etcd on {}", names.join(", ")).into())
            }
            Self::Slow => {
                let mut nodes: Vec<Node> = leader.others().collect();
                nodes.shuffle(random);
                nodes.truncate(random.random_range(1..=2));
                nodes.iter().for_each(|node| stop_receiver(*node));
                let names: Vec<String> = nodes.into_iter().map(Node::name).collect();
                Ok(format!("SIGSTOP the WAL receiver on {}", names.join(", ")).into())
            }
            Self::Disk => fill_disk(cluster, leader),
            Self::Stale => promote_stale(cluster, leader, hold_s),
            Self::Cancel => cancel_commits(cluster, leader),
            Self::Switchover => switch_over(cluster, hold_s),
        }
    }
}

fn choose<T: Copy>(random: &mut StdRng, of: &[T]) -> Result<T, Failure> {
    of.choose(random).copied().ok_or("there is nothing to choose from".to_owned())
}

/// The postmaster; with Patroni; or both after a time in which the replicas received nothing.
fn crash(cluster: &mut Cluster, random: &mut StdRng, leader: Node) -> Result<Injected, Failure> {
    let is_control = cluster.replication() == Replication::Asynchronous;
    let kind = if is_control { 2 } else { random.random_range(0..3) };
    if kind == 2 {
        cut(leader, Cut::Replicas)?;
        pause(BEHIND_S)?;
    }
    if kind > 0 {
        cluster.kill_patroni(leader);
    }
    cluster.kill_postmaster(leader);
    let what =
        ["the postmaster", "Patroni and PostgreSQL", "Patroni and PostgreSQL, after a cut from the replicas,"][kind];
    Ok(format!("kill -9 {what} on {}", leader.name()).into())
}

/// Fills the disk, and lets PostgreSQL use new files of the write-ahead log.
fn fill_disk(cluster: &Cluster, leader: Node) -> Result<Injected, Failure> {
    let file = filler(leader);
    let fill = format!(
        "fallocate -l $(df --output=avail --block-size=1 {0} | tail -1) {1}",
        leader.folder().join("disk").display(),
        file.display()
    );
    // ext4 keeps some blocks for itself: the rest is written until the disk is full.
    let rest = format!("dd if=/dev/zero of={0} bs=64K oflag=append conv=notrunc 2>/dev/null", file.display());
    let script = format!("{{ {fill}; }} 2>/dev/null || true; {rest} || true");
    super::network::shell(&script)?;
    for _ in 0..CANCELS {
        let switch = "SELECT pg_create_restore_point('full'), pg_switch_wal()";
        // The statement ends with the server when no space is left.
        let _ = cluster.sql(leader, &format!("{switch}; {switch}; {switch}; {switch}"));
    }
    Ok(format!("disk of {} full", leader.name()).into())
}

/// A replica that was away comes back first, while the others are down. It lacks what they acknowledged.
fn promote_stale(cluster: &mut Cluster, leader: Node, hold_s: u64) -> Result<Injected, Failure> {
    let members = cluster.members();
    let is_stale = |node: &Node| members.iter().any(|member| member.node == *node && !member.is_synchronous());
    let Some(stale) = leader.others().find(is_stale) else {
        return Ok("no replica is away from the synchronous one: skipped".to_owned().into());
    };
    kill_both(cluster, stale);
    pause((hold_s / 4).max(5))?;
    let others: Vec<Node> = stale.others().collect();
    others.iter().for_each(|node| kill_both(cluster, *node));
    pause(1)?;
    cluster.start_patroni(stale)?;
    let must_not_lead = (cluster.replication() == Replication::Synchronous).then_some(stale);
    Ok(Injected { what: format!("stale {} comes back alone", stale.name()), must_not_lead })
}

fn kill_both(cluster: &mut Cluster, node: Node) {
    cluster.kill_patroni(node);
    cluster.kill_postmaster(node);
}

/// Cancels commits that wait for a standby, then crashes the primary: what it reported as committed with a warning is gone.
fn cancel_commits(cluster: &mut Cluster, leader: Node) -> Result<Injected, Failure> {
    leader.others().for_each(stop_receiver);
    let cancel = "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    let mut cancelled = 0;
    for _ in 0..CANCELS {
        pause(1)?;
        cancelled += cluster.sql(leader, cancel).ok().and_then(|count| count.parse().ok()).unwrap_or(0);
    }
    // The replicas must receive nothing more, neither from the primary nor from what their sockets hold.
    cut(leader, Cut::Replicas)?;
    leader.others().for_each(|node| signal("KILL", &node.processes("walreceiver")));
    kill_both(cluster, leader);
    Ok(format!("{cancelled} commits cancelled in SyncRep on {}, then kill -9 Patroni and PostgreSQL", leader.name())
        .into())
}

fn stop_receiver(node: Node) {
    signal("STOP", &node.processes("walreceiver"));
}

/// Makes one replica after another the primary.
fn switch_over(cluster: &mut Cluster, hold_s: u64) -> Result<Injected, Failure> {
    let mut done = 0;
    let tries = (hold_s / SWITCHOVER_S).clamp(1, SWITCHOVERS_MAX);
    for _ in 0..tries {
        let leader = cluster.leader();
        let members = cluster.members();
        let is_synchronous = cluster.replication() == Replication::Synchronous;
        let candidate =
            members.iter().find(|member| member.is_synchronous() || (!is_synchronous && !member.is_leader()));
        if let Some(candidate) = candidate {
            done += u64::from(cluster.switch_over(leader, candidate.node).starts_with("Successfully"));
        }
        pause(SWITCHOVER_S / 3)?;
    }
    Ok(format!("{done} of {tries} switchovers").into())
}
