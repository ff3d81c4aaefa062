//! The configuration files of the guide, with the names, addresses and folders of this machine.

use std::path::Path;

use super::network::{FOLDER, Node};
use crate::{Failure, root};

const GUIDE: &str = "docs/operate/failover.md";

/// The files of `docs/operate/failover.md`.
pub(super) struct Setup {
    etcd: String,
    patroni: String,
    pub(super) haproxy: String,
    /// The database's URL of a Lotwire node.
    pub(super) database_url: String,
}

/// How changes are replicated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Replication {
    /// As in the guide.
    Synchronous,
    /// The control: a failover loses what the new primary did not have.
    Asynchronous,
}

impl Setup {
    /// Reads the guide.
    pub(super) fn read(replication: Replication) -> Result<Self, Failure> {
        let guide = std::fs::read_to_string(root().join(GUIDE)).map_err(|error| format!("{GUIDE}: {error}"))?;
        let lotwire = block(&guide, "/etc/lotwire/lotwire.toml")?;
        let lotwire: toml::Table = toml::from_str(lotwire).map_err(|error| format!("{GUIDE}: {error}"))?;
        let database_url = lotwire["database"]["url"].as_str().ok_or(format!("{GUIDE}: no database.url"))?;
        let mut patroni = block(&guide, "/etc/patroni/config.yml")?.to_owned();
        if replication == Replication::Asynchronous {
            for (from, to) in [
                ("synchronous_mode: true", "synchronous_mode: false"),
                ("synchronous_mode_strict: true", "synchronous_mode_strict: false"),
                ("maximum_lag_on_failover: 1048576", "maximum_lag_on_failover: 104857600"),
            ] {
                patroni = replace(&patroni, from, to)?;
            }
        }
        Ok(Self {
            etcd: block(&guide, "/etc/default/etcd")?.to_owned(),
            patroni,
            haproxy: block(&guide, "/etc/haproxy/haproxy.cfg")?.to_owned() + "\n",
            database_url: database_url.to_owned(),
        })
    }

    /// The environment of etcd on a machine.
    pub(super) fn etcd(&self, node: Node) -> Result<Vec<(String, String)>, Failure> {
        let text = replace(&self.etcd, "ETCD_NAME=\"n1\"", &format!("ETCD_NAME=\"{}\"", node.name()))?;
        let text = replace(&text, "/var/lib/etcd", &node.folder().join("etcd").display().to_string())?;
        let variables = text.lines().filter_map(|line| line.split_once('=')).map(|(name, value)| {
            // The list of all members names each machine already.
            let value = value.trim_matches('"');
            let value = if name == "ETCD_INITIAL_CLUSTER" { value.to_owned() } else { of_node(value, node) };
            (name.to_owned(), value)
        });
        Ok(variables.collect())
    }

    /// The configuration of Patroni on a machine.
    pub(super) fn patroni(&self, node: Node) -> Result<String, Failure> {
        let folder = node.folder().display().to_string();
        let mut text = self.patroni.clone();
        for (from, to) in [
            ("name: n1", format!("name: {}", node.name())),
            ("/var/lib/postgresql/15/main", format!("{folder}/disk/data")),
            ("/var/lib/postgresql/pgpass", format!("{folder}/pgpass")),
            ("/var/run/postgresql", folder.clone()),
        ] {
            text = replace(&text, from, &to)?;
        }
        let lines =
            text.lines().map(|line| if line.contains("hosts:") { line.to_owned() } else { of_node(line, node) });
        Ok(lines.collect::<Vec<_>>().join("\n") + "\n")
    }

    /// The database's URL that names all machines instead of the proxy.
    pub(super) fn multi_host_url(&self) -> Result<String, Failure> {
        let hosts = Node::ALL.map(Node::address).join(",");
        replace(&self.database_url, "127.0.0.1:5000", &hosts)
    }
}

/// Writes a file below the folder of the mounts. PostgreSQL's user can read it.
pub(super) fn write(name: &Path, text: &str) -> Result<(), Failure> {
    let file = Path::new(FOLDER).join(name);
    std::fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))
}

/// The file of the guide whose first line names it.
fn block<'a>(guide: &'a str, name: &str) -> Result<&'a str, Failure> {
    let blocks = guide.split("\n```").skip(1).step_by(2).filter_map(|block| block.split_once('\n'));
    let mut named =
        blocks.map(|(_, text)| text).filter(|text| text.lines().next().is_some_and(|line| line.contains(name)));
    named.next().ok_or(format!("{GUIDE} has no block that begins with {name}"))
}

/// The addresses of the guide's first machine become those of `node`.
fn of_node(text: &str, node: Node) -> String {
    text.replace("10.77.0.1:", &format!("{}:", node.address()))
}

fn replace(text: &str, from: &str, to: &str) -> Result<String, Failure> {
    if text.contains(from) { Ok(text.replace(from, to)) } else { Err(format!("{GUIDE} does not contain {from:?}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_has_the_files_that_the_test_runs() {
        let setup = Setup::read(Replication::Synchronous).unwrap();
        let [_, second, _] = Node::ALL;
        let patroni = setup.patroni(second).unwrap();
        assert!(patroni.contains("name: n2\n") && patroni.contains("connect_address: 10.77.0.2:5432"), "{patroni}");
        assert!(patroni.contains("hosts: [10.77.0.1:2379, 10.77.0.2:2379"), "{patroni}");
        let etcd = setup.etcd(second).unwrap();
        assert!(etcd.contains(&("ETCD_LISTEN_CLIENT_URLS".to_owned(), "http://10.77.0.2:2379".to_owned())), "{etcd:?}");
        assert!(setup.haproxy.contains("on-marked-down shutdown-sessions"));
        assert!(setup.multi_host_url().unwrap().ends_with("@10.77.0.1,10.77.0.2,10.77.0.3/lotwire"));
    }

    #[test]
    fn the_control_is_asynchronous() {
        let setup = Setup::read(Replication::Asynchronous).unwrap();
        assert!(!setup.patroni.contains("synchronous_mode: true") && !setup.patroni.contains("strict: true"));
    }
}
