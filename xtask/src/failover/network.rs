//! Four machines as network namespaces: `n1` to `n3` with a database each, and `app` with HAProxy, the Lotwire nodes and the load.
//! One bridge connects them. Nothing outside of the namespaces changes.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::{Failure, run};

/// Namespace of the Lotwire nodes.
pub(super) const APP: &str = "lotwire-app";
/// Address of that namespace.
pub(super) const APP_ADDRESS: &str = "10.77.0.10";
/// Folder of the mounts. It is readable by PostgreSQL's user, which a target folder may not be.
pub(super) const FOLDER: &str = "/run/lotwire-failover";
/// Name of the nftables table that drops packets.
const TABLE: &str = "lotwire_failover";

/// A machine with a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Node(u8);

impl Node {
    pub(super) const ALL: [Self; 3] = [Self(1), Self(2), Self(3)];

    pub(super) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|node| node.name() == name)
    }

    pub(super) fn index(self) -> usize {
        usize::from(self.0 - 1)
    }

    pub(super) fn name(self) -> String {
        format!("n{}", self.0)
    }

    pub(super) fn address(self) -> String {
        format!("10.77.0.{}", self.0)
    }

    pub(super) fn namespace(self) -> String {
        format!("lotwire-{}", self.name())
    }

    pub(super) fn folder(self) -> PathBuf {
        PathBuf::from(FOLDER).join(self.name())
    }

    pub(super) fn others(self) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |other| *other != self)
    }

    /// Ids of the processes on this machine whose command line contains `text`.
    pub(super) fn processes(self, text: &str) -> Vec<u32> {
        let output = Command::new("ip").args(["netns", "pids", &self.namespace()]).output();
        let listed = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        let has_text = |id: &u32| {
            let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).replace('\0', " ").contains(text)
        };
        listed.lines().filter_map(|id| id.trim().parse().ok()).filter(has_text).collect()
    }
}

/// A command on a machine, as its superuser.
pub(super) fn on(namespace: &str, program: &str) -> Command {
    let mut command = Command::new("ip");
    command.args(["netns", "exec", namespace, program]).stdin(Stdio::null());
    command
}

/// A command on a machine, as PostgreSQL's user.
pub(super) fn on_as_postgres(namespace: &str, program: &str) -> Command {
    let mut command = on(namespace, "setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--init-groups", program]);
    command
}

/// Creates the namespaces and connects them.
pub(super) fn create() -> Result<(), Failure> {
    let bridge = format!(
        "ip netns add {APP}
        ip -n {APP} link set lo up
        ip -n {APP} link add br0 type bridge
        ip -n {APP} addr add {APP_ADDRESS}/24 dev br0
        ip -n {APP} link set br0 up"
    );
    shell(&bridge)?;
    for node in Node::ALL {
        let (namespace, name, address) = (node.namespace(), node.name(), node.address());
        shell(&format!(
            "ip netns add {namespace}
            ip -n {namespace} link set lo up
            ip -n {APP} link add {name} type veth peer name eth0 netns {namespace}
            ip -n {APP} link set {name} master br0 up
            ip -n {namespace} addr add {address}/24 dev eth0
            ip -n {namespace} link set eth0 up"
        ))?;
    }
    Ok(())
}

/// What a machine can no longer reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// Every other machine.
    All,
    /// PostgreSQL and Patroni of the other databases.
    Replicas,
    /// etcd on the other machines.
    Etcd,
    /// Packets from the other machines are dropped; its own arrive.
    Incoming,
    /// Its packets to the other machines are dropped; theirs arrive.
    Outgoing,
}

impl Cut {
    pub(super) const ALL: [Self; 5] = [Self::All, Self::Replicas, Self::Etcd, Self::Incoming, Self::Outgoing];

    pub(super) fn describe(self) -> &'static str {
        match self {
            Self::All => "cut off from all machines",
            Self::Replicas => "cut off from the replicas",
            Self::Etcd => "cut off from etcd",
            Self::Incoming => "receives no packets",
            Self::Outgoing => "sends no packets",
        }
    }
}

/// Drops packets between a machine and others.
pub(super) fn cut(node: Node, cut: Cut) -> Result<(), Failure> {
    let mut others: Vec<String> = node.others().map(Node::address).collect();
    if matches!(cut, Cut::All | Cut::Incoming | Cut::Outgoing) {
        others.push(APP_ADDRESS.to_owned());
    }
    let others = others.join(", ");
    let ports = match cut {
        Cut::Replicas => "5432, 8008",
        Cut::Etcd => "2379, 2380",
        _ => "0-65535",
    };
    let rules = |name: &str, direction: &str| {
        format!(
            "chain {name} {{
                type filter hook {name} priority 0;
                ip {direction} {{ {others} }} tcp dport {{ {ports} }} drop
                ip {direction} {{ {others} }} tcp sport {{ {ports} }} drop
            }}"
        )
    };
    let incoming = if cut == Cut::Outgoing { String::new() } else { rules("input", "saddr") };
    let outgoing = if cut == Cut::Incoming { String::new() } else { rules("output", "daddr") };
    let table = format!("table inet {TABLE} {{\n{incoming}\n{outgoing}\n}}");
    run(on(&node.namespace(), "nft").arg(table))
}

/// Lets all packets of a machine pass again.
pub(super) fn mend(node: Node) {
    // Without a cut, the table does not exist.
    let _ = on(&node.namespace(), "nft").args(["delete", "table", "inet", TABLE]).stderr(Stdio::null()).status();
}

/// Sends a signal to processes. Those that ended meanwhile are left out.
pub(super) fn signal(name: &str, processes: &[u32]) {
    for id in processes {
        let _ = Command::new("kill").args(["-s", name, &id.to_string()]).stderr(Stdio::null()).status();
    }
}

/// Waits. The machines go on meanwhile.
pub(super) fn pause(seconds: u64) -> Result<(), Failure> {
    run(Command::new("sleep").arg(seconds.to_string()))
}

pub(super) fn shell(script: &str) -> Result<(), Failure> {
    run(Command::new("sh").args(["-euc", script]))
}
