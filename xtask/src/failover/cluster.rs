//! Three databases under Patroni with etcd, and HAProxy.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::network::{APP, FOLDER, Node, mend, on, on_as_postgres, pause, shell, signal};
use super::setup::{Replication, Setup, write};
use crate::{Failure, clients, debian, root, run, target_dir};

/// Time limit for the cluster to have a primary and two replicas.
const HEALTHY_MAX: Duration = Duration::from_secs(300);
/// Time after which a replica that does not follow the primary is built anew, as an operator would do it.
const REBUILT_AFTER: Duration = Duration::from_secs(120);
const PACKAGES: &[(&str, &str)] = &[
    ("etcd", "etcd-server"),
    ("haproxy", "haproxy"),
    ("ip", "iproute2"),
    ("nft", "nftables"),
    ("curl", "curl"),
    ("/usr/lib/postgresql/15/bin/postgres", "postgresql-15"),
];

/// A member as Patroni lists it.
pub(super) struct Member {
    pub(super) node: Node,
    role: String,
    state: String,
    timeline: u64,
}

impl Member {
    pub(super) fn is_leader(&self) -> bool {
        self.role == "leader"
    }

    pub(super) fn is_synchronous(&self) -> bool {
        self.role == "sync_standby"
    }
}

/// The running cluster.
pub(super) struct Cluster {
    setup: Setup,
    replication: Replication,
    /// Folder of the logs.
    logs: PathBuf,
    etcd: [Option<Child>; 3],
    patroni: [Option<Child>; 3],
    /// Kept running for the Lotwire nodes; the teardown ends it.
    _haproxy: Child,
    last_leader: Node,
}

/// Installs the Debian packages and Patroni in a Python environment.
pub(super) fn install() -> Result<(), Failure> {
    let is_installed = || PACKAGES.iter().all(|(program, _)| Path::new(program).exists() || debian::on_path(program));
    let packages: Vec<&str> = PACKAGES.iter().map(|(_, package)| *package).collect();
    debian::ensure(&packages, is_installed)?;
    clients::python_by("/usr/bin/python3", &root().join("crates/testing/rigs/failover"), &target_dir().join("patroni"))
}

impl Cluster {
    /// Starts everything, and creates Lotwire's role and database.
    pub(super) fn start(replication: Replication, logs: &Path) -> Result<Self, Failure> {
        let setup = Setup::read(replication)?;
        for node in Node::ALL {
            make_disks(node)?;
            write(&node.folder().join("patroni.yml"), &setup.patroni(node)?)?;
        }
        // PostgreSQL's user may not be allowed to read the target folder.
        let environment = Path::new(FOLDER).join("patroni");
        std::fs::create_dir_all(&environment).map_err(|error| format!("{}: {error}", environment.display()))?;
        run(Command::new("mount").arg("--bind").arg(target_dir().join("patroni")).arg(&environment))?;
        write(Path::new("haproxy.cfg"), &setup.haproxy)?;
        let haproxy =
            on(APP, "haproxy").args(["-db", "-f", &format!("{FOLDER}/haproxy.cfg")]).logged(logs, "haproxy")?;
        let mut cluster = Self {
            setup,
            replication,
            logs: logs.to_owned(),
            etcd: [const { None }; 3],
            patroni: [const { None }; 3],
            _haproxy: haproxy,
            last_leader: Node::ALL[0],
        };
        cluster.start_missing()?;
        cluster.wait_until_healthy()?;
        let leader = cluster.leader();
        cluster.sql(leader, "CREATE ROLE lotwire LOGIN PASSWORD 'change-me'")?;
        cluster.sql(leader, "CREATE DATABASE lotwire OWNER lotwire ENCODING 'UTF8' TEMPLATE template0")?;
        Ok(cluster)
    }

    pub(super) fn setup(&self) -> &Setup {
        &self.setup
    }

    pub(super) fn replication(&self) -> Replication {
        self.replication
    }

