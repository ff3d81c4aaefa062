//! What each PostgreSQL is, once a second: primary or replica, its timeline and its position. It asks over the Unix socket, so that
//! cut connections do not hide a second primary.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::network::Node;
use crate::Failure;

/// Prints the second, the machine, and `primary` or `replica` with timeline and position. A server without an answer within a
/// second is `silent`. It ends with the machine's folder, also after a run that was killed.
const WATCH: &str = r#"
query="SELECT CASE WHEN pg_is_in_recovery() THEN 'replica ' || (SELECT timeline_id FROM pg_control_checkpoint())
    || ' ' || coalesce(pg_last_wal_receive_lsn()::text, '-')
    ELSE 'primary ' || ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int
    || ' ' || pg_current_wal_flush_lsn() || ' ' || current_setting('synchronous_standby_names') END"
while [ -d "$1" ]; do
    second=$(date +%s)
    state=$(timeout --signal=KILL 1 setpriv --reuid=postgres --regid=postgres --init-groups \
        psql -XAtqw -h "$1" -d postgres -c "$query" 2>/dev/null) || state=silent
    echo "$second $2 $state"
    sleep 1
done
"#;

/// The observation of all machines. It ends when it is dropped.
pub(super) struct Observer {
    shells: Vec<Child>,
    file: PathBuf,
}

/// What a run showed.
pub(super) struct Observed {
    /// Seconds in which more than one server was a primary.
    pub(super) seconds_with_two_primaries: u64,
    /// Changes of the primary's timeline: completed failovers and switchovers.
    pub(super) failovers: u64,
    /// Each change of a machine's role or timeline, as text.
    pub(super) changes: Vec<String>,
}

impl Observer {
    pub(super) fn start(folder: &Path) -> Result<Self, Failure> {
        let file = folder.join("primaries.log");
        let failed = |error: std::io::Error| format!("{}: {error}", file.display());
        drop(File::create(&file).map_err(failed)?);
        let mut observer = Self { shells: Vec::new(), file: file.clone() };
        for node in Node::ALL {
            let log = File::options().append(true).open(&file).map_err(failed)?;
            let shell = Command::new("sh")
                .args(["-uc", WATCH, "watch"])
                .arg(node.folder())
                .arg(node.name())
                .stdin(Stdio::null())
                .stdout(log)
                .stderr(Stdio::null())
                .spawn()
                .map_err(|error| format!("sh: {error}"))?;
            observer.shells.push(shell);
        }
        Ok(observer)
    }

    /// True if the machine was a primary in the last lines.
    pub(super) fn leads(&self, node: Node) -> bool {
        let text = std::fs::read_to_string(&self.file).unwrap_or_default();
        let own = format!(" {} ", node.name());
        text.lines().rev().find(|line| line.contains(&own)).is_some_and(|line| line.contains("primary"))
    }

    /// Reads everything so far.
    pub(super) fn observed(&self) -> Result<Observed, Failure> {
        let text = std::fs::read_to_string(&self.file).map_err(|error| format!("{}: {error}", self.file.display()))?;
        Ok(Observed::read(&text))
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        for shell in &mut self.shells {
            let _ = shell.kill();
            let _ = shell.wait();
        }
    }
}

impl Observed {
    fn read(text: &str) -> Self {
        let mut lines: Vec<(u64, &str, &str)> = text.lines().filter_map(parse).collect();
        lines.sort_by_key(|(second, ..)| *second);
        let mut primaries: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
        let mut states: BTreeMap<&str, String> = BTreeMap::new();
        let (mut changes, mut timeline, mut failovers) = (Vec::new(), 0, 0);
        for (second, node, state) in lines {
            let words: Vec<&str> = state.split(' ').collect();
            if words[0] == "primary" {
                let named = primaries.entry(second).or_default();
                if !named.contains(&node) {
                    named.push(node);
                }
                let own: u64 = words.get(1).and_then(|text| text.parse().ok()).unwrap_or(0);
                failovers += u64::from(timeline != 0 && own > timeline);
                timeline = timeline.max(own);
            }
            let shown = words.iter().take(2).copied().collect::<Vec<_>>().join(" on timeline ");
            if states.get(node) != Some(&shown) {
                changes.push(format!("{second} {node} {shown} at {}", words.get(2).unwrap_or(&"-")));
                states.insert(node, shown);
            }
        }
        let seconds_with_two_primaries = primaries.values().filter(|nodes| nodes.len() > 1).count() as u64;
        Self { seconds_with_two_primaries, failovers, changes }
    }
}

fn parse(line: &str) -> Option<(u64, &str, &str)> {
    let (second, rest) = line.split_once(' ')?;
    let (node, state) = rest.split_once(' ')?;
    Some((second.parse().ok()?, node, state))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_primaries_in_a_second_and_failovers_are_counted() {
        let observed = Observed::read(
            "10 n1 primary 1 0/100 n2\n10 n2 replica 1 0/100\n11 n1 primary 1 0/200 n2\n11 n2 primary 2 0/180 n3\n12 n1 silent\n\
             12 n2 primary 2 0/300 n3\n",
        );
        assert_eq!((observed.seconds_with_two_primaries, observed.failovers), (1, 1));
        let changes = [
            "10 n1 primary on timeline 1 at 0/100",
            "10 n2 replica on timeline 1 at 0/100",
            "11 n2 primary on timeline 2 at 0/180",
            "12 n1 silent at -",
        ];
        assert_eq!(observed.changes, changes);
    }
}