    /// Starts each etcd and each Patroni that does not run.
    fn start_missing(&mut self) -> Result<(), Failure> {
        for node in Node::ALL {
            if !is_running(&mut self.etcd[node.index()]) {
                let mut etcd = on_as_postgres(&node.namespace(), "etcd");
                let started = etcd.envs(self.setup.etcd(node)?).logged(&self.logs, &format!("etcd-{}", node.name()))?;
                self.etcd[node.index()] = Some(started);
            }
        }
        for node in Node::ALL {
            self.start_patroni(node)?;
        }
        Ok(())
    }

    /// Starts Patroni on a machine, if it does not run.
    pub(super) fn start_patroni(&mut self, node: Node) -> Result<(), Failure> {
        if !is_running(&mut self.patroni[node.index()]) {
            let mut patroni = on_as_postgres(&node.namespace(), &format!("{FOLDER}/patroni/bin/python3"));
            patroni.args(["-m", "patroni"]).arg(node.folder().join("patroni.yml")).current_dir(node.folder());
            self.patroni[node.index()] = Some(patroni.logged(&self.logs, &format!("patroni-{}", node.name()))?);
        }
        Ok(())
    }

    /// Kills etcd on a machine.
    pub(super) fn kill_etcd(&mut self, node: Node) {
        end(&mut self.etcd[node.index()]);
    }

    /// Kills Patroni on a machine. PostgreSQL goes on without it.
    pub(super) fn kill_patroni(&mut self, node: Node) {
        end(&mut self.patroni[node.index()]);
    }

    /// Kills the postmaster. Its processes end when they notice.
    pub(super) fn kill_postmaster(&self, node: Node) {
        let file = std::fs::read_to_string(node.folder().join("disk/data/postmaster.pid")).unwrap_or_default();
        let id = file.lines().next().and_then(|line| line.trim().parse().ok());
        signal("KILL", id.as_slice());
    }

    /// Id of Patroni's process.
    pub(super) fn patroni(&self, node: Node) -> Option<u32> {
        self.patroni[node.index()].as_ref().map(Child::id)
    }

    /// Ends every fault: packets pass, processes continue or are started, and space is free.
    pub(super) fn heal(&mut self) -> Result<(), Failure> {
        for node in Node::ALL {
            mend(node);
            signal("CONT", &node.processes(""));
            let _ = std::fs::remove_file(filler(node));
        }
        self.start_missing()
    }

    /// Waits until one primary and two replicas run on one timeline. Returns the replicas that were built anew for it: one that
    /// stopped at the end of a WAL segment just before a failover can't follow the new timeline.
    pub(super) fn wait_until_healthy(&mut self) -> Result<Vec<Node>, Failure> {
        let (begin, mut rebuilt) = (Instant::now(), Vec::new());
        while begin.elapsed() < HEALTHY_MAX {
            let members = self.members();
            let leaders = members.iter().filter(|member| member.is_leader() && member.state == "running").count();
            let replicas = members.iter().filter(|member| member.state == "streaming").count();
            let synchronous = members.iter().filter(|member| member.is_synchronous()).count();
            let timelines = members.windows(2).all(|pair| pair[0].timeline == pair[1].timeline);
            let enough = usize::from(self.replication == Replication::Synchronous);
            if leaders == 1 && replicas == 2 && synchronous >= enough && timelines {
                self.leader();
                return Ok(rebuilt);
            }
            self.start_missing()?;
            if begin.elapsed() > REBUILT_AFTER && leaders == 1 && rebuilt.is_empty() {
                let stuck = members.iter().filter(|member| !member.is_leader() && member.state != "streaming");
                rebuilt = stuck.map(|member| member.node).collect();
                rebuilt.iter().for_each(|node| drop(ask(*node, "reinitialize", Some("{\"force\": true}"))));
            }
            pause(1)?;
        }
        let members: Vec<String> = self
            .members()
            .iter()
            .map(|member| format!("{} {} {}", member.node.name(), member.role, member.state))
            .collect();
        Err(format!("the cluster is not healthy after {} s: {}", HEALTHY_MAX.as_secs(), members.join(", ")))
    }

    /// The members as the first machine lists them that answers.
    pub(super) fn members(&self) -> Vec<Member> {
        let answers = Node::ALL.into_iter().map(|node| ask(node, "cluster", None));
        let listed = answers.filter_map(|text| serde_json::from_str::<Value>(&text).ok()).next().unwrap_or_default();
        let member = |value: &Value| {
            Some(Member {
                node: Node::of_name(value["name"].as_str()?)?,
                role: value["role"].as_str()?.to_owned(),
                state: value["state"].as_str().unwrap_or_default().to_owned(),
                timeline: value["timeline"].as_u64().unwrap_or_default(),
            })
        };
        listed["members"].as_array().into_iter().flatten().filter_map(member).collect()
    }

    /// The primary, or the last one while there is none.
    pub(super) fn leader(&mut self) -> Node {
        if let Some(leader) = self.members().into_iter().find(Member::is_leader) {
            self.last_leader = leader.node;
        }
        self.last_leader
    }

    /// Asks Patroni to make another machine the primary. Returns its answer.
    pub(super) fn switch_over(&self, leader: Node, candidate: Node) -> String {
        let body = format!(r#"{{"leader":"{}","candidate":"{}"}}"#, leader.name(), candidate.name());
        ask(leader, "switchover", Some(&body))
    }

    /// Runs a statement as PostgreSQL's superuser on one machine. Returns the rows.
    pub(super) fn sql(&self, node: Node, statement: &str) -> Result<String, Failure> {
        let mut psql = on_as_postgres(&node.namespace(), "timeout");
        psql.args(["--signal=KILL", "5", "psql", "-XAtqw", "-v", "ON_ERROR_STOP=1", "-d", "postgres", "-h"]);
        psql.arg(node.folder()).args(["-c", statement]);
        let output = psql.output().map_err(|error| format!("psql: {error}"))?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        } else {
            Err(format!("{statement}: {}", String::from_utf8_lossy(&output.stderr).trim()))
        }
    }
}

/// A file that takes the space of a machine's disk.
pub(super) fn filler(node: Node) -> PathBuf {
    node.folder().join("disk/filler")
}

/// etcd's data in memory, PostgreSQL's in a file of 1 GiB with a file system of its own.
fn make_disks(node: Node) -> Result<(), Failure> {
    let image = target_dir().join("failover").join(format!("{}.img", node.name()));
    let (folder, image) = (node.folder().display().to_string(), image.display().to_string());
    shell(&format!(
        "mkdir --parents {folder}/etcd {folder}/disk
        mount -t tmpfs -o size=256m tmpfs {folder}/etcd
        rm --force {image}
        truncate --size 1G {image}
        mkfs.ext4 -q -m 0 {image}
        mount -o loop {image} {folder}/disk
        rm {image}
        chown postgres {folder} {folder}/etcd {folder}/disk"
    ))
}

/// Asks Patroni on a machine.
fn ask(node: Node, path: &str, body: Option<&str>) -> String {
    let limit = if body.is_some() { "30" } else { "2" };
    let mut curl = on(APP, "curl");
    curl.args(["--silent", "--max-time", limit]).arg(format!("http://{}:8008/{path}", node.address()));
    body.into_iter().for_each(|body| {
        curl.args(["--data", body]);
    });
    curl.output().map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
}

fn is_running(process: &mut Option<Child>) -> bool {
    process.as_mut().is_some_and(|process| matches!(process.try_wait(), Ok(None)))
}

fn end(process: &mut Option<Child>) {
    if let Some(mut process) = process.take() {
        let _ = process.kill();
        let _ = process.wait();
    }
}

trait Logged {
    /// Starts the command. It appends to its own log file.
    fn logged(&mut self, folder: &Path, name: &str) -> Result<Child, Failure>;
}

impl Logged for Command {
    fn logged(&mut self, folder: &Path, name: &str) -> Result<Child, Failure> {
        let file = folder.join(format!("{name}.log"));
        let failed = |error: std::io::Error| format!("{}: {error}", file.display());
        let log = File::options().create(true).append(true).open(&file).map_err(failed)?;
        let errors = log.try_clone().map_err(failed)?;
        self.stdout(Stdio::from(log)).stderr(errors).spawn().map_err(failed)
    }
}
